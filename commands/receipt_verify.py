"""`evals receipt verify RECEIPT DIR`: check a receipt against a capsule.

Rules of this module:
1. stdout is the verdict whatever it says; the exit code repeats its `ok`.
2. Nothing is written. Artifact and gate document are compared only when they are named.
"""

from __future__ import annotations

from ..core.receipt import verify_receipt
from .receipt_files import read_document, read_gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the receipt, the capsule, and what else to compare."""
    parser.add_argument("receipt", metavar="RECEIPT", help="the receipt file")
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory, or an export of it")
    parser.add_argument("--artifact", metavar="F", help="the artifact to compare with the receipt")
    parser.add_argument("--gate", metavar="F", help="the gate document to compare with the receipt")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Verify; 0 when every check passes, else 1 (`receipt.unreadable` when a file cannot be read)."""
    receipt = read_document(args.receipt, "the receipt")
    gate = read_gate(args.gate)
    verdict = verify_receipt(receipt, args.dir, artifact_path=args.artifact, gate_receipt=gate)
    terminal.document({"ok": verdict.ok, "check": verdict.check, "reason": verdict.reason})
    return 0 if verdict.ok else 1
