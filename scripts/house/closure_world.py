"""Does what the closure evidence tells of: runs, checks, refusals and a rollback, in copies of the checkout.

Rules:
- Two copies of the checkout's data are made, each a git repository of its own. In the first the program runs
  the smoke case twice and the second run is undone; in the second the cited bundle lies where a run would
  have left it, and everything else is asked about it.
- Commands are the words that the evidence shows, given to the program of this environment.
- Nothing is decided here. What was seen is handed on, whether it is good or not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from closure_bundle import CANDIDATE, RUNS, Bundle, drift

from docs import lay_out

SMOKE = "fixtures/smoke/pr-closeout.case.json"
RUN = f"evals run {SMOKE} --json"
SMOKE_CHECK = "evals check --smoke --json"
# Commands about the cited bundle whose text is shown.
SHOWN = (
    "evals check",
    "evals check --smoke",
    "evals state",
    "evals validate-contracts",
    "evals validate-promotions",
    "evals validate-improvements",
)
# Commands whose document is held against a schema.
PACKETS = {
    RUN: "run-output",
    SMOKE_CHECK: "validation-result",
    "evals state --json": "runtime-state",
    "evals validate-contracts --json": "validate-contracts-output",
    "evals validate-promotions --json": "validate-promotions-output",
    "evals validate-improvements --json": "validate-improvements-output",
}
# What must be refused, with a word of the answer.
REFUSED = (
    ("evals gate run gate.json", "gate.isolation_required"),
    ("evals run ../outside.case.json", "case.path"),
    ("evals run credentials.case.json", "case.validation"),
    ("evals run .evals/suite.json", "suite.validation"),
    ("evals capsule append story --lineage plan --kind note --payload @secret.json", "capsule.secret_canary"),
)
UNDO = (
    f"rm -r {RUNS.as_posix()}/SECOND",
    f"cp {RUNS.as_posix()}/FIRST/{CANDIDATE} {RUNS.as_posix()}/latest.json",
)
COLOURED = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
PLAIN = {"NO_COLOR": "1", "TERM": "dumb"}

Tree = dict[str, bytes]


class Answer(NamedTuple):
    """What one command gave."""

    command: str
    code: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """Both streams, the result first."""
        return self.stdout + self.stderr


class Look(NamedTuple):
    """One command as it answers without a terminal, with colour, and with NO_COLOR against FORCE_COLOR."""

    plain: Answer
    coloured: Answer
    no_colour: Answer


class Step(NamedTuple):
    """One step of the rollback, and whether it came out as it should."""

    name: str
    good: bool


class Evidence(NamedTuple):
    """Everything that the document is made from."""

    cited: Bundle
    run: Answer
    drift: list[str]
    rollback: list[Step]
    shown: list[Answer]
    check: dict[str, Any]
    packets: dict[str, Answer]
    damaged: Answer
    refused: list[Answer]
    left_by_refusals: list[str]
    looks: list[Look]


def gather(place: Path, cited: Bundle) -> Evidence:
    """Run every command in two copies of the checkout's data below PLACE."""
    first, second = place / "first" / "evals", place / "second" / "evals"
    for world in (first, second):
        world.parent.mkdir()
        lay_out(world, empty=False)
    run, fresh = run_smoke(first)
    drifted = drift(cited, fresh)
    rollback = undo_second_run(first, run, fresh)
    put_bundle(cited, second)
    shown = [answer(command, second) for command in SHOWN]
    looks = [look(given, second) for given in shown]
    packets = {command: run if command == RUN else answer(command, second) for command in PACKETS}
    write_hostile(second)
    before = tree(place / "second")
    refused = [answer(command, second) for command, _ in REFUSED]
    left = changed(before, tree(place / "second"))
    looks += [look(given, second) for given in refused]
    damaged = damage(cited, second)
    looks.append(look(damaged, second))
    check = json.loads(packets[SMOKE_CHECK].stdout)
    return Evidence(cited, run, drifted, rollback, shown, check, packets, damaged, refused, left, looks)


def new_bundle(place: Path) -> Bundle:
    """A bundle of the smoke case, made now below PLACE."""
    place.mkdir()
    lay_out(place / "evals", empty=False)
    return run_smoke(place / "evals")[1]


def run_smoke(world: Path) -> tuple[Answer, Bundle]:
    """Run the smoke case; its answer and its bundle."""
    given = answer(RUN, world)
    if given.code:
        raise SystemExit(f"closure: {RUN} failed:\n{given.text}")
    return given, Bundle(world / RUNS / json.loads(given.stdout)["run_id"])


def put_bundle(bundle: Bundle, world: Path) -> None:
    """Place a bundle where its run would have left it, as the latest."""
    shutil.copytree(bundle.folder, world / RUNS / bundle.run_id)
    shutil.copy(bundle.folder / CANDIDATE, world / RUNS / "latest.json")


def undo_second_run(world: Path, run: Answer, first: Bundle) -> list[Step]:
    """Run again, undo that as UNDO says, and look whether everything is as it was."""
    latest = (RUNS / "latest.json").as_posix()
    before = tree(world)
    steps = [Step("first run", run.code == 0 and before[latest] == (first.folder / CANDIDATE).read_bytes())]
    _, second = run_smoke(world)
    added = f"{RUNS.as_posix()}/{second.run_id}/"
    touched = changed(before, tree(world))
    steps.append(
        Step(
            "a second run adds its folder and replaces `latest.json`; nothing else changes",
            latest in touched and all(path == latest or path.startswith(added) for path in touched),
        )
    )
    for line in UNDO:
        command = line.replace("FIRST", first.run_id).replace("SECOND", second.run_id)
        done = subprocess.run(["sh", "-c", command], cwd=world, capture_output=True, check=False)
        steps.append(Step(f"`{line}`", done.returncode == 0))
    steps.append(Step("every file is as after the first run, byte for byte", tree(world) == before))
    checked = answer(SMOKE_CHECK, world)
    good = checked.code == 0 and json.loads(checked.stdout)["run_id"] == first.run_id
    steps.append(Step(f"`{SMOKE_CHECK}` passes and names the first run", good))
    return steps


def damage(cited: Bundle, world: Path) -> Answer:
    """Check the cited bundle with one byte added to its report."""
    with (world / RUNS / cited.run_id / "report.md").open("ab") as report:
        report.write(b"\n")
    return answer("evals check", world)


def answer(command: str, world: Path, colours: dict[str, str] = PLAIN) -> Answer:
    """Run one command as a user would."""
    program = [sys.executable, str(Path(sys.executable).with_name("evals")), *command.split()[1:]]
    dropped = ("GIT_", "PYTHON", "NO_COLOR", "FORCE_COLOR")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    variables = {"COLUMNS": "200", "PYTHONUTF8": "1", "GIT_CEILING_DIRECTORIES": str(world.parent)}
    done = subprocess.run(
        program,
        cwd=world,
        env={**kept, **variables, **colours},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Answer(command, done.returncode, done.stdout, done.stderr)


def look(given: Answer, world: Path) -> Look:
    """Ask again with colour, and with colour asked for and refused at once."""
    return Look(
        given,
        answer(given.command, world, COLOURED),
        answer(given.command, world, {**COLOURED, "NO_COLOR": "1"}),
    )


def tree(folder: Path) -> Tree:
    """Every file below a folder with its bytes, links not followed."""
    found: Tree = {}
    for inside, _, names in os.walk(folder):
        for name in names:
            path = Path(inside, name)
            content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            found[path.relative_to(folder).as_posix()] = content
    return found


def changed(before: Tree, after: Tree) -> list[str]:
    """Paths that were added, removed or changed."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def write_hostile(world: Path) -> None:
    """Lay out what REFUSED asks for: an outside path, credentials, the network, a secret."""
    case = json.loads((world / SMOKE).read_text(encoding="utf-8"))
    write_json(world.parent / "outside.case.json", case)
    case["privacy"]["contains_credentials"] = True
    write_json(world / "credentials.case.json", case)
    write_json(world / "gate.json", {})
    write_json(world / "secret.json", {"note": "PASSWORD=made-up-for-this"})
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
    write_json(world / ".evals" / "suite.json", suite)
    answer("evals capsule create story", world)


def write_json(path: Path, value: object) -> None:
    """Write one JSON document."""
    path.write_text(json.dumps(value), encoding="utf-8")
