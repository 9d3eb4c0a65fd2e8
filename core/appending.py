"""Appending: the journal held open, verified and locked, and bytes added to its end.

Rules (source document):
- Verification comes before everything else, from the bytes on disk, on the descriptor that is written to.
- Bytes are written in a loop, then fsynced. A write, fsync or close that fails is `capsule.write_failed` and
  ambiguous: what is on disk stays, nothing is truncated or repaired.
- The journal is a regular file of the capsule's own: a symlink, FIFO or device is never written to.
"""

from __future__ import annotations

import errno
import os

from . import files
from .errors import EvalsError, FileError
from .journal import FILE_NAME
from .prefix import Prefix, verify_from
from .verification import journal_fault, journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY)


class OpenJournal:
    """The journal of the capsule in `folder`, open and verified inside the `with` block.

    The caller holds the append lock. `prefix` is the whole verified journal. Raises EvalsError with the codes
    of verification on entering.
    """

    __slots__ = ("_descriptor", "_folder", "_remember", "_remembered", "_wrote", "prefix")

    prefix: Prefix

    def __init__(self, folder: str, remembered: Prefix | None, *, remember: bool = True) -> None:
        self._folder = folder
        self._remember = remember
        self._descriptor = -1
        self._wrote = False
        self._remembered = remembered

    def __enter__(self) -> OpenJournal:  # noqa: PYI034 - Self needs Python 3.11
        path = journal_path(self._folder)
        self._descriptor = _open_for_append(path)
        try:
            verdict, prefix = verify_from(
                self._descriptor, self._folder, self._remembered, remember=self._remember
            )
        except OSError as error:
            files.close_quietly(self._descriptor)
            raise journal_fault(files.system_error(error, path)).error() from error
        except BaseException:
            files.close_quietly(self._descriptor)
            raise
        if prefix is None:
            files.close_quietly(self._descriptor)
            raise verdict.error()
        self.prefix = prefix
        return self

    def write(self, data: bytes) -> None:
        """Add `data` to the journal, durably. Raises EvalsError `capsule.write_failed`."""
        self._wrote = True
        try:
            files.write_all(self._descriptor, data)
            os.fsync(self._descriptor)
        except (OSError, FileError) as error:
            raise _write_failed(error) from error

    def is_untouched(self) -> bool:
        """Whether the journal still has the size of `prefix`. Raises EvalsError `capsule.write_failed`."""
        try:
            return os.fstat(self._descriptor).st_size == self.prefix.size
        except OSError as error:
            raise _write_failed(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            os.close(self._descriptor)
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
