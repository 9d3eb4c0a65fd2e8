"""`evals check`: check the latest artifact bundle of a repository, and its runtime evidence.

Rules of this module:
1. With `--json`, stdout is one validation-result document, on a pass and on a failure alike.
2. Without it people get the verdict, every problem with its file and JSON path, and the next command; a
   failure is also one line on stderr with the code `check.failed`.
3. Exit 0 says that the bundle is complete, consistent and unchanged and the runtime evidence holds; 1 that
   something does not. Whether the run of a sound bundle passed is told beside it and changes no exit code.
   Nothing of the repository is executed or changed.
"""

from __future__ import annotations

import os

from ..core.bundle_check import run_words
from ..core.check import check_packet, require_check_mode
from ..core.errors import EvalsError
from ..core.inspection import inspect_root
from ..core.next_commands import MANIFEST_SCHEMA, for_people, state_command
from ..core.roots import select_root, working_directory
from .contract import Summary
from .ports import documents, installed_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..core.roots import Root
    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the root, the smoke mode and the output."""
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="also bind the bundle to the smoke case (only in a checkout of evals)",
    )
    parser.add_argument(
        "--repo-root", metavar="PATH", help="the project to check; default: the one around here"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Check the latest bundle; `repo root option` and `check mode` refuse to."""
    root = select_root(args.repo_root, working_directory())
    require_check_mode(root, smoke=args.smoke)
    ports = documents()
    inspection = inspect_root(root, ports, installed=os.path.dirname(installed_folder("contracts")))
    packet = check_packet(inspection, ports, smoke=args.smoke)
    passed = packet["status"] == "passed"
    if args.json:
        terminal.document(packet)
    else:
        _tell(terminal, packet, root)
    return 0 if passed else 1


def _tell(terminal: Terminal, packet: dict[str, Any], root: Root) -> None:
    passed = packet["status"] == "passed"
    headline = _headline(packet)
    following = None if passed else for_people(_next_command(packet, root))
    terminal.summary(
        Summary(
            "pass" if passed else "fail",
            passed,
            headline,
            facts=_facts(packet),
            problems=packet["errors"],
            next_command=following,
        )
    )
    if not passed:
        terminal.error(EvalsError("check.failed", headline))


def _next_command(packet: dict[str, Any], root: Root) -> str:
    authority = packet.get("authority_classification")
    if packet["recovery_command"] is not None:
        return str(packet["recovery_command"])
    if authority is not None and authority["manifest_status"] != "valid":
        return MANIFEST_SCHEMA
    return state_command(root)


def _headline(packet: dict[str, Any]) -> str:
    failed = [check["label"] for check in packet["checks"] if check["status"] == "fail"]
    if not failed and packet["run_verdict"] != "pass":
        return f"the bundle is sound; {run_words(packet['run_verdict'])}"
    if not failed:
        return "the latest bundle is complete, consistent and unchanged, and its runtime evidence holds"
    return f"{len(failed)} of {len(packet['checks'])} checks failed: {', '.join(failed)}"


def _facts(packet: dict[str, Any]) -> list[tuple[str, str]]:
    context = packet["observed_latest_context"] or {}
    facts = [
        ("latest", packet["latest_path"]),
        ("run", packet.get("run_id", "none")),
        ("run verdict", packet["run_verdict"] or "unknown, since the bundle does not hold"),
        ("case", context.get("case_id", "unknown")),
        ("runtime evidence", packet["runtime_evidence"]["policy_coverage"]["status"]),
    ]
    if packet["context_match"] is not None:
        match = "yes" if packet["context_match"] else f"no ({packet['context_mismatch_reason']})"
        facts.append(("smoke case", match))
    authority = packet.get("authority_classification")
    if authority is not None:
        from ..core.authority import adoption_text

        facts.append(("adoption", adoption_text(authority)))
    return facts
