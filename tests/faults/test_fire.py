"""`scripts/fire`: its lanes, its report, and which traced calls count as the command's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from firing import command, registry, report, traced
from firing.report import LaneResult

if TYPE_CHECKING:
    from pathlib import Path

LOG = """\
12 openat(AT_FDCWD, "/usr/lib/python3/os.py", O_RDONLY|O_CLOEXEC) = 3
12 read(3, "import", 100) = 6
12 close(3) = 0
12 openat(AT_FDCWD, "capsule/journal.ndjson", O_RDONLY|O_CLOEXEC) = 3
12 newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=10, ...}, AT_EMPTY_PATH) = 0
12 read(3, "{\\"a = 7\\"}", 131072) = 10
12 close(3) = 0
12 newfstatat(AT_FDCWD, "/work", {st_mode=S_IFDIR|0755, ...}, 0) = 0
12 mkdir("/work/folder/new", 0777) = 0
12 write(2, "words", 5) = 5
12 write(1, "{}", 2) = 2
"""


@pytest.mark.parametrize("name", registry.LANES)
def test_every_lane_says_its_name_and_what_it_does(name: str) -> None:
    lane = command.load(name)
    assert name == lane.NAME
    assert lane.SUMMARY
    assert "\n" not in lane.SUMMARY


def test_only_calls_that_touch_evidence_are_injected_into() -> None:
    found = [(call.kind, call.number) for call in traced.own_calls(LOG, "/work/folder")]
    assert found == [
        ("openat", 2),
        ("newfstatat", 1),
        ("read", 2),
        ("close", 2),
        ("mkdir", 1),
        ("write", 2),
    ]


def test_a_lane_that_met_a_failure_has_failed() -> None:
    result = LaneResult("lane")
    result.count("tries", 3)
    assert result.status == "passed"
    result.fail("what broke")
    assert (result.status, result.tried) == ("failed", 3)
    assert "lane: FAILED: what broke" in report.table([result])


def test_a_skipped_lane_says_why_and_fails_nothing() -> None:
    result = LaneResult("lane", skipped="there is no strace here")
    assert report.document([result], quick=True)["status"] == "passed"
    assert "lane: skipped: there is no strace here" in report.table([result])


def test_failures_past_the_limit_are_counted() -> None:
    result = LaneResult("lane")
    for number in range(report.MAX_FAILURES + 5):
        result.fail(f"failure {number}")
    assert len(result.failures) == report.MAX_FAILURES
    assert result.document()["more_failures"] == 5


def test_the_report_is_json_and_names_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Lane:
        NAME = "lane"
        SUMMARY = "does nothing"

        @staticmethod
        def run(context: report.Context) -> LaneResult:
            return LaneResult("lane", counts={"tries": int(context.quick)})

    monkeypatch.setattr(command, "LANES", ("lane",))
    monkeypatch.setattr(command, "load", lambda name: Lane)
    assert command.main(["--quick", "--json", str(tmp_path / "report.json")]) == 0
    written = json.loads((tmp_path / "report.json").read_bytes())
    assert written["lanes"][0]["counts"] == {"tries": 1}
    assert written.keys() == {
        "schema_version",
        "form",
        "system",
        "machine",
        "python",
        "processors",
        "status",
        "lanes",
    }
    assert capsys.readouterr().out.startswith("lane  status  tried")


def test_a_lane_that_breaks_is_a_failure_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        NAME = "broken"
        SUMMARY = "breaks"

        @staticmethod
        def run(context: report.Context) -> LaneResult:
            raise ValueError("no")

    monkeypatch.setattr(command, "LANES", ("broken", "broken"))
    monkeypatch.setattr(command, "load", lambda name: Broken)
    assert command.main([]) == 1
    assert capsys.readouterr().out.count("the lane itself broke") == 2


def test_an_unknown_lane_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(["--only", "nothing"])
    assert stopped.value.code == 2
    assert "no lane is called nothing" in capsys.readouterr().err
