"""The health of runtime evidence, at home and elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest


def _health(world: Any) -> Any:
    return world.inspect().health


def test_home_scores_its_own_fixtures(home: Any) -> None:
    health = _health(home)
    assert (health.status, health.coverage["status"]) == ("ready", "pass")
    assert len(health.checks) == len(list((home.root / "fixtures/runtime-evidence").glob("*.case.*")))


def test_a_case_at_home_that_is_not_judged_as_it_expects_fails(home: Any) -> None:
    file = sorted((home.root / "fixtures/runtime-evidence").glob("*.case.json"))[0]
    case = json.loads(file.read_text())
    verdict = case["expected"]["verdict"]
    case["expected"]["verdict"] = "fail" if verdict == "pass" else "pass"
    file.write_text(json.dumps(case))
    health = _health(home)
    assert health.status == "failing"
    assert any(file.name in error for error in health.errors)


def test_a_consumer_without_a_policy_is_not_configured(world: Any) -> None:
    health = _health(world)
    assert (health.status, health.checks) == ("not_configured", [])
    assert health.document() == {
        "status": "not_configured",
        "policy_coverage_status": "not_configured",
        "policy_coverage": {"status": "not_configured", "families": [], "errors": health.errors},
        "check_count": 0,
        "errors": health.errors,
    }


@pytest.mark.parametrize("path", ["evidence/none.case.json", "evidence"])
def test_evidence_that_is_not_there_fails(world: Any, path: str) -> None:
    world.project(
        runtime_evidence_policy={"required": False, "missing_status": "blocked", "evidence_paths": [path]}
    )
    health = _health(world)
    assert health.status == "failing"
    assert any(path in error for error in health.errors)


def test_a_problem_is_told_once(world: Any) -> None:
    world.write("evidence/broken.case.json", "{")
    world.project(
        runtime_evidence_policy={
            "required": True,
            "missing_status": "blocked",
            "evidence_paths": ["evidence"],
        }
    )
    errors = _health(world).errors
    assert len(errors) == len(set(errors))
