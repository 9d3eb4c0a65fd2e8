"""How far another project may be judged from its artifacts: the authority classification of a consumer.

Rules, in this order:
- Mode: blocked when the manifest is invalid, the privacy approval is blocked or expired, or evidence is
  required and not ready; not_configured when the manifest is missing or the approval pending; else
  artifact_only.
- next_missing_input: the manifest when it is missing or invalid or its approval pending; else the first
  suite_quality field that is missing; else null.
- Adoption: missing_input for a missing manifest or a pending approval, even when something is blocked too;
  blocked when anything is; warning when suite_quality fields are missing; else ready.
- Recovery: blocked when the mode or any action is; human_required when a person must act; available when an
  agent can; else none.
- The action revalidate-latest-artifact-bundle appears exactly when latest.json parsed and validation failed.
- Execution is never requested and never allowed, and no judge is an authority.

The classification is advice. It certifies neither behaviour, CI, review nor readiness to merge.
"""

from __future__ import annotations

from .next_commands import MANIFEST_SCHEMA, check_command
from .project_manifest import JSON_PATH, ProjectManifest
from .timestamps import parse_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle_check import BundleVerdict
    from .inspection import Inspection

NON_PROOF = (
    "The project's behaviour: nothing of it was executed.",
    "The truth of its domain claims: its own tests and evaluations decide those.",
    "The state of its CI, reviews or tracker, or readiness to merge.",
    "Who produced the artifacts: digests show that bytes agree, not whose they are.",
)
CHECKED_INPUTS = ("manifest", "privacy", "execution_policy", "artifact_policy", "suite_quality")


def classify_consumer(inspection: Inspection, generated_at: str) -> dict[str, Any]:
    """The authority classification of an inspected consumer at the time `generated_at`."""
    return classify(
        manifest=inspection.manifest,
        verdict=inspection.verdict,
        runtime_evidence=inspection.health.status,
        now_ms=parse_ms(generated_at) or 0,
        check_command=check_command(inspection.root),
    )


def adoption_text(authority: dict[str, Any]) -> str:
    """The adoption readiness of a classification in a few words."""
    adoption = authority["adoption_readiness"]
    missing = adoption["next_missing_input"]
    return str(adoption["status"]) if missing is None else f"{adoption['status']} (next: {missing})"


def classify(
    *,
    manifest: ProjectManifest,
    verdict: BundleVerdict,
    runtime_evidence: str,
    now_ms: int,
    check_command: str,
) -> dict[str, Any]:
    """The authority classification (version 1) of a consumer.

    `runtime_evidence` is the health's status. `check_command` is the command line that checks the consumer.
    """
    approval = manifest.approval(now_ms)
    evidence_blocks = manifest.evidence_required and runtime_evidence != "ready"
    blocked = _blocked_actions(manifest, approval, evidence_blocks=evidence_blocks)
    human = _human_actions(manifest, approval)
    agent = _agent_actions(verdict, check_command)
    mode = _mode(manifest, approval, anything_blocked=bool(blocked))
    missing = _missing_quality(manifest)
    return {
        "schema_version": 1,
        "authority_mode": mode,
        "requested_mode": "artifact_only",
        "manifest_status": manifest.status,
        "proof_context": {
            "artifact_only_inspection": True,
            "target_behavior_execution": False,
            "latest_validation_status": verdict.status,
            "runtime_evidence_status": _evidence_status(manifest, runtime_evidence),
            "black_box_execution_status": "blocked",
        },
        "non_proof_claims": list(NON_PROOF),
        "adoption_readiness": {
            "status": _adoption(bool(human), bool(blocked), bool(missing)),
            "next_missing_input": _next_input(manifest, approval, missing),
            "warnings": [
                f"{manifest.path}: $.{name}: missing; it would say how good the suites are"
                for name in missing
            ],
            "checked_inputs": list(CHECKED_INPUTS),
        },
        "recovery_guidance": {
            "status": _recovery(bool(blocked), bool(human), bool(agent)),
            "commands": [action["command"] for action in agent],
            "notes": [action["reason"] for action in (*blocked, *human, *agent)],
        },
        "agent_next_actions": agent,
        "human_approval_required_actions": human,
        "blocked_actions": blocked,
        "evaluator_axis": {"judge_status": "not_evaluated", "judge_status_is_authority": False},
        "validation": {
            "status": "fail" if manifest.status == "invalid" else "pass",
            "errors": manifest.problems,
        },
    }


def _mode(manifest: ProjectManifest, approval: str | None, *, anything_blocked: bool) -> str:
    if anything_blocked:
        return "blocked"
    if manifest.status == "missing" or approval == "pending":
        return "not_configured"
    return "artifact_only"


def _missing_quality(manifest: ProjectManifest) -> list[str]:
    return manifest.missing_quality() if manifest.status == "valid" else []


def _next_input(manifest: ProjectManifest, approval: str | None, missing: list[str]) -> str | None:
    if manifest.status != "valid" or approval == "pending":
        return JSON_PATH
    return missing[0] if missing else None


def _adoption(human: bool, blocked: bool, missing_quality: bool) -> str:
    # A person's action is listed exactly for a missing manifest and a pending approval.
    if human:
        return "missing_input"
    if blocked:
        return "blocked"
    return "warning" if missing_quality else "ready"


def _recovery(blocked: bool, human: bool, agent: bool) -> str:
    if blocked:
        return "blocked"
    if human:
        return "human_required"
    return "available" if agent else "none"


def _evidence_status(manifest: ProjectManifest, runtime_evidence: str) -> str:
    absent = runtime_evidence == "not_configured"
    if absent and manifest.evidence_required and manifest.missing_evidence_blocks:
        return "blocked"
    return runtime_evidence


def _action(
    action_id: str,
    actor: str,
    status: str,
    reason: str,
    *,
    proof: str,
    source: str,
    command: str | None = None,
    artifact: str | None = None,
) -> dict[str, Any]:
    return {
        "action_id": action_id,
        "actor": actor,
        "status": status,
        "reason": reason,
        "required_proof_or_approval": proof,
        "source_requirement": source,
        "command": command,
        "artifact_path": artifact,
    }


def _blocked_actions(
    manifest: ProjectManifest, approval: str | None, *, evidence_blocks: bool
) -> list[dict[str, Any]]:
    actions = []
    if manifest.status == "invalid":
        actions.append(
            _action(
                "fix-invalid-external-project-manifest",
                "human",
                "blocked",
                f"{manifest.path} cannot be used: {manifest.problems[0]}",
                proof="A manifest that fits the schema external-project-manifest and its path rules.",
                source="external-project-manifest",
                artifact=manifest.path,
            )
        )
    if approval in ("blocked", "expired"):
        actions.append(
            _action(
                f"privacy-approval-{approval}",
                "human",
                "blocked",
                f"The privacy approval of the project is {approval}.",
                proof="A privacy approval that is in force, recorded in the manifest.",
                source="privacy.approval_status",
                artifact=manifest.path,
            )
        )
    if evidence_blocks:
        actions.append(
            _action(
                "runtime-evidence-required",
                "human",
                "blocked",
                "The project requires runtime evidence, and it is not ready.",
                proof="Runtime-evidence cases under evidence_paths that validate and pass their scorers.",
                source="runtime_evidence_policy.required",
                artifact=manifest.path,
            )
        )
    return actions


def _human_actions(manifest: ProjectManifest, approval: str | None) -> list[dict[str, Any]]:
    if manifest.status == "missing":
        return [
            _action(
                "provide-external-project-manifest",
                "human",
                "required",
                f"The project has no {JSON_PATH}, so nothing says how it may be judged.",
                proof="A manifest written by the owners of the project.",
                source="external-project-manifest",
                command=MANIFEST_SCHEMA,
                artifact=JSON_PATH,
            )
        ]
    if approval == "pending":
        return [
            _action(
                "privacy-approval-pending",
                "human",
                "required",
                "The privacy approval of the project is pending.",
                proof="A privacy approval that is in force, recorded in the manifest.",
                source="privacy.approval_status",
                artifact=manifest.path,
            )
        ]
    return []


def _agent_actions(verdict: BundleVerdict, check_command: str) -> list[dict[str, Any]]:
    if not verdict.parsed or verdict.status != "failed":
        return []
    return [
        _action(
            "revalidate-latest-artifact-bundle",
            "agent",
            "available",
            "The latest bundle fails its check; look at the problems, repair the cause and check again.",
            proof="A check of the latest bundle that passes.",
            source="latest-validation",
            command=check_command,
            artifact=verdict.latest_path,
        )
    ]
