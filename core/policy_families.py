"""Which of the seven policy families a runtime-evidence case declares, and what enforces each of them.

Rules:
- Declared are: permissions always; subagent_artifacts and plugin_attribution where the contract requires
  them; goal, thread, network and package_provenance where their policy is written down.
- The first three are enforced by their scorer when the case selects it. The last four have no scorer: they
  need a scaffold with a reason, which admits openly that nothing enforces them yet.
- A declared family without its scorer or scaffold is `missing_enforcement`, with a code of its own.

A covered family says that somebody answers for it, by scoring or by admitting that it is not scored.
"""

from __future__ import annotations

from dataclasses import dataclass

from .runtime_scorers import PERMISSION_DRIFT, PLUGIN_ATTRIBUTION, SUBAGENT_ARTIFACTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .runtime_scorers import Case

FamilyRecord = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class PolicyFamily:
    """One family: where it is declared, when it counts as declared, its scorer (if any) and its code."""

    name: str
    member: str
    code: str
    declared: Callable[[dict[str, Any]], bool]
    scorer_id: str | None = None


def _requires_artifacts(contract: dict[str, Any]) -> bool:
    return bool(contract["artifact_contract"]["subagent_artifacts_required"])


def _requires_attribution(contract: dict[str, Any]) -> bool:
    policy = contract["plugin_policy"]
    return bool(policy["plugin_id_required"] or policy["plugin_source_required"])


def _scaffolded(name: str, code: str) -> PolicyFamily:
    member = f"{name}_policy"
    return PolicyFamily(
        name=name,
        member=member,
        code=f"RTE_POLICY_{code}_UNSCORED",
        declared=lambda contract: member in contract,
    )


FAMILIES = (
    PolicyFamily(
        name="permissions",
        member="permission_profile",
        code="RTE_POLICY_PERMISSION_UNSCORED",
        declared=lambda _: True,
        scorer_id=PERMISSION_DRIFT,
    ),
    PolicyFamily(
        name="subagent_artifacts",
        member="artifact_contract",
        code="RTE_POLICY_SUBAGENT_ARTIFACT_UNSCORED",
        declared=_requires_artifacts,
        scorer_id=SUBAGENT_ARTIFACTS,
    ),
    PolicyFamily(
        name="plugin_attribution",
        member="plugin_policy",
        code="RTE_POLICY_PLUGIN_UNSCORED",
        declared=_requires_attribution,
        scorer_id=PLUGIN_ATTRIBUTION,
    ),
    _scaffolded("goal", "GOAL"),
    _scaffolded("thread", "THREAD"),
    _scaffolded("network", "NETWORK"),
    _scaffolded("package_provenance", "PACKAGE_PROVENANCE"),
)


def _missing(family: PolicyFamily) -> FamilyRecord:
    if family.scorer_id is None:
        scaffold = f"$.declared_contract.policy_scaffolds.{family.name}"
        reason = f"declared without a scaffold; state in {scaffold} why nothing enforces it"
    else:
        reason = f"declared without its scorer; add {family.scorer_id!r} to $.scorers"
    return {"enforcement_status": "missing_enforcement", "error_code": family.code, "failure_reason": reason}


def _enforcement(family: PolicyFamily, case: Case) -> FamilyRecord:
    if family.scorer_id is not None and family.scorer_id in case["scorers"]:
        return {"enforcement_status": "implemented_enforced", "scorer_id": family.scorer_id}
    scaffolds = case["declared_contract"].get("policy_scaffolds", {})
    if family.scorer_id is None and family.name in scaffolds:
        reason = scaffolds[family.name]["reason"]
        return {"enforcement_status": "scaffolded_not_enforced", "scaffold_reason": reason}
    return _missing(family)


def declared_families(case: Case) -> list[FamilyRecord]:
    """The declared families of a schema-valid case, in the order of FAMILIES.

    Each record has case_id, family, declaration_path (a JSON path) and enforcement_status, then scorer_id, or
    scaffold_reason, or error_code and failure_reason.
    """
    contract = case["declared_contract"]
    return [
        {
            "case_id": case["case_id"],
            "family": family.name,
            "declaration_path": f"$.declared_contract.{family.member}",
            **_enforcement(family, case),
        }
        for family in FAMILIES
        if family.declared(contract)
    ]


def coverage_errors(families: list[FamilyRecord]) -> list[str]:
    """One line for each family without enforcement: its code, the case, where, and what to do."""
    return [
        f"{record['error_code']}: case {record['case_id']}: {record['declaration_path']}:"
        f" {record['failure_reason']}"
        for record in families
        if "error_code" in record
    ]
