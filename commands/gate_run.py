"""`evals gate run CONFIG`: refuse. No candidate code is executed on any system.

Rules of this module:
1. The refusal comes before anything is read, created or looked up; CONFIG need not exist.
2. No option changes that. The options of earlier versions are accepted, so that old scripts get the
   refusal and not a usage error.
"""

from __future__ import annotations

from ..core.gate_isolation import require_supported_isolation

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the words that used to be taken; none of them is used."""
    parser.add_argument("config", metavar="CONFIG", help="not read")
    parser.add_argument("--work-dir", metavar="D", help="not used")
    parser.add_argument("--capsule", metavar="D", help="not used")


def run(args: argparse.Namespace, terminal: Terminal) -> int:  # noqa: ARG001  nothing of them is used
    """Raise EvalsError `gate.isolation_required`: exit 1."""
    require_supported_isolation()
