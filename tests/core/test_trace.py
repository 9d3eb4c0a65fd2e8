"""A trace is seven events of one run in a fixed order, each allowed its own statuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evals_cli.core.bundle_layout import TRACE_STATUSES
from evals_cli.core.limits import TRACE_LINE
from evals_cli.core.trace import trace_problems, trace_text
from evals_cli.schemas.validator import problems


def _events() -> list[dict[str, Any]]:
    return [
        {
            "event_type": kind,
            "occurred_at": "2026-01-31T09:30:00.000Z",
            "status": statuses[0],
            "artifact_path": "a/b.json" if number else None,
            "exit_code": None,
            "detail": "x",
        }
        for number, (kind, statuses) in enumerate(TRACE_STATUSES.items())
    ]


def _judged(events: list[dict[str, Any]]) -> list[str]:
    return _judged_bytes(trace_text(events, run_id="R", case_id="C").encode())


def _judged_bytes(raw: bytes) -> list[str]:
    return trace_problems(raw, run_id="R", case_id="C", problems=problems)


def test_a_written_trace_is_sound() -> None:
    assert _judged(_events()) == []


def test_members_are_written_in_the_order_of_the_schema() -> None:
    line = trace_text(_events(), run_id="R", case_id="C").splitlines()[1]
    assert list(json.loads(line)) == [
        "schema_version",
        "run_id",
        "case_id",
        "sequence",
        "event_type",
        "occurred_at",
        "status",
        "artifact_path",
        "exit_code",
        "detail",
    ]


def test_blank_lines_and_line_ends_of_other_systems_are_no_matter() -> None:
    text = trace_text(_events(), run_id="R", case_id="C")
    assert _judged_bytes(text.replace("\n", "\r\n \n\n").encode()) == []
    assert _judged_bytes(text.removesuffix("\n").encode()) == []


@pytest.mark.parametrize(
    ("event", "part", "value", "finding"),
    [
        (1, "status", "pass", "line 2: $.status: pass; expected passed or failed for command_result"),
        (3, "status", "missing", "line 4: $.status: missing; expected not_compared or matched or"),
        (5, "status", "failed", "line 6: $.status: failed; the run says that its own artifacts did not"),
        (2, "artifact_path", None, "line 3: $.artifact_path: null; only the first event may name no"),
        (2, "artifact_path", "/etc/hostname", "line 3: $.artifact_path: the path is absolute"),
        (2, "artifact_path", "a\\..\\b", "line 3: $.artifact_path: the path has a '..' part"),
        (0, "artifact_path", "../x", "line 1: $.artifact_path: the path has a '..' part"),
        (4, "event_type", "run_finished", "line 5: $.event_type: run_finished; expected artifact_manifest"),
        (4, "run_id", "other", "line 5: $.run_id: other; expected R"),
        (4, "case_id", "other", "line 5: $.case_id: other; expected C"),
        (4, "sequence", 9, "line 5: $.sequence: 9; expected 5"),
        (4, "detail", "", "line 5: $.detail: 0 characters; expected at least 1"),
        (4, "occurred_at", "now", 'line 5: $.occurred_at: "now"; expected a date and time'),
    ],
)
def test_an_event_that_breaks_the_timeline_is_told_with_its_line(
    event: int, part: str, value: object, finding: str
) -> None:
    events = _events()
    events[event][part] = value
    (found,) = _judged(events)
    assert found.startswith(finding)


def test_the_first_event_may_name_a_contained_path() -> None:
    events = _events()
    events[0]["artifact_path"] = "some/file"
    assert _judged(events) == []


def test_every_allowed_status_is_allowed() -> None:
    for number, statuses in enumerate(TRACE_STATUSES.values()):
        for status in statuses:
            events = _events()
            events[number]["status"] = status
            assert bool(_judged(events)) is (number == 5 and status == "failed")


@pytest.mark.parametrize("count", [0, 6, 8])
def test_a_trace_has_exactly_seven_events(count: int) -> None:
    events = (_events() * 2)[:count]
    (found,) = _judged(events)
    assert found.startswith(f"{count} events; expected exactly 7: run_started, command_result")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"a":1,"a":2}', "written twice"),
        (b"{", "line 1, column 2"),
        (b'{"a": NaN}', "NaN"),
        (b"\xff", "UTF-8"),
        (b"[]", "expected an object"),
        (b" " * TRACE_LINE + b"{}", "longer than the limit"),
        (b"[" * 1000, "nested deeper"),
    ],
)
def test_a_line_that_is_no_event_is_told(line: bytes, words: str) -> None:
    lines = trace_text(_events(), run_id="R", case_id="C").encode().splitlines()
    lines[3] = line
    (found,) = _judged_bytes(b"\n".join(lines))
    assert found.startswith("line 4: ")
    assert words in found
