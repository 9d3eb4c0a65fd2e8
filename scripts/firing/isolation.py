"""Lane `isolation`: nothing is executed, imported, connected to or followed, whatever a repository sets up.

Rules:
- An audit hook sees every socket, process and write of every command: there is no socket, no process but an
  absolute git in `state`, and no write outside the command's folder.
- In a repository full of traps (`traps`) every command is run for real: no marker appears, the tree and its
  times are as they were but for what the command was asked to write, nothing outside is read or changed.
- The traps are shown to be live: a plain `git status` springs some, and reading outside is seen.
- Part of the tests, and the audited commands, pass inside a network namespace without interfaces.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .auditing import audited, is_effect_outside
from .launching import launched, launcher, unshared
from .report import Context, LaneResult
from .snapshots import differences, snapshot
from .traps import SECRET, make_trap
from .world import COMMANDS, Use, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .traps import Trap

NAME = "isolation"
SUMMARY = "no socket, no process but git, nothing imported or followed from a hostile repository"
TESTS = ("tests/core", "tests/commands", "tests/evals_cli", "tests/schemas", "tests/vectors", "tests/cli")
# A lane that runs in the background may ignore interrupts, and so would all that it starts.
_PYTEST = (
    "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.exit(pytest.main(sys.argv[1:]))"
)
# What each command that writes may write, at the top of its folder.
_WRITTEN = {
    "run": (".harness",),
    "run of a suite": (".harness",),
    "capsule create": ("another",),
    "capsule export": ("capsule", "exported"),
}


def run(context: Context) -> LaneResult:
    """The audit, the traps, and the tests without a network."""
    result = LaneResult(NAME)
    folder = Path(context.folder)
    fire_audit(folder / "audit", result)
    for linked in (False, True):
        fire_traps(
            folder / f"traps, {'linked' if linked else 'plain'}", result, linked=linked, quick=context.quick
        )
    fire_without_network(folder / "network", result, context)
    return result


def fire_audit(folder: Path, result: LaneResult, within: tuple[str, ...] = ()) -> None:
    """Every command in an audited process, in a git repository."""
    make_world(folder)
    subprocess.run(["git", "init", "-q", str(folder)], check=False, capture_output=True)
    outcomes, said = audited([(use.words, folder) for use in COMMANDS], within)
    if len(outcomes) != len(COMMANDS) + 1:
        result.fail(f"the audited process ended early: {said[-500:]}")
        return
    kinds = {event[0].partition(".")[0] for event in outcomes[0]["events"] if is_effect_outside(event)}
    if not {"socket", "subprocess"} <= kinds:
        result.fail(f"the audit hook is blind: it saw only {sorted(kinds)} of a socket and a process")
    for use, outcome in zip(COMMANDS, outcomes[1:], strict=True):
        result.count("audited commands")
        for problem in _audit_problems(use, outcome, folder):
            result.fail(f"audit: {use.name}: {problem}")


def _audit_problems(use: Use, outcome: dict[str, Any], folder: Path) -> Iterator[str]:
    yield from outcome["problems"]
    for event, subject in outcome["events"]:
        if is_effect_outside([event, subject]):
            if not _is_git(use, event, subject, folder):
                yield f"{event} {subject}"
        elif not subject.startswith((f"{folder}/", "/dev/null", "descriptor ")):
            yield f"{event} outside its folder: {subject}"
        elif not use.writes and use.name != "example" and subject != "/dev/null":
            yield f"it only reads, and there was {event} {subject}"
    for file in outcome["imported"]:
        yield f"imported {file}"


def _is_git(use: Use, event: str, subject: str, folder: Path) -> bool:
    allowed = use.name == "state" and event == "os.posix_spawn"
    return (
        allowed
        and os.path.isabs(subject)
        and Path(subject).name == "git"
        and folder not in Path(subject).parents
    )


def fire_traps(folder: Path, result: LaneResult, *, linked: bool, quick: bool) -> None:
    """Every command among traps, state first, while nothing has changed; a quick run takes every third."""
    folder.mkdir()
    trap = make_trap(folder, linked=linked)
    script = launcher(folder / "launcher")
    for use in sorted(COMMANDS, key=lambda use: use.name != "state")[:: 3 if quick else 1]:
        for problem in _trap_problems(trap, use, script, linked):
            result.fail(f"traps{' with links' if linked else ''}: {use.name}: {problem}")
        result.count("commands among traps, with links" if linked else "commands among traps")
    for problem in _dead_traps(trap, linked):
        result.note(problem)


def _trap_problems(trap: Trap, use: Use, script: Path, linked: bool) -> Iterator[str]:
    trap.settle()
    written = _WRITTEN.get(use.name, ("capsule",) if use.writes else ())
    if linked:
        written = tuple(name for name in written if name != ".harness")
    before, outside = snapshot(trap.folder, leaving_out=written), snapshot(trap.outside)
    trap.settle()
    done = launched(script, use.words, trap.folder, environment=trap.environment)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode not in (0, 1, 2) or "Traceback" in said or "internal.error" in said:
        yield f"exit code {done.returncode}: {said[-300:]}"
    if trap.sprung:
        yield f"ran or imported {trap.sprung}"
        for marker in trap.markers.iterdir():
            marker.unlink()
    if trap.read_outside:
        yield f"read outside: {trap.read_outside}"
    if SECRET in said:
        yield "says what is written outside"
    changed = differences(before, snapshot(trap.folder, leaving_out=written))
    changed += differences(outside, snapshot(trap.outside))
    if changed:
        yield f"changed {changed[:8]}"


def _dead_traps(trap: Trap, linked: bool) -> Iterator[str]:
    """What shows that the traps do not work on this machine."""
    subprocess.run(["git", "-C", str(trap.folder), "status"], capture_output=True, check=False)
    if not trap.sprung:
        yield "a plain `git status` sprang none of the traps here"
    if linked:
        trap.settle()
        next(path for path in trap.outside.rglob("*.json")).read_bytes()
        if not trap.read_outside:
            yield "times of access are not kept here, so reading outside cannot be seen"


def fire_without_network(folder: Path, result: LaneResult, context: Context) -> None:
    """The audited commands, and in the long form part of the tests, without any network interface."""
    within = unshared("--net")
    if within is None:
        result.note("no network namespace could be made here; the tests were not run without a network")
        return
    fire_audit(folder, result, tuple(within))
    if context.quick:
        return
    root = Path(context.root)
    tests = [test for test in TESTS if (root / test).exists()]
    words = [*within, sys.executable, "-c", _PYTEST, "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    passed = re.search(r"([0-9]+) passed", done.stdout)
    result.count("tests that passed without a network", int(passed[1]) if passed else 0)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        result.fail(f"without a network: {' | '.join(said[:15]) or done.stderr[-500:]}")
