"""JSON as the standard library reads it, made as strict as ECMAScript: the ground of the oracles.

Nothing here comes from the program under test. Numbers compare as 64-bit floats, booleans are no numbers.
"""

from __future__ import annotations

import json
from typing import Any


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a repeated key")
    return dict(pairs)


def parse(raw: bytes, *, unique: bool = False) -> Any:
    """The value in `raw`; ValueError where it is no JSON in UTF-8, or with `unique` repeats a key."""
    hook = _once if unique else None
    return json.loads(raw.decode("utf-8"), parse_constant=_refuse, parse_int=float, object_pairs_hook=hook)


def is_json(raw: bytes) -> bool:
    """Whether `raw` is JSON in UTF-8."""
    try:
        parse(raw)
    except ValueError:
        return False
    return True


def same(first: object, second: object) -> bool:
    """Whether two parsed values are the same JSON value."""
    if isinstance(first, bool) or isinstance(second, bool) or type(first) is not type(second):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(
            same(one, two) for one, two in zip(first, second, strict=False)
        )
    return first == second


def differences(first: Any, second: Any, place: str = "$") -> list[str]:
    """The JSON paths at which two parsed values differ; a missing or added key names the object."""
    if isinstance(first, dict) and isinstance(second, dict):
        if first.keys() != second.keys():
            return [f"{place} (keys)"]
        return [found for key in first for found in differences(first[key], second[key], f"{place}.{key}")]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=False))
        return [found for index, (one, two) in pairs for found in differences(one, two, f"{place}[{index}]")]
    return [] if same(first, second) else [place]
