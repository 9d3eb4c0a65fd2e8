"""Strict reading: a repeated key is refused and its place named."""

from __future__ import annotations

import pytest

from evals_cli.core.errors import EvalsError
from evals_cli.core.strict_json import loads_unique, member_path


@pytest.mark.parametrize(
    ("text", "path", "key"),
    [
        ('{"a":1,"a":1}', "$.a", "a"),
        ('{"a":[0,{"b":{"c":1,"d":2,"c":3}}]}', "$.a[1].b.c", "c"),
        ('[{"x y":1,"x y":2}]', "$[0]['x y']", "x y"),
        ('{"":1,"":2}', "$['']", ""),
        ('{"a":{"b":1,"b":2},"a":3}', "$.a", "a"),
        ('{"z":1,"a":1,"a":2,"z":2}', "$.a", "a"),
        ('{"ok":{},"\\u0061":1,"a":2}', "$.a", "a"),
    ],
)
def test_a_repeated_key_is_refused_where_it_stands(text: str, path: str, key: str) -> None:
    with pytest.raises(EvalsError) as caught:
        loads_unique(text)
    assert caught.value.code == "json.repeated_key"
    assert caught.value.details == {"key": key, "path": path}


def test_the_same_key_in_different_objects_is_fine() -> None:
    assert loads_unique(b'[{"a":1},{"a":{"a":2}}]') == [{"a": 1}, {"a": {"a": 2}}]


def test_other_errors_are_those_of_the_generic_reader() -> None:
    with pytest.raises(EvalsError) as caught:
        loads_unique("{")
    assert caught.value.code == "json.invalid"


def test_odd_keys_are_escaped_in_paths() -> None:
    assert member_path("$", "a-b_c") == "$.a-b_c"
    assert member_path("$", "ü\n") == "$['\\xfc\\n']"
