"""Two bundles that another implementation wrote, in their own worlds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.check import check_packet
from evals_cli.core.git_state import GitState
from evals_cli.core.inspection import inspect_root
from evals_cli.core.roots import select_root
from evals_cli.core.state import state_packet

JUNE = "20260603T205725Z-pr-closeout-a0c7036a"
ARTIFACTS = (
    "result.json",
    "report.md",
    "command-log.json",
    "scorer-results.json",
    "baseline-result.json",
    "trace-events.jsonl",
)


def _copy(shared: Path, name: str, to: Path) -> Path:
    for file in (shared / "reference/bundles" / name).rglob("*"):
        if file.is_file():
            target = to / file.relative_to(shared / "reference/bundles" / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return to


def _state(root: Path, repository: Path) -> dict[str, Any]:
    inspection = inspect_root(select_root(str(root), "/"), documents(), installed=str(repository))
    git = GitState(status="unavailable", reason="not asked")
    return state_packet(inspection, git=lambda: git)


def test_the_bundle_of_june_is_ready_in_its_own_world(shared: Path, tmp_path: Path, repository: Path) -> None:
    state = _state(_copy(shared, "2026-06", tmp_path / "june"), repository)
    assert (state["status"], state["validation"]) == ("ready", {"status": "passed", "errors": []})
    assert state["evidence_packet"]["missing_evidence_scorer"]["status"] == "pass"


def test_the_bundle_of_june_passes_the_smoke_check_in_a_checkout(
    shared: Path, tmp_path: Path, repository: Path
) -> None:
    root = tmp_path / "june"
    for folder in ("contracts", "fixtures/contracts", "fixtures/runtime-evidence"):
        shutil.copytree(repository / folder, root / folder)
    (root / "schemas").mkdir()
    _copy(shared, "2026-06", root)
    inspection = inspect_root(select_root(str(root), "/"), documents(), installed=str(repository))
    packet = check_packet(inspection, documents(), smoke=True)
    assert (packet["status"], packet["errors"]) == ("passed", [])
    assert _state(root, repository)["evidence_packet"]["readiness_verdict"]["status"] == "pass"


@pytest.mark.parametrize("name", ARTIFACTS)
def test_each_artifact_of_june_tampered_with_is_named(
    shared: Path, tmp_path: Path, repository: Path, name: str
) -> None:
    root = _copy(shared, "2026-06", tmp_path / "june")
    file = root / ".harness/evals/runs" / JUNE / name
    file.write_bytes(file.read_bytes() + b" \n")
    state = _state(root, repository)
    assert state["status"] == "stale"
    assert state["validation"]["errors"]
    assert all(f"/{name}: its bytes have SHA-256 " in error for error in state["validation"]["errors"])


def test_the_bundle_of_may_is_refused_for_what_its_age_lacks(
    shared: Path, tmp_path: Path, repository: Path
) -> None:
    state = _state(_copy(shared, "2026-05", tmp_path / "may"), repository)
    assert (state["status"], state["non_ready_reason_code"]) == ("invalid", "latest_invalid")
    errors = state["validation"]["errors"]
    lacks = {error.partition(": $.")[2].partition(":")[0] for error in errors if ": missing; " in error}
    assert lacks == {
        "artifact_root",
        "execution_mode",
        "generated_at",
        "suite_id",
        "trace_events_path",
        "producer",
    }
    # Nothing but its age is held against it: every digest still matches.
    assert not [error for error in errors if "its bytes have" in error]
