"""Documents that people write are JSON or TOML by their name, and mean the same in both."""

from __future__ import annotations

from typing import Any

import pytest

from evals_cli.core.errors import EvalsError
from evals_cli.core.strict_json import loads_unique
from evals_cli.schemas.documents import TOML_LIMIT, is_toml, parse_document


def _toml(text: str | bytes) -> Any:
    raw = text.encode() if isinstance(text, str) else text
    return parse_document("suite.toml", raw, loads_unique)


def _refused(text: str | bytes) -> EvalsError:
    with pytest.raises(EvalsError) as caught:
        _toml(text)
    assert caught.value.code == "toml.invalid"
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize("name", ["a.toml", "b/A.TOML"])
def test_the_ending_decides_that_a_document_is_toml(name: str) -> None:
    assert is_toml(name)
    assert parse_document(name, b"a = 1\n", loads_unique) == {"a": 1}


@pytest.mark.parametrize("name", ["a.json", "toml", "a.toml.json", "a.jsonc"])
def test_everything_else_is_json_by_the_reader_that_is_handed_in(name: str) -> None:
    assert parse_document(name, b'{"a": 1}', loads_unique) == {"a": 1}
    assert parse_document(name, b"x", lambda raw: raw.decode() + "!") == "x!"


def test_the_same_document_reads_the_same_in_both_forms() -> None:
    text = '{"a": {"b": [1, 2.5, true, "x\\n"]}, "c": 9007199254740993}'
    toml = 'c = 9007199254740993\n[a]\nb = [1, 2.5, true, "x\\n"]\n'
    assert _toml(toml) == parse_document("a.json", text.encode(), loads_unique)


@pytest.mark.parametrize(
    ("toml", "value"),
    [
        ("1.0", 1),
        ("-1", -1),
        ("0x10", 16),
        ("9007199254740992", 2**53),
        ("9007199254740993", 2**53),
        ("9007199254740995", float(2**53 + 4)),
        ("1e300", 1e300),
        ("2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30:00.5+01:00", "2026-01-31T09:30:00.500000+01:00"),
        ("2026-01-31T09:30:00", "2026-01-31T09:30:00"),
        ("2026-01-31", "2026-01-31"),
        ("09:30:00", "09:30:00"),
    ],
)
def test_a_value_that_json_has_no_form_for_takes_a_plain_one(toml: str, value: object) -> None:
    (found,) = _toml(f"a = {toml}").values()
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e400", "9" * 400])
def test_a_number_that_is_not_finite_is_refused_where_it_stands(number: str) -> None:
    assert _refused(f"[a]\nb = [1, {number}]").message.startswith("$.a.b[1]: not a finite number")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\na = 2\n", "cannot overwrite"),
        ("a = \n", "line 1"),
        (b"\xef\xbb\xbfa = 1", "byte-order mark"),
        (b"a = '\xff'", "not valid UTF-8 at byte 5"),
        ("a = " + "9" * 5000, "limit"),
        ("a = " + "[" * 5000, "nested too deeply"),
        (b"#" * (TOML_LIMIT + 1), "larger than"),
    ],
)
def test_what_is_not_toml_is_refused_with_the_reason(text: str | bytes, words: str) -> None:
    assert words in _refused(text).message
