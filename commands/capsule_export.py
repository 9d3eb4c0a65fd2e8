"""`evals capsule export DIR OUT`: copy the three files of a capsule, and nothing else."""

from __future__ import annotations

from ..core.capsule import export_bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the two directories."""
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory")
    parser.add_argument("out", metavar="OUT", help="the directory to copy to; made when missing")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Export and print `dir` and `files`; 0, or 1 with `capsule.export_conflict` or another code."""
    exported = export_bundle(args.dir, args.out)
    terminal.done("the copy is complete")
    terminal.document(exported)
    return 0
