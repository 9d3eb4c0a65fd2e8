"""The tracker's record: its state is read from it, and a record that contradicts itself is no evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

House = Callable[[str], ModuleType]


def record(**changed: str | None) -> str:
    fields = {"state": "blocked", "parent issue": "none", "override": "yes", "recovery": "link it"}
    fields.update({name.replace("_", " "): value for name, value in changed.items()})  # type: ignore[misc]  # None drops a field
    return "# Tracker\n\n" + "".join(f"- {name}: {value}\n" for name, value in fields.items() if value)


@pytest.mark.parametrize(
    ("text", "classification"),
    [
        (record(), "blocked"),
        (record(state="linked", parent_issue="EVA-1", recovery="none"), "pass"),
        (record(state="not-applicable"), "not-applicable"),
    ],
)
def test_the_classification_is_the_one_of_the_recorded_state(
    house: House, text: str, classification: str
) -> None:
    assert house("tracker_record").read_tracker(text).classification == classification


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 lines `- state: ...`"),
        (record(override=None), "0 lines `- override: ...`"),
        (record() + "- state: linked\n", "2 lines `- state: ...`"),
        (record(state="fine"), "the tracker's state is 'fine'"),
        (record(state="linked"), "no parent issue is named"),
        (record(parent_issue="EVA-1"), "the parent issue EVA-1 is named"),
        (record(recovery="none"), "no recovery is named"),
    ],
)
def test_a_record_that_cannot_be_relied_on_fails(house: House, text: str, words: str) -> None:
    tracker = house("tracker_record").read_tracker(text)
    assert tracker.classification == "fail"
    assert words in tracker.problems[0]


def test_a_value_may_go_on_over_lines(house: House) -> None:
    tracker = house("tracker_record").read_tracker(record(recovery="link\n  it\n  soon"))
    assert tracker.fields["recovery"] == "link it soon"


def test_the_record_of_this_repository_can_be_relied_on(house: House, repository: Path) -> None:
    path = repository / ".harness" / "linear" / "2026-05-18-evals-tracker-override-approved.md"
    assert house("tracker_record").read_tracker(path.read_text(encoding="utf-8")).problems == []
