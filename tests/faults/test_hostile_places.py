"""Hostile places: nothing hangs, nothing is followed out, nothing steers a terminal.

A sample is tried here; `scripts/fire --only hostile` tries every pair.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from firing import hostile_kinds, hostile_names, hostile_places, hostile_races, hostile_trees
from firing.report import LaneResult
from firing.terminals import on_terminal


@pytest.mark.parametrize(
    "fire",
    [
        hostile_kinds.fire_kinds,
        hostile_races.fire_races,
        hostile_names.fire_names,
        hostile_places.fire_environments,
        hostile_places.fire_read_only,
        hostile_trees.fire_many_runs,
    ],
    ids=lambda fire: fire.__name__,
)
def test_no_hostile_place_breaks_a_promise(tmp_path: Path, fire: Callable[..., None]) -> None:
    result = LaneResult("hostile")
    fire(tmp_path, result, quick=True)
    assert result.failures == []
    assert result.tried > 0 or result.notes


def test_line_ends_that_git_rewrote_are_named_as_such(tmp_path: Path) -> None:
    result = LaneResult("hostile")
    hostile_places.fire_line_ends(tmp_path, result)
    assert result.failures == []


def test_names_that_are_one_elsewhere_are_two_here_and_own_names_can_be_everywhere(tmp_path: Path) -> None:
    result = LaneResult("hostile")
    hostile_trees.fire_clashes(tmp_path, result)
    assert result.failures == []


@pytest.mark.parametrize("steering", ["\x1b]0;x\x07", "\u202e", "\x9b31m", f"\n{hostile_names.FORGED}"])
def test_what_would_steer_a_terminal_is_noticed(steering: str) -> None:
    assert list(hostile_names.raw_problems(f"evals: a{steering}b\r\n".encode()))


def test_what_a_terminal_is_sent_is_seen_whole(tmp_path: Path) -> None:
    status, got = on_terminal(["schema", "eval-case"], tmp_path)
    assert status == 0
    assert len(got) > 4096
    assert got.rstrip().endswith(b"}")


@pytest.mark.parametrize("kind", hostile_kinds.KINDS)
def test_every_kind_is_put_in_place_and_taken_away_again(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"content")
    with hostile_kinds.replaced(place, kind, tmp_path):
        assert place.is_symlink() or not place.is_file()
    assert place.read_bytes() == b"content"
