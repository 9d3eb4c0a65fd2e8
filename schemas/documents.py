"""How a document that people write becomes a value: JSON by the strict reader, TOML by the standard's.

Rules:
- The file name decides: `*.toml` (in any case) is TOML, everything else is JSON.
- JSON is read by the reader that the caller hands in, so that hashes and refusals are the project's own.
- TOML is strict UTF-8 without a byte-order mark. Its numbers become ECMAScript's, as JSON's do: an integer
  beyond 2^53 is the nearest float. NaN and infinities, which JSON does not have, are refused.
- TOML's dates and times become their RFC 3339 text (`2026-01-31T09:30:00Z`), since every schema here has
  times as strings.
- A TOML text is limited to TOML_LIMIT bytes: its reader is far slower than JSON's.

Errors are EvalsError `toml.invalid` besides those of the JSON reader.
"""

from __future__ import annotations

import sys
from importlib import import_module

from ..core.errors import EvalsError
from .validator import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["TOML_LIMIT", "is_toml", "parse_document", "problems"]

TOML_LIMIT = 4 * 1024 * 1024

_EXACT = 2**53


def is_toml(name: str) -> bool:
    """Whether the file name `name` says that its content is TOML."""
    return name.lower().endswith(".toml")


def parse_document(name: str, raw: bytes, load_json: Callable[[bytes], Any]) -> Any:
    """The value of the document `raw`, read as the file name `name` says."""
    return _parse_toml(raw) if is_toml(name) else load_json(raw)


def _parse_toml(raw: bytes) -> Any:
    if len(raw) > TOML_LIMIT:
        raise EvalsError("toml.invalid", f"the document is larger than {TOML_LIMIT} bytes")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EvalsError("toml.invalid", f"not valid UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise EvalsError("toml.invalid", "a byte-order mark is not TOML; save the file without one")
    try:
        return _plain(_loads(text), "$")
    except RecursionError:
        raise EvalsError("toml.invalid", "nested too deeply; expected a flatter document") from None
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise EvalsError("toml.invalid", reason[:1].lower() + reason[1:]) from None


def _loads(text: str) -> Any:
    # Before Python 3.11 the same reader is a package of its own.
    return import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(text)


def _plain(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return _number(value, path)
    return value.isoformat().replace("+00:00", "Z")


def _number(value: float, path: str) -> int | float:
    if isinstance(value, int) and -_EXACT <= value <= _EXACT:
        return value
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if number - number != 0:
        raise EvalsError(
            "toml.invalid", f"{path}: not a finite number; JSON and this project have only those"
        )
    return int(number) if number.is_integer() and -_EXACT <= number <= _EXACT else number
