"""Bundles with the verdict, the state and the authority classification that a reference implementation gave.

Deliberate exceptions, all towards stricter or safer:
1. Rows marked `stricter`: the reference passes them. Here the bundle fails, since the result, its failed
   assertions or an assertion contradicts the scorers; the state follows from that failure.
2. Rows whose expected state is `adjusted`: it was corrected by hand (evidence is `verified` only where the
   digest matches, and a broken digest makes the state stale). They are compared like any other row.
3. Rows on which the reference crashed: here the bundle fails and the state is `invalid`.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.check import check_packet
from evals_cli.core.git_state import GitState
from evals_cli.core.inspection import inspect_root
from evals_cli.core.roots import select_root
from evals_cli.core.state import state_packet

KEPT = json.loads((Path(__file__).parent / "data" / "bundles.json").read_text(encoding="utf-8"))

# What contradicts the scorers fails here, and nothing else of these rows differs from the reference.
STRICTER_STATE = {
    "status": "stale",
    "non_ready_reason_code": "latest_validation_failed",
    "validation": "failed",
    "blocking_fields": ["runtime_state.status"],
    "blockers": ["latest_validation_failed"],
}


def _put(root: Path, base: dict[str, str], row: dict[str, Any]) -> None:
    files = {**base, **row["changed"]}
    for name, content in files.items():
        if content is None or name in row["symlinks"]:
            continue
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(content))
    for name in row["dirs"]:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, target in row["symlinks"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, root / name)


def _essentials(state: dict[str, Any]) -> dict[str, Any]:
    packet = state["evidence_packet"]
    authority = state["authority_classification"]
    return {
        "status": state["status"],
        "latest_status": state["latest"]["status"],
        "non_ready_reason_code": state["non_ready_reason_code"],
        "validation": state["validation"]["status"],
        "artifacts": {artifact["key"]: artifact["status"] for artifact in state["artifacts"]},
        "readiness": packet["readiness_verdict"]["status"],
        "blocking_fields": packet["readiness_verdict"]["blocking_fields"],
        "blockers": [blocker["code"] for blocker in packet["blockers"]],
        "missing_evidence": packet["missing_evidence_scorer"]["status"],
        "claims": [claim["claim_id"] for claim in packet["claims"]],
        "evidence": [[record["evidence_id"], record["status"]] for record in packet["evidence"]],
        "authority": {
            "mode": authority["authority_mode"],
            "manifest": authority["manifest_status"],
            "adoption": authority["adoption_readiness"]["status"],
            "next_missing_input": authority["adoption_readiness"]["next_missing_input"],
            "runtime_evidence": authority["proof_context"]["runtime_evidence_status"],
            "recovery": authority["recovery_guidance"]["status"],
            "agent": [action["action_id"] for action in authority["agent_next_actions"]],
            "human": [action["action_id"] for action in authority["human_approval_required_actions"]],
            "blocked": [action["action_id"] for action in authority["blocked_actions"]],
        },
    }


def _stricter(expected: dict[str, Any]) -> dict[str, Any]:
    dropped = "latest-validation-passed"
    return {
        **expected,
        **STRICTER_STATE,
        "claims": [claim for claim in expected["claims"] if claim != dropped],
        "evidence": [record for record in expected["evidence"] if record[0] != "latest-validation"],
        "authority": {**expected["authority"], "agent": ["revalidate-latest-artifact-bundle"]},
    }


def _compare(row: dict[str, Any], root: Path, installed: Path) -> None:
    ports = documents()
    inspection = inspect_root(select_root(str(root), "/"), ports, installed=str(installed))
    state = state_packet(inspection, git=lambda: GitState(status="unavailable", reason="not asked"))
    check = check_packet(inspection, ports, smoke=False)
    name, expect = row["mutation"], row["expect"]
    assert ports.problems("runtime-state", state) == [], name
    assert ports.problems("validation-result", check) == [], name
    # Without a runtime-evidence policy a consumer's check fails, however good its bundle is.
    assert check["status"] == "failed", name
    if expect["bundle"] == "reference crashed":
        assert (inspection.verdict.status, state["status"]) == ("failed", "invalid"), name
        return
    stricter = row.get("stricter", False)
    passed = inspection.verdict.status == "passed"
    assert passed == (expect["bundle"] == "passed" and not stricter), (name, inspection.verdict.problems)
    expected = _stricter(expect["state"]) if stricter else expect["state"]
    assert _essentials(state) == expected, name


@pytest.mark.parametrize("row", KEPT["cases"], ids=lambda row: row["mutation"])
def test_a_kept_bundle_gets_the_reference_verdict_and_state(
    row: dict[str, Any], tmp_path: Path, repository: Path
) -> None:
    _put(tmp_path, KEPT["base"], row)
    _compare(row, tmp_path, repository)


def test_every_reference_bundle_gets_the_same_verdict_and_state(
    shared: Path, tmp_path: Path, repository: Path
) -> None:
    vectors = json.loads((shared / "vectors/runs/bundles.json").read_text(encoding="utf-8"))
    assert len(vectors["cases"]) == 302
    for index, row in enumerate(vectors["cases"]):
        root = tmp_path / str(index)
        root.mkdir()
        _put(root, vectors["base"], row)
        _compare(row, root, repository)
