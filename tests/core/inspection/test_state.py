"""The state packet: it never fails, and says first what stands in the way."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.git_state import GitState
from evals_cli.core.roots import Root
from evals_cli.core.state import recommended_commands, state_packet

LATEST = ".harness/evals/runs/latest.json"
CASE = {"schema_version": 1, "case_id": "broken"}


def _evidence_fails(world: Any) -> None:
    world.write("evidence/broken.case.json", json.dumps(CASE))
    world.project(
        runtime_evidence_policy={
            "required": True,
            "missing_status": "blocked",
            "evidence_paths": ["evidence"],
        }
    )


def test_a_sound_bundle_is_ready(world: Any) -> None:
    state = world.state()
    assert (state["status"], state["non_ready_reason_code"]) == ("ready", None)
    assert state["evidence_packet"]["blockers"] == []
    assert {artifact["status"] for artifact in state["artifacts"]} == {"present"}
    assert state["recommended_commands"][0].startswith("evals check")


def test_reasons_come_in_the_order_of_their_weight(world: Any) -> None:
    damages = [
        ("latest_validation_failed", "stale", lambda: world.write("bundle/report.md", "other")),
        ("artifact_missing", "stale", lambda: world.path("bundle/report.md").unlink()),
        ("artifact_invalid", "invalid", lambda: world.change(LATEST, seal=False, report_path="../up")),
        ("latest_invalid", "invalid", lambda: world.change(LATEST, seal=False, generated_at="now")),
        ("runtime_evidence_failed", "invalid", lambda: _evidence_fails(world)),
    ]
    for code, status, damage in damages:
        damage()
        state = world.state()
        assert (state["non_ready_reason_code"], state["status"]) == (code, status)
        (blocker,) = state["evidence_packet"]["blockers"]
        assert blocker["code"] == code
        assert documents().problems("runtime-state", state) == []


def test_without_a_run_the_state_is_missing_and_nothing_was_validated(world: Any) -> None:
    world.path(LATEST).unlink()
    state = world.state()
    assert (state["status"], state["non_ready_reason_code"]) == ("missing", "latest_missing")
    assert state["validation"] == {"status": "not_run", "errors": []}
    assert {artifact["status"] for artifact in state["artifacts"]} == {"not_applicable"}
    assert state["recommended_commands"][0].endswith("&& evals run .evals/suite.json --json)")


@pytest.mark.parametrize("content", ["null", "[]", "7", '"text"', "{}"])
def test_a_latest_json_that_parses_but_is_no_pointer_is_invalid(world: Any, content: str) -> None:
    world.write(LATEST, content)
    state = world.state()
    assert (state["status"], state["latest"]["status"]) == ("invalid", "invalid")
    assert {artifact["status"] for artifact in state["artifacts"]} == {"invalid"}
    actions = state["authority_classification"]["agent_next_actions"]
    assert [action["action_id"] for action in actions] == ["revalidate-latest-artifact-bundle"]


def test_a_latest_json_that_does_not_parse_leaves_nothing_for_an_agent(world: Any) -> None:
    world.write(LATEST, "{")
    state = world.state()
    assert {artifact["status"] for artifact in state["artifacts"]} == {"not_applicable"}
    assert state["authority_classification"]["agent_next_actions"] == []


def test_an_unknown_mode_is_not_repeated(world: Any) -> None:
    world.change(LATEST, execution_mode="imagined")
    state = world.state()
    assert state["latest"] == {
        "status": "invalid",
        "run_id": "20261130T175456Z-closeout-36c761f8",
        "case_id": "closeout",
        "execution_mode": None,
    }


def test_a_directory_in_an_artifacts_place_is_present_and_fails_the_check(world: Any) -> None:
    world.path("bundle/report.md").unlink()
    world.path("bundle/report.md").mkdir()
    state = world.state()
    statuses = {artifact["key"]: artifact["status"] for artifact in state["artifacts"]}
    assert statuses["report_path"] == "present"
    assert state["non_ready_reason_code"] == "latest_validation_failed"


def test_with_evidence_that_holds_readiness_passes(world: Any, repository: Any) -> None:
    case = repository / "fixtures/runtime-evidence"
    sample = next(path for path in sorted(case.glob("*.case.json")))
    world.write("evidence/sample.case.json", sample.read_bytes())
    world.project(
        runtime_evidence_policy={
            "required": True,
            "missing_status": "blocked",
            "evidence_paths": ["evidence"],
        }
    )
    state = world.state()
    assert state["contract_health"]["runtime_evidence"]["status"] == "ready"
    assert state["evidence_packet"]["readiness_verdict"]["status"] == "pass"
    assert documents().problems("runtime-state", state) == []


def test_the_repository_is_named_as_the_user_named_it(world: Any) -> None:
    repo = world.state()["evidence_packet"]["repo"]
    assert repo == {"root": str(world.root), "name": "consumer"}


def test_no_machine_path_is_told_that_nobody_gave(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from evals_cli.core.inspection import inspect_root
    from evals_cli.core.roots import select_root

    inspection = inspect_root(select_root(None, str(world.root)), documents(), installed=str(world.installed))
    git = GitState(status="unavailable", reason="not asked")
    text = json.dumps(state_packet(inspection, git=lambda: git))
    assert str(world.root.parent) not in text


def test_home_has_no_authority_classification_and_recommends_the_smoke_check(home: Any) -> None:
    state = home.state()
    assert "authority_classification" not in state
    assert state["contract_health"]["runtime_evidence"]["status"] == "ready"
    assert documents().problems("runtime-state", state) == []
    here = Root(path=str(home.root), shown=None, home=True, way=".")
    assert recommended_commands(here, "ready") == ["evals check --json", "evals check --smoke --json"]


def test_a_broken_catalog_at_home_makes_its_health_unavailable(home: Any) -> None:
    (home.root / "contracts/output/strict-json-when-requested.v1.json").write_text("{")
    state = home.state()
    health = state["contract_health"]["runtime_evidence"]
    assert health["status"] == health["policy_coverage_status"] == "unavailable"
    assert any("contracts/output/" in error for error in health["errors"])
    assert len(state["adopted_contracts"]) == 3
    assert state["evidence_packet"]["readiness_verdict"]["blocking_fields"] == [
        "runtime_evidence_contract_health.status"
    ]


def test_a_catalog_that_leads_out_of_home_makes_its_health_unavailable(home: Any, tmp_path: Any) -> None:
    folder = home.root / "contracts/output"
    folder.rename(tmp_path / "output")
    os.symlink(tmp_path / "output", folder)
    assert home.state()["contract_health"]["runtime_evidence"]["status"] == "unavailable"


def test_the_git_state_is_part_of_the_packet(world: Any) -> None:
    from evals_cli.core.state import state_packet as packet_of

    git = GitState(status="available", branch="main", commit="c" * 40, dirty=False)
    packet = packet_of(world.inspect(), git=lambda: git)["evidence_packet"]
    assert packet["git_state"] == {
        "status": "available",
        "branch": "main",
        "commit": "c" * 40,
        "dirty": False,
        "reason": None,
    }
