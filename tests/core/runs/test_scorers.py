"""Each scorer makes one Given/should statement, in a fixed order, and its result follows from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core.baseline import Baseline
from evals_cli.core.scorers import SCORERS, Scored, score
from evals_cli.schemas.validator import problems

if TYPE_CHECKING:
    from .conftest import Consumer

MISSING = Baseline(presence="missing", comparison="not_compared", evidence="none is named")


def _results(consumer: Consumer, **changes: Any) -> dict[str, dict[str, Any]]:
    given: dict[str, Any] = {
        "exit_code": 0,
        "stdout": '"artifact bundle, deterministic scorers, baseline missing"',
        "output_format": "json",
        "document": consumer.case,
        "baseline": MISSING,
        "reproduce": "evals run x",
    }
    results = score(Scored(**{**given, **changes}))
    assert problems("scorer-result", {"schema_version": 1, "results": results}) == []
    for result in results:
        (assertion,) = result["assertions"]
        assert result["status"] == assertion["status"]
        assert (result["failure_reason"] is None) is (result["status"] == "pass")
        assert assertion["reproduce_command"] == "evals run x"
    return {result["scorer_id"]: result for result in results}


def _expected(consumer: Consumer, **parts: Any) -> dict[str, Any]:
    return consumer.changed(expected={**consumer.case["expected"], **parts})


def test_all_four_pass_on_what_is_expected_in_their_own_order(consumer: Consumer) -> None:
    results = _results(consumer, document=consumer.changed(scorers=list(reversed(SCORERS))))
    assert list(results) == ["exit-code", "required-output", "artifact-completeness", "baseline-presence"]
    assert {each["status"] for each in results.values()} == {"pass"}
    assert {each["scorer_version"] for each in results.values()} == {"1.0.0"}


def test_only_the_selected_scorers_run(consumer: Consumer) -> None:
    assert list(_results(consumer, document=consumer.changed(scorers=["required-output"]))) == [
        "required-output"
    ]


@pytest.mark.parametrize(("expected", "status"), [(0, "pass"), (0.0, "pass"), (1, "fail"), (10**300, "fail")])
def test_exit_codes_are_compared_as_numbers(consumer: Consumer, expected: float, status: str) -> None:
    result = _results(consumer, document=_expected(consumer, exit_code=expected))["exit-code"]
    assert result["status"] == status
    assert result["assertions"][0]["actual"] == "0"


def test_fragments_that_are_absent_are_named(consumer: Consumer) -> None:
    document = _expected(consumer, required_output_contains=["artifact bundle", "absent", "\ud800"])
    result = _results(consumer, document=document)["required-output"]
    assert result["status"] == "fail"
    assert json.loads(result["assertions"][0]["actual"]) == {"absent": ["absent", "\ud800"]}
    assert result["failure_reason"] == "2 of 3 required fragments are not in the output"


def test_output_in_json_format_has_to_parse(consumer: Consumer) -> None:
    words = "artifact bundle, deterministic scorers, baseline missing"
    assert _results(consumer, stdout=words)["required-output"]["status"] == "fail"
    assert _results(consumer, stdout=words, output_format="text")["required-output"]["status"] == "pass"


def test_an_artifact_that_no_bundle_has_is_named(consumer: Consumer) -> None:
    document = _expected(consumer, required_artifacts=["trace-events.jsonl", "nope.json"])
    result = _results(consumer, document=document)["artifact-completeness"]
    assert result["failure_reason"] == 'the finished bundle will not hold ["nope.json"]'


@pytest.mark.parametrize(
    ("presence", "comparison", "expected", "status"),
    [
        ("missing", "not_compared", "missing", "pass"),
        ("present", "not_compared", "present", "pass"),
        ("missing", "error", "missing", "fail"),
        ("present", "error", "missing", "fail"),
        ("missing", "error", "present", "fail"),
    ],
)
def test_presence_is_as_expected_and_without_error(
    consumer: Consumer, presence: str, comparison: str, expected: str, status: str
) -> None:
    document = consumer.changed(baseline={"expected_presence": expected, "artifact_path": None})
    baseline = Baseline(presence=presence, comparison=comparison, evidence="seen")
    result = _results(consumer, document=document, baseline=baseline)["baseline-presence"]
    assert result["status"] == status
