"""How far another project may be judged from its artifacts."""

from __future__ import annotations

from typing import Any

import pytest

from evals_cli.core.authority import classify
from evals_cli.core.bundle_check import BundleVerdict
from evals_cli.core.project_manifest import QUALITY_FIELDS, ProjectManifest

QUALITY = dict.fromkeys(QUALITY_FIELDS, "given")


def _verdict(status: str) -> BundleVerdict:
    verdict = BundleVerdict("latest.json")
    verdict.found = status != "not_run"
    verdict.parsed = verdict.found
    if status == "failed":
        from evals_cli.core.bundle_check import Check

        verdict.checks.append(Check("x", "x", ["broken"]))
    return verdict


def _manifest(
    status: str = "valid",
    approval: str = "not_required",
    required: bool = False,
    missing_status: str = "not_configured",
    quality: dict[str, str] | None = None,
) -> ProjectManifest:
    if status != "valid":
        return ProjectManifest(
            status, ".evals/project.json", problems=["broken"] if status == "invalid" else []
        )
    document: dict[str, Any] = {
        "privacy": {"approval_status": approval},
        "runtime_evidence_policy": {"required": required, "missing_status": missing_status},
        "suite_quality": QUALITY if quality is None else quality,
    }
    return ProjectManifest("valid", ".evals/project.json", document=document)


def _classified(
    manifest: ProjectManifest, *, bundle: str = "passed", evidence: str = "not_configured"
) -> dict[str, Any]:
    return classify(
        manifest=manifest,
        verdict=_verdict(bundle),
        runtime_evidence=evidence,
        now_ms=0,
        check_command="evals check --json",
    )


def _essentials(packet: dict[str, Any]) -> tuple[str, str, str | None, str]:
    adoption = packet["adoption_readiness"]
    return (
        packet["authority_mode"],
        adoption["status"],
        adoption["next_missing_input"],
        packet["recovery_guidance"]["status"],
    )


FILE = ".evals/project.json"
FIRST = "suite_quality.steady_state_hypothesis"


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (_manifest("missing"), ("not_configured", "missing_input", FILE, "human_required")),
        (_manifest("invalid"), ("blocked", "blocked", FILE, "blocked")),
        (_manifest(), ("artifact_only", "ready", None, "none")),
        (_manifest(quality={}), ("artifact_only", "warning", FIRST, "none")),
        (_manifest(approval="approved"), ("artifact_only", "ready", None, "none")),
        (_manifest(approval="pending"), ("not_configured", "missing_input", FILE, "human_required")),
        (_manifest(approval="blocked"), ("blocked", "blocked", None, "blocked")),
        (_manifest(approval="expired"), ("blocked", "blocked", None, "blocked")),
        (_manifest(approval="expired", quality={}), ("blocked", "blocked", FIRST, "blocked")),
        (_manifest(required=True), ("blocked", "blocked", None, "blocked")),
        (_manifest(approval="pending", required=True), ("blocked", "missing_input", FILE, "blocked")),
    ],
)
def test_mode_adoption_next_input_and_recovery(
    manifest: ProjectManifest, expected: tuple[str, str, str | None, str]
) -> None:
    assert _essentials(_classified(manifest)) == expected


@pytest.mark.parametrize(
    ("manifest", "actions"),
    [
        (_manifest("missing"), ([], ["provide-external-project-manifest"], [])),
        (_manifest("invalid"), ([], [], ["fix-invalid-external-project-manifest"])),
        (_manifest(approval="pending"), ([], ["privacy-approval-pending"], [])),
        (_manifest(approval="blocked"), ([], [], ["privacy-approval-blocked"])),
        (_manifest(approval="expired"), ([], [], ["privacy-approval-expired"])),
        (_manifest(required=True), ([], [], ["runtime-evidence-required"])),
        (
            _manifest(approval="expired", required=True),
            ([], [], ["privacy-approval-expired", "runtime-evidence-required"]),
        ),
    ],
)
def test_every_obstacle_is_an_action_of_the_one_who_can_remove_it(
    manifest: ProjectManifest, actions: tuple[list[str], list[str], list[str]]
) -> None:
    packet = _classified(manifest)
    lists = ("agent_next_actions", "human_approval_required_actions", "blocked_actions")
    assert tuple([action["action_id"] for action in packet[name]] for name in lists) == actions


@pytest.mark.parametrize(("bundle", "listed"), [("failed", True), ("passed", False), ("not_run", False)])
def test_an_agent_may_revalidate_exactly_a_bundle_that_fails(bundle: str, listed: bool) -> None:
    packet = _classified(_manifest(), bundle=bundle)
    assert bool(packet["agent_next_actions"]) == listed
    assert packet["recovery_guidance"]["status"] == ("available" if listed else "none")
    assert packet["recovery_guidance"]["commands"] == (["evals check --json"] if listed else [])


@pytest.mark.parametrize(
    ("required", "missing_status", "evidence", "told"),
    [
        (True, "blocked", "not_configured", "blocked"),
        (True, "not_configured", "not_configured", "not_configured"),
        (False, "blocked", "not_configured", "not_configured"),
        (True, "blocked", "failing", "failing"),
        (True, "blocked", "ready", "ready"),
    ],
)
def test_absent_evidence_means_what_the_policy_says(
    required: bool, missing_status: str, evidence: str, told: str
) -> None:
    manifest = _manifest(required=required, missing_status=missing_status)
    packet = _classified(manifest, evidence=evidence)
    assert packet["proof_context"]["runtime_evidence_status"] == told
    assert (packet["authority_mode"] == "blocked") == (required and evidence != "ready")


def test_nothing_is_ever_executed_and_no_judge_decides() -> None:
    packet = _classified(_manifest())
    assert packet["proof_context"]["target_behavior_execution"] is False
    assert packet["proof_context"]["black_box_execution_status"] == "blocked"
    assert packet["evaluator_axis"] == {"judge_status": "not_evaluated", "judge_status_is_authority": False}


def test_the_problems_of_an_invalid_manifest_are_told() -> None:
    packet = _classified(_manifest("invalid"))
    assert packet["validation"] == {"status": "fail", "errors": ["broken"]}
