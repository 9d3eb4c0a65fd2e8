"""Capsule: the public face of tamper-evident journals.

What it offers, and where the rules are:
- `Capsule`, `append_entry`: create, open, append (`core.handle`, loaded when it is first asked for).
- `verify`, `project`, `read_snapshot`, `read_entries`: read only, in one pass (`core.verification`); reading
  the entries is a second one.
- `write_projection`: projection.json beside the journal, replaced whole.
- `export_bundle`: the three files of a capsule in another folder (`core.export`).

A verified capsule proves that nobody changed, dropped, added or moved entries without rewriting everything
after them. It does not prove who wrote them or that they are true; a full consistent rewrite and a shortened
journal verify, and only a receipt kept elsewhere tells.
"""

from __future__ import annotations

import os

from . import files, journal, projection
from .verification import Snapshot, Verification, examine, journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .handle import Capsule, append_entry

__all__ = [
    "Capsule",
    "Snapshot",
    "Verification",
    "append_entry",
    "export_bundle",
    "project",
    "read_entries",
    "read_snapshot",
    "verify",
    "write_projection",
]


def verify(path: str | os.PathLike[str]) -> Verification:
    """The verdict on the capsule in the folder `path`; never raises for content.

    Codes: `ok`; `capsule.missing_journal`, `capsule.unreadable_journal`, `capsule.non_canonical`,
    `capsule.truncated_tail`, `capsule.corrupt_entry`, `capsule.invalid_entry`, `capsule.entry_too_large`,
    `capsule.reordered`, `capsule.broken_link`, `capsule.metadata_invalid`, `capsule.metadata_mismatch`.
    """
    return examine(files.as_path(path), with_projection=False).verification


def read_snapshot(path: str | os.PathLike[str], *, checkpoint: int | None = None) -> Snapshot:
    """Verdict, metadata and projection of the capsule in `path`, all from one pass over the journal.

    With `checkpoint` also the root hash after that many entries. Never raises for content.
    """
    return examine(files.as_path(path), with_projection=True, checkpoint=checkpoint)


def project(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The projection of the capsule in `path`, derived afresh; writes nothing.

    Raises EvalsError with the code of `verify`; details failed_at and entry_count.
    """
    snapshot = read_snapshot(path)
    if snapshot.projection is None:
        raise snapshot.verification.error()
    return snapshot.projection


def read_entries(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The entries of the capsule in `path`, oldest first: one verification, then each is checked when read.

    Raises EvalsError with the codes of `verify` before the first entry, and while reading `capsule.changed`,
    the codes of a bad line and `file.*` where the journal is no longer what was verified. Entries that are
    appended later are not given. Memory does not grow with the journal.
    """
    folder = files.as_path(path)
    snapshot = examine(folder, with_projection=False)
    if not snapshot.verification.ok:
        raise snapshot.verification.error()
    return journal.read_entries(journal_path(folder), snapshot.size)


def write_projection(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Derive the projection of the capsule in `path` and put it, whole, into its projection.json.

    Returns the projection. Raises as `project`, and FileError `file.write_failed`.
    """
    derived = project(path)
    target = os.path.join(files.as_path(path), projection.FILE_NAME)
    files.write_whole(target, projection.projection_bytes(derived))
    return derived


def export_bundle(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> dict[str, Any]:
    """Copy the capsule in `path`, verified and projected, to the folder `out`; see `core.export`.

    Returns {"dir": out, "files": ["capsule.json", "journal.ndjson", "projection.json"]}. Raises the codes of
    `verify`, `capsule.export_conflict` (the target holds what the export would destroy, or a lock),
    `capsule.changed`, and FileError `file.unreadable` (a look at the target failed), `file.missing`,
    `file.not_regular` or `file.write_failed`.
    """
    from . import export

    return export.export_bundle(path, out)


def __getattr__(name: str) -> Any:
    # The writing side costs start-up time that verification need not pay.
    if name in ("Capsule", "append_entry"):
        from . import handle

        return getattr(handle, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
