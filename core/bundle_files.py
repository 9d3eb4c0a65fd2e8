"""The files of one inspected repository, each read or digested once.

Rules:
- A file is opened inside the root only, must be regular, and is read at most once for its content, under
  however many names: the digest of a document is that of the very bytes that were parsed. So the time that a
  bundle can cost is bounded by the bytes that stand below the root.
- A document is at most `limits.BUNDLE_DOCUMENT` bytes; an artifact of any size is digested as a stream.
- A digest that differs is looked at once more with CRLF read as LF, since git can write files that way: the
  problem then says so. It is a problem all the same: other bytes were vouched for. git converts texts, so
  a file past `limits.CONVERTED` is not read again.

A matching digest shows that the bytes are those that the manifest names, not that either is true.
"""

from __future__ import annotations

import hashlib
import os

from . import limits
from .contained import open_inside
from .errors import FileError
from .files import (
    close_quietly,
    read_all,
    read_chunks,
    sha256_descriptor,
    shown,
    system_error,
    too_large,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Documents

_CHUNK = 1024 * 1024


class BundleFiles:
    """Files below one root, with the digests that are already known."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._digests: dict[str, str | FileError] = {}
        # What a digest was computed of, with and without line ends as git writes them.
        self._by_file: dict[tuple[int, int], str] = {}
        self._with_lf: dict[tuple[int, int], str | None] = {}

    def read(self, path: str) -> bytes:
        """The bytes of the document at `path`.

        Raises FileError as `contained.read_inside`; past `limits.BUNDLE_DOCUMENT` `file.too_large`.
        """
        try:
            raw = read_all(open_inside(self.root, path), path, limits.BUNDLE_DOCUMENT)
        except FileError as error:
            # What cannot be judged as a document is not worth a pass over its bytes either.
            self._digests[path] = error
            raise
        self._digests[path] = hashlib.sha256(raw).hexdigest()
        return raw

    def parse(self, path: str, documents: Documents) -> Any:
        """The document at `path`; EvalsError as `read`, and of the parser."""
        return documents.parse(path, self.read(path))

    def digest(self, path: str, *, limit: int | None = None) -> str:
        """SHA-256 of the file at `path` in lower-case hex; FileError as `contained.sha256_inside`.

        A file of more than `limit` bytes is not read: `file.too_large`.
        """
        known = self._digests.get(path)
        if known is None:
            known = self._digests[path] = self._digest_now(path, limit)
        if isinstance(known, FileError):
            raise known
        return known

    def _digest_now(self, path: str, limit: int | None) -> str | FileError:
        try:
            descriptor = open_inside(self.root, path)
            key = _identity(descriptor, path, limit)
            if key in self._by_file:
                close_quietly(descriptor)
            else:
                self._by_file[key] = sha256_descriptor(descriptor, path)
            return self._by_file[key]
        except FileError as error:
            return error

    def require_regular(self, path: str) -> None:
        """Raise FileError where `path` is no regular file inside the root."""
        close_quietly(open_inside(self.root, path))

    def digest_problem(self, path: str, expected: str, *, limit: int | None = None) -> str | None:
        """Why the file at `path` does not have the digest `expected`, naming the file; None if it has."""
        try:
            actual = self.digest(path, limit=limit)
            if actual == expected:
                return None
            line_ends = self._lf_digest(path) == expected
        except FileError as error:
            return error.message
        hint = (
            "; with CRLF read as LF it matches, so git rewrote its line ends: check it out again with"
            " `-text` for it in .gitattributes"
            if line_ends
            else "; the file is not the one that was recorded"
        )
        return f"{shown(path)}: its bytes have SHA-256 {actual}; expected {shown(expected)}{hint}"

    def _lf_digest(self, path: str) -> str | None:
        descriptor = open_inside(self.root, path)
        key = _identity(descriptor, path)
        if key in self._with_lf:
            close_quietly(descriptor)
        else:
            self._with_lf[key] = _digest_with_lf(descriptor, path)
        return self._with_lf[key]


def _identity(descriptor: int, path: str, limit: int | None = None) -> tuple[int, int]:
    """What is the same for every name of an open file; one that is refused is closed."""
    try:
        status = os.fstat(descriptor)
    except OSError as error:
        close_quietly(descriptor)
        raise system_error(error, path) from error
    if limit is not None and status.st_size > limit:
        close_quietly(descriptor)
        raise too_large(path, limit)
    return status.st_dev, status.st_ino


def _digest_with_lf(descriptor: int, path: str) -> str | None:
    """The digest of an open file with CRLF read as LF, None past `limits.CONVERTED`; it is closed."""
    digest = hashlib.sha256()
    held = b""
    size = 0
    try:
        for chunk in read_chunks(descriptor, _CHUNK):
            size += len(chunk)
            if size > limits.CONVERTED:
                return None
            whole = held + chunk
            # A CR at the end of a piece waits for what follows it.
            held = b"\r" if whole.endswith(b"\r") else b""
            digest.update(whole[: len(whole) - len(held)].replace(b"\r\n", b"\n"))
    except OSError as error:
        raise system_error(error, path) from error
    finally:
        close_quietly(descriptor)
    digest.update(held)
    return digest.hexdigest()


def same_path(first: str, second: str) -> bool:
    """Whether two pointers name the same path where a backslash counts as a slash."""
    return first.replace("\\", "/") == second.replace("\\", "/")


def value_shown(value: object) -> str:
    """A value of a document for people: short, on one line, without control characters."""
    text = (shown(value) or '""') if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
