"""`evals example`: walk through the whole evidence story, offline, and say whether it came out as claimed.

Rules of this module:
1. The story plays in a temporary folder, which is removed at the end; `--keep` keeps it and says where, and
   how to take away what the story made, so that its commands can be typed there.
2. It stops at the first step that does not come out as claimed, and then exits 1.
3. For people every step shows its claim, its commands, and what came out; `--json` prints one document.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core.files import system_error
from .contract import Summary
from .example_inputs import lay_out
from .example_story import STEPS, World, play
from .ports import installed_folder

_START_OVER = "rm -r run* copy tampered swapped shortened*"

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from .contract import Terminal
    from .example_story import Outcome, Step


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare whether the folder stays, and the form."""
    parser.add_argument("--keep", action="store_true", help="keep the folder and say where it is")
    parser.add_argument("--json", action="store_true", help="print the steps and outcomes as JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Play the story; 0 when every step came out as claimed, else 1."""
    with _folder(keep=args.keep) as folder:
        if args.keep:
            terminal.done(f"the example is kept in {folder}")
        played: list[tuple[Step, Outcome]] = []
        for step, outcome in _played(folder):
            played.append((step, outcome))
            if not args.json:
                _tell(len(played), step, outcome, terminal)
        ok = all(outcome.ok for _, outcome in played)
        if args.json:
            terminal.document(_document(played, ok, folder if args.keep else None))
        else:
            _conclude(played, ok, folder if args.keep else None, terminal)
    return 0 if ok else 1


@contextmanager
def _folder(*, keep: bool) -> Iterator[str]:
    try:
        folder = tempfile.mkdtemp(prefix="evals-example-")
    except OSError as error:
        raise system_error(error, tempfile.gettempdir(), "write") from error
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _played(folder: str) -> Iterator[tuple[Step, Outcome]]:
    try:
        lay_out(folder, os.path.join(installed_folder("fixtures"), "example"))
    except OSError as error:
        raise system_error(error, folder, "write") from error
    world = World(folder=folder)
    for step in STEPS:
        outcome = play(step, world)
        yield step, outcome
        if not outcome.ok:
            return


def _tell(number: int, step: Step, outcome: Outcome, terminal: Terminal) -> None:
    terminal.line(f"{number:2}. {step.claim}")
    for command in step.commands:
        terminal.line(f"    $ {command}")
    terminal.line(f"    {'' if outcome.ok else 'NOT AS CLAIMED: '}{outcome.text}")


def _conclude(played: list[tuple[Step, Outcome]], ok: bool, kept: str | None, terminal: Terminal) -> None:
    good = sum(outcome.ok for _, outcome in played)
    terminal.summary(
        Summary(
            "pass" if ok else "fail",
            ok,
            f"{good} of {len(STEPS)} steps came out as claimed",
            facts=[] if kept is None else [("kept in", kept), ("start over there", _START_OVER)],
            problems=[f"{step.name}: {outcome.text}" for step, outcome in played if not outcome.ok],
            next_command="evals capsule create my-run --task-family my-tasks" if ok else None,
        )
    )


def _document(played: list[tuple[Step, Outcome]], ok: bool, kept: str | None) -> dict[str, object]:
    steps = [
        {
            "step": step.name,
            "claim": step.claim,
            "command": "\n".join(step.commands),
            "outcome": outcome.text,
            "ok": outcome.ok,
        }
        for step, outcome in played
    ]
    return {"ok": ok, "kept": kept, "steps": steps}
