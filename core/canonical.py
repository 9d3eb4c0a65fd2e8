r"""Canonical JSON: the one text of a value that every hash is taken over, and the reader that goes with it.

Rules (ECMA-262 JSON, RFC 8259, observed on a reference implementation):
- Reading takes strict UTF-8 without a byte-order mark; white space is space, tab, LF and CR; NaN,
  Infinity, comments, trailing commas and raw control characters are refused.
- Every number is a 64-bit float. One that is integral and exact comes back as int, any other as float.
- A repeated key: the last one wins, at the place of the first. `strict_json.loads_unique` refuses instead.
- At most MAX_DEPTH levels of nesting and MAX_BYTES of text, else a typed error; never RecursionError or
  MemoryError.
- Canonical text has no white space; keys in `ecmascript.object_order`; numbers by
  `ecmascript.number_text`, non-finite ones as null; only `"`, `\`, U+0000..U+001F and lone surrogates are
  escaped.
- Printed documents (`pretty_json`) have two spaces a level, insertion order and a final LF.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring as _quote

from .digest import sha256_of
from .ecmascript import as_float, join_surrogates, number_text, object_order
from .errors import EvalsError, UnsupportedValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# One interpreter frame a level, well inside the default recursion limit of 1,000.
MAX_DEPTH = 384
# A text of nothing but brackets takes some thirty times its size in memory.
MAX_BYTES = 64 * 1024 * 1024

_EXACT = 2**53
_SURROGATE = re.compile("[\ud800-\udfff]")
_RAW_SURROGATE = r"(\\*)([\ud800-\udfff])"  # compiled when a text needs it


def _number(text: str) -> int | float:
    if len(text) < 16:
        return int(text)
    value = float(text)
    return int(value) if -_EXACT <= value <= _EXACT else value


def _real(text: str) -> int | float:
    value = float(text)
    return int(value) if -_EXACT <= value <= _EXACT and value.is_integer() else value


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is not JSON")


def decoder(pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> json.JSONDecoder:
    """A reader with ECMAScript's numbers; `pairs_hook` may judge the members of each object."""
    return json.JSONDecoder(
        parse_int=_number, parse_float=_real, parse_constant=_refuse_constant, object_pairs_hook=pairs_hook
    )


_LAST_KEY_WINS = decoder()


def loads(source: bytes | str) -> Any:
    """The value of a JSON text; a repeated key keeps its last value.

    Raises EvalsError `json.invalid` (details `line` and `column`, from 1), `json.too_deep` or
    `json.too_large`.
    """
    return parse(_LAST_KEY_WINS, decode_utf8(source))


def decode_utf8(source: bytes | str) -> str:
    """The text of `source`: strict UTF-8, at most MAX_BYTES bytes (characters, where it is text already).

    Raises EvalsError `json.invalid` or `json.too_large`, TypeError for another type.
    """
    if not isinstance(source, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"JSON is read from bytes or str, not from {type(source).__name__}")
    if len(source) > MAX_BYTES:
        raise _too_large()
    if isinstance(source, str):
        return source if source.isascii() else re.sub(_RAW_SURROGATE, _escape_surrogate, source)
    raw = bytes(source)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise EvalsError(
            "json.invalid",
            f"line {line}, byte {column}: not valid UTF-8",
            {"line": line, "column": column},
        ) from None


def _escape_surrogate(match: re.Match[str]) -> str:
    # As an escape the reader joins it with its other half, whichever way that is written. After an odd
    # number of backslashes it would be half of an escape that does not exist, which the reader refuses.
    slashes, surrogate = match.groups()
    return match.group() if len(slashes) % 2 else f"{slashes}\\u{ord(surrogate):04x}"


def parse(reader: json.JSONDecoder, text: str) -> Any:
    """The value that `reader` finds in `text`; errors as `loads`."""
    _check_depth(text)
    try:
        return reader.decode(text)
    except json.JSONDecodeError as error:
        raise EvalsError(
            "json.invalid",
            f"line {error.lineno}, column {error.colno}: {_reason(error)}",
            {"line": error.lineno, "column": error.colno},
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except MemoryError:
        raise _too_large() from None
    except ValueError as error:
        raise EvalsError("json.invalid", str(error), {"line": None, "column": None}) from None


def _reason(error: json.JSONDecodeError) -> str:
    if error.pos == 0 and error.doc[:1] == "\ufeff":
        return "a byte-order mark is not JSON; save the file without one"
    return error.msg[:1].lower() + error.msg[1:]


def _too_deep() -> EvalsError:
    return EvalsError("json.too_deep", f"nested deeper than {MAX_DEPTH} levels")


def _too_large() -> EvalsError:
    return EvalsError("json.too_large", f"larger than the limit of {MAX_BYTES} bytes, or than memory")


def _check_depth(text: str) -> None:
    # The number of opening brackets bounds the depth, so nearly every text is cleared by two counts. Strings
    # are skipped by hand: a pattern that repeats a group for each of their characters takes memory for each.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    mark = re.compile(r'["\[\]{}]')
    depth = 0
    found = mark.search(text)
    while found is not None:
        position = found.end()
        if found.group() == '"':
            position = _after_string(text, position)
        else:
            depth += 1 if found.group() in "[{" else -1
        if depth > MAX_DEPTH:
            raise _too_deep()
        found = mark.search(text, position)


def _after_string(text: str, position: int) -> int:
    """Where the string whose content begins at `position` has ended; the end of the text where it has not."""
    while True:
        end = text.find('"', position)
        if end < 0:
            return len(text)
        content = text[position:end]
        position = end + 1
        if (len(content) - len(content.rstrip("\\"))) % 2 == 0:
            return position


def quote(text: str) -> str:
    """A string as canonical JSON prints it, quotes included."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return _quote(text)
    joined = join_surrogates(text)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", _quote(joined))


def canonical_json(value: object) -> str:
    """The canonical text of `value` (None, bool, int, float, str, list, tuple, dict with str keys).

    Raises UnsupportedValue (`json.unsupported_value`, also a ValueError) for other types, other keys and
    cycles, and EvalsError `json.too_deep`.
    """
    try:
        return _text(value, MAX_DEPTH, ())
    except RecursionError:
        raise _too_deep() from None


def _text(value: object, room: int, parents: tuple[int, ...]) -> str:
    # Plain loops: before Python 3.12 a comprehension is a frame of its own and would halve the depth.
    if isinstance(value, str):
        return quote(value)
    items = []
    if isinstance(value, dict):
        parents = _enter(value, room, parents)
        for key in _ordered(value):
            items.append(f"{quote(key)}:{_text(value[key], room - 1, parents)}")
        return "{" + ",".join(items) + "}"
    if isinstance(value, (list, tuple)):
        parents = _enter(value, room, parents)
        for item in value:
            items.append(_text(item, room - 1, parents))
        return "[" + ",".join(items) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        number = as_float(value)
        return number_text(value) if number - number == 0 else "null"
    raise UnsupportedValue(f"a value of type {type(value).__name__} is not JSON")


def _enter(value: object, room: int, parents: tuple[int, ...]) -> tuple[int, ...]:
    if room <= 0:
        raise _cycle_or_depth(value, parents)
    if id(value) in parents:
        raise UnsupportedValue("a value contains itself")
    return (*parents, id(value))


def _cycle_or_depth(value: object, parents: tuple[int, ...]) -> EvalsError:
    if id(value) in parents:
        return UnsupportedValue("a value contains itself")
    return _too_deep()


def _ordered(value: dict[Any, object]) -> list[str]:
    plain = True
    for key in value:
        if not isinstance(key, str):
            raise UnsupportedValue(f"an object key of type {type(key).__name__} is not JSON; keys are str")
        plain = plain and key.isascii()
    if not plain and len({join_surrogates(key) for key in value}) != len(value):
        raise UnsupportedValue("two keys of an object are the same text, one of them in halves of a pair")
    return object_order(value)


def canonical_bytes(value: object) -> bytes:
    """The canonical text of `value` in UTF-8, without a line feed; errors as `canonical_json`."""
    return canonical_json(value).encode("utf-8")


def sha256_hex(data: bytes | str) -> str:
    """SHA-256 of bytes, or of a text's UTF-8, in lower-case hex.

    A lone surrogate in the text counts as U+FFFD, as encoders of the web platform have it.
    """
    if isinstance(data, str):
        data = _SURROGATE.sub("\ufffd", join_surrogates(data)).encode("utf-8")
    return sha256_of(data)


def hash_value(value: object) -> str:
    """SHA-256 over the canonical JSON of `value`, lower-case hex; errors as `canonical_json`."""
    return sha256_of(canonical_bytes(value))


def pretty_json(value: object) -> str:
    """`value` as commands print it: two spaces a level, keys as inserted, final LF.

    Errors as `canonical_json`.
    """
    try:
        return _pretty(value, "\n", MAX_DEPTH, ()) + "\n"
    except RecursionError:
        raise _too_deep() from None


def _pretty(value: object, margin: str, room: int, parents: tuple[int, ...]) -> str:
    if isinstance(value, str):
        return quote(value)
    deeper = margin + "  "
    items = []
    if isinstance(value, dict):
        parents = _enter(value, room, parents)
        _ordered(value)
        for key, item in value.items():
            items.append(f"{deeper}{quote(key)}: {_pretty(item, deeper, room - 1, parents)}")
        return "{" + ",".join(items) + margin + "}" if items else "{}"
    if isinstance(value, (list, tuple)):
        parents = _enter(value, room, parents)
        for item in value:
            items.append(deeper + _pretty(item, deeper, room - 1, parents))
        return "[" + ",".join(items) + margin + "]" if items else "[]"
    return _scalar(value)
