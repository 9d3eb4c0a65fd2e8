"""Writes the closure evidence of the executable spine from what the program does, and checks that it holds.

Rules:
- Every line of the document comes from commands that are run here, in a folder of their own, or from a file
  that it names; nothing in it is written by hand.
- `--write` runs the commands, keeps the bundle that they made under `.harness/evals/runs/` as the cited one
  (and drops the one cited before), and writes the document. Without it the document is made again and
  compared, and the cited bundle is checked; what differs from run to run is compared by its place.
- A classification is pass, fail, blocked or not-applicable; how each is decided stands in CLASSIFICATION.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from docs import ROOT, lay_out, link_problems, settled, table_problems

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = ROOT / ".harness" / "evals" / "evals-evals-executable-spine-eval.md"
SPECIFICATION = ROOT / ".harness" / "specs" / "2026-05-18-evals-executable-spine-spec.md"
RUNS = Path(".harness") / "evals" / "runs"
SMOKE = "fixtures/smoke/pr-closeout.case.json"
PROSE = ("README.md", "AGENTS.md", "docs/guide.md", "docs/reference.md", "docs/threat-model.md")

# Commands whose text is shown, in this order; the first makes the bundle that the others judge.
SHOWN = (
    f"evals run {SMOKE} --json",
    "evals check",
    "evals check --smoke",
    "evals state",
    "evals validate-contracts",
    "evals validate-promotions",
    "evals validate-improvements",
)
# What must be refused, with a word of the answer.
REFUSED = (
    ("evals gate run gate.json", "gate.isolation_required"),
    ("evals run ../outside.case.json", "case.path"),
    ("evals run credentials.case.json", "case.validation"),
    ("evals run .evals/suite.json", "suite.validation"),
    ("evals capsule append story --lineage plan --kind note --payload @secret.json", "capsule.secret_canary"),
)


class Answer(NamedTuple):
    """What one command gave."""

    command: str
    code: int
    stdout: str
    stderr: str


class Evidence(NamedTuple):
    """Everything that the document is made from."""

    shown: list[Answer]
    refused: list[Answer]
    check: dict[str, Any]
    bundle: Path
    run_id: str


def main(arguments: list[str] | None = None) -> int:
    """Write or check the closure evidence; 0 when it holds, 1 with the difference when it does not."""
    parser = argparse.ArgumentParser(prog="scripts/closure", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="run everything and write the document")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        evidence = gather(Path(place).resolve() / "evals")
        text = document(evidence)
        if chosen.write:
            keep(evidence)
            DOCUMENT.write_text(text, encoding="utf-8")
    problems = difference(text) + cited_problems()
    print("\n".join(problems) or f"{DOCUMENT.relative_to(ROOT)} is what the program shows")
    return 1 if problems else 0


def gather(world: Path) -> Evidence:
    """Run every command in a copy of the checkout's data."""
    lay_out(world, empty=False)
    shown = [answer(command, world) for command in SHOWN]
    write_hostile(world)
    refused = [answer(command, world) for command, _ in REFUSED]
    check = json.loads(answer("evals check --smoke --json", world).stdout)
    run_id = str(json.loads(shown[0].stdout)["run_id"])
    return Evidence(shown, refused, check, world / RUNS / run_id, run_id)


def answer(command: str, world: Path) -> Answer:
    """Run one command as a user would."""
    program = [sys.executable, str(Path(sys.executable).with_name("evals")), *command.split()[1:]]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTHON"))}
    variables = {
        **kept,
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONUTF8": "1",
        "GIT_CEILING_DIRECTORIES": str(world.parent),
    }
    done = subprocess.run(
        program,
        cwd=world,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Answer(command, done.returncode, done.stdout, done.stderr)


def write_hostile(world: Path) -> None:
    """Lay out what REFUSED asks for: an outside path, credentials, the network, a secret."""
    case = json.loads((world / SMOKE).read_text(encoding="utf-8"))
    (world.parent / "outside.case.json").write_text(json.dumps(case), encoding="utf-8")
    case["privacy"]["contains_credentials"] = True
    (world / "credentials.case.json").write_text(json.dumps(case), encoding="utf-8")
    (world / "gate.json").write_text("{}", encoding="utf-8")
    (world / "secret.json").write_text('{"note": "PASSWORD=made-up-for-this"}', encoding="utf-8")
    shutil.copytree(world / "fixtures" / "smoke", world / ".evals")
    suite = {
        "schema_version": 1,
        "suite_id": "hostile",
        "owner_repo": "nobody",
        "domain": "none",
        "purpose": "To be refused.",
        "cases": ["pr-closeout.case.json"],
        "scorers": ["exit-code"],
        "artifact_policy": {"write_bundle": True, "retain_locally": True, "allow_network": True},
    }
    (world / ".evals" / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    answer("evals capsule create story", world)


def read(evidence: Evidence, name: str) -> dict[str, Any]:
    """One document of the bundle."""
    document_read: dict[str, Any] = json.loads((evidence.bundle / name).read_text(encoding="utf-8"))
    return document_read


INTRODUCTION = """\
# Closure evidence: executable spine

Made by `scripts/closure --write` from the commands below, run in a copy of this checkout's data.
`scripts/closure` makes it again and compares."""

ROLLBACK = """\
Status: `available`. A run adds one folder and replaces `latest.json`. To undo it, delete the folder and
put back the `latest-candidate.json` of the bundle before as `latest.json`. Nothing else is changed, so
nothing else is rolled back."""

TRACKER = """\
State: `blocked`. No parent issue is linked; see
[the record](../linear/2026-05-18-evals-tracker-override-approved.md), which also says how to recover."""


def document(evidence: Evidence) -> str:
    """The whole document."""
    parts = [
        INTRODUCTION,
        section("Command output", *map(block, evidence.shown)),
        section("Artifact paths", artifacts(evidence)),
        section("Schema validation", schema_rows(evidence)),
        section("Scorer verdicts", scorer_rows(evidence)),
        section("Baseline", baseline_rows(evidence)),
        section("Drift", drift(evidence)),
        section("Rollback", ROLLBACK),
        section("Tracker", TRACKER),
        section("Refusals", *map(block, evidence.refused)),
        section("Classification", classification(evidence)),
    ]
    return "\n\n".join(parts) + "\n"


def section(title: str, *paragraphs: str) -> str:
    """A titled part."""
    return "\n\n".join([f"## {title}", *paragraphs])


def block(answered: Answer) -> str:
    """A command with its output and exit code."""
    output = (answered.stdout + answered.stderr).rstrip("\n")
    return f"```text\n$ {answered.command}\n{output}\nexit {answered.code}\n```"


def table(header: str, rows: list[str]) -> str:
    """A table of one header and rows, cells apart by `|`."""
    rule = " | ".join("---" for _ in header.split("|"))
    return "\n".join(f"| {row} |" for row in [header, rule, *rows])


def artifacts(evidence: Evidence) -> str:
    """Every file of the cited bundle with its digest."""
    manifest = read(evidence, "manifest.json")
    rows = [f"{entry['type']} | `{entry['path']}` | `{entry['sha256']}`" for entry in manifest["artifacts"]]
    rows.append(f"manifest | `{(RUNS / evidence.run_id / 'manifest.json').as_posix()}` | ")
    return table("artifact | path | SHA-256", rows)


def schema_rows(evidence: Evidence) -> str:
    """Every check of `check --smoke`, with the schema where one decides."""
    rows = [
        f"{check['label']} | {code(check.get('schema_path'))} | {check['status']}"
        for check in evidence.check["checks"]
    ]
    return table("check | schema | status", rows)


def code(path: str | None) -> str:
    """A path in type for code, or nothing."""
    return f"`{path}`" if path else ""


def scorer_rows(evidence: Evidence) -> str:
    """Every scorer of the cited bundle."""
    results = read(evidence, "scorer-results.json")["results"]
    return table("scorer | verdict", [f"{result['scorer_id']} | {result['status']}" for result in results])


def baseline_rows(evidence: Evidence) -> str:
    """The three fields of the baseline."""
    baseline = read(evidence, "baseline-result.json")
    fields = ("presence_status", "comparison_status", "promotion_status")
    return table("field | value", [f"{field} | `{baseline[field]}`" for field in fields])


def drift(evidence: Evidence) -> str:
    """What the comparison with a baseline says."""
    status = read(evidence, "baseline-result.json")["comparison_status"]
    return f"Status: `{status}`. No baseline is promoted, so nothing was compared and no drift can be stated."


def classification(evidence: Evidence) -> str:
    """One line for each area that closing asks about."""
    return table(
        "area | classification | decided by",
        [f"{row[0]} | {row[1](evidence)} | {row[2]}" for row in CLASSIFICATION],
    )


def verdict(good: bool) -> str:
    """The word for a decided area."""
    return "pass" if good else "fail"


def docs_hold(_: Evidence) -> str:
    """Tables and links; the sessions are run by scripts/check-docs."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PROSE}
    wrong = [name for name, text in texts.items() if table_problems(text) or link_problems(ROOT / name, text)]
    return verdict(not wrong)


def schemas_hold(evidence: Evidence) -> str:
    """All checks that name a schema."""
    found = [check for check in evidence.check["checks"] if check.get("schema_path")]
    return verdict(bool(found) and all(check["status"] == "pass" for check in found))


def smoke_holds(evidence: Evidence) -> str:
    """What `check --smoke` says."""
    return verdict(evidence.check["status"] == "passed" and evidence.check["context_match"] is True)


def refuses(evidence: Evidence) -> str:
    """Every hostile request was refused with its code."""
    pairs = zip(evidence.refused, REFUSED, strict=True)
    return verdict(all(given.code == 1 and word in given.stderr for given, (_, word) in pairs))


def traced(_: Evidence) -> str:
    """Every acceptance id of the specification names a proof that exists."""
    rows = re.findall(
        r"^\| ([A-Z]+-\d+) \|.*\| ([^|]+) \|$", SPECIFICATION.read_text(encoding="utf-8"), re.MULTILINE
    )
    proofs = [path for _, proof in rows for path in re.findall(r"`([\w./-]+)`", proof)]
    return verdict(bool(proofs) and all((ROOT / path).exists() for path in proofs))


def works(evidence: Evidence) -> str:
    """All shown commands succeeded."""
    return verdict(all(given.code == 0 for given in evidence.shown))


CLASSIFICATION: tuple[tuple[str, Callable[[Evidence], str], str], ...] = (
    ("docs", docs_hold, "tables and links here; sessions by `scripts/check-docs`"),
    ("schema", schemas_hold, "the schema checks above"),
    ("smoke", smoke_holds, "`evals check --smoke`: status and context"),
    ("security", refuses, "the refusals above; `docs/threat-model.md` names what is not covered"),
    ("accessibility", lambda _: "not-applicable", "no graphical interface; text is plain without a terminal"),
    ("traceability", traced, "each acceptance id of the specification names a proof that exists"),
    ("implementation", works, "exit codes of the commands above; `scripts/test` runs every check"),
    ("tracker", lambda _: "blocked", "no parent issue can be linked"),
)


def keep(evidence: Evidence) -> None:
    """Make the bundle the cited one, in the place of the one cited before."""
    if DOCUMENT.exists():
        before = cited_run(DOCUMENT.read_text(encoding="utf-8"))
        shutil.rmtree(ROOT / RUNS / before, ignore_errors=True)
    shutil.copytree(evidence.bundle, ROOT / RUNS / evidence.run_id)


def cited_run(text: str) -> str:
    """The run that a document cites."""
    found = re.search(r'"run_id": "([\w-]+)"', text)
    if not found:
        raise SystemExit("closure: the document names no run")
    return found[1]


def difference(text: str) -> list[str]:
    """How the committed document differs from the present one."""
    if not DOCUMENT.exists():
        return [f"{DOCUMENT.relative_to(ROOT)} is missing: scripts/closure --write"]
    committed = settled(DOCUMENT.read_text(encoding="utf-8"), {}).splitlines()
    return list(
        difflib.unified_diff(
            committed, settled(text, {}).splitlines(), "document", "program", lineterm="", n=1
        )
    )


def cited_problems() -> list[str]:
    """Why the committed bundle is not the proof that the document says it is."""
    run_id = cited_run(DOCUMENT.read_text(encoding="utf-8")) if DOCUMENT.exists() else ""
    bundle = ROOT / RUNS / run_id
    if not run_id or not bundle.is_dir():
        return [f"the cited bundle {(RUNS / run_id).as_posix()} is missing"]
    with tempfile.TemporaryDirectory() as place:
        world = Path(place).resolve() / "evals"
        lay_out(world, empty=False)
        shutil.copytree(bundle, world / RUNS / run_id)
        shutil.copy(bundle / "latest-candidate.json", world / RUNS / "latest.json")
        given = answer("evals check --smoke", world)
    return [] if given.code == 0 else [f"the cited bundle fails:\n{given.stdout}{given.stderr}"]


if __name__ == "__main__":
    raise SystemExit(main())
