"""`evals capsule create DIR`: start an empty capsule and print its metadata.

Rules of this module:
1. Only identity that was given is passed on; core chooses the defaults for the rest.
2. stdout is the metadata as it stands in capsule.json.
"""

from __future__ import annotations

import os

from ..core.canonical import loads
from ..core.capsule import Capsule
from ..core.files import read_regular
from .arguments import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from .contract import Terminal

_IDENTITY = ("run_id", "capsule_id", "harness_version", "task_family")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory and the four optional parts of the identity."""
    parser.add_argument("dir", metavar="DIR", help="the directory to create the capsule in")
    parser.add_argument("--run-id", metavar="ID", help="default: run- and 16 random hex digits")
    parser.add_argument("--capsule-id", metavar="ID", help="default: capsule- and 16 random hex digits")
    parser.add_argument("--harness-version", metavar="TEXT", help="default: unknown")
    parser.add_argument("--task-family", metavar="TEXT", help="default: unspecified")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Create the capsule; 0, or 1 with `capsule.exists`, `capsule.metadata_invalid` or a write error."""
    words = {name: getattr(args, name) for name in _IDENTITY}
    given: dict[str, Any] = {
        name: as_text(f"--{name.replace('_', '-')}", word) for name, word in words.items() if word is not None
    }
    Capsule.create(args.dir, **given)
    terminal.done("the capsule is created")
    terminal.document(loads(read_regular(os.path.join(args.dir, "capsule.json"))))
    return 0
