"""Folders below a root that are written to: opened once, and from then on reached by their descriptor only.

Rules:
- A folder is opened part by part from a descriptor of its root, as `contained` does it; missing parts are
  made on the way, but never where a link leads. What leads out of the root, or is no folder, is refused, and
  nothing is made there.
- Whatever happens in an open folder happens relative to its descriptor. Whoever renames the folder and puts
  a link in its place moves what is written along with it; nothing is ever written through that link.
- A file is written whole: a temporary file, fsync, rename. A link in its place is replaced, not followed; a
  FIFO, a device or a folder there is left alone.
- Nothing is written in a folder named `.git`, in any spelling that a file system takes for it.
- Where the system cannot work relative to a folder (Windows), resolved paths take the place of descriptors;
  they hold against links that stand there before, not against one that is swapped in meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat

from .contained import FOLDER, Walk, accepted, outside
from .errors import FileError
from .files import (
    NO_FOLLOW,
    READ_FLAGS,
    WRITE_FLAGS,
    checked_regular,
    close_quietly,
    fill,
    fsync_folder,
    read_all,
    require_replaceable,
    sha256_descriptor,
    shown,
    system_error,
)

# os.replace takes descriptors exactly where os.rename does, and only os.rename is listed.
_WALKS = bool(NO_FOLLOW) and os.supports_dir_fd.issuperset(
    (os.open, os.stat, os.mkdir, os.rename, os.unlink, os.readlink)
)
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP)
_GIT = "git's own folder; nothing else is written there"


def is_git(name: str) -> bool:
    """Whether a file system may take `name` for git's own folder (case, Windows' endings and short name)."""
    return name.rstrip(". ").casefold() in (".git", "git~1")


class Folder:
    """An open folder below a root; `called` is its path for people. Close it, or use it in a `with` block.

    File names are single names. Errors about them name `called` too.
    """

    __slots__ = ("_descriptor", "_path", "called")

    def __init__(self, descriptor: int | None, path: str, called: str) -> None:
        self._descriptor = descriptor
        self._path = path
        self.called = called

    def __enter__(self) -> Folder:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; what was written is durable by then or has failed."""
        if self._descriptor is not None:
            close_quietly(self._descriptor)

    def make(self, name: str) -> Folder:
        """Make the folder `name` in this one and open it; may raise OSError (FileExistsError if taken)."""
        os.mkdir(self._place(name), dir_fd=self._descriptor)
        inner, called = os.path.join(self._path, name), self._called(name)
        if self._descriptor is None:
            return Folder(None, inner, called)
        return Folder(os.open(name, READ_FLAGS | FOLDER | NO_FOLLOW, dir_fd=self._descriptor), inner, called)

    def put(self, name: str, data: bytes) -> None:
        """Make `data` the content of the file `name`, all of it or nothing; `sync` makes its name durable.

        Raises FileError `file.not_regular` for what is not replaced, and `file.write_failed`.
        """
        called = self._called(name)
        temporary = self._place(f".{name[:64]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            self._require_replaceable(name)
            flags = WRITE_FLAGS | os.O_CREAT | os.O_EXCL | NO_FOLLOW
            descriptor = os.open(temporary, flags, 0o644, dir_fd=self._descriptor)
            try:
                fill(descriptor, (data,))
                folder = self._descriptor
                os.replace(temporary, self._place(name), src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                self._remove_quietly(temporary)
                raise
        except OSError as error:
            raise system_error(error, called, "write") from error

    def sync(self) -> None:
        """Make the names in this folder durable (FileError `file.write_failed`)."""
        try:
            if self._descriptor is None:
                fsync_folder(self._path)
            else:
                os.fsync(self._descriptor)
        except OSError as error:
            raise system_error(error, self.called, "write") from error

    def read(self, name: str, *, limit: int) -> bytes:
        """The bytes of the regular file `name`; FileError as `files.open_regular` and `files.read_all`."""
        return read_all(self._open(name), self._called(name), limit)

    def sha256(self, name: str) -> str:
        """SHA-256 (lower-case hex) of the regular file `name`; FileError as `files.open_regular`."""
        return sha256_descriptor(self._open(name), self._called(name))

    def holds(self, name: str) -> bool:
        """Whether anything stands at `name`, as far as that can be seen."""
        try:
            os.stat(self._place(name), dir_fd=self._descriptor, follow_symlinks=False)
        except OSError:
            return False
        return True

    def stands_at(self, root: str, path: str) -> bool:
        """Whether `path` below `root` leads to this folder (FileError `file.unreadable` if unclear)."""
        if self._descriptor is None:
            return os.path.realpath(os.path.join(root, path)) == self._path
        try:
            found = Walk(root, f"{path}/.").open()
            try:
                return os.path.samestat(os.fstat(found), os.fstat(self._descriptor))
            finally:
                close_quietly(found)
        except FileError:
            return False
        except OSError as error:
            if error.errno in (errno.ENOENT, *_NO_FOLDER):
                return False
            raise system_error(error, path) from error

    def _place(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self._path, name)

    def _called(self, name: str) -> str:
        return f"{self.called}/{name}"

    def _open(self, name: str) -> int:
        try:
            descriptor = os.open(self._place(name), READ_FLAGS | NO_FOLLOW, dir_fd=self._descriptor)
        except OSError as error:
            raise system_error(error, self._called(name)) from error
        return checked_regular(descriptor, self._called(name))

    def _require_replaceable(self, name: str) -> None:
        try:
            kind = os.stat(self._place(name), dir_fd=self._descriptor, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        require_replaceable(kind, self._called(name))

    def _remove_quietly(self, place: str) -> None:
        try:
            os.unlink(place, dir_fd=self._descriptor)
        except OSError:
            pass


def make_folder_inside(root: str, path: str) -> Folder:
    """Open the folder `path` below `root` for writing; its missing parts are made.

    Raises FileError `path.invalid` (a path of the wrong form, git's own folder, something that is no folder),
    `path.outside_root`, or `file.write_failed`, each naming the part that it is about.
    """
    accepted(path)
    base = os.path.realpath(root)
    reached: list[str] = []
    try:
        if _WALKS:
            return Folder(_Making(base, path, reached).open(), os.path.join(base, path), path)
        return Folder(None, _made_by_path(base, path, reached), path)
    except FileNotFoundError as error:
        raise _unfit(reached, "a link that leads nowhere") from error
    except OSError as error:
        if error.errno in _NO_FOLDER:
            raise _unfit(reached, "not a folder; bundles are written below it") from error
        raise system_error(error, "/".join(reached), "write") from error


def _unfit(reached: list[str], reason: str) -> FileError:
    name = shown("/".join(reached))
    return FileError("path.invalid", f"{name}: {reason}", {"path": name, "errno": None})


class _Making(Walk):
    """A walk that makes the missing folders of the path itself; `reached` are the parts that it came to."""

    def __init__(self, root: str, path: str, reached: list[str]) -> None:
        super().__init__(root, f"{path}/.")
        self._own = len(self._parts)
        self._reached = reached

    def _follow(self, name: str) -> bool:
        # Parts of a link's target lie above the path's own on the stack of those to come.
        own = len(self._parts) < self._own
        if own:
            self._own = len(self._parts)
            self._reached.append(name)
            self._called = "/".join(self._reached)
        if is_git(name):
            raise _unfit(self._reached, _GIT)
        try:
            return super()._follow(name)
        except FileNotFoundError:
            if not own:
                raise
        self._make(name)
        return super()._follow(name)

    def _make(self, name: str) -> None:
        try:
            os.mkdir(name, dir_fd=self._folders[-1])
            os.fsync(self._folders[-1])
        except FileExistsError:
            pass  # another run was faster; what it made is looked at like anything else


def _made_by_path(base: str, path: str, reached: list[str]) -> str:
    folder = base
    for part in (part for part in path.split("/") if part not in ("", ".")):
        reached.append(part)
        entry = os.path.join(folder, part)
        folder = os.path.realpath(entry)
        if os.path.commonpath([base, folder]) != base:
            raise outside("/".join(reached))
        if any(map(is_git, os.path.relpath(folder, base).split(os.sep))):
            raise _unfit(reached, _GIT)
        if not os.path.lexists(entry):
            _make_by_path(entry)
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return folder


def _make_by_path(folder: str) -> None:
    try:
        os.mkdir(folder)
        fsync_folder(os.path.dirname(folder))
    except FileExistsError:
        pass  # as in a walk
