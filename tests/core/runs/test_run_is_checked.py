"""What a run writes passes the check of the latest bundle, in every form that a run can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.bundle_check import check_bundle
from evals_cli.core.bundle_files import BundleFiles

if TYPE_CHECKING:
    from .conftest import Consumer

CASE = ".evals/cases/closeout.case.json"


def _problems(consumer: Consumer, prefix: str = ".harness/evals/runs") -> list[str]:
    root = str(consumer.root)
    return check_bundle(root, prefix, BundleFiles(root), documents(), home=False).problems


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("word", [".evals/suite.json", CASE])
def test_a_passing_run_passes_the_check(consumer: Consumer, word: str, as_json: bool) -> None:
    consumer.run(word, as_json=as_json)
    assert _problems(consumer) == []


def test_a_failing_run_passes_the_check_too(consumer: Consumer) -> None:
    expected = {"exit_code": 1, "required_output_contains": ["no"], "required_artifacts": ["no"]}
    consumer.write(CASE, consumer.changed(expected=expected))
    assert not consumer.run().passed
    assert _problems(consumer) == []


@pytest.mark.parametrize("expected", ["present", "missing"])
def test_a_run_with_a_baseline_passes_the_check(consumer: Consumer, expected: str) -> None:
    baseline = {"expected_presence": expected, "artifact_path": "suite.json"}
    consumer.write(CASE, consumer.changed(baseline=baseline))
    consumer.run()
    assert _problems(consumer) == []


def test_a_run_in_one_second_with_another_passes_the_check(consumer: Consumer) -> None:
    for _ in range(2):
        consumer.run(clock=lambda: "2026-01-31T09:00:00.000Z")
        assert _problems(consumer) == []


def test_a_run_elsewhere_passes_the_check(consumer: Consumer) -> None:
    policy = {**consumer.suite["artifact_policy"], "artifact_root": "out/runs"}
    consumer.write(".evals/suite.json", {**consumer.suite, "artifact_policy": policy})
    consumer.run()
    assert _problems(consumer, "out/runs") == []


def test_a_case_with_text_that_no_encoding_has_passes_the_check(consumer: Consumer) -> None:
    expected = {**consumer.case["expected"], "required_output_contains": ["\ud800", "\u0000", "é"]}
    consumer.write(CASE, consumer.changed(expected=expected))
    consumer.run()
    assert _problems(consumer) == []


def test_a_case_in_an_oddly_named_file_passes_the_check(consumer: Consumer) -> None:
    consumer.write("a 'b' é.json", consumer.case)
    consumer.run("a 'b' é.json")
    assert _problems(consumer) == []
