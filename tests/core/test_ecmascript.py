"""ECMAScript's number layout, key order and white space."""

from __future__ import annotations

import pytest

from evals_cli.core import ecmascript


@pytest.mark.parametrize(
    ("key", "index"),
    [("0", True), ("7", True), ("4294967294", True), ("4294967295", False), ("99999999999", False),
     ("01", False), ("", False), ("-1", False), ("1e3", False), ("1.5", False), ("٣", False)],
)  # fmt: skip
def test_array_indices_are_plain_decimals_below_two_to_the_32(key: str, index: bool) -> None:
    assert ecmascript.is_array_index(key) is index


def test_characters_above_the_surrogates_sort_after_astral_ones() -> None:
    assert ecmascript.object_order(["\ufb03", "\U0001f600", "a"]) == ["a", "\U0001f600", "\ufb03"]


def test_no_keys_have_an_order_too() -> None:
    assert ecmascript.object_order([]) == []


def test_trim_takes_ecmascript_white_space_only() -> None:
    assert ecmascript.trim("\ufeff\xa0 a\u2029") == "a"
    assert ecmascript.trim("\x1c\x85") == "\x1c\x85"


def test_number_layout_of_every_exponent_reads_back() -> None:
    for exponent in range(-320, 309):
        for digits in ("1", "1.5", "1.2345678901234567"):
            value = float(f"{digits}e{exponent}")
            assert float(ecmascript.number_text(value)) == value
