"""`evals gate inspect DIR`: what can be said about a variant without running it.

Rules of this module:
1. stdout is one document: the declaration, the digest of the tree, and the tripwires that its lines hit.
2. Exit 0 says that nothing was hit, which proves neither safety nor correctness; 1 that something was, or
   that the variant is invalid.
3. Nothing is executed or written.
"""

from __future__ import annotations

from ..core.envelope import EFFECT_CLASSES
from ..core.gate_tripwires import scan_tripwires
from ..core.gate_variant import load_variant
from .arguments import UsageError
from .ports import parse_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory and the highest effect class that is no finding."""
    parser.add_argument("dir", metavar="DIR", help="the variant's directory, with its variant.json")
    parser.add_argument(
        "--max-effect-class", metavar="C", default="SE1", help=f"{', '.join(EFFECT_CLASSES)}; default SE1"
    )


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Inspect; 0 without hits, 1 with them or with a `gate.variant_*` code."""
    if args.max_effect_class not in EFFECT_CLASSES:
        raise UsageError(f"--max-effect-class takes one of {', '.join(EFFECT_CLASSES)}")
    variant = load_variant(args.dir, parse=parse_document)
    hits = scan_tripwires(variant, max_effect_class=args.max_effect_class)
    terminal.document(
        {
            "name": variant.name,
            "effect_class": variant.effect_class,
            "entry": variant.entry,
            "digest": variant.digest,
            "dir": variant.dir,
            "max_effect_class": args.max_effect_class,
            "executed": False,
            "tripwires": hits,
        }
    )
    return 1 if hits else 0
