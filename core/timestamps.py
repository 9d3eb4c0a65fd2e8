"""Times as evidence writes them: ECMAScript's date-time format, checked to the calendar.

Rules:
- Accepted: `YYYY`, `YYYY-MM`, `YYYY-MM-DD` or `±YYYYYY` (not `-000000`) for the year, then optionally
  `THH:mm`, `:ss`, a fraction of any length, and `Z` or `±HH:mm`. The day must exist. `24:00:00` is the end
  of its day. Nothing else that an engine happens to parse is accepted.
- Written: `YYYY-MM-DDTHH:mm:ss.sssZ`; years outside 0..9999 as `±YYYYYY`.
- A clock is a callable that gives a datetime (a naive one is UTC) or such a text; by default, the system's.
"""

from __future__ import annotations

import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    Clock = Callable[[], datetime | str]

MAX_MS = 8_640_000_000_000_000

# Compiled when a text is met that is not in the written form.
_DATE_TIME = (
    r"([0-9]{4}|[+-][0-9]{6})(?:-([0-9]{2})(?:-([0-9]{2}))?)?"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_DAY_MS = 86_400_000


def parse_ms(text: str) -> int | None:
    """Milliseconds since 1970 of a date-time text (without an offset: UTC), None where it is not one."""
    parts = _parts(text)
    if parts is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = parts
    date = _day_number(year or "", int(month or 1), int(day or 1))
    clock = _time_ms(int(hour or 0), int(minute or 0), int(second or 0), fraction or "")
    offset = _offset_ms(zone)
    if date is None or clock is None or offset is None:
        return None
    total = date * _DAY_MS + clock - offset
    return total if -MAX_MS <= total <= MAX_MS else None


def _parts(text: str) -> tuple[str | None, ...] | None:
    """Year, month, day, hour, minute, second, fraction and zone as written; None where the form is wrong."""
    if _is_written_form(text):
        return text[:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19], text[20:23], "Z"
    match = re.compile(_DATE_TIME).fullmatch(text)
    return None if match is None else match.groups()


def _is_written_form(text: str) -> bool:
    """Whether `text` has the layout of `YYYY-MM-DDTHH:mm:ss.sssZ`, which nearly every time has."""
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16] + text[17:19] + text[20:23]
    marks = text[4:5] + text[7:8] + text[10:11] + text[13:14] + text[16:17] + text[19:20] + text[23:]
    return marks == "--T::.Z" and len(digits) == 17 and digits.isascii() and digits.isdecimal()


def _day_number(year_text: str, month: int, day: int) -> int | None:
    year = int(year_text)
    if year_text == "-000000" or not 1 <= month <= 12 or not 1 <= day <= _month_length(year, month):
        return None
    return _days_from_civil(year, month, day)


def _month_length(year: int, month: int) -> int:
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if leap else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days_from_civil(year: int, month: int, day: int) -> int:
    # Proleptic Gregorian days since 1970-01-01, counted in years that begin in March.
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _civil_from_days(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def _time_ms(hour: int, minute: int, second: int, fraction: str) -> int | None:
    if hour == 24:
        return _DAY_MS if minute == second == 0 and not fraction.strip("0") else None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 1000 + int((fraction + "000")[:3])


def _offset_ms(zone: str | None) -> int | None:
    if zone is None or zone == "Z":
        return 0
    hour, minute = int(zone[1:3]), int(zone[4:6])
    if hour > 23 or minute > 59:
        return None
    return (hour * 60 + minute) * (60_000 if zone[0] == "+" else -60_000)


def format_ms(ms: int) -> str:
    """`ms` since 1970 as `YYYY-MM-DDTHH:mm:ss.sssZ`; years outside 0..9999 get a sign and six digits."""
    days, rest = divmod(ms, _DAY_MS)
    year, month, day = _civil_from_days(days)
    seconds, milli = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+07d}"
    return f"{shown}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milli:03d}Z"


def now_text(clock: Clock | None = None) -> str:
    """The time that `clock` (default: the system's) gives, as `YYYY-MM-DDTHH:mm:ss.sssZ`.

    Raises ValueError where the clock gives a text that is not a date-time, TypeError for another type.
    """
    if clock is None:
        return format_ms(time.time_ns() // 1_000_000)
    moment = clock()
    if isinstance(moment, str):
        ms = parse_ms(moment)
        if ms is None:
            raise ValueError(f"the clock gave {moment!r}, which is not a date-time")
        return format_ms(ms)
    return format_ms(_datetime_ms(moment))


def _datetime_ms(moment: datetime) -> int:
    from datetime import datetime, timedelta, timezone

    if not isinstance(moment, datetime):
        raise TypeError("a clock gives a datetime or a date-time text")
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
    return (aware - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
