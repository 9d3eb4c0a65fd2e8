"""Bytes that are nearly right: seeded changes of a good document, at the level of bytes and of its structure.

The same dice give the same bytes, so that whatever is found can be made again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

# Bytes at which readers of text and JSON have stumbled before.
TOKENS = (
    b"",
    b"\0",
    b"\n",
    b"\r\n",
    b"\x1b[31m",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\\ud800",
    b"\\u0000",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"-",
    b"-0",
    b"1e400",
    b"1E-400",
    b"9007199254740993",
    b"1" * 400,
    b"NaN",
    b"Infinity",
    b'"__proto__":1,',
    b'{"a":' * 200,
    b"[" * 500,
    b"../" * 3,
    b"/etc/passwd",
    b"C:\\",
    b"//",
    b"T24:00:00Z",
    b"2026-02-30",
    b"[[a.b]]\n",
    b'"""',
    b"'''",
    b"inf",
    b"--",
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        1e300,
        2**53 + 1,
        "",
        " ",
        "\0",
        "\ud800",
        "a\nb",
        "\u202e",
        "../x",
        "/x",
    ),
    *("x" * 3000, "\u00e9", "\U0001f600", "2026-01-01T00:00:00Z", [], {}, [[]], [None], {"": {}}, {"a": [1]}),
    *("C:\\x", "a\\b", "a/../b", "-", "SE9", "__proto__", 10**400, -0.0, "1" * 64, ["a", "a"]),
)
_MOST = 64 * 1024


def mutated(dice: Random, seed: bytes) -> bytes:
    """One to four changes of `seed`."""
    data = seed
    for _ in range(dice.randint(1, 4)):
        data = dice.choice(_CHANGES)(dice, data)[:_MOST]
    return data


def _flip(dice: Random, data: bytes) -> bytes:
    if not data:
        return b"\x80"
    place = dice.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]


def _span(dice: Random, data: bytes) -> tuple[int, int]:
    first = dice.randint(0, len(data))
    return first, min(len(data), first + dice.choice((1, 2, 8, 64, 1024)))


def _cut(dice: Random, data: bytes) -> bytes:
    first, last = _span(dice, data)
    return data[:first] + data[last:]


def _end(dice: Random, data: bytes) -> bytes:
    return data[: dice.randint(0, len(data))]


def _double(dice: Random, data: bytes) -> bytes:
    first, last = _span(dice, data)
    return data[:last] + data[first:last] + data[last:]


def _insert(dice: Random, data: bytes) -> bytes:
    place = dice.randint(0, len(data))
    return data[:place] + dice.choice(TOKENS) + data[place:]


def _overwrite(dice: Random, data: bytes) -> bytes:
    first, last = _span(dice, data)
    return data[:first] + dice.choice(TOKENS) + data[last:]


def _restructure(dice: Random, data: bytes) -> bytes:
    """Change a value, a key or a member somewhere in a JSON document, or on one line of several."""
    lines = data.split(b"\n") if data.count(b"\n") > 3 and data[:1] == b"{" and data[1:2] != b"\n" else [data]
    place = dice.randrange(len(lines))
    try:
        document = json.loads(lines[place])
    except (ValueError, RecursionError):
        return _insert(dice, data)
    changed = _changed(dice, document, 12)
    separators = (",", ":") if len(lines) > 1 else (", ", ": ")
    lines[place] = json.dumps(changed, separators=separators).encode()
    return b"\n".join(lines)


def _changed(dice: Random, value: Any, depth: int) -> Any:
    """`value` with one change somewhere in it."""
    if depth and isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        return _changed_member(dice, value, key, depth)
    if depth and isinstance(value, list) and value and dice.random() < 0.8:
        place = dice.randrange(len(value))
        return [*value[:place], _changed(dice, value[place], depth - 1), *value[place + 1 :]]
    if isinstance(value, list) and dice.random() < 0.5:
        return value * 2
    return dice.choice(VALUES)


def _changed_member(dice: Random, value: dict[str, Any], key: str, depth: int) -> dict[str, Any]:
    what = dice.random()
    if what < 0.1:
        return {name: item for name, item in value.items() if name != key}
    if what < 0.2:
        return {**value, str(dice.choice(VALUES))[:40]: dice.choice(VALUES)}
    return {**value, key: _changed(dice, value[key], depth - 1)}


_CHANGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(_flip, _cut, _end, _double, _insert, _overwrite),
    *(_restructure, _restructure, _restructure, _restructure),
)
