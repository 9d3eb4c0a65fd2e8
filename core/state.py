"""The state of a project's local proof: what is there, what holds, and what to do next.

Rules:
- It never fails for content: whatever stands in the repository, the answer is a packet.
- status: missing without a latest.json; invalid when latest.json or a pointer cannot be trusted or runtime
  evidence fails; stale when an artifact is missing or the bundle fails its check; else ready.
- non_ready_reason_code, first that applies: runtime_evidence_failed, latest_invalid, artifact_invalid,
  artifact_missing, latest_validation_failed, latest_missing.
- An artifact is present when anything stands at its pointer, missing when nothing does or a link inside the
  root dangles, invalid when the pointer is no contained path or leads out of the root, and not_applicable
  where latest.json could not be read. Pointers are taken literally.
- Nothing is executed, written or fetched; git is asked as `git_state` says.

A ready state says that the bundle is complete, consistent and unchanged, not that its run passed. The
published form of the packet is closed, so the run's verdict stands in words with the evidence
latest-validation and in the reason of the readiness; as a field it is in the check, which is the gate.
"""

from __future__ import annotations

import posixpath

from .bundle_check import EXECUTION_MODES
from .bundle_layout import ARTIFACTS, POINTER_FILES
from .claims import Artifact, build_ledger, readiness, score_missing_evidence
from .contained import inside_status, relative_problem
from .inspection import contract_fields
from .next_commands import SMOKE_CHECK, check_command, run_command, state_command
from .timestamps import now_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .bundle_check import BundleVerdict
    from .git_state import GitState
    from .inspection import Inspection
    from .roots import Root
    from .timestamps import Clock

_TYPES = {artifact.pointer_key: artifact.type for artifact in ARTIFACTS}
_POINTERS = {key: _TYPES.get(key, "manifest") for key in POINTER_FILES}
_REASONS = {
    "runtime_evidence_failed": "The runtime evidence of the project fails.",
    "latest_invalid": "The latest.json of the project cannot be trusted.",
    "artifact_invalid": "A pointer of latest.json leads nowhere that may be read.",
    "artifact_missing": "An artifact that latest.json names is missing.",
    "latest_validation_failed": "The latest bundle fails its check.",
    "latest_missing": "The project has no latest run.",
}


def find_artifacts(root: str, verdict: BundleVerdict) -> list[Artifact]:
    """The seven artifacts of latest.json as they stand below `root`."""
    return [_find_artifact(root, verdict, key, kind) for key, kind in _POINTERS.items()]


def _find_artifact(root: str, verdict: BundleVerdict, key: str, kind: str) -> Artifact:
    if not verdict.parsed:
        reason = "there is no latest.json that could be read"
        return Artifact(key, kind, None, "not_applicable", reason)
    path = verdict.text(key)
    if path is None:
        reason = f"latest.json has no usable {key}"
        return Artifact(key, kind, None, "invalid", reason)
    status = inside_status(root, path)
    reasons = {
        "missing": "nothing stands at this path",
        "invalid": relative_problem(path) or "the path leads out of the repository",
    }
    return Artifact(key, kind, path, status, reasons.get(status))


def reason_code(verdict: BundleVerdict, artifacts: list[Artifact], health: str) -> str | None:
    """The first reason for not being ready, or None."""
    statuses = {artifact.status for artifact in artifacts}
    reasons = (
        ("runtime_evidence_failed", health == "failing"),
        ("latest_invalid", verdict.found and not verdict.latest_valid),
        ("artifact_invalid", "invalid" in statuses),
        ("artifact_missing", "missing" in statuses),
        ("latest_validation_failed", verdict.status == "failed"),
        ("latest_missing", not verdict.found),
    )
    return next((code for code, applies in reasons if applies), None)


_STATUS_OF_REASON = {
    "runtime_evidence_failed": "invalid",
    "latest_invalid": "invalid",
    "artifact_invalid": "invalid",
    "artifact_missing": "stale",
    "latest_validation_failed": "stale",
    "latest_missing": "missing",
    None: "ready",
}


def state_packet(
    inspection: Inspection, *, git: Callable[[], GitState], clock: Clock | None = None
) -> dict[str, Any]:
    """The state packet (schema `runtime-state`, version 3) of an inspected root.

    `git` gives the git state; `clock` the time of the observation.
    """
    root, verdict = inspection.root, inspection.verdict
    generated_at = now_text(clock)
    artifacts = find_artifacts(root.path, verdict)
    reason = reason_code(verdict, artifacts, inspection.health.status)
    status = _STATUS_OF_REASON[reason]
    ledger = build_ledger(
        status=status,
        verdict=verdict,
        artifacts=artifacts,
        files=inspection.files,
        observed_at=generated_at,
        commands={"state": state_command(root), "check": check_command(root)},
    )
    commands = recommended_commands(root, status, verdict.latest)
    packet: dict[str, Any] = {
        "schema_version": 3,
        "generated_at": generated_at,
        **contract_fields(inspection.catalog),
        "status": status,
        "latest_path": verdict.latest_path,
        "latest": _latest(verdict),
        "artifacts": [artifact.document() for artifact in artifacts],
        "validation": {"status": verdict.status, "errors": _validation_errors(verdict)},
        "contract_health": {"runtime_evidence": inspection.health.document()},
    }
    if not root.home:
        from .authority import classify_consumer

        packet["authority_classification"] = classify_consumer(inspection, generated_at)
    missing = score_missing_evidence(ledger)
    packet["evidence_packet"] = {
        "schema_version": 2,
        "generated_at": generated_at,
        **contract_fields(inspection.catalog),
        "repo": {"root": root.shown or ".", "name": posixpath.basename(root.path) or root.path},
        "git_state": git().document(),
        "runtime_state": {
            "status": status,
            "latest_path": verdict.latest_path,
            "latest_run_id": verdict.text("run_id"),
            "non_ready_reason_code": reason,
        },
        "recommended_commands": list(commands),
        "blockers": [] if reason is None else [{"code": reason, "reason": _REASONS[reason]}],
        "validation_evidence": {"status": verdict.status, "errors": _validation_errors(verdict)},
        "runtime_evidence_contract_health": inspection.health.document(),
        "claims": ledger.claims,
        "evidence": ledger.evidence,
        "missing_evidence_scorer": missing,
        "readiness_verdict": readiness(
            status=status,
            validation=verdict.status,
            missing_evidence=missing["status"],
            runtime_evidence=inspection.health.status,
            run_verdict=verdict.run_verdict,
        ),
    }
    packet["non_ready_reason_code"] = reason
    packet["recommended_commands"] = commands
    return packet


def _validation_errors(verdict: BundleVerdict) -> list[str]:
    return verdict.problems if verdict.found else []


def _latest(verdict: BundleVerdict) -> dict[str, Any]:
    mode = verdict.text("execution_mode")
    present = "present" if verdict.latest_valid else "invalid"
    return {
        "status": present if verdict.found else "missing",
        "run_id": verdict.text("run_id"),
        "case_id": verdict.text("case_id"),
        "execution_mode": mode if mode in EXECUTION_MODES else None,
    }


def recommended_commands(root: Root, status: str, latest: object = None) -> list[str]:
    """Command lines that can be pasted next, the most useful first; `latest` is the parsed latest.json."""
    check = check_command(root)
    if status == "missing":
        return [run_command(root, latest), check]
    if status != "ready":
        return [check, run_command(root, latest), state_command(root)]
    # The smoke check belongs to this project's own checkout, without --repo-root.
    return [check, SMOKE_CHECK] if root.home and root.shown is None else [check]
