r"""`report.md`: a run as a person likes to read it, the verdict first, then what failed, then the rest.

Rules:
- Everything in it is also in the JSON artifacts; nothing is decided from it.
- Text from a case stands in it escaped and cut, so that no case can forge a heading, a row or a link.
- Output and command stand in fences that are longer than any in them, line by line without anything that
  does not print, so that neither a name nor a folder can end the fence or steer a terminal.
- It is Markdown in UTF-8; what cannot be encoded (a lone surrogate) is written as `\udxxx`.
"""

from __future__ import annotations

import re
from typing import Any

from .baseline import PROMOTION, Baseline
from .bundle_layout import ARTIFACTS, MANIFEST_NAME
from .files import shown

CELL = 240

_TILDES = re.compile("~+")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>()#+!|~&]")


def report_text(
    *,
    run_id: str,
    case_id: str,
    suite_id: str,
    started_at: str,
    verdict: str,
    results: list[dict[str, Any]],
    baseline: Baseline,
    stdout: str,
    command: str,
) -> bytes:
    """The content of `report.md`."""
    lines = [
        f"# {_headline(verdict, case_id)}",
        "",
        _summary(verdict, results),
        "",
        *_failures(results),
        "## The run",
        "",
        "| | |",
        "| --- | --- |",
        f"| Run | `{run_id}` |",
        f"| Case | `{case_id}` |",
        f"| Suite | `{suite_id}` |",
        f"| Started | {started_at} |",
        "| Execution | synthetic: the command was simulated, nothing was executed |",
        _baseline_row(baseline),
        f"| Baseline evidence | {_cell(baseline.evidence)} |",
        "",
        "## What was checked",
        "",
        "| Verdict | Scorer | Given | Should | Found |",
        "| --- | --- | --- | --- | --- |",
        *(_row(result) for result in results),
        "",
        "## Output of the simulated command",
        "",
        *_fenced("text", stdout),
        "",
        "## Artifacts beside this file",
        "",
        *(f"- [{name}]({name})" for name in _file_names()),
        "",
        "## Run it again",
        "",
        *_fenced("sh", command),
        "",
        "## What this does not say",
        "",
        "The verdict comes from deterministic scorers over this bundle alone; no model's opinion takes part.",
        "It does not say that the evaluated project is correct, that CI or a review has passed, or that",
        "anything is ready to merge.",
        "",
    ]
    return "\n".join(lines).encode("utf-8", "backslashreplace")


def _baseline_row(baseline: Baseline) -> str:
    facts = f"presence `{baseline.presence}`, comparison `{baseline.comparison}`, promotion `{PROMOTION}`"
    return f"| Baseline | {facts} |"


def _headline(verdict: str, case_id: str) -> str:
    return f"Case {case_id}: {'passed' if verdict == 'pass' else 'failed'}"


def _summary(verdict: str, results: list[dict[str, Any]]) -> str:
    passed = sum(result["status"] == "pass" for result in results)
    return f"**{verdict}**: {passed} of {len(results)} scorers passed."


def _failures(results: list[dict[str, Any]]) -> list[str]:
    failed = [result for result in results if result["status"] != "pass"]
    if not failed:
        return []
    lines = ["## What failed", ""]
    for result in failed:
        assertion = result["assertions"][0]
        lines += [
            f"- **{result['scorer_id']}**: {_cell(assertion['diagnostic'])}",
            f"  - given {assertion['given']}, it should {assertion['should']}",
            f"  - expected: {_cell(assertion['expected'])}",
            f"  - found: {_cell(assertion['actual'])}",
            f"  - look at: {', '.join(f'`{ref}`' for ref in assertion['evidence_refs'])}",
        ]
    return [*lines, ""]


def _row(result: dict[str, Any]) -> str:
    assertion = result["assertions"][0]
    cells = (
        result["status"],
        result["scorer_id"],
        assertion["given"],
        assertion["should"],
        _cell(assertion["diagnostic"]),
    )
    return f"| {' | '.join(cells)} |"


def _file_names() -> list[str]:
    return [artifact.file_name for artifact in ARTIFACTS if artifact.type != "report"] + [MANIFEST_NAME]


def _fenced(language: str, text: str) -> list[str]:
    fence = "~" * max(3, 1 + max(map(len, _TILDES.findall(text)), default=0))
    return [f"{fence}{language}", *map(shown, text.split("\n")), fence]


def _cell(text: str) -> str:
    """A text of a case on one line, without any meaning in Markdown."""
    cut = text if len(text) <= CELL else text[: CELL - 3] + "..."
    return _MARKDOWN.sub(r"\\\g<0>", shown(cut))
