"""Many at once: one chain, whole bundles and nothing acknowledged that is lost, even under SIGKILL.

A few rounds are tried here; `scripts/fire --only many` has many more.
"""

from __future__ import annotations

from pathlib import Path

from firing import many
from firing.report import LaneResult

from evals_cli.core import capsule


def test_eight_writers_make_one_chain_of_what_was_acknowledged_and_losers_see_busy(tmp_path: Path) -> None:
    result = LaneResult("many")
    many.fire_appends(tmp_path / "appends", result, 3)
    assert result.failures == []
    assert capsule.verify(tmp_path / "appends" / "capsule").entry_count == 24


def test_eight_runs_at_once_make_eight_whole_bundles_and_one_valid_latest(tmp_path: Path) -> None:
    result = LaneResult("many")
    many.fire_runs(tmp_path / "runs", result, 1)
    assert result.failures == []
    assert result.counts["runs at once"] == 8


def test_a_writer_killed_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    result = LaneResult("many")
    many.fire_kills(tmp_path / "kills", result, 8)
    assert result.failures == []
    assert sum(times for what, times in result.counts.items() if what.startswith("killed")) >= 8
