"""Writes the closure evidence as Markdown.

Rules:
- Everything but INTRODUCTION, STATED and the sentences that join the parts is read from Evidence, from the
  cited bundle, or from the tracker's record.
- The run is made anew each time; the time within its id is shown as that of the cited run. Nothing else of
  any output is changed.
- The line `Cited bundle:` is by what the bundle is found again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from closure_areas import TRACKER, packet_problems
from closure_bundle import BASELINE_FIELDS, RUNS, SCHEMAS, STAMP, artifact_rows, schema_problems
from closure_world import PACKETS
from tracker_record import FIELDS, read_tracker

if TYPE_CHECKING:
    from closure_areas import Area
    from closure_world import Answer, Evidence

INTRODUCTION = """\
# Closure evidence: executable spine

Made by `scripts/closure --write`. `scripts/closure` makes it again, compares it letter by letter, and fails
where it differs or where an area below fails; only the commit that `evals state` tells may differ. The run
is made anew in a copy of this checkout's data, its time shown as that of the cited run. All other commands
are asked about the cited bundle."""

STATED = """\
No command decides these; people do. The tracker's state is what its record says: no tracker is asked. That
the tests named in the specification prove their statements is a reviewer's judgement, and that they pass is
what `scripts/test` shows, not this file. That the refusals above are the ones that matter is a judgement
too; [the threat model](../../docs/threat-model.md) names what is not covered. Accessibility is decided for
text output, and there is no other. Passing commands alone are not completion."""


def document(evidence: Evidence, classified: list[Area]) -> str:
    """The whole document."""
    damage = "With a line feed added to `report.md` of the cited bundle:"
    parts = [
        INTRODUCTION,
        f"Cited bundle: `{(RUNS / evidence.cited.run_id).as_posix()}`",
        section("Command output", block(as_cited(evidence)), *map(block, evidence.shown)),
        section("Artifact paths", artifacts(evidence)),
        section("Schema validation", documents(evidence), packets(evidence), checks(evidence)),
        section("Scorer verdicts", scorers(evidence)),
        section("Baseline", baseline(evidence)),
        section("Drift", drift(evidence)),
        section("Rollback", rollback(evidence)),
        section("Tracker", tracker()),
        section("Refusals", *map(block, evidence.refused), damage, block(evidence.damaged)),
        section("Classification", classification(classified)),
        section("What people state", STATED),
    ]
    return "\n\n".join(parts) + "\n"


def cited_run(text: str) -> str | None:
    """The run that a document cites; None where it cites none."""
    found = re.search(rf"^Cited bundle: `{re.escape(RUNS.as_posix())}/([\w-]+)`$", text, re.MULTILINE)
    return found[1] if found else None


def section(title: str, *paragraphs: str) -> str:
    """A titled part."""
    return "\n\n".join([f"## {title}", *paragraphs])


def block(answered: Answer) -> str:
    """A command with its output and exit code."""
    output = answered.text.rstrip("\n")
    return f"```text\n$ {answered.command}\n{output}\nexit {answered.code}\n```"


def table(header: str, rows: list[str]) -> str:
    """A table of one header and rows, cells apart by `|`."""
    rule = " | ".join("---" for _ in header.split("|"))
    return "\n".join(f"| {row} |" for row in [header, rule, *rows])


def as_cited(evidence: Evidence) -> Answer:
    """The answer of the run made now, with the time of the cited run in its id."""
    own, cited = STAMP.search(evidence.run.stdout), STAMP.search(evidence.cited.run_id)
    if not own or not cited:
        return evidence.run
    return evidence.run._replace(stdout=evidence.run.stdout.replace(own[0], cited[0]))


def artifacts(evidence: Evidence) -> str:
    """Every file of the cited bundle with its digest."""
    rows = [f"{kind} | `{path}` | `{digest}`" for kind, path, digest in artifact_rows(evidence.cited)]
    return table("artifact | path | SHA-256", rows)


def documents(evidence: Evidence) -> str:
    """What the validator says about each document of the cited bundle."""
    found = schema_problems(evidence.cited)
    return table(
        "document | schema | problems", [f"`{n}` | `{SCHEMAS[n]}` | {said(found[n])}" for n in found]
    )


def packets(evidence: Evidence) -> str:
    """What the validator says about what the commands print."""
    found = packet_problems(evidence)
    return table(
        "packet of | schema | problems", [f"`{c}` | `{PACKETS[c]}` | {said(found[c])}" for c in found]
    )


def said(problems: list[str]) -> str:
    """Problems in a cell of a table."""
    return "; ".join(problems).replace("|", "\\|") or "none"


def checks(evidence: Evidence) -> str:
    """Every check of `check --smoke`, with the schema where one decides."""
    rows = [
        f"{check['label']} | {code(check.get('schema_path'))} | {check['status']}"
        for check in evidence.check["checks"]
    ]
    return table("check of `evals check --smoke` | schema | status", rows)


def code(path: str | None) -> str:
    """A path in type for code, or nothing."""
    return f"`{path}`" if path else ""


def scorers(evidence: Evidence) -> str:
    """Every scorer of the cited bundle, and the verdict of its result."""
    results = evidence.cited.read("scorer-results.json")["results"]
    rows = [f"{result['scorer_id']} | {result['status']}" for result in results]
    verdict = evidence.cited.read("result.json")["deterministic_verdict"]
    return table("scorer | verdict", [*rows, f"all (`deterministic_verdict`) | {verdict}"])


def baseline(evidence: Evidence) -> str:
    """The three fields of the baseline."""
    read = evidence.cited.read("baseline-result.json")
    return table("field | value", [f"{field} | `{read[field]}`" for field in BASELINE_FIELDS])


def drift(evidence: Evidence) -> str:
    """What the comparisons with a baseline and with a run made now say."""
    read = evidence.cited.read("baseline-result.json")
    found = ", ".join(f"`{name}`" for name in evidence.drift)
    status = "changed" if found else "matched"
    compared = found or "every file, apart from times and the digests that follow from them"
    rows = [
        f"its baseline | `{read['comparison_status']}` | {read['comparison_evidence']}",
        f"a run made now | `{status}` | {compared}",
    ]
    return table("the cited bundle against | drift | what was compared", rows)


def rollback(evidence: Evidence) -> str:
    """The rollback as it was carried out."""
    status = "available" if all(step.good for step in evidence.rollback) else "failed"
    rows = [f"{step.name} | {'yes' if step.good else 'NO'}" for step in evidence.rollback]
    how = "Carried out in a copy; `FIRST` and `SECOND` are the ids of the two runs."
    return f"Status: `{status}`. {how}\n\n{table('step | came out', rows)}"


def tracker() -> str:
    """The record of the tracker."""
    fields = read_tracker(TRACKER.read_text(encoding="utf-8")).fields
    rows = [f"{name} | {fields.get(name, 'not recorded')}" for name in FIELDS]
    return f"From [the record](../linear/{TRACKER.name}).\n\n{table('field | value', rows)}"


def classification(classified: list[Area]) -> str:
    """One line for each area that closing asks about."""
    return table(
        "area | classification | decided by",
        [f"{area.name} | {area.word} | {area.decided_by}" for area in classified],
    )
