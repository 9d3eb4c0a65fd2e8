"""Appending: the journal held open, verified and locked, and bytes added to its end.

Rules (source document):
- Verification comes before everything else, from the bytes on disk, on the descriptor that is written to.
- Before a write and after its fsync, the file at the journal's path must be the one that was verified, of the
  size that was verified or written: an editor, a checkout or a writer without the lock may have put another
  one there. Otherwise `capsule.lock_lost`; before the write nothing was written, after it the entry may be in
  no file.
- Bytes are written in a loop, then fsynced. A write, fsync or close that fails is `capsule.write_failed` and
  ambiguous: what is on disk stays, nothing is truncated or repaired.
- The journal is a regular file of the capsule's own: a symlink, FIFO or device is never written to.
"""

from __future__ import annotations

import errno
import os
import stat

from . import files
from .errors import EvalsError, FileError
from .journal import FILE_NAME
from .prefix import Prefix, verify_from
from .verification import journal_fault, journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from .recording import Sealed

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY)


class OpenJournal:
    """The journal of the capsule in `folder`, open and verified inside the `with` block.

    The caller holds the append lock. `prefix` is the whole verified journal. Raises EvalsError with the codes
    of verification on entering.
    """

    __slots__ = ("_descriptor", "_file", "_folder", "_path", "_remember", "_remembered", "_wrote", "prefix")

    prefix: Prefix

    def __init__(self, folder: str, remembered: Prefix | None, *, remember: bool = True) -> None:
        self._folder = folder
        self._path = journal_path(folder)
        self._file = (0, 0)
        self._remember = remember
        self._descriptor = -1
        self._wrote = False
        self._remembered = remembered

    def __enter__(self) -> OpenJournal:  # noqa: PYI034 - Self needs Python 3.11
        self._descriptor = _open_for_append(self._path)
        try:
            opened = os.fstat(self._descriptor)
            self._file = (opened.st_dev, opened.st_ino)
            verdict, prefix = verify_from(
                self._descriptor, self._folder, self._remembered, remember=self._remember
            )
        except OSError as error:
            files.close_quietly(self._descriptor)
            raise journal_fault(files.system_error(error, self._path)).error() from error
        except BaseException:
            files.close_quietly(self._descriptor)
            raise
        if prefix is None:
            files.close_quietly(self._descriptor)
            raise verdict.error()
        self.prefix = prefix
        return self

    def append(self, sealed: list[Sealed]) -> None:
        """Add the lines of `sealed`, in one write and durably; `prefix` then holds them.

        Raises EvalsError `capsule.write_failed` or, by the rules above, `capsule.lock_lost`.
        """
        data = sealed[0].line if len(sealed) == 1 else b"".join([one.line for one in sealed])
        if not self._is_in_place(self.prefix.size):
            raise _not_written()
        self._write(data)
        if not self._is_in_place(self.prefix.size + len(data)):
            raise _written_elsewhere()
        self.prefix.advance([one.entry for one in sealed], data)

    def _write(self, data: bytes) -> None:
        self._wrote = True
        try:
            files.write_all(self._descriptor, data)
            os.fsync(self._descriptor)
        except (OSError, FileError) as error:
            raise _write_failed(error) from error

    def _is_in_place(self, size: int) -> bool:
        """Whether the file at the journal's path is the one held open, and of `size` bytes."""
        try:
            there = os.lstat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise _write_failed(error) from error
        is_same = stat.S_ISREG(there.st_mode) and (there.st_dev, there.st_ino) == self._file
        return is_same and there.st_size == size

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        try:
            os.close(descriptor)
        except OSError as failure:
            if self._wrote and error is None:
                raise _write_failed(failure) from failure


def _open_for_append(path: str) -> int:
    flags = files.READ_FLAGS | os.O_RDWR | os.O_APPEND | files.NO_FOLLOW
    try:
        return files.checked_regular(os.open(path, flags), path)
    except OSError as error:
        if error.errno in _NOT_WRITABLE:
            raise _write_failed(error) from error
        raise journal_fault(files.system_error(error, path)).error() from error
    except FileError as error:
        raise journal_fault(error).error() from error


def _write_failed(error: OSError | FileError) -> EvalsError:
    failure = error if isinstance(error, FileError) else files.system_error(error, FILE_NAME, "write")
    return EvalsError(
        "capsule.write_failed",
        f"an entry could not be written and made durable ({failure.message}); fix the cause, verify the "
        "capsule, and look for the entry before writing it again",
        {"errno": failure.details.get("errno")},
    )


def _not_written() -> EvalsError:
    return EvalsError(
        "capsule.lock_lost",
        f"{FILE_NAME} was changed or replaced by somebody else while the lock was held, and nothing was "
        "written; stop all writers and verify the capsule",
    )


def _written_elsewhere() -> EvalsError:
    return EvalsError(
        "capsule.lock_lost",
        f"{FILE_NAME} was changed or replaced by somebody else during the write, so what was written may be "
        "in no file; stop all writers, verify the capsule, and look for the entry before writing it again",
    )
