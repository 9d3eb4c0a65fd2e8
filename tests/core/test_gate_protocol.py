"""What an account of a finished process is worth: the bounded protocol and the soundness of a baseline."""

from __future__ import annotations

import json
import time

import pytest

from evals_cli.core.gate import ChildResult, baseline_failure, parse_child_result

TASKS = [{"id": "a", "input": 1, "expected": 1}, {"id": "b", "input": 2, "expected": 2}]
GOOD = {"results": [{"id": "a", "output": 1}, {"id": "b", "error": "late"}]}


def child(document=GOOD, **changes):
    return {"status": 0, "stdout": json.dumps(document), **changes}


def test_outputs_come_back_by_task_id():
    assert parse_child_result(child(), TASKS) == ChildResult(
        {"a": {"output": 1}, "b": {"error": "late"}}, None
    )


def test_only_the_last_line_that_is_not_blank_counts():
    stdout = '{"fatal":"no"}\nnoise\n' + json.dumps(GOOD) + "\n \ufeff\n\n"
    assert parse_child_result(child(stdout=stdout), TASKS).fatal is None


def test_a_null_error_signal_and_fatal_are_no_failure():
    account = child({"fatal": None, **GOOD}, error=None, signal=None)
    assert parse_child_result(account, TASKS).fatal is None


@pytest.mark.parametrize(
    "account",
    [
        pytest.param([], id="no mapping"),
        pytest.param(child(error={"code": "ETIMEDOUT"}), id="timed out"),
        pytest.param(child(error={}), id="error without code"),
        pytest.param(child(error="boom"), id="error that is text"),
        pytest.param(child(signal="SIGKILL"), id="signal"),
        pytest.param(child(status=False), id="status false"),
        pytest.param(child(status=0.0), id="status float"),
        pytest.param(child(status=2), id="status 2"),
        pytest.param(child(stdout=b"{}"), id="bytes"),
        pytest.param(child(stdout=" \n\t"), id="blank"),
        pytest.param(child(stdout="{"), id="not JSON"),
        pytest.param(child(stdout="[" * 100_000), id="deep"),
        pytest.param(child(stdout='"text"'), id="not an object"),
        pytest.param(child({"fatal": "", **GOOD}), id="fatal beside results"),
        pytest.param(child({"results": {}}), id="results not a list"),
        pytest.param(child({"results": ["a"]}), id="result not an object"),
        pytest.param(child({"results": [{"id": 1, "output": 1}]}), id="id not text"),
        pytest.param(child({"results": [*GOOD["results"], {"id": "c", "output": 1}]}), id="unknown id"),
        pytest.param(child({"results": [*GOOD["results"], {"id": "a", "output": 1}]}), id="repeated id"),
        pytest.param(child({"results": GOOD["results"][:1]}), id="incomplete"),
        pytest.param(child({"results": [{"id": "a"}, {"id": "b", "output": 1}]}), id="neither"),
        pytest.param(
            child({"results": [{"id": "a", "output": 1, "error": 1}, {"id": "b", "output": 1}]}), id="both"
        ),
    ],
)
def test_a_broken_account_is_fatal_and_has_no_outputs(account):
    result = parse_child_result(account, TASKS)
    assert isinstance(result.fatal, str)
    assert result.outputs == {}


@pytest.mark.parametrize("character", ["x", "\u00e9", "\U0001f600", "\ud800"])
def test_the_output_limit_is_a_mebibyte_of_utf8(character):
    size = len(character.encode("utf-8", "surrogatepass"))
    room = 1024 * 1024 - len(json.dumps(GOOD)) - 1
    fits = character * (room // size) + "\n" + json.dumps(GOOD)
    assert parse_child_result(child(stdout=fits), TASKS).fatal is None
    assert parse_child_result(child(stdout=character * size + fits), TASKS).fatal is not None


def baseline(**changes):
    outputs = {"a": {"output": 1}, "b": {"output": None}}
    run = {"fatal": None, "exit_code": 0, "marker_intact": True, "fence_events": [], "outputs": outputs}
    return {**run, **changes}


def test_a_complete_quiet_run_is_a_baseline():
    assert baseline_failure(baseline(), TASKS) is None


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(None, id="no mapping"),
        pytest.param(baseline(fatal="x"), id="fatal"),
        pytest.param(baseline(fatal=""), id="empty fatal"),
        pytest.param(baseline(exit_code=1), id="exit code"),
        pytest.param(baseline(exit_code=False), id="exit code false"),
        pytest.param(baseline(exit_code=None), id="no exit code"),
        pytest.param(baseline(marker_intact=1), id="marker"),
        pytest.param(baseline(fence_events=["open"]), id="fence event"),
        pytest.param(baseline(fence_events=None), id="no fence record"),
        pytest.param(baseline(outputs=[]), id="outputs not a mapping"),
        pytest.param(baseline(outputs={"a": {"output": 1}}), id="missing task"),
        pytest.param(baseline(outputs={"a": {"output": 1}, "c": {"output": 1}}), id="other task"),
        pytest.param(
            baseline(outputs={"a": {"output": 1}, "b": {"output": 1}, "c": {"output": 1}}), id="extra task"
        ),
        pytest.param(baseline(outputs={"a": {"output": 1}, "b": {"error": "x"}}), id="error"),
        pytest.param(baseline(outputs={"a": {"output": 1}, "b": {"output": 1, "error": 1}}), id="both"),
        pytest.param(baseline(outputs={"a": {"output": 1}, "b": 5}), id="bare value"),
    ],
)
def test_anything_less_is_no_baseline(run):
    assert isinstance(baseline_failure(run, TASKS), str)


TWICE = [TASKS[0], TASKS[1], TASKS[0]]


@pytest.mark.parametrize(("tasks", "reason"), [([], "no tasks"), ((), "no tasks"), (TWICE, "same id")])
def test_without_tasks_or_with_one_id_twice_nothing_counts(tasks, reason):
    outputs = {task["id"]: {"output": 1} for task in tasks}
    account = child({"results": [{"id": task["id"], "output": 1} for task in tasks]})
    result = parse_child_result(account, tasks)
    assert reason in result.fatal
    assert result.outputs == {}
    assert reason in baseline_failure(baseline(outputs=outputs), tasks)


@pytest.mark.parametrize(
    "tasks", [None, 5, "ab", ["a"], [None], [{}], [{"id": 5}], [{"id": ""}], [{"id": ["a"]}]]
)
def test_tasks_of_another_shape_are_the_callers_mistake(tasks):
    with pytest.raises((TypeError, ValueError)):
        parse_child_result(child(), tasks)
    with pytest.raises((TypeError, ValueError)):
        baseline_failure(baseline(), tasks)


def test_many_results_take_no_long_time():
    tasks = [{"id": f"{number:x}"} for number in range(30_000)]
    account = child({"results": [{"id": task["id"], "output": 1} for task in reversed(tasks)]})
    started = time.process_time()
    assert len(parse_child_result(account, tasks).outputs) == 30_000
    # A look through a list for each of them takes three times that.
    assert time.process_time() - started < 3
