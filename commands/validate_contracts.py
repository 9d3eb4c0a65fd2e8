"""`evals validate-contracts`: prove every contract of the catalog with its own fixtures.

Rules of this module:
1. The root's own catalog is judged where it has one, else the installed one.
2. A pass says that each good fixture passes and each bad one fails; it says nothing about other texts.
"""

from __future__ import annotations

from ..core.contracts import catalog_root, prove_catalog
from ..core.next_commands import command_line
from .ports import documents
from .root_verdict import chosen_root, configure_root, installed_root, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the root and the output."""
    configure_root(parser)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Prove the catalog; 0 when every contract holds, 1 otherwise (`contract.validation`)."""
    root = chosen_root(args)
    folder = catalog_root(root.path, installed_root)
    report = prove_catalog(folder, documents())
    facts = [("catalog", "of this root" if folder == root.path else "installed")]
    facts += [("contract", contract) for contract in report.catalog.adopted]
    document = report.document(command_line("validate-contracts", repo_root=root.shown))
    return tell(terminal, document, as_json=args.json, noun="contract", facts=facts)
