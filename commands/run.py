"""`evals run`: run a case or a suite, and write its artifact bundles.

Rules of this module:
1. Exit 0 says that every case passed, 1 that one failed or nothing could be run, 2 wrong usage.
2. With `--json`, stdout is one document, written in pieces where a suite is large; without it, people get
   the verdict, what failed and where, and the next command. Progress and notes go to stderr.
"""

from __future__ import annotations

import os

from ..core.next_commands import SUITES, command_line
from ..core.roots import find_root
from ..core.run import execute, plan_run, unseen_note
from ..version import VERSION
from .arguments import UsageError
from .contract import Summary
from .ports import documents

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..core.run import Outcome, Plan
    from ..core.suite import Suite
    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the target and the output."""
    parser.add_argument(
        "target", metavar="CASE|SUITE", nargs="?", help="a case file, or suite.json (suite.toml) under .evals"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Run the target; requirements `suite validation`, `case ...`, `run directory` and others refuse it."""
    if args.target is None:
        raise UsageError(_how_to_start())
    known = documents()
    plan = plan_run(args.target, cwd=os.getcwd(), documents=known)
    with terminal.progress("running cases", len(plan.cases)) as progress:
        outcome = execute(plan, documents=known, version=VERSION, as_json=args.json, advance=progress.advance)
    terminal.done("the run is over and its artifacts are written")
    if args.json:
        for piece in outcome.pieces():
            terminal.text(piece)
    else:
        terminal.summary(_summary(args.target, plan, outcome))
    note = unseen_note(plan, known)
    if note is not None:
        terminal.note(f"evals: note: {note}")
    return 0 if outcome.passed else 1


def _how_to_start() -> str:
    """What to type when nothing was named: the suite that is there, or where to begin."""
    root = find_root(os.getcwd())
    for suite in SUITES:
        if os.path.isfile(os.path.join(root, suite)):
            path = os.path.relpath(os.path.join(root, suite))
            return f"name a case or a suite, for example: {command_line('run', path)}"
    return (
        "name a case or a suite; there is no .evals/suite.json here yet: "
        "docs/guide.md writes a first one, and evals schema eval-case shows the fields of a case"
    )


def _summary(target: str, plan: Plan, outcome: Outcome) -> Summary:
    return Summary(
        "pass" if outcome.passed else "fail",
        outcome.passed,
        _case_headline(outcome) if plan.suite is None else _suite_headline(outcome, plan.suite),
        facts=_facts(plan, outcome),
        problems=outcome.failures,
        next_command=_state_command(plan) if outcome.passed else command_line("run", target),
    )


def _case_headline(outcome: Outcome) -> str:
    case_id = outcome.results[0].case_id
    if outcome.passed:
        return f"case {case_id}: every scorer passed and the bundle is complete"
    return f"case {case_id}: the scorers below failed; the bundle holds the evidence"


def _suite_headline(outcome: Outcome, suite: Suite) -> str:
    passed = sum(result.verdict == "pass" for result in outcome.results)
    return f"suite {suite.document['suite_id']}: {passed} of {len(outcome.results)} cases passed"


def _facts(plan: Plan, outcome: Outcome) -> list[tuple[str, str]]:
    if plan.suite is None:
        return [("run", outcome.document["run_id"]), ("report", outcome.document["report_path"])]
    return [("bundles", f"{plan.prefix}/"), ("latest", f"{plan.prefix}/latest.json")]


def _state_command(plan: Plan) -> str:
    here = find_root(os.getcwd()) == plan.root
    return command_line("state", repo_root=None if here else os.path.relpath(plan.root))
