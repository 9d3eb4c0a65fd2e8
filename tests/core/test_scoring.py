"""A verdict follows from every result, and no result may contradict its own assertions."""

from __future__ import annotations

from typing import Any

import pytest

from evals_cli.core.scoring import contradictions, failed_assertions, status_of, verdict_of

PASS: dict[str, Any] = {"status": "pass", "assertions": [{"status": "pass", "n": 1}]}
FAIL: dict[str, Any] = {"status": "fail", "assertions": [{"status": "pass"}, {"status": "fail", "n": 2}]}


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([PASS], "pass"),
        ([PASS, {"status": "pass"}], "pass"),
        ([], "fail"),
        ([FAIL], "fail"),
        ([PASS, FAIL], "fail"),
        ([{"status": "passed"}], "fail"),
        ([PASS, None], "fail"),
        (None, "fail"),
        ({"0": PASS}, "fail"),
    ],
)
def test_only_results_that_all_pass_are_a_pass(results: object, verdict: str) -> None:
    assert verdict_of(results) == verdict


def test_a_status_goes_with_its_verdict() -> None:
    assert [status_of(verdict) for verdict in ("pass", "fail", "other")] == ["passed", "failed", "failed"]


def test_failed_assertions_are_repeated_in_order() -> None:
    assert failed_assertions([FAIL, PASS, FAIL]) == [{"status": "fail", "n": 2}] * 2
    assert failed_assertions([{"assertions": None}, 5]) == []


def test_a_result_against_its_own_assertions_is_told_with_its_path() -> None:
    found = contradictions(
        [PASS, {**FAIL, "status": "pass"}, {**PASS, "status": "fail"}, FAIL, {"status": "fail"}]
    )
    assert [line.partition(":")[0] for line in found] == ["$.results[1].status", "$.results[2].status"]
