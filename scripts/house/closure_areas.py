"""Decides the areas that closing asks about, each from something that can fail.

Rules:
- An area passes when nothing is found against it, and fails with what was found. No area is decided by a
  constant.
- `docs` is decided by what `scripts/check-docs` runs. `tracker` alone follows a person's statement, the
  record of the tracker; see `tracker_record` for what can be decided about that.
- `security` and `accessibility` are decided for what is tried here. That this is enough is a person's
  judgement; docs/threat-model.md says what is not covered.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from closure_bundle import manifest_problems, schema_problems, verdict_problems
from closure_world import PACKETS, REFUSED, RUN
from traceability import traceability_problems
from tracker_record import read_tracker

import docs

if TYPE_CHECKING:
    from collections.abc import Callable

    from closure_world import Evidence, Look

SPECIFICATION = docs.ROOT / ".harness" / "specs" / "2026-05-18-evals-executable-spine-spec.md"
TRACKER = docs.ROOT / ".harness" / "linear" / "2026-05-18-evals-tracker-override-approved.md"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Area(NamedTuple):
    """One line of the classification; `problems` say why it fails."""

    name: str
    word: str
    decided_by: str
    problems: list[str]


def areas(evidence: Evidence) -> list[Area]:
    """Every area with its classification."""
    decided = [(name, decide(evidence), by) for name, decide, by in DECIDED]
    tracker = read_tracker(TRACKER.read_text(encoding="utf-8"))
    return [
        *(Area(name, "fail" if problems else "pass", by, problems) for name, problems, by in decided),
        Area("tracker", tracker.classification, "the record of the tracker", tracker.problems),
    ]


def docs_problems(_: Evidence) -> list[str]:
    """What scripts/check-docs finds in all documents."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = docs.main([])
    return said.getvalue().splitlines() if code else []


def schema_area(evidence: Evidence) -> list[str]:
    """Documents of the cited bundle, packets of the commands, and checks that name a schema."""
    of_bundle = schema_problems(evidence.cited)
    problems = [f"{name}: {problem}" for name, found in of_bundle.items() for problem in found]
    for command, found in packet_problems(evidence).items():
        problems += [f"{command}: {problem}" for problem in found]
    checks = [check for check in evidence.check["checks"] if check.get("schema_path")]
    problems += [f"{check['label']}: {check['status']}" for check in checks if check["status"] != "pass"]
    return problems if checks else [*problems, "check --smoke names no schema"]


def packet_problems(evidence: Evidence) -> dict[str, list[str]]:
    """What the validator says about the document that each command of PACKETS printed."""
    from evals_cli.schemas.validator import problems

    return {
        command: problems(PACKETS[command], json.loads(given.stdout))
        for command, given in evidence.packets.items()
    }


def smoke_area(evidence: Evidence) -> list[str]:
    """The digests of the cited bundle, and what `check --smoke` says of it."""
    problems = manifest_problems(evidence.cited)
    said = {name: evidence.check.get(name) for name in ("status", "context_match", "run_id")}
    expected = {"status": "passed", "context_match": True, "run_id": evidence.cited.run_id}
    problems += [
        f"check --smoke: {name} is {said[name]!r}; expected {expected[name]!r}"
        for name in expected
        if said[name] != expected[name]
    ]
    return problems


def security_area(evidence: Evidence) -> list[str]:
    """Every hostile request refused by its code, without a trace; damage found and named."""
    problems = [
        f"{given.command}: exit {given.code}; expected a refusal with {word}"
        for given, (_, word) in zip(evidence.refused, REFUSED, strict=True)
        if given.code != 1 or given.stdout or f"evals: {word}:" not in given.stderr
    ]
    problems += [f"a refused command changed {path}" for path in evidence.left_by_refusals]
    if evidence.damaged.code != 1 or "report.md" not in evidence.damaged.stdout:
        problems.append("a byte added to report.md is not found by check")
    return problems


def accessibility_area(evidence: Evidence) -> list[str]:
    """Output for people: plain text, the verdict in words, nothing that only a colour says."""
    return [f"{seen.plain.command}: {problem}" for seen in evidence.looks for problem in look_problems(seen)]


def look_problems(seen: Look) -> list[str]:
    """What is wrong with the looks of one command."""
    plain, coloured = seen.plain.text, seen.coloured.text
    problems = []
    if not re.match(r"[A-Z]+  |evals: [a-z._]+: ", plain):
        problems.append("the first line does not begin with a verdict or a code")
    if not all(char.isprintable() or char == "\n" for char in plain):
        problems.append("the plain form holds control characters")
    if seen.no_colour.text != plain:
        problems.append("NO_COLOR does not give the plain form")
    if not STYLE.search(coloured):
        problems.append("the coloured form has no colour, so nothing was compared")
    words = " ".join(STYLE.sub("", coloured).split())
    lost = [line for line in map(bare, plain.splitlines()) if line not in words]
    problems += [f"the coloured form does not say {line!r}" for line in lost]
    return problems


def bare(line: str) -> str:
    """The words of a line, apart by one space and without what the coloured form shows as a sign."""
    return " ".join(re.sub(r"^(next: |  - )", "", line).split())


def trace_area(_: Evidence) -> list[str]:
    """Every acceptance id of the specification."""
    return traceability_problems(SPECIFICATION.read_text(encoding="utf-8"), docs.ROOT)


def implementation_area(evidence: Evidence) -> list[str]:
    """The commands succeed, the cited bundle passed and is what a run gives now, and a run can be undone."""
    problems = [
        f"{given.command}: exit {given.code}"
        for given in (evidence.run, *evidence.shown, *evidence.packets.values())
        if given.code
    ]
    problems += verdict_problems(evidence.cited)
    problems += [f"{RUN} gives another {name} now" for name in evidence.drift]
    problems += [f"rollback: {step.name}: failed" for step in evidence.rollback if not step.good]
    return problems


DECIDED: tuple[tuple[str, Callable[[Evidence], list[str]], str], ...] = (
    ("docs", docs_problems, "`scripts/check-docs`: sessions, tables and links of every document"),
    (
        "schema",
        schema_area,
        "the validator on every document of the bundle and every packet; the checks above",
    ),
    ("smoke", smoke_area, "`evals check --smoke --json` on the cited bundle; its digests computed again"),
    ("security", security_area, "the refusals above, by code and without a trace; damage that is named"),
    (
        "accessibility",
        accessibility_area,
        "text output: plain off a terminal and under `NO_COLOR`, the verdict in words, none lost by colour",
    ),
    ("traceability", trace_area, "each acceptance id names test functions that exist and always run"),
    (
        "implementation",
        implementation_area,
        "exit codes above; verdicts of the bundle; no drift; the rollback carried out",
    ),
)
