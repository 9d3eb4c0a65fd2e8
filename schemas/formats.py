"""String formats and patterns as the schemas mean them: RFC 3339 times, and ECMAScript's regular expressions.

Rules:
- `date-time` is RFC 3339's, with an offset, on a day that exists; a leap second only at 23:59:60 UTC.
- A pattern is ECMAScript's: `$` is the very end of the text (a trailing line feed never matches), digits
  and word characters are ASCII, and white space is ECMAScript's.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_ESCAPES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACE}
_NOT_LINE_END = r"[^\n\r\u2028\u2029]"
_PIECE = re.compile(r"\\(.)|(\[\^?)|(\])|([$.])", re.DOTALL)


def is_date_time(text: str) -> bool:
    """Whether `text` is a date and time of RFC 3339."""
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    sign, offset_hour, offset_minute = match.group(7), int(match.group(8) or 0), int(match.group(9) or 0)
    if not 1 <= month <= 12 or not 1 <= day <= _month_length(year, month):
        return False
    if hour > 23 or minute > 59 or offset_hour > 23 or offset_minute > 59:
        return False
    offset = (offset_hour * 60 + offset_minute) * (-1 if sign == "-" else 1)
    return second < 60 or (second == 60 and (hour * 60 + minute - offset) % 1440 == 1439)


def _month_length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _DAYS[month - 1]


FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "date-time": (is_date_time, "a date and time of RFC 3339, such as 2026-01-31T09:30:00.000Z"),
}

_compiled: dict[str, re.Pattern[str]] = {}


def compiled(pattern: str) -> re.Pattern[str]:
    """The Python expression that finds what the ECMAScript `pattern` finds; each is compiled once."""
    found = _compiled.get(pattern)
    if found is None:
        found = _compiled[pattern] = re.compile(_translated(pattern))
    return found


def _translated(pattern: str) -> str:
    in_class = False

    def piece(match: re.Match[str]) -> str:
        nonlocal in_class
        escaped, opening, closing, _mark = match.groups()
        if escaped is not None:
            return _escape(match.group(), escaped, in_class)
        if in_class:
            in_class = closing is None
            # A bracket inside a class is itself; Python warns about one that is not escaped.
            return match.group().replace("[", r"\[")
        if opening is not None:
            in_class = True
            return opening
        return _outside(match.group())

    return _PIECE.sub(piece, pattern)


def _escape(text: str, letter: str, in_class: bool) -> str:
    members = _ESCAPES.get(letter.lower())
    if members is None or (in_class and letter.isupper()):
        return text
    if in_class:
        return members
    return f"[^{members}]" if letter.isupper() else f"[{members}]"


def _outside(mark: str) -> str:
    if mark == "$":
        return r"\Z"
    return _NOT_LINE_END if mark == "." else mark
