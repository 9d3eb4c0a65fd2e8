"""No network, no execution: a hostile repository gets nothing executed, imported, written or followed.

A share of the commands is tried among the traps; `scripts/fire --only isolation` tries all, and runs these
tests without a network.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from firing import isolation
from firing.auditing import audited
from firing.report import Context, LaneResult
from firing.snapshots import differences, snapshot
from firing.traps import make_trap


def test_no_command_opens_a_socket_or_starts_a_process_but_git_in_state(tmp_path: Path) -> None:
    result = LaneResult("isolation")
    isolation.fire_audit(tmp_path / "audit", result)
    assert result.failures == []
    assert result.counts["audited commands"] > 20


@pytest.mark.parametrize("linked", [False, True], ids=["of traps", "whose evidence is reached by links"])
def test_no_command_runs_imports_or_follows_what_is_in_a_repository(tmp_path: Path, linked: bool) -> None:
    result = LaneResult("isolation")
    isolation.fire_traps(tmp_path / "of traps", result, linked=linked, quick=True)
    assert result.failures == []
    assert "a plain `git status` sprang none of the traps here" not in result.notes


def test_every_command_works_without_a_network(tmp_path: Path, repository: Path) -> None:
    result = LaneResult("isolation")
    isolation.fire_without_network(
        tmp_path / "network", result, Context(str(tmp_path), str(repository), quick=True)
    )
    assert result.failures == []


def test_the_audit_hook_sees_a_socket_and_a_process() -> None:
    outcomes, _ = audited([])
    seen = {event for event, _ in outcomes[0]["events"]}
    assert {"socket.__new__", "subprocess.Popen"} <= seen


def test_a_change_outside_is_seen(tmp_path: Path) -> None:
    trap = make_trap(tmp_path, linked=True)
    trap.settle()
    before = snapshot(trap.outside)
    (trap.outside / ".evals" / "project.json").write_text("{}", encoding="utf-8")
    assert differences(before, snapshot(trap.outside)) == [".evals/project.json"]


def test_what_is_run_or_imported_is_seen(tmp_path: Path) -> None:
    trap = make_trap(tmp_path, linked=False)
    assert trap.sprung == []
    subprocess.run([tmp_path / "evil.sh", "marker"], check=True, stdin=subprocess.DEVNULL)
    # Measuring coverage in the child would import from the trap's folder, too.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    subprocess.run([sys.executable, trap.folder / "json.py"], check=True, env=plain)
    assert trap.sprung == ["marker", "module-json"]
