"""`evals receipt build DIR`: issue a receipt for a capsule as it stands.

Rules of this module:
1. The receipt's place is judged and the gate document read before the capsule is touched; the receipt is
   printed also when it is written.
2. The receipt names the artifact by its digest; the artifact itself is not copied.
3. Receipts made here carry no signature: keys are the business of Python callers, which pass a signer.
"""

from __future__ import annotations

from ..core.receipt import build_receipt, refuse_target, write_receipt
from .receipt_files import read_gate, refuse_overwriting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory, what the receipt names, and where it goes."""
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory")
    parser.add_argument("--artifact", metavar="F", help="a file whose digest the receipt names")
    parser.add_argument("--gate", metavar="F", help="a JSON document whose digest and verdict it names")
    parser.add_argument("--out", metavar="F", help="write the receipt here too; folders are made")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Build, write where asked, print; 0, or 1 with a `capsule.*`, `receipt.*` or `file.*` code."""
    refuse_overwriting(args.out, artifact=args.artifact, gate=args.gate)
    if args.out is not None:
        refuse_target(args.out)
    gate = read_gate(args.gate)
    receipt = build_receipt(args.dir, artifact_path=args.artifact, gate_receipt=gate)
    if args.out is not None:
        write_receipt(receipt, args.out)
        terminal.done("the receipt is written")
    terminal.document(receipt)
    return 0
