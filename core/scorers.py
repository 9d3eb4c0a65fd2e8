"""The four deterministic scorers of a case, each with its one assertion in Given/should form.

Rules:
- They run in the order of SCORERS, whatever the order in which a case selects them; version 1.0.0.
- exit-code: the exit code equals the expected one.
- required-output: the output holds every required fragment; in JSON format it also parses as JSON.
- artifact-completeness: every required artifact is among the file names of the finished bundle.
- baseline-presence: the baseline's presence is as expected, and looking at it was no error.
- A result is `pass` exactly when its assertion is. Actual and expected are text; structures are JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .bundle_layout import PLANNED_FILES
from .canonical import canonical_json, loads
from .errors import EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .baseline import Baseline

VERSION = "1.0.0"


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What scorers look at: the simulated execution, the case's document, and the observed baseline.

    `reproduce` is the command line that leads to the same results again.
    """

    exit_code: int
    stdout: str
    output_format: str
    document: dict[str, Any]
    baseline: Baseline
    reproduce: str


@dataclass(frozen=True, kw_only=True)
class _Finding:
    """One assertion before it takes its published form."""

    assertion_id: str
    given: str
    should: str
    actual: str
    expected: str
    inputs: tuple[str, ...]
    diagnostic: str
    holds: bool


def _exit_code(scored: Scored) -> _Finding:
    expected = scored.document["expected"]["exit_code"]
    return _Finding(
        assertion_id="exit-code.as-expected",
        given="the exit code of the simulated command",
        should="equal the exit code that the case expects",
        actual=canonical_json(scored.exit_code),
        expected=canonical_json(expected),
        inputs=("command-log.exit_code", "case.expected.exit_code"),
        diagnostic=f"exit code {scored.exit_code}, expected {canonical_json(expected)}",
        holds=scored.exit_code == expected,
    )


def _required_output(scored: Scored) -> _Finding:
    fragments = scored.document["expected"]["required_output_contains"]
    absent = [fragment for fragment in fragments if fragment not in scored.stdout]
    readable = scored.output_format != "json" or _is_json(scored.stdout)
    if not readable:
        actual, diagnostic = "output is not JSON", "the output should be JSON and does not parse"
    elif absent:
        actual = canonical_json({"absent": absent})
        diagnostic = f"{len(absent)} of {len(fragments)} required fragments are not in the output"
    else:
        actual, diagnostic = "every fragment is there", "the output holds every required fragment"
    return _Finding(
        assertion_id="required-output.holds-fragments",
        given="the output of the simulated command",
        should="hold every fragment that the case requires",
        actual=actual,
        expected=canonical_json(fragments),
        inputs=("command-log.stdout", "command-log.output_format", "case.expected.required_output_contains"),
        diagnostic=diagnostic,
        holds=readable and not absent,
    )


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except EvalsError:
        return False
    return True


def _artifact_completeness(scored: Scored) -> _Finding:
    required = scored.document["expected"]["required_artifacts"]
    absent = [name for name in required if name not in PLANNED_FILES]
    if absent:
        diagnostic = f"the finished bundle will not hold {canonical_json(absent)}"
    else:
        diagnostic = "the finished bundle holds every required artifact"
    return _Finding(
        assertion_id="artifact-completeness.bundle-holds-required",
        given="the file names of the finished bundle",
        should="include every artifact that the case requires",
        actual=canonical_json(list(PLANNED_FILES)),
        expected=canonical_json(required),
        inputs=("bundle.file_names", "case.expected.required_artifacts"),
        diagnostic=diagnostic,
        holds=not absent,
    )


def _baseline_presence(scored: Scored) -> _Finding:
    expected = scored.document["baseline"]["expected_presence"]
    baseline = scored.baseline
    return _Finding(
        assertion_id="baseline-presence.as-expected",
        given="the presence of the baseline artifact and the outcome of looking at it",
        should="be the presence that the case expects, without an error",
        actual=canonical_json(
            {"presence_status": baseline.presence, "comparison_status": baseline.comparison}
        ),
        expected=canonical_json({"presence_status": expected, "comparison_status": "not error"}),
        inputs=("baseline-result.presence_status", "baseline-result.comparison_status", "case.baseline"),
        diagnostic=f"{baseline.presence}, expected {expected}: {baseline.evidence}",
        holds=baseline.presence == expected and baseline.comparison != "error",
    )


SCORERS: dict[str, Callable[[Scored], _Finding]] = {
    "exit-code": _exit_code,
    "required-output": _required_output,
    "artifact-completeness": _artifact_completeness,
    "baseline-presence": _baseline_presence,
}


def score(scored: Scored) -> list[dict[str, Any]]:
    """The `results` of `scorer-results.json`: one for each scorer that the case selects."""
    selected = scored.document["scorers"]
    return [
        _result(scorer_id, scorer(scored), scored.reproduce)
        for scorer_id, scorer in SCORERS.items()
        if scorer_id in selected
    ]


def _result(scorer_id: str, finding: _Finding, reproduce: str) -> dict[str, Any]:
    status = "pass" if finding.holds else "fail"
    return {
        "scorer_id": scorer_id,
        "scorer_version": VERSION,
        "status": status,
        "inputs_inspected": list(finding.inputs),
        "evidence": finding.diagnostic,
        "failure_reason": None if finding.holds else finding.diagnostic,
        "assertions": [
            {
                "assertion_id": finding.assertion_id,
                "given": finding.given,
                "should": finding.should,
                "actual": finding.actual,
                "expected": finding.expected,
                "status": status,
                "evidence_refs": list(finding.inputs),
                "reproduce_command": reproduce,
                "diagnostic": finding.diagnostic,
            }
        ],
    }
