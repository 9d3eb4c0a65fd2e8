"""`evals capsule verify DIR`: check every byte and link of a capsule.

Rules of this module:
1. stdout is the verification whatever it says; the exit code repeats its `ok`.
2. Nothing is written, and nothing but the ground and the verifier is imported: this command starts fast.
"""

from __future__ import annotations

from ..core.capsule import verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory."""
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Verify; 0 when good, else 1."""
    found = verify(args.dir)
    terminal.document(found.as_dict())
    return 0 if found.ok else 1
