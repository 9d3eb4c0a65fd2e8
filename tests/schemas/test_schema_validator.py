"""A finding names the path, what was found and what is expected, whatever the document holds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evals_cli.core.errors import EvalsError
from evals_cli.schemas import validator
from evals_cli.schemas.keywords import VALIDATOR
from evals_cli.schemas.validator import MAX_PROBLEMS, problems, schema_names, schema_text


@pytest.fixture
def case(repository: Path) -> dict[str, Any]:
    text = (repository / "fixtures/smoke/pr-closeout.case.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _suite(cases: list[Any]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "suite_id": "ab",
        "owner_repo": "r",
        "domain": "d",
        "purpose": "p",
        "cases": cases,
        "scorers": ["exit-code"],
        "artifact_policy": {"write_bundle": True, "retain_locally": True, "allow_network": False},
    }


def test_the_smoke_case_fits(case: dict[str, Any]) -> None:
    assert problems("eval-case", case) == []


@pytest.mark.parametrize(
    ("path", "value", "finding"),
    [
        (("case_id",), 5, "$.case_id: 5; expected a string"),
        (("case_id",), "Ab", '$.case_id: "Ab"; expected text that matches ^[a-z0-9][a-z0-9-]*$'),
        (("case_id",), "ab\n", '$.case_id: "ab\\n"; expected text that matches ^[a-z0-9][a-z0-9-]*$'),
        (("case_id",), "\ud800", '$.case_id: "\\ud800"; expected text that matches ^[a-z0-9][a-z0-9-]*$'),
        (("owner", "name"), "", "$.owner.name: 0 characters; expected at least 1"),
        (("owner", "type"), "team", '$.owner.type: "team"; expected one of "synthetic", "repo"'),
        (("expected", "exit_code"), 0.5, "$.expected.exit_code: 0.5; expected an integer"),
        (("expected", "exit_code"), True, "$.expected.exit_code: true; expected an integer"),
        (
            ("expected", "required_artifacts"),
            [],
            "$.expected.required_artifacts: 0 items; expected at least 1",
        ),
        (
            ("expected", "required_artifacts", 0),
            None,
            "$.expected.required_artifacts[0]: null; expected a string",
        ),
        (("owner",), [], "$.owner: an array of 0 items; expected an object"),
        (("promotion", "baseline_owner"), {}, "$.promotion.baseline_owner: an object with 0 members; "),
        (("odd key",), 1, "$['odd key']: not a key of this object; expected schema_version, case_id, "),
        (
            ("scorers", 1),
            "exit-code",
            '$.scorers[1]: "exit-code" again, as in item 0; expected each item once',
        ),
    ],
)
def test_a_finding_names_path_found_and_expected(
    case: dict[str, Any], path: tuple[str | int, ...], value: object, finding: str
) -> None:
    target: Any = case
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    found = problems("eval-case", case)
    assert len(found) == 1
    assert found[0].startswith(finding)


def test_a_missing_key_says_what_is_expected_there(case: dict[str, Any]) -> None:
    del case["owner"], case["expected"]["exit_code"], case["schema_version"], case["input"]["command"]
    assert problems("eval-case", case) == [
        "$.expected.exit_code: missing; expected an integer",
        '$.input.command: missing; expected one of "simulate-pr-closeout"',
        "$.owner: missing; expected an object",
        "$.schema_version: missing; expected 1",
    ]


def test_findings_stand_in_document_order_not_in_text_order() -> None:
    found = problems("suite", _suite([*map(str, range(12)), ""])) + problems(
        "suite", _suite(["", *"abcdefghij", ""])
    )
    assert [line.partition(":")[0] for line in found] == [
        "$.cases[12]",
        "$.cases[0]",
        "$.cases[11]",
        "$.cases[11]",
    ]


@pytest.mark.parametrize("number", [0, 1.0, -0.0, 1e300, 10**400])
def test_a_float_without_a_fraction_is_an_integer(case: dict[str, Any], number: float) -> None:
    case["expected"]["exit_code"] = number
    assert problems("eval-case", case) == []


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), 0.1])
def test_other_numbers_are_no_integers(case: dict[str, Any], number: float) -> None:
    case["expected"]["exit_code"] = number
    assert len(problems("eval-case", case)) == 1


def test_a_version_of_true_is_not_one(case: dict[str, Any]) -> None:
    case["schema_version"] = True
    assert "$.schema_version: true; expected 1" in problems("eval-case", case)
    case["schema_version"] = 1.0
    assert problems("eval-case", case) == []


def test_a_long_value_is_cut() -> None:
    (found,) = problems("suite", {**_suite(["a"]), "suite_id": "X" * 1000})
    assert len(found) < 200


@pytest.mark.parametrize("document", [None, 5, "text", [], True, 1e400])
def test_a_document_of_another_type_is_one_finding(document: object) -> None:
    for name in ("eval-case", "suite", "latest-run"):
        (found,) = problems(name, document)
        assert found.startswith("$: ")


def test_a_hundred_findings_are_listed_and_the_rest_is_said() -> None:
    found = problems("suite", _suite([5] * 100_000))
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "$: more than 100 problems; only 100 of them are listed"


def test_a_suite_of_a_hundred_thousand_cases_takes_seconds_not_minutes() -> None:
    started = time.perf_counter()
    assert problems("suite", _suite([f"cases/{number}.json" for number in range(100_000)])) == []
    assert time.perf_counter() - started < 30


def test_repeated_items_that_cannot_be_sorted_are_found_in_one_pass() -> None:
    mixed: list[Any] = [{"a": [number]} if number % 2 else [number] for number in range(20_000)]
    found = problems("suite", _suite([*mixed, {"a": [1]}]))
    assert len(found) == MAX_PROBLEMS + 1


def test_deep_nesting_is_an_answer_not_a_crash(case: dict[str, Any]) -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    case["input"]["payload"] = {"deep": deep}
    assert problems("eval-case", case) == []
    assert problems("suite", _suite([deep])) == [
        "$: nested too deeply to be checked; expected a flatter document"
    ]


def test_equal_items_are_equal_as_json_has_it() -> None:
    check = VALIDATOR({"uniqueItems": True})
    assert not check.is_valid([1, 1.0])
    assert not check.is_valid([{"a": 1, "b": 2}, {"b": 2, "a": 1}])
    assert check.is_valid([1, True, "1", [1], {"a": 1}, None, 0, False])
    assert VALIDATOR({"uniqueItems": False}).is_valid([1, 1])
    assert check.is_valid("aa")


@pytest.mark.parametrize(
    ("schema", "good", "bad", "finding"),
    [
        ({"maxLength": 2}, "ab", "abc", "3 characters; expected at most 2"),
        ({"maxItems": 1}, [1], [1, 2], "2 items; expected at most 1"),
        ({"minProperties": 1}, {"a": 1}, {}, "0 members; expected at least 1"),
        ({"maxProperties": 1}, {"a": 1}, {"a": 1, "b": 2}, "2 members; expected at most 1"),
        ({"minimum": 1}, 1, 0, "0; expected at least 1"),
        ({"maximum": 1}, 1, 2, "2; expected at most 1"),
        ({"exclusiveMinimum": 1}, 2, 1, "1; expected more than 1"),
        ({"exclusiveMaximum": 1}, 0, 1, "1; expected less than 1"),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, 2, 3, "3; expected one of the 2 forms of the schema"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, 1, 4, "4 that fits 2 forms; expected exactly one"),
        ({"oneOf": [{"const": 1}]}, 1, 2, "2 that fits no form; expected exactly one"),
        ({"not": {"const": 1}}, 2, 1, "1; expected another form than the schema excludes here"),
        ({"contains": {"const": 1}}, [2, 1], [2], "0 items of the wanted form; expected at least 1: 1"),
        (
            {"contains": True, "minContains": 2},
            [2, 1],
            [2],
            "1 items of the wanted form; expected at least 2",
        ),
        ({"format": "date-time"}, "2026-01-31T09:30:00Z", "soon", '"soon"; expected a date and time of RFC'),
        ({"patternProperties": {"^a": {"type": "null"}}}, {"a": None, "b": 1}, {"ab": 1}, "1; expected null"),
        ({"additionalProperties": {"type": "null"}}, {"a": None}, {"a": 1}, "1; expected null"),
        (
            {"patternProperties": {"^a": {}}, "additionalProperties": False},
            {"ab": 1},
            {"b": 1},
            "not a key of this object; expected no key at all",
        ),
        ({"required": ["a"]}, {"a": 1}, {}, "missing; expected a value"),
        ({"required": ["a"], "properties": {"a": True}}, {"a": 1}, {}, "missing; expected a value"),
        ({"required": ["a"], "properties": {"a": {}}}, {"a": 1}, {}, "missing; expected a value"),
    ],
)
def test_each_keyword_says_what_breaks_it(schema: dict[str, Any], good: Any, bad: Any, finding: str) -> None:
    check = VALIDATOR(schema)
    assert check.is_valid(good)
    (error,) = check.iter_errors(bad)
    assert error.message.startswith(finding)


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"]},
        {"additionalProperties": False},
        {"patternProperties": {"a": False}},
        {"pattern": "a"},
        {"format": "date-time"},
        {"minLength": 5},
        {"minItems": 5},
        {"minimum": 5},
        {"contains": False},
    ],
)
def test_a_keyword_leaves_values_of_other_types_alone(schema: dict[str, Any]) -> None:
    assert VALIDATOR(schema).is_valid(None)
    assert VALIDATOR(schema).is_valid(True)


def test_an_unknown_format_asserts_nothing() -> None:
    assert VALIDATOR({"format": "email"}).is_valid("x")


def test_a_sibling_schema_is_found_by_its_file_name() -> None:
    result = {"results": [{"assertions": [{}]}], "schema_version": 1}
    assert "$.results[0].assertions[0].given: missing; expected a string" in problems("scorer-result", result)


def test_each_schema_is_compiled_once() -> None:
    problems("trace-event", {})
    first = validator._compiled["trace-event"]
    problems("trace-event", {})
    assert validator._compiled["trace-event"] is first


def test_an_unknown_schema_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EvalsError) as caught:
        schema_text("nope\n")
    assert caught.value.code == "schema.unknown"
    assert caught.value.details["supported"] == schema_names()
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["../pyproject", "/etc/passwd", ""])
def test_a_schema_name_is_never_a_path(name: str) -> None:
    with pytest.raises(EvalsError):
        problems(name, {})


def test_jsonschema_is_not_imported_before_a_document_is_checked(tmp_path: Path) -> None:
    code = "import sys, evals_cli.schemas.documents; print('jsonschema' in sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_an_installation_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: str) -> list[str]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(validator.os, "listdir", full)
    with pytest.raises(EvalsError, match="Too many open files") as caught:
        validator.schema_text("suite")
    assert caught.value.code == "schema.unreadable"
