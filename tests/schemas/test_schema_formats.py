"""Times are held to RFC 3339, and patterns mean what they mean in ECMAScript."""

from __future__ import annotations

import pytest

from evals_cli.schemas.formats import compiled, is_date_time


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T09:30:00Z",
        "2026-01-31t09:30:00z",
        "2026-01-31T09:30:00.123456789+05:30",
        "2024-02-29T23:59:59-00:00",
        "2000-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2017-01-01T01:29:60+01:30",
        "2016-12-31T15:59:60-08:00",
    ],
)
def test_a_time_of_rfc_3339_is_one(text: str) -> None:
    assert is_date_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31T09:30:00",
        "2026-01-31 09:30:00Z",
        "2026-01-31T09:30Z",
        "2026-01-31T09:30:00.Z",
        "2026-01-31T09:30:00Z\n",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T12:00:60Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
        "2026-01-01T00:00:00+0000",
        "２０26-01-31T09:30:00Z",
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    assert not is_date_time(text)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^[a-z]+$", "abc", True),
        ("^[a-z]+$", "abc\n", False),
        ("b", "abc", True),
        (r"^\d+$", "12", True),
        (r"^\d+$", "١٢", False),
        (r"^\w+$", "a_1", True),
        (r"^\w+$", "é", False),
        (r"^\W$", "é", True),
        (r"^\s$", "\ufeff", True),
        (r"^\S+$", "a\u00a0", False),
        (r"^[\s\d]+$", "1 2", True),
        (r"^[\d-]+$", "1-2", True),
        ("^a.b$", "a\u2028b", False),
        ("^a.b$", "a-b", True),
        ("^[.$]+$", "$.", True),
        ("^[[]$", "[", True),
        (r"^\$\.$", "$.", True),
        (r"^[^\]]+$", "ab", True),
    ],
)
def test_a_pattern_finds_what_ecmascript_finds(pattern: str, text: str, found: bool) -> None:
    assert (compiled(pattern).search(text) is not None) is found


def test_a_pattern_is_compiled_once() -> None:
    assert compiled("^once$") is compiled("^once$")
