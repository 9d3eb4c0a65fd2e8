"""`evals validate-schema`: check a claim registry or a score vector, schema first, then its own rules.

Exit 0 says that the document does not contradict itself, 1 that it does or cannot be read, 2 that there is
no such kind of document. Data only: nothing that it names is opened.
"""

from __future__ import annotations

import os

from ..core.next_commands import command_line
from ..core.proof_contracts import SEMANTICS
from ..core.roots import select_root
from ..core.validation import validate_proof_contract
from .arguments import UsageError
from .ports import documents
from .validation_verdict import tell_validation

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the kind of document, the file, the root and the output."""
    parser.add_argument("schema", metavar="KIND", help=" or ".join(SEMANTICS))
    parser.add_argument("target", metavar="FILE", help="the document, relative to the root or to here")
    parser.add_argument("--repo-root", metavar="PATH", help="the root that FILE is relative to")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Validate the target; `schema validation target path` and `validation target read` refuse it."""
    if args.schema not in SEMANTICS:
        return _unknown(args, terminal)
    cwd = os.getcwd()
    root = select_root(args.repo_root, cwd)
    outcome = validate_proof_contract(
        args.schema,
        args.target,
        cwd=cwd if args.repo_root is None else root.path,
        root=root.path,
        documents=documents(),
    )
    return tell_validation(
        terminal,
        outcome,
        target=args.target,
        again=command_line("validate-schema", args.schema, args.target, repo_root=args.repo_root),
        following=None,
        as_json=args.json,
    )


def _unknown(args: argparse.Namespace, terminal: Terminal) -> int:
    supported = list(SEMANTICS)
    message = f"there is no proof contract {args.schema}; there are {' and '.join(supported)}"
    if not args.json:
        raise UsageError(message)
    terminal.document(
        {
            "schema_version": 2,
            "status": "failed",
            "requirement": "schema unknown",
            "target_schema": args.schema,
            "supported_schemas": supported,
            "checks": [],
            "errors": [message],
            "recovery": f"evals validate-schema {supported[0]} FILE",
        }
    )
    return 2
