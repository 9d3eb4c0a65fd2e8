"""Files as evidence needs them: only regular files are read, and whatever is written is written whole.

Rules:
- A path is opened without blocking and must be a regular file by its descriptor: a FIFO, a device or a
  folder is `file.not_regular`, never a hang.
- A document replaces its predecessor by a temporary file in the same folder, fsync, rename and an fsync of
  the folder; on any failure the old file is whole and the temporary one is gone. What is there and no file
  (a FIFO, a device, a folder) is left alone.
- Every failure of the system is a FileError with a stable code; its details hold the path and the errno.
- Effects go through the `os` module only, looked up at each call, so that faults can be injected there.
"""

from __future__ import annotations

import errno
import os
import stat

from .digest import new_sha256
from .errors import FileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHUNK = 128 * 1024

# Flags that this platform may lack count as zero.
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY = getattr(os, "O_BINARY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
READ_FLAGS = os.O_RDONLY | _CLOEXEC | _NO_BLOCK | _BINARY
WRITE_FLAGS = os.O_WRONLY | _CLOEXEC | _BINARY

_MISSING = (errno.ENOENT, errno.ENOTDIR)
_NOT_A_FILE = (errno.EISDIR, errno.ENXIO, errno.ELOOP, errno.ENODEV)


def shown(name: object) -> str:
    """A name for people: what does not print is escaped, so that no name can steer a terminal."""
    text = os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else str(name)
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def system_error(error: OSError, path: object, doing: str = "read") -> FileError:
    """The FileError for a failed system call: `file.missing`, `file.not_regular` or `file.unreadable`.

    With `doing` = "write" every failure is `file.write_failed`.
    """
    name = shown(path)
    details = {"path": name, "errno": errno.errorcode.get(error.errno or 0)}
    reason = error.strerror or type(error).__name__
    if doing == "write":
        return FileError("file.write_failed", f"{name}: cannot be written ({reason})", details)
    if error.errno in _MISSING:
        return FileError("file.missing", f"{name}: there is no such file", details)
    if error.errno in _NOT_A_FILE:
        return FileError("file.not_regular", f"{name}: not a regular file", details)
    return FileError("file.unreadable", f"{name}: cannot be read ({reason})", details)


def as_path(path: str | os.PathLike[str]) -> str:
    """A path that a caller gave, as text.

    Raises TypeError for anything but str and os.PathLike of str, ValueError for what no path can hold.
    """
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is str or os.PathLike[str], not {type(text).__name__}")
    if "\0" in text:
        raise ValueError("a path holds no NUL character")
    os.fsencode(text)
    return text


def too_large(path: object, limit: int) -> FileError:
    """The refusal of a file of more than `limit` bytes."""
    return _refused("file.too_large", path, f"larger than the limit of {limit} bytes")


def _refused(code: str, path: object, reason: str) -> FileError:
    name = shown(path)
    return FileError(code, f"{name}: {reason}", {"path": name, "errno": None})


def open_regular(path: str | os.PathLike[str], *, follow_symlinks: bool = True) -> int:
    """A read descriptor on the regular file at `path`; the caller closes it.

    Raises FileError `file.missing`, `file.not_regular` (also a symlink where they are not followed) or
    `file.unreadable`; ValueError for a path with a NUL.
    """
    flags = READ_FLAGS if follow_symlinks else READ_FLAGS | NO_FOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise system_error(error, path) from error
    return checked_regular(descriptor, path)


def checked_regular(descriptor: int, path: object) -> int:
    """`descriptor` again where it is a regular file; otherwise it is closed and `file.not_regular` raised."""
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError as error:
        close_quietly(descriptor)
        raise system_error(error, path) from error
    if not regular:
        close_quietly(descriptor)
        raise _refused("file.not_regular", path, "not a regular file")
    return descriptor


def exists(path: str | os.PathLike[str]) -> bool:
    """Whether anything, a dangling link included, stands at `path`.

    Raises FileError `file.unreadable` where that cannot be seen: a failed look is no proof of absence.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise system_error(error, path) from error
    return True


def close_quietly(descriptor: int) -> None:
    """Close a descriptor whose content no longer matters; a failure changes nothing that was decided."""
    try:  # contextlib.suppress would cost every command an import
        os.close(descriptor)
    except OSError:
        pass


def read_chunks(descriptor: int, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes from the descriptor's position to the end, in pieces of at most `size`; may raise OSError."""
    while chunk := os.read(descriptor, size):
        yield chunk


def read_all(descriptor: int, path: object, limit: int | None = None) -> bytes:
    """Everything from an open descriptor, which is closed in any case.

    Raises FileError `file.unreadable`, or `file.too_large` past `limit` bytes (nothing more is read).
    """
    pieces: list[bytes] = []
    size = 0
    try:
        for chunk in read_chunks(descriptor):
            size += len(chunk)
            if limit is not None and size > limit:
                raise too_large(path, limit)
            pieces.append(chunk)
    except OSError as error:
        raise system_error(error, path) from error
    finally:
        close_quietly(descriptor)
    return b"".join(pieces)


def read_regular(
    path: str | os.PathLike[str], *, limit: int | None = None, follow_symlinks: bool = True
) -> bytes:
    """The bytes of the regular file at `path`; errors as `open_regular` and `read_all`."""
    return read_all(open_regular(path, follow_symlinks=follow_symlinks), path, limit)


def sha256_descriptor(descriptor: int, path: object) -> str:
    """SHA-256 (lower-case hex) of everything from an open descriptor, which is closed in any case."""
    digest = new_sha256()
    try:
        for chunk in read_chunks(descriptor, 1024 * 1024):
            digest.update(chunk)
    except OSError as error:
        raise system_error(error, path) from error
    finally:
        close_quietly(descriptor)
    found: str = digest.hexdigest()
    return found


def sha256_file(path: str | os.PathLike[str], *, follow_symlinks: bool = True) -> str:
    """SHA-256 of the regular file at `path`, streamed; errors as `open_regular`."""
    return sha256_descriptor(open_regular(path, follow_symlinks=follow_symlinks), path)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte of `data`, however short the single writes are; may raise OSError.

    Raises FileError `file.write_failed` where a write makes no progress.
    """
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view)
        if written <= 0:
            raise FileError("file.write_failed", "the system took no bytes of a write")
        view = view[written:]


def make_folders(path: str) -> None:
    """Make the folder `path` and the missing ones above it (`file.write_failed`)."""
    missing: list[str] = []
    current = path or "."
    while not os.path.isdir(current):
        missing.append(current)
        parent = os.path.dirname(current)
        if parent == current or not parent:
            break
        current = parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise system_error(OSError(errno.ENOTDIR, "not a folder"), folder, "write") from None
        except OSError as error:
            raise system_error(error, folder, "write") from error


def fsync_folder(path: str) -> None:
    """Make the names in a folder durable where the platform can open folders; may raise OSError."""
    if os.name == "nt":
        return
    descriptor = os.open(path or ".", os.O_RDONLY | _CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o644) -> None:
    """Put `data` at `path` so that a reader sees the old file or the new one, never a part.

    A FIFO, a device or a folder in its place is not replaced: `file.not_regular`. A symlink is replaced, not
    followed. Raises FileError `file.write_failed` besides; the old file is then untouched, unless only the
    last step failed: the fsync of the folder, after which the new file is in place but might not survive a
    power cut.
    """
    write_whole_from(path, (data,), mode=mode)


def write_whole_from(path: str | os.PathLike[str], pieces: Iterable[bytes], *, mode: int = 0o644) -> None:
    """As `write_whole`, of all `pieces` one after another; what their iterator raises leaves the old file."""
    target = os.fspath(path)
    _refuse_special(target)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:64]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        _write_new(temporary, pieces, mode)
        try:
            os.replace(temporary, target)
        except BaseException:
            _remove_quietly(temporary)
            raise
        fsync_folder(folder)
    except OSError as error:
        raise system_error(error, target, "write") from error


def _refuse_special(path: str) -> None:
    try:
        kind = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise system_error(error, path, "write") from error
    require_replaceable(kind, path)


def require_replaceable(mode: int, path: object) -> None:
    """Raise FileError `file.not_regular` where something of the stat mode `mode` must not be replaced."""
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise _refused("file.not_regular", path, "not a regular file, so it is not replaced")


def _write_new(path: str, pieces: Iterable[bytes], mode: int) -> None:
    descriptor = os.open(path, WRITE_FLAGS | os.O_CREAT | os.O_EXCL | NO_FOLLOW, mode)
    try:
        fill(descriptor, pieces)
    except BaseException:
        _remove_quietly(path)
        raise


def fill(descriptor: int, pieces: Iterable[bytes]) -> None:
    """Write all `pieces` to a new file and make them durable; the descriptor is closed in any case.

    May raise OSError, what the iterator raises, and FileError as `write_all`.
    """
    try:
        for piece in pieces:
            write_all(descriptor, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_quietly(path: str) -> None:
    try:  # contextlib.suppress would cost every command an import
        os.unlink(path)
    except OSError:
        pass
