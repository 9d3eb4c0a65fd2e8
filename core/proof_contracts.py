"""Claim registries and score vectors: what their schemas cannot say.

Rules of a claim registry:
- No claim identifier stands twice, and the last line of a source is not before its first.

Rules of a score vector:
- Not more claims are tested than there are; coverage is `none` when none is, `complete` when all are, else
  `partial`.
- A cap by a gate names the gates that hold the claim down.
- A critical gate that failed or is blocked caps the readiness: `capped_by_gate`, with a `cap_reason`, every
  such gate listed, and a status other than `excellent` and `strong`.

A document that keeps these rules does not contradict itself. Whether its claims are true is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .files import shown

if TYPE_CHECKING:
    from collections.abc import Callable


def claim_registry_problems(document: dict[str, Any]) -> list[str]:
    """What contradicts itself in a claim registry that fits its schema, each finding with its JSON path."""
    found = []
    first: dict[str, int] = {}
    for index, claim in enumerate(document["claims"]):
        path = f"$.claims[{index}]"
        earlier = first.setdefault(claim["claim_id"], index)
        if earlier != index:
            name = shown(claim["claim_id"])
            found.append(
                f"{path}.claim_id: {name} again, as in $.claims[{earlier}]; expected each claim once"
            )
        start, end = claim["source"]["span"]["start_line"], claim["source"]["span"]["end_line"]
        if end < start:
            found.append(f"{path}.source.span.end_line: {end}; expected the start_line, {start}, or more")
    return found


def score_vector_problems(document: dict[str, Any]) -> list[str]:
    """What contradicts itself in a score vector that fits its schema, each finding with its JSON path."""
    readiness = document["readiness"]
    found = _coverage_problems(document["coverage"])
    if readiness["capped_by_gate"] and not readiness["blocking_gates"]:
        found.append("$.readiness.blocking_gates: empty; expected the gates that cap the readiness")
    critical = [
        gate["gate_id"]
        for gate in document["gates"]
        if gate["severity"] == "critical" and gate["status"] in ("fail", "blocked")
    ]
    return found + _cap_problems(readiness, critical) if critical else found


def _coverage_problems(coverage: dict[str, Any]) -> list[str]:
    tested, total, status = coverage["tested_claims"], coverage["total_claims"], coverage["coverage_status"]
    if tested > total:
        return [f"$.coverage.tested_claims: {tested}; expected at most {total} (total_claims)"]
    expected = "none" if tested == 0 else "complete" if tested == total else "partial"
    if status == expected:
        return []
    return [
        f"$.coverage.coverage_status: {status}; expected {expected}, since {tested} of {total} are tested"
    ]


def _cap_problems(readiness: dict[str, Any], critical: list[str]) -> list[str]:
    gates = ", ".join(shown(gate) for gate in critical)
    found = []
    if not readiness["capped_by_gate"]:
        found.append(
            f"$.readiness.capped_by_gate: false; expected true, since {gates} is critical and not met"
        )
    if readiness["cap_reason"] is None:
        found.append(
            f"$.readiness.cap_reason: null; expected a reason, since {gates} is critical and not met"
        )
    absent = [shown(gate) for gate in critical if gate not in readiness["blocking_gates"]]
    if absent:
        found.append(f"$.readiness.blocking_gates: without {', '.join(absent)}; expected every critical one")
    if readiness["status"] in ("excellent", "strong"):
        found.append(
            f"$.readiness.status: {readiness['status']}; expected conditional, not_ready or blocked, since "
            f"{gates} is critical and not met"
        )
    return found


SEMANTICS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "claim-registry": claim_registry_problems,
    "score-vector": score_vector_problems,
}
