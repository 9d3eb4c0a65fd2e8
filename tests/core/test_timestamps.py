"""Times: ECMAScript's date-time format to the calendar, and the one form that is written."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from evals_cli.core.timestamps import MAX_MS, format_ms, now_text, parse_ms


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"),
        ("2026", "2026-01-01T00:00:00.000Z"),
        ("2026-08", "2026-08-01T00:00:00.000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
        ("2026-08-20T10:11", "2026-08-20T10:11:00.000Z"),
        ("2026-08-20T10:11:12.3456789Z", "2026-08-20T10:11:12.345Z"),
        ("2026-08-20T10:11:12.5+02:30", "2026-08-20T07:41:12.500Z"),
        ("2026-08-20T23:00:00-02:00", "2026-08-21T01:00:00.000Z"),
        ("2026-12-31T24:00:00Z", "2027-01-01T00:00:00.000Z"),
        ("2026-12-31T24:00:00.000Z", "2027-01-01T00:00:00.000Z"),
        ("+010000-01-01T00:00:00.000Z", "+010000-01-01T00:00:00.000Z"),
        ("-000001-12-31T23:59:59.999Z", "-000001-12-31T23:59:59.999Z"),
        ("+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.000Z"),
        ("-271821-04-20T00:00:00.000Z", "-271821-04-20T00:00:00.000Z"),
        ("0000-02-29", "0000-02-29T00:00:00.000Z"),
    ],
)
def test_accepted_and_written(text: str, written: str) -> None:
    ms = parse_ms(text)
    assert ms is not None
    assert format_ms(ms) == written


@pytest.mark.parametrize(
    "text",
    [
        "", "foo 1", "26", "2026-13-01", "2026-00-01", "2026-02-30", "2025-02-29", "1900-02-29", "2026-04-31",
        "2026-01-00", "-000000-01-01", "2026-01-01T24:00:01Z", "2026-01-01T24:00:00.001Z",
        "2026-01-01T24:01Z",
        "2026-01-01T25:00Z", "2026-01-01T00:60Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00+24:00", "2026-01-01T00:00+01:60", "2026-01-01T00Z", "2026-01-01 00:00Z",
        "2026-01-01T00:00:00z", "2026-01-01Z", "2026-1-1", "2026-01-01T00:00:00Z\n",
        "+275760-09-13T00:00:00.001Z",
        "٢٠٢٦",
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    assert parse_ms(text) is None


def test_every_day_of_four_centuries_agrees_with_the_standard_library() -> None:
    epoch = datetime(1970, 1, 1)
    for days in range(0, 400 * 366, 7):
        moment = datetime(1800, 1, 1) + timedelta(days=days)
        text = moment.strftime("%Y-%m-%dT00:00:00.000Z")
        ms = (moment - epoch) // timedelta(milliseconds=1)
        assert parse_ms(text) == ms
        assert format_ms(ms) == text


def test_the_last_representable_moment_is_written() -> None:
    assert format_ms(MAX_MS) == "+275760-09-13T00:00:00.000Z"


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 8, 20, 1, 2, 3, 456789),
        datetime(2026, 8, 20, 1, 2, 3, 456789, tzinfo=timezone.utc),
        datetime(2026, 8, 20, 3, 2, 3, 456789, tzinfo=timezone(timedelta(hours=2))),
        "2026-08-20T01:02:03.456Z",
        "2026-08-20T03:02:03.456+02:00",
    ],
)
def test_a_clock_gives_a_datetime_or_a_text(moment: datetime | str) -> None:
    assert now_text(lambda: moment) == "2026-08-20T01:02:03.456Z"


def test_the_system_clock_is_the_default() -> None:
    assert abs(parse_ms(now_text()) - datetime.now(timezone.utc).timestamp() * 1000) < 60_000


def test_a_clock_that_gives_something_else_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="not a date-time"):
        now_text(lambda: "yesterday")
    with pytest.raises(TypeError):
        now_text(lambda: 5)
