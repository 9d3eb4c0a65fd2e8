"""The bounded protocol between a checker and a process that would run tasks: pure checks, no process.

Nothing here starts, stops or reads a process; no executor exists that calls these. They decide what an
account of a finished process is worth, so that a future executor and its tests have one rule.

Rules for tasks, as for a task set: at least one, each with a text id of its own. Without tasks, or with an id
that two of them have, every account is fatal and no run is a baseline; anything else is the caller's mistake.

Rules for a child's account (first failure is `fatal`, and any fatal empties the outputs):
- it is a mapping; no `error`; no `signal`; `status` is the number 0;
- `stdout` is text of at most 1 MiB in UTF-8; its last line that is not blank is a JSON object;
- the object reports no `fatal`; its `results` list holds exactly one result per task id, each an object
  with a known `id` and exactly one of `output` and `error`.

Rules for a baseline run: no fatal, `exit_code` 0, `marker_intact` true, no `fence_events`, and exactly the
tasks' ids among its outputs, each an output without an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .canonical import loads
from .ecmascript import trim
from .errors import EvalsError

MAX_OUTPUT_BYTES = 1024 * 1024


@dataclass(frozen=True)
class ChildResult:
    """`outputs` by task id, each `{"output": value}` or `{"error": value}`; or `fatal`, a short reason."""

    outputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    fatal: str | None = None


class _Fatal(Exception):
    """Why an account is worth nothing."""


def parse_child_result(child: object, tasks: Iterable[Mapping[str, Any]]) -> ChildResult:
    """What the account `child` (status, signal, stdout, error) of a finished process is worth for `tasks`.

    Never raises for the account's content. TypeError or ValueError for tasks without ids is the caller's.
    """
    ids = _ids(tasks)
    unusable = _unusable(ids)
    if unusable is not None:
        return ChildResult(fatal=unusable)
    try:
        document = _document(_output_text(child))
        return ChildResult(outputs=_outputs(document, frozenset(ids)))
    except _Fatal as fatal:
        return ChildResult(fatal=str(fatal))


def _ids(tasks: Iterable[Mapping[str, Any]]) -> list[str]:
    return [_task_id(task) for task in tasks]


def _task_id(task: object) -> str:
    if not isinstance(task, Mapping):
        raise TypeError(f"a task is a mapping, not {type(task).__name__}")
    task_id = task.get("id")
    if not isinstance(task_id, str) or not task_id:
        raise ValueError("a task's id is a non-empty text")
    return task_id


def _unusable(ids: list[str]) -> str | None:
    if not ids:
        return "there are no tasks"
    return None if len(set(ids)) == len(ids) else "two tasks have the same id"


def _output_text(child: object) -> str:
    if not isinstance(child, Mapping):
        raise _Fatal("there is no account of the process")
    error = child.get("error")
    if error is not None:
        code = error.get("code") if isinstance(error, Mapping) else None
        raise _Fatal("the process timed out" if code == "ETIMEDOUT" else "the process failed to run")
    if child.get("signal") is not None:
        raise _Fatal("the process was ended by a signal")
    status = child.get("status")
    if type(status) is not int or status != 0:
        raise _Fatal("the process did not exit with 0")
    stdout = child.get("stdout")
    if not isinstance(stdout, str):
        raise _Fatal("the output is not text")
    if len(stdout) > MAX_OUTPUT_BYTES or len(stdout.encode("utf-8", "surrogatepass")) > MAX_OUTPUT_BYTES:
        raise _Fatal(f"the output is larger than {MAX_OUTPUT_BYTES} bytes")
    return stdout


def _document(stdout: str) -> dict[str, Any]:
    lines = [line for line in map(trim, stdout.split("\n")) if line]
    if not lines:
        raise _Fatal("the output is empty")
    try:
        document = loads(lines[-1])
    except EvalsError:
        raise _Fatal("the last line of the output is not JSON") from None
    if not isinstance(document, dict):
        raise _Fatal("the last line of the output is not an object")
    if document.get("fatal") is not None:
        raise _Fatal("the process reported a fatal error")
    return document


def _outputs(document: dict[str, Any], ids: frozenset[str]) -> dict[str, dict[str, Any]]:
    results = document.get("results")
    if not isinstance(results, list):
        raise _Fatal("the results are not a list")
    outputs: dict[str, dict[str, Any]] = {}
    for result in results:
        task_id, answer = _answer(result)
        if task_id not in ids:
            raise _Fatal("a result has an unknown task id")
        if task_id in outputs:
            raise _Fatal("a task id has two results")
        outputs[task_id] = answer
    if len(outputs) != len(ids):
        raise _Fatal("a task has no result")
    return outputs


def _answer(result: object) -> tuple[str, dict[str, Any]]:
    if not isinstance(result, dict) or not isinstance(result.get("id"), str):
        raise _Fatal("a result is not an object with an id")
    answer = {key: result[key] for key in ("output", "error") if key in result}
    if len(answer) != 1:
        raise _Fatal("a result needs exactly one of output and error")
    return result["id"], answer


def baseline_failure(run: object, tasks: Iterable[Mapping[str, Any]]) -> str | None:
    """Why `run` (fatal, exit_code, marker_intact, fence_events, outputs) is no sound baseline, or None.

    Never raises for the run's content. TypeError or ValueError for tasks without ids is the caller's.
    """
    ids = _ids(tasks)
    unusable = _unusable(ids)
    if unusable is not None:
        return unusable
    if not isinstance(run, Mapping):
        return "there is no account of the run"
    if run.get("fatal") is not None:
        return "the baseline failed as a whole"
    exit_code = run.get("exit_code")
    if type(exit_code) is not int or exit_code != 0:
        return "the baseline did not exit with 0"
    if run.get("marker_intact") is not True:
        return "the baseline's marker is not intact"
    events = run.get("fence_events")
    if not isinstance(events, (list, tuple)) or events:
        return "the baseline has fence events, or none are recorded"
    return _incomplete(run.get("outputs"), ids)


def _incomplete(outputs: object, ids: list[str]) -> str | None:
    if not isinstance(outputs, Mapping) or len(outputs) != len(ids):
        return "the baseline does not have one output per task"
    for task_id in ids:
        answer = outputs.get(task_id)
        if not isinstance(answer, Mapping) or "output" not in answer or "error" in answer:
            return "the baseline has a task without an output"
    return None
