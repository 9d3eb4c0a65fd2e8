"""A registry or a score vector that contradicts itself is told so, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from evals_cli.core.proof_contracts import claim_registry_problems, score_vector_problems


def _claim(name: str, start: int = 1, end: int = 1) -> dict[str, Any]:
    return {"claim_id": name, "source": {"span": {"start_line": start, "end_line": end}}}


def test_every_repeated_claim_and_every_span_is_told() -> None:
    claims = [_claim("a"), _claim("b", 5, 4), _claim("a"), _claim("a", 2, 2)]
    assert claim_registry_problems({"claims": claims}) == [
        "$.claims[1].source.span.end_line: 4; expected the start_line, 5, or more",
        "$.claims[2].claim_id: a again, as in $.claims[0]; expected each claim once",
        "$.claims[3].claim_id: a again, as in $.claims[0]; expected each claim once",
    ]


def _vector(
    coverage: tuple[int, int, str] = (1, 2, "partial"),
    gates: tuple[tuple[str, str, str], ...] = (),
    **readiness: object,
) -> dict[str, Any]:
    return {
        "coverage": dict(zip(("tested_claims", "total_claims", "coverage_status"), coverage, strict=True)),
        "gates": [dict(zip(("gate_id", "status", "severity"), gate, strict=True)) for gate in gates],
        "readiness": {
            "status": "strong",
            "capped_by_gate": False,
            "cap_reason": None,
            "blocking_gates": [],
            **readiness,
        },
    }


@pytest.mark.parametrize(
    ("coverage", "paths"),
    [
        ((0, 0, "none"), []),
        ((0, 5, "none"), []),
        ((5, 5, "complete"), []),
        ((1, 5, "partial"), []),
        ((0, 5, "partial"), ["$.coverage.coverage_status"]),
        ((0, 0, "complete"), ["$.coverage.coverage_status"]),
        ((5, 5, "partial"), ["$.coverage.coverage_status"]),
        ((6, 5, "complete"), ["$.coverage.tested_claims"]),
    ],
)
def test_coverage_is_what_its_counts_say(coverage: tuple[int, int, str], paths: list[str]) -> None:
    assert [line.partition(":")[0] for line in score_vector_problems(_vector(coverage))] == paths


@pytest.mark.parametrize("status", ["fail", "blocked"])
def test_a_critical_gate_that_is_not_met_caps_everything(status: str) -> None:
    found = score_vector_problems(_vector(gates=(("g", status, "critical"),)))
    assert [line.partition(":")[0] for line in found] == [
        "$.readiness.capped_by_gate",
        "$.readiness.cap_reason",
        "$.readiness.blocking_gates",
        "$.readiness.status",
    ]


@pytest.mark.parametrize("status", ["conditional", "not_ready", "blocked"])
def test_a_capped_readiness_that_lists_its_gates_is_sound(status: str) -> None:
    vector = _vector(
        gates=(("g", "fail", "critical"), ("h", "pass", "critical")),
        status=status,
        capped_by_gate=True,
        cap_reason="g failed",
        blocking_gates=["g"],
    )
    assert score_vector_problems(vector) == []


def test_every_critical_gate_is_listed_not_only_one() -> None:
    vector = _vector(
        gates=(("g", "fail", "critical"), ("h", "blocked", "critical")),
        status="blocked",
        capped_by_gate=True,
        cap_reason="both",
        blocking_gates=["g"],
    )
    assert score_vector_problems(vector) == [
        "$.readiness.blocking_gates: without h; expected every critical one"
    ]


@pytest.mark.parametrize("gate", [("g", "fail", "high"), ("g", "not_applicable", "critical")])
def test_other_gates_cap_nothing(gate: tuple[str, str, str]) -> None:
    assert score_vector_problems(_vector(gates=(gate,))) == []


def test_a_cap_without_a_gate_is_a_contradiction() -> None:
    (found,) = score_vector_problems(_vector(capped_by_gate=True))
    assert found.startswith("$.readiness.blocking_gates: empty")
