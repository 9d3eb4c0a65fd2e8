"""`evals capsule group DIR...`: one report on 1 to 100 capsules of one task family.

Rules of this module:
1. The command takes no option at all: a word that begins with two dashes is a usage error, the bare `--`
   included. A directory of such a name is written `./--name`.
2. Blank names and more than 100 of them are usage errors, found before any capsule is read.
3. Nothing is written.
"""

from __future__ import annotations

from ..core.ecmascript import trim
from ..core.retrospective import MAX_INPUTS, group_capsules
from .arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .arguments import Parser
    from .contract import Terminal


def configure(parser: Parser) -> None:
    """Declare the directories, and that two dashes mean nothing here."""
    parser.separator = False
    parser.add_argument("dirs", metavar="DIR", nargs="+", help=f"1 to {MAX_INPUTS} capsule directories")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Group and print the report; 0, or 1 with a `retrospective.*` code."""
    if len(args.dirs) > MAX_INPUTS:
        raise UsageError(f"at most {MAX_INPUTS} directories can be grouped; {len(args.dirs)} are named")
    if not all(trim(name) for name in args.dirs):
        raise UsageError("a directory's name is blank")
    terminal.document(group_capsules(args.dirs))
    return 0
