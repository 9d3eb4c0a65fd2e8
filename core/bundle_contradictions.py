"""Statements in the documents of one bundle that cannot all be true, whatever their digests say.

Rules:
- A result that passed lists no errors.
- In the trace, scorer_result has the result's verdict and run_finished its status; a run that passed ended
  with exit code 0. baseline_result repeats the comparison. command_result repeats the exit code of the
  command log, and passed exactly where that is 0.
- The command log is an object with a whole exit code, of the execution mode of latest.json.
- A scorer stands once. One that passes gives no reason for a failure.
- The assertion of exit-code passes exactly where actual and expected are the same, and actual is the exit
  code of the command log.
- baseline-presence states the presence and the comparison of the baseline result, and does not pass where the
  comparison is an error.
- A bundle holds no credentials and no private content, since no case with either is run.
- No failure.json stands beside the bundle: a run that wrote one says that it failed.
- A command line to repeat the run starts one program and nothing else.

A member of the wrong type is the schema's to report. What these rules do not see, a forger can still write:
digests, times, texts and the trace can all be made up together.
"""

from __future__ import annotations

from .bundle_files import value_shown
from .canonical import loads
from .errors import EvalsError
from .producer import command_problem
from .strict_json import loads_unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]

_PRIVACY = ("contains_credentials", "contains_private_content")
_MAX_STATED = 65536


class Story:
    """What scorer results and trace must agree with: result, baseline result, command log ({} if unknown)."""

    __slots__ = ("baseline", "log", "result")

    def __init__(self, *, result: object, baseline: object, log: object) -> None:
        self.result = _object(result)
        self.baseline = _object(baseline)
        self.log = _object(log)


def _object(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _differs(where: str, found: object, expected: object, source: str) -> list[str]:
    if found is None or expected is None or found == expected:
        return []
    return [f"{where}: {value_shown(found)}; expected {value_shown(expected)}, as in {source}"]


def result_contradictions(result: Document) -> list[str]:
    """Where the result contradicts itself."""
    if result.get("status") == "passed" and result.get("errors"):
        return ["$.errors: not empty, while the status is passed; expected no errors"]
    return []


def privacy_contradictions(manifest: Document) -> list[str]:
    """Where the manifest says that the bundle holds what no bundle may hold."""
    privacy = manifest.get("privacy")
    return [
        f"$.privacy.{key}: true; expected false, since no case with such content is run"
        for key in _PRIVACY
        if isinstance(privacy, dict) and privacy.get(key) is True
    ]


def log_problems(log: object, execution_mode: object) -> list[str]:
    """What is wrong with a parsed command log of a run with that execution mode."""
    if not isinstance(log, dict):
        return [f"$: {value_shown(log)}; expected an object"]
    problems = _differs("$.execution_mode", log.get("execution_mode"), execution_mode or None, "latest.json")
    if _whole(log.get("exit_code")) is None:
        problems.append(f"$.exit_code: {value_shown(log.get('exit_code'))}; expected a whole number")
    return problems


def trace_contradictions(raw: bytes, story: Story) -> list[str]:
    """Where the events of a trace that is sound in itself tell another story than the other documents."""
    events = {}
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip():
            event: Any = loads_unique(line)
            events[event["event_type"]] = (f"line {number}: $", event)
    status, code = story.result.get("status"), _whole(story.log.get("exit_code"))
    facts = (
        ("scorer_result", "status", story.result.get("deterministic_verdict"), "the result"),
        ("run_finished", "status", status, "the result"),
        ("run_finished", "exit_code", 0 if status == "passed" else None, "a run that passed"),
        ("baseline_result", "status", story.baseline.get("comparison_status"), "the baseline result"),
        ("command_result", "exit_code", code, "the command log"),
        ("command_result", "status", _ended(code), "the command log"),
    )
    problems = []
    for kind, key, expected, source in facts:
        where, event = events[kind]
        problems += _differs(f"{where}.{key}", event[key], expected, source)
    return problems


def _whole(code: object) -> int | None:
    # For Python a truth value is a number too.
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _ended(code: int | None) -> str | None:
    if code is None:
        return None
    return "passed" if code == 0 else "failed"


def scorer_contradictions(results: object, story: Story) -> list[str]:
    """Where scorer results contradict themselves, the baseline result or the command log."""
    problems: list[str] = []
    first: dict[str, int] = {}
    for index, scorer in enumerate(results if isinstance(results, list) else []):
        where, name = f"$.results[{index}]", _object(scorer).get("scorer_id")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            again = f"{value_shown(name)} again, as in $.results[{first[name]}]; expected it once"
            problems.append(f"{where}.scorer_id: {again}")
        problems += _scorer(where, _object(scorer), story)
    return problems


def _scorer(where: str, scorer: Document, story: Story) -> list[str]:
    name = scorer.get("scorer_id")
    problems = []
    if scorer.get("status") == "pass":
        if scorer.get("failure_reason") is not None:
            problems.append(f"{where}.failure_reason: given, while the scorer passed; expected null")
        if name == "baseline-presence" and story.baseline.get("comparison_status") == "error":
            problems.append(f"{where}.status: pass, while the comparison of the baseline result is error")
    for place, assertion in _assertions(where, scorer):
        problems += command_problem(f"{place}.reproduce_command", assertion.get("reproduce_command"))
        if name == "exit-code":
            problems += _exit_code(place, assertion, story.log)
        if name == "baseline-presence":
            problems += _baseline(place, assertion, story.baseline)
    return problems


def _assertions(where: str, scorer: Document) -> list[tuple[str, Document]]:
    listed = scorer.get("assertions")
    return [
        (f"{where}.assertions[{index}]", assertion)
        for index, assertion in enumerate(listed if isinstance(listed, list) else [])
        if isinstance(assertion, dict)
    ]


def _exit_code(where: str, assertion: Document, log: Document) -> list[str]:
    actual, expected, code = assertion.get("actual"), assertion.get("expected"), _whole(log.get("exit_code"))
    wanted = "pass" if actual == expected else "fail"
    problems = []
    if assertion.get("status") in ("pass", "fail") and assertion["status"] != wanted:
        found = f"actual is {value_shown(actual)} and expected is {value_shown(expected)}"
        problems.append(f"{where}.status: {assertion['status']}; expected {wanted}, since {found}")
    if code is not None:
        problems += _differs(f"{where}.actual", actual, str(code), "the command log")
    return problems


def _baseline(where: str, assertion: Document, baseline: Document) -> list[str]:
    stated = _stated(assertion.get("actual"))
    return [
        problem
        for key in ("presence_status", "comparison_status")
        for problem in _differs(
            f"{where}.actual: {key}", stated.get(key), baseline.get(key), "the baseline result"
        )
    ]


def _stated(actual: object) -> Document:
    """What the assertion about a baseline holds as JSON text."""
    if not isinstance(actual, str) or len(actual) > _MAX_STATED:
        return {}
    try:
        return _object(loads(actual))
    except EvalsError:
        return {}
