"""`evals validate-improvements`: judge the eval improvements of a root.

Rules of this module:
1. The root's own contract catalog decides where it has one, else the installed one.
2. A pass says that each linked promotion stands; it does not say that the original trace exists.
3. Nothing outside the root is read and no command that a packet lists is run.
"""

from __future__ import annotations

from ..core.improvements import IMPROVEMENT, validate_improvements
from .ports import documents
from .root_verdict import again, chosen_root, configure_root, installed_root, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the root and the output."""
    configure_root(parser)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Judge every packet; 0 when each holds, 1 otherwise, also without any (`improvement.validation`)."""
    root = chosen_root(args)
    report = validate_improvements(root.path, documents(), installed_root)
    document = report.document(again("evals validate-improvements", root))
    facts = [("packets", str(len(report.checks))), ("folder", IMPROVEMENT.folder)]
    return tell(terminal, document, as_json=args.json, noun=IMPROVEMENT.noun, facts=facts)
