"""Paths that a document names: relative, inside their root, and still inside it when they are opened.

Rules:
- A path is POSIX-style, relative and non-empty, without `..` parts (either slash separates), not absolute
  on POSIX or Windows, and without NUL; otherwise `path.invalid`.
- Symlinks are followed by hand, part by part, from a descriptor of the root: a link that leads out of the
  root is `path.outside_root`, also when it is swapped in during the walk, since every step opens a single
  name with O_NOFOLLOW inside a folder that is already open.
- Only regular files are read; errors are those of `files` besides the two above.
- Where the system cannot open relative to a folder (Windows), the resolved path is compared with the
  root's and the opened file with the one that the path still names.
"""

from __future__ import annotations

import errno
import os
import stat

from .errors import FileError
from .files import (
    NO_FOLLOW,
    READ_FLAGS,
    checked_regular,
    close_quietly,
    read_all,
    sha256_descriptor,
    shown,
    system_error,
)

MAX_LINKS = 40

FOLDER = getattr(os, "O_DIRECTORY", 0)
_WALKS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and bool(NO_FOLLOW)


def relative_problem(path: object) -> str | None:
    """Why a path in a document cannot be used, or None where its form is acceptable."""
    if not isinstance(path, str):
        return "a path is a string"
    if not path:
        return "the path is empty"
    if "\0" in path:
        return "the path holds a NUL character"
    if path[0] in "/\\" or (len(path) > 1 and path[1] == ":" and path[0].isascii() and path[0].isalpha()):
        return "the path is absolute; write it relative to its root"
    if ".." in path.replace("\\", "/").split("/"):
        return "the path has a '..' part; it must stay inside its root"
    return _name_problem(path)


def _name_problem(path: str) -> str | None:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return "the path holds characters that no file name can have"
    return None


def accepted(path: str, called: str | None = None) -> str:
    """`path` again where its form is acceptable; FileError `path.invalid`, about `called`, otherwise."""
    problem = relative_problem(path)
    if problem is not None:
        name = shown(path if called is None else called)
        raise FileError("path.invalid", f"{name}: {problem}", {"path": name, "errno": None})
    return path


def open_inside(root: str, path: str, *, called: str | None = None) -> int:
    """A read descriptor on the regular file `path` below the folder `root`; the caller closes it.

    Errors name the file as `called`, where readers know it by another path. Raises FileError `path.invalid`,
    `path.outside_root`, `file.missing`, `file.not_regular` or `file.unreadable`.
    """
    relative, name = accepted(path, called), path if called is None else called
    try:
        descriptor = Walk(root, relative, called=name).open() if _WALKS else _open_resolved(root, path, name)
    except OSError as error:
        raise system_error(error, name) from error
    return checked_regular(descriptor, name)


def read_inside(root: str, path: str, *, limit: int | None = None, called: str | None = None) -> bytes:
    """The bytes of the regular file `path` below `root`; errors as `open_inside`, and `file.too_large`."""
    return read_all(open_inside(root, path, called=called), path if called is None else called, limit)


def sha256_inside(root: str, path: str, *, called: str | None = None) -> str:
    """SHA-256 (lower-case hex) of the regular file `path` below `root`, streamed; errors as `open_inside`."""
    return sha256_descriptor(open_inside(root, path, called=called), path if called is None else called)


def inside_status(root: str, path: object) -> str:
    """What stands at `path` below `root`: `present` (anything at all), `missing` or `invalid`.

    `invalid` is a path of the wrong form or one that leaves the root. A link inside the root that dangles
    (or goes in a circle) is `missing`.
    """
    if not isinstance(path, str) or relative_problem(path) is not None:
        return "invalid"
    try:
        descriptor = Walk(root, path, any_kind=True).open() if _WALKS else _open_resolved(root, path, path)
    except FileError:
        return "invalid"
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return "missing"
        return "invalid" if error.errno == errno.ENAMETOOLONG else "present"
    close_quietly(descriptor)
    return "present"


def outside(path: str) -> FileError:
    """The error for a path that leads out of its root."""
    return FileError(
        "path.outside_root", f"{shown(path)}: leads out of its root", {"path": shown(path), "errno": None}
    )


class Walk:
    """One resolution of a relative path, held as a stack of open folders below the root."""

    def __init__(self, root: str, path: str, *, any_kind: bool = False, called: str | None = None) -> None:
        self._roots = (os.path.realpath(root), os.path.abspath(root))
        self._called = path if called is None else called
        self._any_kind = any_kind
        self._parts = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        self._folder_wanted = path.endswith(("/", "/."))
        self._links = 0
        self._folders: list[int] = []

    def open(self) -> int:
        """The descriptor of what the path names; OSError as the system has it."""
        try:
            self._folders.append(os.open(self._roots[0], READ_FLAGS | FOLDER))
            while self._parts:
                name = self._parts.pop()
                if name == "..":
                    self._leave()
                elif self._follow(name):
                    continue
                elif self._parts:
                    self._folders.append(self._open_name(name, READ_FLAGS | FOLDER | NO_FOLLOW))
                else:
                    return self._open_name(name, self._last_flags())
            return self._folders.pop()
        finally:
            for descriptor in self._folders:
                close_quietly(descriptor)

    def _open_name(self, name: str, flags: int) -> int:
        return os.open(name, flags, dir_fd=self._folders[-1])

    def _last_flags(self) -> int:
        # O_PATH sees that something stands there without needing the right to read it.
        access = os.O_PATH | os.O_CLOEXEC if self._any_kind and hasattr(os, "O_PATH") else READ_FLAGS
        return access | NO_FOLLOW | (FOLDER if self._folder_wanted else 0)

    def _leave(self) -> None:
        if len(self._folders) == 1:
            raise outside(self._called)
        close_quietly(self._folders.pop())

    def _follow(self, name: str) -> bool:
        """Whether `name` is a link; its target's parts then come next."""
        here = self._folders[-1]
        if not stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            return False
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = os.readlink(name, dir_fd=here)
        if target.startswith("/"):
            target = self._below_root(target)
            while len(self._folders) > 1:
                close_quietly(self._folders.pop())
        self._parts.extend(part for part in reversed(target.split("/")) if part not in ("", "."))
        return True

    def _below_root(self, target: str) -> str:
        """The part of an absolute link's target below the root, as it was given or as it resolves."""
        for prefix in self._roots:
            if target == prefix or target.startswith(prefix.rstrip("/") + "/"):
                return target[len(prefix) :]
        raise outside(self._called)


def _open_resolved(root: str, path: str, called: str) -> int:
    base = os.path.realpath(root)
    resolved = os.path.realpath(os.path.join(base, path))
    if os.path.commonpath([base, resolved]) != base:
        raise outside(called)
    descriptor = os.open(resolved, READ_FLAGS)
    try:
        same = os.path.samestat(os.fstat(descriptor), os.stat(os.path.realpath(resolved)))
    except BaseException:
        close_quietly(descriptor)
        raise
    if not same:
        close_quietly(descriptor)
        raise outside(called)
    return descriptor
