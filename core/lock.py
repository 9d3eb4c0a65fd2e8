"""Lock: `.append.lock`, by which cooperating writers of one capsule exclude each other.

Rules (source document):
- Taken by exclusive creation, mode 0600, empty. Where the path exists, of any kind, age and content:
  `capsule.busy` at once. No waiting, retrying, stealing or guessing about the owner.
- Released only while it is still the file that was created: with the descriptor open, the path must be a
  regular file of the same device and inode. Otherwise `capsule.lock_lost`, and what is there stays.
- No folder to take it in: `capsule.missing_journal`, as for a folder without a capsule.
- A lock that cannot be created, judged or removed for a reason of the system: `capsule.lock_failed`. What
  was written meanwhile stays; after a crash the lock stays too, until an operator removes it.
- A failed release replaces the error it follows, which becomes its cause.
"""

from __future__ import annotations

import errno
import os
import stat

from . import files
from .errors import EvalsError
from .verification import journal_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final

FILE_NAME: Final = ".append.lock"

# Windows does not remove an open file.
_UNLINKS_OPEN_FILES = os.name != "nt"


class AppendLock:
    """The append lock of the capsule in `folder`, held inside the `with` block."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, FILE_NAME)
        self._descriptor = -1

    def __enter__(self) -> AppendLock:  # noqa: PYI034 - Self needs Python 3.11
        flags = files.WRITE_FLAGS | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW
        try:
            self._descriptor = os.open(self._path, flags, 0o600)
        except FileExistsError:
            raise EvalsError(
                "capsule.busy",
                f"{FILE_NAME} exists: another writer is at work, or one died; try again later, and remove "
                "the lock only after every writer is stopped and the capsule verifies",
            ) from None
        except (FileNotFoundError, NotADirectoryError) as error:
            raise journal_fault(files.system_error(error, FILE_NAME)).error() from error
        except OSError as error:
            raise _failed("acquire", "cannot be created, so nothing was written", error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._release()
        except EvalsError as failure:
            raise failure from error

    def _release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        try:
            owned = self._is_still_ours(descriptor)
            if owned and _UNLINKS_OPEN_FILES:
                os.unlink(self._path)
        except OSError as error:
            files.close_quietly(descriptor)
            raise self._release_failure(error) from error
        if not owned:
            files.close_quietly(descriptor)
            raise _lost()
        self._close(descriptor)

    def _is_still_ours(self, descriptor: int) -> bool:
        own = os.fstat(descriptor)
        there = os.lstat(self._path)
        return stat.S_ISREG(there.st_mode) and (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino)

    def _close(self, descriptor: int) -> None:
        try:
            os.close(descriptor)
            if not _UNLINKS_OPEN_FILES:
                os.unlink(self._path)
        except OSError as error:
            raise self._release_failure(error) from error

    def _release_failure(self, error: OSError) -> EvalsError:
        if isinstance(error, FileNotFoundError):
            return _lost()
        return _failed("release", "cannot be released; entries may have been written", error)


def _lost() -> EvalsError:
    return EvalsError(
        "capsule.lock_lost",
        f"{FILE_NAME} was removed or replaced while it was held; stop all writers, verify the capsule, and "
        "look for the entry before writing it again",
    )


def _failed(stage: str, problem: str, error: OSError) -> EvalsError:
    reason = error.strerror or type(error).__name__
    return EvalsError(
        "capsule.lock_failed",
        f"{FILE_NAME} {problem} ({reason}); fix the cause and verify the capsule",
        {"stage": stage, "errno": errno.errorcode.get(error.errno or 0)},
    )
