"""`evals capsule project DIR`: derive the capsule's projection, write it beside the journal, print it."""

from __future__ import annotations

from ..core.capsule import write_projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory."""
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Write projection.json; 0, or 1 with the code that verification gives."""
    projection = write_projection(args.dir)
    terminal.done("projection.json is written")
    terminal.document(projection)
    return 0
