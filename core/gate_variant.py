"""Variants for static inspection: which files make one up, their digest, and what its manifest declares.

Rules:
- The tree holds folders and regular files only; a symlink or special file anywhere is
  `gate.variant_invalid`. Entries named `.git` or `node_modules` are left out at every depth.
- The digest is SHA-256 over each file's relative POSIX path, NUL, bytes, NUL; each folder's entries in
  `gate_collation` order, depth first.
- Every file is opened without following a link and without blocking, and must then still be the regular
  file that its path names. This is a reading of a quiet tree, not a defence against a host that changes it.
- The manifest is `variant.json` (of JSON that repeats a key the last one counts) or, where the caller can
  read TOML, `variant.toml`; both is an error that names both.
- name: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}`. effect_class: SE0 to SE4, a declaration and no permission. entry
  (default `run.js`): a relative path without backslash or `..` segment to a file inside the digest.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .canonical import loads
from .envelope import EFFECT_CLASSES
from .errors import EvalsError, FileError
from .files import (
    as_path,
    close_quietly,
    exists,
    open_regular,
    read_all,
    read_chunks,
    shown,
    system_error,
)
from .gate_collation import collation_key

JSON_NAME = "variant.json"
TOML_NAME = "variant.toml"
DEFAULT_ENTRY = "run.js"
MAX_MANIFEST_BYTES = 1024 * 1024

# Trees can be deep and declarations long; a message stays one that people read.
_MAX_SHOWN = 200

_LEFT_OUT = frozenset({".git", "node_modules"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_WINDOWS_ROOT = re.compile(r"[A-Za-z]:/")

Parse = Callable[[str, bytes], object]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What a variant declares, and the digest of the tree that declares it; `dir` is the path as given."""

    name: str
    effect_class: str
    entry: str
    digest: str
    dir: str


def digest_dir(path: str | os.PathLike[str]) -> str:
    """The digest of the tree at `path`, lower-case hex.

    Raises EvalsError `gate.variant_missing` (no folder there) or `gate.variant_invalid` (a link or special
    file inside, or something that cannot be read).
    """
    root = as_path(path)
    digest, _ = _digest(root)
    return digest


def load_variant(path: str | os.PathLike[str], *, parse: Parse | None = None) -> Variant:
    """The variant in the folder `path`, checked against its own digest.

    `parse(file name, bytes)` reads `variant.toml` and raises EvalsError for bad TOML; without it only
    `variant.json` is read. Raises EvalsError `gate.variant_missing` (no manifest) or
    `gate.variant_invalid`; details hold `path` where one file is at fault.
    """
    root = as_path(path)
    document = _manifest(root, parse)
    digest, files = _digest(root)
    return Variant(
        name=_declared_name(document),
        effect_class=_declared_class(document),
        entry=_declared_entry(document, files),
        digest=digest,
        dir=root,
    )


def variant_files(root: str) -> Iterator[str]:
    """The relative POSIX paths of the files in the digest, in its order; errors as `digest_dir`."""
    pending = [""]
    while pending:
        relative = pending.pop()
        kind = _kind(root, relative)
        if stat.S_ISDIR(kind):
            pending.extend(reversed(_children(root, relative)))
        elif stat.S_ISREG(kind) and relative:
            yield relative
        else:
            raise invalid(relative, "not a regular file or a folder" if relative else "not a folder")


def open_same(path: str) -> int:
    """A descriptor on the regular file that `path` itself names: no link, no FIFO, no device.

    Raises FileError as `files.open_regular`, and `file.not_regular` where the path names another file by
    the time that it is open.
    """
    descriptor = open_regular(path, follow_symlinks=False)
    try:
        opened, named = os.fstat(descriptor), os.lstat(path)
    except OSError as error:
        close_quietly(descriptor)
        raise system_error(error, path) from error
    if not (stat.S_ISREG(named.st_mode) and os.path.samestat(opened, named)):
        close_quietly(descriptor)
        raise FileError(
            "file.not_regular",
            f"{shown(path)}: changed while it was opened",
            {"path": shown(path), "errno": None},
        )
    return descriptor


def read_variant_file(root: str, relative: str, limit: int) -> bytes:
    """The bytes of one file of the tree, at most `limit` (`gate.variant_invalid`)."""
    path = _located(root, relative)
    try:
        return read_all(open_same(path), path, limit)
    except FileError as error:
        raise _unreadable(relative, path, error) from error


def _located(root: str, relative: str) -> str:
    return os.path.join(root, *relative.split("/")) if relative else root


def invalid(relative: str, reason: str) -> EvalsError:
    """The refusal of a variant because of its file or folder `relative` ("" for the variant itself)."""
    where = _brief(relative) or "the variant"
    return EvalsError("gate.variant_invalid", f"{where}: {reason}", {"path": shown(relative)})


def _brief(name: str) -> str:
    name = shown(name)
    return name if len(name) <= _MAX_SHOWN else f"{name[: _MAX_SHOWN // 2]}...{name[-_MAX_SHOWN // 2 :]}"


def _unreadable(relative: str, path: str, error: EvalsError) -> EvalsError:
    return invalid(relative, error.message.removeprefix(f"{shown(path)}: "))


def _kind(root: str, relative: str) -> int:
    path = _located(root, relative)
    try:
        # The folder itself may be named through a link; nothing below it may be one.
        return (os.lstat(path) if relative else os.stat(path)).st_mode
    except OSError as error:
        if not relative and isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise EvalsError(
                "gate.variant_missing", f"{shown(root)}: there is no such folder", {"path": ""}
            ) from error
        raise _unreadable(relative, path, system_error(error, path)) from error


def _children(root: str, relative: str) -> list[str]:
    path = _located(root, relative)
    try:
        names = os.listdir(path)
    except OSError as error:
        raise invalid(relative, f"cannot be listed ({error.strerror})") from error
    names = sorted((name for name in names if name not in _LEFT_OUT), key=collation_key)
    return [f"{relative}/{name}" if relative else name for name in names]


def _digest(root: str) -> tuple[str, frozenset[str]]:
    total = hashlib.sha256()
    files = []
    for relative in variant_files(root):
        total.update(os.fsencode(relative) + b"\0")
        _each_chunk(root, relative, total.update)
        total.update(b"\0")
        files.append(relative)
    return total.hexdigest(), frozenset(files)


def _each_chunk(root: str, relative: str, take: Callable[[bytes], None]) -> None:
    path = _located(root, relative)
    try:
        descriptor = open_same(path)
        try:
            for chunk in read_chunks(descriptor):
                take(chunk)
        except OSError as error:
            raise system_error(error, path) from error
        finally:
            close_quietly(descriptor)
    except FileError as error:
        raise _unreadable(relative, path, error) from error


def _manifest(root: str, parse: Parse | None) -> dict[str, object]:
    _kind(root, "")
    has_json, has_toml = _exists(root, JSON_NAME), _exists(root, TOML_NAME)
    if has_json and has_toml:
        raise invalid("", f"{JSON_NAME} and {TOML_NAME} are both there; keep one of them")
    if has_toml and parse is not None:
        return _mapping(TOML_NAME, _parsed(TOML_NAME, parse, root))
    if not has_json:
        raise EvalsError(
            "gate.variant_missing", f"{shown(root)}: there is no {JSON_NAME}", {"path": JSON_NAME}
        )
    return _mapping(JSON_NAME, _parsed(JSON_NAME, lambda _, raw: loads(raw), root))


def _exists(root: str, name: str) -> bool:
    path = _located(root, name)
    try:
        return exists(path)
    except FileError as error:
        raise _unreadable(name, path, error) from error


def _parsed(name: str, parse: Parse, root: str) -> object:
    raw = read_variant_file(root, name, MAX_MANIFEST_BYTES)
    try:
        return parse(name, raw)
    except EvalsError as error:
        raise invalid(name, error.message) from error


def _mapping(name: str, document: object) -> dict[str, object]:
    if not isinstance(document, dict):
        raise invalid(name, "expected an object with name, effect_class and entry")
    return document


def _declared_name(document: dict[str, object]) -> str:
    name = document.get("name")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise invalid("", "name: expected 1 to 64 ASCII letters, digits, `_` or `-`, not `_` or `-` first")
    return name


def _declared_class(document: dict[str, object]) -> str:
    effect_class = document.get("effect_class")
    if not isinstance(effect_class, str) or effect_class not in EFFECT_CLASSES:
        raise invalid("", f"effect_class: expected one of {', '.join(EFFECT_CLASSES)}")
    return effect_class


def _declared_entry(document: dict[str, object], files: frozenset[str]) -> str:
    entry = document.get("entry", DEFAULT_ENTRY)
    if not isinstance(entry, str) or "\\" in entry or entry.startswith("/") or _WINDOWS_ROOT.match(entry):
        raise invalid("", "entry: expected a relative path with forward slashes")
    segments = [segment for segment in entry.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise invalid("", "entry: no segment may be `..`")
    normal = "/".join(segments)
    # A path text can hold half a surrogate pair, which would name the file of an undecodable byte.
    if normal not in files or any("\ud800" <= character <= "\udfff" for character in normal):
        raise invalid("", f"entry: {_brief(entry)} is not a file of this variant's digest")
    return normal
