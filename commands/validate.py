"""`evals validate`: check a document on its own, as the kind that it is, without running anything.

Exit 0 says that the document keeps its schema and its policy, 1 that it does not or cannot be read.
"""

from __future__ import annotations

import os

from ..core.next_commands import command_line
from ..core.roots import find_root
from ..core.validation import validate_target
from .ports import documents
from .validation_verdict import tell_validation

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal

_RUN = ("eval-case", "suite")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the target and the output."""
    parser.add_argument(
        "target",
        metavar="FILE",
        help="a case, a suite, latest.json, .evals/project.json, or a runtime-evidence case",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Validate the target; `validation target path` and `validation target read` refuse it."""
    cwd = os.getcwd()
    outcome = validate_target(args.target, cwd=cwd, root=find_root(cwd), documents=documents())
    runs = outcome.target_schema in _RUN
    return tell_validation(
        terminal,
        outcome,
        target=args.target,
        again=command_line("validate", args.target),
        following=command_line("run", args.target) if runs else None,
        as_json=args.json,
    )
