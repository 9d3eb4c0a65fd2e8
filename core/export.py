"""Export: exactly the three files of a verified capsule, copied to another folder.

Rules (source document):
- The capsule is verified and the target judged before anything is written. Then the source's projection.json
  is written, then each file of the target is replaced whole; nothing else is copied.
- The target may be new, empty of capsule files, or an earlier export of the same run_id and capsule_id. The
  capsule itself, another identity's files and files of no known identity are left alone, and so is evidence
  that the export would destroy: the target's journal must be the beginning of the one that was verified. A
  longer one, one that went on differently, one that cannot be read as a file of the target's own, and a
  target in which somebody holds the append lock: `capsule.export_conflict`.
- The target's journal is looked at again just before it is replaced. Its lock is not taken: a crash would
  leave it there, and the target could not be exported to again without an operator.
- What is copied is what was verified: the journal's bytes are hashed while they are copied, and where they
  differ by then, nothing of the target's journal changes: `capsule.changed`. Entries appended meanwhile are
  left out.
- capsule.json comes first, so that a target that a crash left unfinished is known and can be exported to
  again.
"""

from __future__ import annotations

import hashlib
import os

from . import files, journal, lock, metadata, projection
from .errors import EvalsError, FileError
from .verification import examine, journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, Final

    from .verification import Snapshot

FILE_NAMES: Final = (metadata.FILE_NAME, journal.FILE_NAME, projection.FILE_NAME)


def export_bundle(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> dict[str, Any]:
    """Export the capsule in `path` to the folder `out`; returns {"dir": out, "files": [the three names]}.

    Raises EvalsError: the codes of `verify`, `capsule.export_conflict`, `capsule.changed`, `file.unreadable`
    (the target cannot be looked at, or the journal no longer read), `file.missing`, `file.not_regular`,
    `file.write_failed`.
    """
    source, target = files.as_path(path), files.as_path(out)
    snapshot = examine(source, with_projection=True)
    if snapshot.metadata is None or snapshot.projection is None:
        raise snapshot.verification.error()
    _refuse_others(source, target, snapshot.metadata)
    seen = _seen(target)
    _refuse_loss(source, target, snapshot.size)
    summary = projection.projection_bytes(snapshot.projection)
    files.write_whole(os.path.join(source, projection.FILE_NAME), summary)
    files.make_folders(target)
    files.write_whole(os.path.join(target, metadata.FILE_NAME), snapshot.metadata.raw)
    copy = _verified_bytes(source, snapshot, lambda: _refuse_change(target, seen))
    try:
        files.write_whole_from(journal_path(target), copy)
    finally:
        copy.close()
    files.write_whole(os.path.join(target, projection.FILE_NAME), summary)
    return {"dir": target, "files": list(FILE_NAMES)}


def _refuse_others(source: str, target: str, ours: metadata.Metadata) -> None:
    if _same_folder(source, target):
        raise _conflict("it is the capsule itself")
    if files.exists(os.path.join(target, lock.FILE_NAME)):
        raise _conflict(f"its {lock.FILE_NAME} exists, so a writer may be at work there")
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


def _refuse_loss(source: str, target: str, size: int) -> None:
    """Refuse a target whose journal is not the beginning of the first `size` bytes of the source's."""
    path = journal_path(target)
    try:
        theirs = files.open_regular(path, follow_symlinks=False)
    except FileError as error:
        if error.code == "file.missing":
            return
        raise _unreadable() from error
    ours = journal.first_bytes(journal_path(source), size)
    try:
        begins = _begins(ours, files.read_chunks(theirs))
    except OSError as error:
        raise _unreadable() from error
    finally:
        ours.close()
        files.close_quietly(theirs)
    if not begins:
        raise _conflict(f"its {journal.FILE_NAME} holds what this capsule does not hold")


def _unreadable() -> EvalsError:
    return _conflict(f"its {journal.FILE_NAME} cannot be read as a file of its own")


def _begins(whole: Generator[bytes, None, None], beginning: Iterable[bytes]) -> bool:
    """Whether the bytes of `whole` begin with those of `beginning`."""
    pending = b""
    for chunk in beginning:
        while len(pending) < len(chunk):
            more = next(whole, None)
            if more is None:
                return False
            pending += more
        if not pending.startswith(chunk):
            return False
        pending = pending[len(chunk) :]
    return True


def _seen(target: str) -> tuple[int, ...] | None:
    """What the target's journal looks like from outside; None where there is none."""
    path = journal_path(target)
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise files.system_error(error, path) from error
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _refuse_change(target: str, seen: tuple[int, ...] | None) -> None:
    if files.exists(os.path.join(target, lock.FILE_NAME)) or _seen(target) != seen:
        raise _conflict(f"a writer came to its {journal.FILE_NAME} meanwhile")


def _verified_bytes(
    source: str, snapshot: Snapshot, before_the_end: Callable[[], None]
) -> Generator[bytes, None, None]:
    """The bytes of the source's journal that `snapshot` verified; refusals come before the end is reached."""
    digest = hashlib.sha256()
    for chunk in journal.first_bytes(journal_path(source), snapshot.size):
        digest.update(chunk)
        yield chunk
    if snapshot.projection is None or digest.hexdigest() != snapshot.projection["journal_sha256"]:
        raise journal.changed("changed")
    before_the_end()
