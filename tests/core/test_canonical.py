"""Canonical JSON: what is read, what is refused, and the one text that comes out."""

from __future__ import annotations

import contextlib
import hashlib
import tracemalloc

import pytest

from evals_cli.core import canonical
from evals_cli.core.errors import EvalsError, UnsupportedValue


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9007199254740993", 9007199254740992),
        ("1e400", float("inf")),
        ("-1e400", float("-inf")),
        ("9" * 5000, float("inf")),
        ("1.0", 1),
        ("1.5", 1.5),
        ("12345678901234567890", 12345678901234567890.0),
        ('{"a":1,"a":2}', {"a": 2}),
        (" \t\r\n[1]\n", [1]),
        ('"\\ud800"', "\ud800"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
    ],
)
def test_reads_as_ecmascript_does(text: str, expected: object) -> None:
    assert canonical.loads(text) == expected


def test_exact_integers_come_back_as_int_and_others_as_float() -> None:
    values = canonical.loads("[1, 1.0, 1e2, 1.5, 9007199254740994, 1e16]")
    assert [type(value) for value in values] == [int, int, int, float, float, float]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NaN",
        "-Infinity",
        "[1,]",
        "01",
        "+1",
        ".5",
        "1.",
        "'a'",
        '"\x01"',
        "/**/1",
        "\xa01",
        "1 2",
        '"\\x41"',
        "{a:1}",
    ],
)
def test_refuses_what_is_not_json(text: str) -> None:
    with pytest.raises(EvalsError) as caught:
        canonical.loads(text)
    assert caught.value.code == "json.invalid"


def test_an_error_names_line_and_column() -> None:
    with pytest.raises(EvalsError) as caught:
        canonical.loads('{\n  "a": nul\n}')
    assert caught.value.details == {"line": 2, "column": 8}
    assert str(caught.value).startswith("json.invalid: line 2, column 8:")


def test_bytes_are_strict_utf8_and_the_place_is_named() -> None:
    with pytest.raises(EvalsError) as caught:
        canonical.loads(b'{"a":1,\n"b\xff":2}')
    assert caught.value.details == {"line": 2, "column": 3}


@pytest.mark.parametrize("source", ["\ufeff1", b"\xef\xbb\xbf1"])
def test_a_byte_order_mark_is_refused_by_name(source: bytes | str) -> None:
    with pytest.raises(EvalsError, match="byte-order mark"):
        canonical.loads(source)


def test_utf16_bytes_are_not_guessed_at() -> None:
    with pytest.raises(EvalsError):
        canonical.loads('{"a":1}'.encode("utf-16"))


@pytest.mark.parametrize("depth", [1, 256, canonical.MAX_DEPTH])
def test_nesting_up_to_the_limit_survives_a_round_trip(depth: int) -> None:
    text = "[" * depth + "]" * depth
    assert canonical.canonical_json(canonical.loads(text)) == text


@pytest.mark.parametrize("text", ["[" * 385 + "]" * 385, "[" * 1_000_000, '{"a":' * 100_000])
def test_deeper_nesting_is_a_typed_error(text: str) -> None:
    with pytest.raises(EvalsError) as caught:
        canonical.loads(text)
    assert caught.value.code == "json.too_deep"


def test_brackets_in_strings_and_siblings_do_not_count_as_depth() -> None:
    text = "[" + ",".join(['"[[\\"{{"', "[]", "{}"] * 300) + "]"
    assert len(canonical.loads(text)) == 900


def test_a_recursion_error_of_the_reader_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_text: str) -> object:
        raise RecursionError

    monkeypatch.setattr(canonical, "_LAST_KEY_WINS", type("Reader", (), {"decode": staticmethod(exhausted)}))
    with pytest.raises(EvalsError) as caught:
        canonical.loads("[]")
    assert caught.value.code == "json.too_deep"


@pytest.mark.parametrize("print_value", [canonical.canonical_json, canonical.pretty_json])
def test_a_recursion_error_of_the_printer_is_a_typed_error(
    print_value, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object) -> str:
        raise RecursionError

    monkeypatch.setattr(canonical, "_text", exhausted)
    monkeypatch.setattr(canonical, "_pretty", exhausted)
    with pytest.raises(EvalsError) as caught:
        print_value([])
    assert caught.value.code == "json.too_deep"


def test_a_text_past_the_size_limit_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MAX_BYTES", 10)
    with pytest.raises(EvalsError) as caught:
        canonical.loads(b'"1234567890"')
    assert caught.value.code == "json.too_large"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-0.0, "0"),
        (1.0, "1"),
        (1e16, "10000000000000000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (1e-6, "0.000001"),
        (123456.789, "123456.789"),
        (0.1, "0.1"),
        (-2.5e-9, "-2.5e-9"),
        (1.2345e25, "1.2345e+25"),
        (2**53 + 1, "9007199254740992"),
        (10**400, "null"),
        (-(10**400), "null"),
        (float("nan"), "null"),
        (float("inf"), "null"),
        ((1, 2), "[1,2]"),
        ([], "[]"),
        ({}, "{}"),
        ({"b": 1, "a": {"y": 1, "x": []}}, '{"a":{"x":[],"y":1},"b":1}'),
        ({"10": 1, "9": 2, "01": 3, "-1": 4, "a": 7}, '{"9":2,"10":1,"-1":4,"01":3,"a":7}'),
        ({"4294967295": 5, "4294967294": 6}, '{"4294967294":6,"4294967295":5}'),
        ({"\ufb03": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb03":1}'),
        ({"__proto__": 1, "": 2}, '{"":2,"__proto__":1}'),
        ("\x00\b\t\n\f\r\x1f\"\\/\x7f\u2028", '"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\x7f\u2028"'),
        ("\ud800x\udfff", '"\\ud800x\\udfff"'),
        ("\ud83d\ude00", '"\U0001f600"'),
    ],
)  # fmt: skip
def test_canonical_text(value: object, text: str) -> None:
    assert canonical.canonical_json(value) == text
    assert canonical.hash_value(value) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("value", [b"x", {1: 2}, {1, 2}, object(), 1j])
@pytest.mark.parametrize("print_value", [canonical.canonical_json, canonical.pretty_json])
def test_other_python_values_are_refused_as_value_errors(print_value, value: object) -> None:
    with pytest.raises(ValueError, match=r"json\.unsupported_value"):
        print_value([value])


@pytest.mark.parametrize("print_value", [canonical.canonical_json, canonical.pretty_json])
def test_cycles_are_refused(print_value) -> None:
    value: list[object] = []
    value.append({"again": value})
    with pytest.raises(UnsupportedValue, match="contains itself"):
        print_value(value)


def test_a_value_that_appears_twice_side_by_side_is_not_a_cycle() -> None:
    part = [1]
    assert canonical.canonical_json([part, part]) == "[[1],[1]]"


def test_a_cycle_found_at_the_depth_limit_is_called_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MAX_DEPTH", 1)
    value: list[object] = []
    value.append(value)
    with pytest.raises(UnsupportedValue):
        canonical.canonical_json(value)


def test_printing_deeper_than_the_limit_is_a_typed_error() -> None:
    value: list[object] = []
    for _ in range(canonical.MAX_DEPTH):
        value = [value]
    with pytest.raises(EvalsError) as caught:
        canonical.canonical_json(value)
    assert caught.value.code == "json.too_deep"


def test_printed_documents_have_two_spaces_insertion_order_and_a_final_line_feed() -> None:
    value = {"b": [1, {"c": "ü"}], "a": {}, "e": []}
    expected = '{\n  "b": [\n    1,\n    {\n      "c": "ü"\n    }\n  ],\n  "a": {},\n  "e": []\n}\n'
    assert canonical.pretty_json(value) == expected


def test_hashes_of_text_take_utf8_and_a_lone_surrogate_as_the_replacement_character() -> None:
    assert canonical.sha256_hex("ü") == hashlib.sha256("ü".encode()).hexdigest()
    assert canonical.sha256_hex("\ud800") == hashlib.sha256("\ufffd".encode()).hexdigest()
    assert canonical.sha256_hex(b"\xff") == hashlib.sha256(b"\xff").hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        '{"note":"' + "[{" * 1_000_000 + '"}',
        '{"note":"' + '\\"[' * 500_000 + '"}',
        '{"note":"' + "\\\\" * 500_000 + '","b":[' + "[]," * 400 + "1]}",
        '"' + "[" * 1000,
    ],
)
def test_brackets_in_long_strings_cost_no_memory_for_each(text: str) -> None:
    tracemalloc.start()
    with contextlib.suppress(EvalsError):
        canonical.loads(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_text_that_memory_cannot_hold_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_text: str) -> object:
        raise MemoryError

    monkeypatch.setattr(canonical, "_LAST_KEY_WINS", type("Reader", (), {"decode": staticmethod(exhausted)}))
    with pytest.raises(EvalsError) as caught:
        canonical.loads("[]")
    assert caught.value.code == "json.too_large"


@pytest.mark.parametrize("text", ['"\ud83d\ude00"', '"\ud83d\\ude00"', '"\\ud83d\ude00"', '"\\ud83d\\ude00"'])
def test_the_halves_of_a_pair_are_joined_however_they_are_written(text: str) -> None:
    assert canonical.loads(text) == "\U0001f600"


@pytest.mark.parametrize(("text", "value"), [('"\\\\\ud800"', "\\\ud800"), ('"a\udfff"', "a\udfff")])
def test_a_raw_half_in_a_text_is_kept(text: str, value: str) -> None:
    assert canonical.loads(text) == value


def test_a_raw_half_after_a_backslash_is_no_escape() -> None:
    with pytest.raises(EvalsError) as caught:
        canonical.loads('"\\\ud800"')
    assert caught.value.code == "json.invalid"


def test_two_spellings_of_one_key_are_refused() -> None:
    with pytest.raises(UnsupportedValue, match="same text"):
        canonical.canonical_json({"\ud83d\ude00": 1, "\U0001f600": 2})


@pytest.mark.parametrize("source", [bytearray(b"[1]"), memoryview(b"[1]")])
def test_other_kinds_of_bytes_are_read_too(source) -> None:
    assert canonical.loads(source) == [1]


def test_bad_utf8_in_a_view_is_a_typed_error() -> None:
    with pytest.raises(EvalsError):
        canonical.loads(memoryview(b"\xff"))


def test_reading_from_something_else_is_the_callers_mistake() -> None:
    with pytest.raises(TypeError):
        canonical.loads(5)
