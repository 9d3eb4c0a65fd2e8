"""How the validators of a root (contracts, promotions, improvements) take a root and tell their verdict.

Rules of this module:
1. With `--json`, stdout is one document, on a pass and on a failure alike.
2. Without it, people get the verdict, what failed and why, and the command that tries again; a failure is
   also one line on stderr with its code, for scripts and for `evals explain`.
3. Exit 0 says that everything holds, 1 that something does not.
"""

from __future__ import annotations

import os

from ..core.errors import RequirementError
from ..core.next_commands import command_line
from ..core.roots import select_root
from .contract import Summary
from .ports import documents, installed_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..core.documents import Documents
    from ..core.packets import PacketReport
    from ..core.roots import Root
    from .contract import Terminal


def configure_root(parser: argparse.ArgumentParser) -> None:
    """Declare `--repo-root` and `--json`."""
    parser.add_argument(
        "--repo-root", metavar="PATH", help="the project to look at; default: the one around here"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def chosen_root(args: argparse.Namespace) -> Root:
    """Give the root that the arguments choose (requirement `repo root option`)."""
    return select_root(args.repo_root, os.getcwd())


def installed_root() -> str:
    """Give the folder that holds the installed `contracts` and their `fixtures`."""
    return os.path.dirname(installed_folder("contracts"))


def judge_packets(
    args: argparse.Namespace,
    terminal: Terminal,
    command: str,
    validate: Callable[[str, Documents, Callable[[], str]], PacketReport],
) -> int:
    """Judge every packet of the chosen root with `validate` for the command named `command`."""
    root = chosen_root(args)
    report = validate(root.path, documents(), installed_root)
    document = report.document(command_line(command, repo_root=root.shown))
    facts = [("packets", str(len(report.checks))), ("folder", report.kind.folder)]
    return tell(terminal, document, as_json=args.json, noun=report.kind.noun, facts=facts)


def tell(
    terminal: Terminal,
    document: dict[str, object],
    *,
    as_json: bool,
    noun: str,
    facts: list[tuple[str, str]],
) -> int:
    """Print the verdict of a validation-result document about things called `noun`; give the exit code."""
    passed = document["status"] == "passed"
    if as_json:
        terminal.document(document)
        return 0 if passed else 1
    headline = _headline(document, noun)
    errors = document["errors"]
    assert isinstance(errors, list)
    summary = Summary("pass" if passed else "fail", passed, headline, facts=facts, problems=errors)
    summary.next_command = None if passed else str(document["recovery"])
    terminal.summary(summary)
    if not passed:
        terminal.error(RequirementError(str(document["requirement"]), [headline]))
    return 0 if passed else 1


def _headline(document: dict[str, object], noun: str) -> str:
    checks = document["checks"]
    assert isinstance(checks, list)
    failed = sum(check["status"] == "fail" for check in checks)
    if not checks:
        return f"there is no {noun} to judge"
    if not failed:
        return f"every {noun} holds ({len(checks)})"
    return f"{failed} of {len(checks)} {noun}s {'does' if failed == 1 else 'do'} not hold"
