"""Strict reading: JSON whose objects may not repeat a key, for documents that are evidence.

Two readers that disagree about a repeated key see two documents in one file, so the readers of bundles,
cases, suites and packets refuse it and say where it stands. Everything else is as `canonical.loads`.
"""

from __future__ import annotations

from .canonical import decode_utf8, decoder, parse
from .errors import EvalsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Repeated(dict[str, "Any"]):
    """An object that repeats `key`; kept until the whole text is read, so that its path can be told."""

    key = ""


def _repeated(pairs: list[tuple[str, Any]]) -> _Repeated:
    marked = _Repeated()
    for key, value in pairs:
        if key in marked and not marked.key:
            marked.key = key
        marked[key] = value
    return marked


def loads_unique(source: bytes | str) -> Any:
    """The value of a JSON text without repeated keys.

    Raises EvalsError `json.repeated_key` (details `key` and `path`, as `$.a[0].b`) besides the errors of
    `canonical.loads`.
    """
    found_any = False

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found_any
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        found_any = True
        return _repeated(pairs)

    value = parse(decoder(unique), decode_utf8(source))
    found = _find_repeated(value, "$") if found_any else None
    if found is not None:
        key, path = found
        raise EvalsError("json.repeated_key", f"{path}: the key is written twice", {"key": key, "path": path})
    return value


def _find_repeated(value: object, path: str) -> tuple[str, str] | None:
    if isinstance(value, _Repeated):
        return value.key, member_path(path, value.key)
    children: list[tuple[str, object]] = []
    if isinstance(value, dict):
        children = [(member_path(path, key), item) for key, item in value.items()]
    elif isinstance(value, list):
        children = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    for child_path, child in children:
        found = _find_repeated(child, child_path)
        if found is not None:
            return found
    return None


def member_path(path: str, key: str) -> str:
    """The JSON path of member `key` of the object at `path`; odd keys are quoted and escaped."""
    if key.isascii() and key.replace("_", "a").replace("-", "a").isalnum():
        return f"{path}.{key}"
    return f"{path}[{key!a}]"
