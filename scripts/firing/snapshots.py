"""What a tree is: every name with its kind, rights, size, time, link target and bytes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

Snapshot = dict[str, tuple[object, ...]]


def snapshot(folder: Path, *, leaving_out: tuple[str, ...] = ()) -> Snapshot:
    """The tree at `folder`, links not followed; names at its top in `leaving_out` are left out."""
    found: Snapshot = {}
    for place, folders, files in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name not in leaving_out]
        for name in (*folders, *files):
            path = Path(place, name)
            if path.relative_to(folder).parts[0] not in leaving_out:
                found[str(path.relative_to(folder))] = _described(path)
    return found


def _described(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    content = None
    if stat.S_ISREG(status.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    elif stat.S_ISLNK(status.st_mode):
        content = os.readlink(path)
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino, content)


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    """The names that came, went or changed."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
