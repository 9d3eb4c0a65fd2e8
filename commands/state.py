"""`evals state`: say what the local evidence of a repository shows, and what to do next.

Rules of this module:
1. Exit 0 whatever the evidence holds; only a root that cannot be used is refused.
2. With `--json`, stdout is one state packet. Without it people get the verdict, what stands in the way with
   file and JSON path, and the next command.
3. git is asked while the bundle is looked at; nothing that the repository configures is run.
"""

from __future__ import annotations

import os

from ..core.bundle_check import run_words
from ..core.git_state import GitObservation
from ..core.inspection import inspect_root
from ..core.next_commands import for_people
from ..core.roots import select_root, working_directory
from ..core.state import state_packet
from .contract import Summary
from .ports import documents, installed_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from .contract import Terminal

_HEADLINES = {
    "ready": "the latest bundle is complete, consistent and unchanged",
    "stale": "the latest bundle does not pass its check",
    "missing": "no run has finished here yet",
    "invalid": "the evidence cannot be trusted as it stands",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the root and the output."""
    parser.add_argument(
        "--repo-root", metavar="PATH", help="the project to look at; default: the one around here"
    )
    parser.add_argument("--json", action="store_true", help="print the state as JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Tell the state; `repo root option` refuses a root that is none."""
    root = select_root(args.repo_root, working_directory())
    git = GitObservation(root.path)
    try:
        inspection = inspect_root(root, documents(), installed=os.path.dirname(installed_folder("contracts")))
        packet = state_packet(inspection, git=git.result)
    finally:
        git.close()
    if args.json:
        terminal.document(packet)
    else:
        terminal.summary(_summary(packet, inspection.verdict.run_verdict))
    return 0


def _summary(packet: dict[str, Any], run_verdict: str | None) -> Summary:
    status = packet["status"]
    evidence = packet["evidence_packet"]
    health = packet["contract_health"]["runtime_evidence"]
    readiness = evidence["readiness_verdict"]
    facts = [
        ("latest", packet["latest_path"]),
        ("run", packet["latest"]["run_id"] or "none"),
        ("run verdict", run_verdict or "unknown"),
        ("runtime evidence", health["status"]),
        ("readiness", f"{readiness['status']}: {readiness['reason']}"),
        ("git", _git_text(evidence["git_state"])),
    ]
    authority = packet.get("authority_classification")
    if authority is not None:
        from ..core.authority import adoption_text

        facts.append(("adoption", adoption_text(authority)))
    return Summary(
        status,
        status == "ready",
        _headline(status, run_verdict),
        facts=facts,
        problems=_problems(packet, health),
        next_command=for_people(packet["recommended_commands"][0]),
    )


def _headline(status: str, run_verdict: str | None) -> str:
    if status == "ready" and run_verdict != "pass":
        return f"the latest bundle is sound; {run_words(run_verdict)}"
    return _HEADLINES[status]


def _problems(packet: dict[str, Any], health: dict[str, Any]) -> list[str]:
    problems = [
        f"{blocker['code']}: {blocker['reason']}" for blocker in packet["evidence_packet"]["blockers"]
    ]
    problems += packet["validation"]["errors"]
    if health["status"] != "ready":
        problems += health["errors"]
    return problems


def _git_text(git: dict[str, Any]) -> str:
    if git["status"] == "unavailable":
        return f"unavailable: {git['reason']}"
    commit = git["commit"][:12] if git["commit"] else "no commit yet"
    where = f"{git['branch'] or 'detached'} at {commit}"
    if git["dirty"] is None:
        return f"{where}, unknown whether changed: {git['reason']}"
    return f"{where}, {'changed' if git['dirty'] else 'unchanged'}"
