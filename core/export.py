"""Export: exactly the three files of a verified capsule, copied to another folder.

Rules (source document):
- The capsule is verified and the target judged before anything is written. Then the source's projection.json
  is written, then each file of the target is replaced whole; nothing else is copied.
- The target may be new, empty of capsule files, or an earlier export of the same run_id and capsule_id. The
  capsule itself, another identity's files and files of no known identity are left alone:
  `capsule.export_conflict`.
- What is copied is what was verified: the journal's bytes are hashed while they are copied, and where they
  differ by then, nothing of the target's journal changes: `capsule.changed`. Entries appended meanwhile are
  left out.
- capsule.json comes first, so that a target that a crash left unfinished is known and can be exported to
  again.
"""

from __future__ import annotations

import hashlib
import os

from . import files, journal, metadata, projection
from .errors import EvalsError
from .verification import examine, journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

FILE_NAMES: Final = (metadata.FILE_NAME, journal.FILE_NAME, projection.FILE_NAME)


def export_bundle(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> dict[str, Any]:
    """Export the capsule in `path` to the folder `out`; returns {"dir": out, "files": [the three names]}.

    Raises EvalsError: the codes of `verify`, `capsule.export_conflict`, `capsule.changed`,
    `file.unreadable` (the target cannot be looked at), `file.write_failed`.
    """
    source, target = os.fspath(path), os.fspath(out)
    snapshot = examine(source, with_projection=True)
    if snapshot.metadata is None or snapshot.projection is None:
        raise snapshot.verification.error()
    _refuse_conflict(source, target, snapshot.metadata)
    summary = projection.projection_bytes(snapshot.projection)
    files.write_whole(os.path.join(source, projection.FILE_NAME), summary)
    files.make_folders(target)
    files.write_whole(os.path.join(target, metadata.FILE_NAME), snapshot.metadata.raw)
    _copy_journal(source, target, snapshot.size, snapshot.projection["journal_sha256"])
    files.write_whole(os.path.join(target, projection.FILE_NAME), summary)
    return {"dir": target, "files": list(FILE_NAMES)}


def _refuse_conflict(source: str, target: str, ours: metadata.Metadata) -> None:
    if _same_folder(source, target):
        raise _conflict("it is the capsule itself")
    if not any(files.exists(os.path.join(target, name)) for name in FILE_NAMES):
        return
    try:
        theirs = metadata.read_metadata(target)
    except EvalsError:
        raise _conflict("it holds capsule files of no known identity") from None
    if (theirs.run_id, theirs.capsule_id) != (ours.run_id, ours.capsule_id):
        raise _conflict("it holds the files of another capsule")


def _same_folder(source: str, target: str) -> bool:
    # A look that fails is no proof that the target is another folder.
    try:
        return os.path.samestat(os.stat(target), os.stat(source))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise files.system_error(error, target) from error


def _conflict(problem: str) -> EvalsError:
    return EvalsError(
        "capsule.export_conflict",
        f"the target of the export cannot be used: {problem}; name a new folder, or an earlier export of the "
        "same capsule",
    )


def _copy_journal(source: str, target: str, size: int, sha256: str) -> None:
    """Put the first `size` bytes of the source's journal, whose hash is `sha256`, in the target's place."""
    final = os.path.join(target, journal.FILE_NAME)
    temporary = os.path.join(target, f".{journal.FILE_NAME}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    descriptor = files.open_regular(journal_path(source), follow_symlinks=False)
    try:
        _write_copy(descriptor, temporary, size, sha256)
        os.replace(temporary, final)
        files.fsync_folder(target)
    except BaseException as error:
        _remove_quietly(temporary)
        if isinstance(error, OSError):
            raise files.system_error(error, final, "write") from error
        raise
    finally:
        files.close_quietly(descriptor)


def _write_copy(descriptor: int, temporary: str, size: int, sha256: str) -> None:
    copy = os.open(temporary, files.WRITE_FLAGS | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW, 0o644)
    try:
        digest = hashlib.sha256()
        for chunk in files.read_chunks(descriptor):
            kept = chunk[:size]
            size -= len(kept)
            digest.update(kept)
            files.write_all(copy, kept)
            if not size:
                break
        if digest.hexdigest() != sha256:
            raise journal.changed("changed")
        os.fsync(copy)
    finally:
        os.close(copy)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
