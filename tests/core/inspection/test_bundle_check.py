"""The verdict on a bundle: what passes, and what each kind of damage is called."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import limits
from evals_cli.core.bundle_check import latest_prefix

if TYPE_CHECKING:
    from pathlib import Path

RUN = ".harness/evals/runs/20261130T175456Z-closeout-36c761f8"
LATEST = ".harness/evals/runs/latest.json"


def _only_problem(world: Any) -> str:
    problems = world.verdict().problems
    assert len(problems) == 1, problems
    return str(problems[0])


def test_a_sound_bundle_passes_every_check(world: Any) -> None:
    verdict = world.verdict()
    assert (verdict.status, verdict.problems) == ("passed", [])
    assert [check.label for check in verdict.checks] == [
        "latest run",
        "artifact manifest",
        "eval result",
        "scorer results",
        "baseline result",
        "report",
        "command log",
        "trace events",
        "agreement of the documents",
        "artifact digests",
        "producer",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "result.json",
        "report.md",
        "command-log.json",
        "scorer-results.json",
        "baseline-result.json",
        "trace-events.jsonl",
    ],
)
def test_each_artifact_tampered_with_is_named(world: Any, name: str) -> None:
    file = world.path(f"bundle/{name}")
    file.write_bytes(file.read_bytes() + b"\n")
    problems = world.verdict().problems
    assert all(f"{RUN}/{name}: its bytes have SHA-256 " in problem for problem in problems), problems
    assert any("/manifest.json: $.artifacts[" in problem for problem in problems)
    assert all(problem.endswith("the file is not the one that was recorded") for problem in problems)


def test_line_ends_that_git_rewrote_are_diagnosed_and_still_fail(world: Any) -> None:
    file = world.path("bundle/report.md")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert "with CRLF read as LF it matches" in _only_problem(world)


def test_a_carriage_return_that_was_always_there_is_not_blamed_on_git(world: Any) -> None:
    world.write("bundle/report.md", b"a\r\nb\r")
    world.seal()
    world.write("bundle/report.md", b"a\r\nb\r\n")
    assert "with CRLF" not in _only_problem(world)


def test_line_ends_are_recognised_across_the_pieces_of_a_large_file(world: Any) -> None:
    text = b"x" * (1024 * 1024 - 1) + b"\n" + b"y" * 10 + b"\r"
    world.write("bundle/report.md", text)
    world.seal()
    # The CR of the first line end is the last byte of a piece, its LF the first of the next one.
    world.write("bundle/report.md", text.replace(b"\n", b"\r\n"))
    assert "with CRLF read as LF it matches" in _only_problem(world)


def test_a_producer_file_rewritten_by_git_is_diagnosed_too(world: Any) -> None:
    file = world.path(".evals/suite.json")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    problem = _only_problem(world)
    assert problem.startswith(f"{LATEST}: $.producer.suite_path: .evals/suite.json: ")
    assert "with CRLF read as LF it matches" in problem


@pytest.mark.parametrize("run_id", ["..", ".", "a/b", "a\\b", "a\nb", "a\x00b", "C:x", "\ud800"])
def test_a_run_id_that_is_no_plain_path_segment_is_refused(world: Any, run_id: str) -> None:
    world.change(LATEST, run_id=run_id)
    problems = world.verdict().problems
    assert any(problem.startswith(f"{LATEST}: $.run_id: ") for problem in problems)
    assert not any("\n" in problem or "\x00" in problem for problem in problems)


def test_run_folders_whose_names_share_a_prefix_are_told_apart(world: Any) -> None:
    # A sibling of the root whose name begins with the root's must not count as inside it.
    sibling = world.root.with_name(world.root.name + "-evil")
    sibling.mkdir()
    (sibling / "report.md").write_text("evil")
    link = world.path("bundle/report.md")
    link.unlink()
    link.symlink_to(sibling / "report.md")
    problems = world.verdict().problems
    assert any("leads out of its root" in problem for problem in problems)


@pytest.mark.parametrize("key", ["manifest_path", "result_path", "report_path", "trace_events_path"])
def test_a_fifo_at_a_pointer_is_named_and_never_waited_for(world: Any, key: str) -> None:
    path = world.root / world.read(LATEST)[key]
    path.unlink()
    os.mkfifo(path)
    assert any(
        problem.startswith(f"{LATEST}: $.{key}: ") and problem.endswith("not a regular file")
        for problem in world.verdict().problems
    )


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe{}", b"NaN", b""])
def test_a_latest_json_that_cannot_be_read_is_one_problem(world: Any, content: bytes) -> None:
    world.write(LATEST, content)
    verdict = world.verdict()
    assert (verdict.parsed, verdict.status, len(verdict.problems)) == (False, "failed", 1)
    assert verdict.problems[0].startswith(f"{LATEST}: ")


def test_a_latest_json_past_the_limit_is_not_read(world: Any) -> None:
    with open(world.path(LATEST), "wb") as file:
        file.truncate(200 * 1024 * 1024)
    assert f"larger than the limit of {limits.BUNDLE_DOCUMENT} bytes" in _only_problem(world)


def test_a_latest_json_that_links_out_of_the_root_is_not_followed(world: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(world.path(LATEST).read_text())
    world.path(LATEST).unlink()
    world.path(LATEST).symlink_to(outside)
    verdict = world.verdict()
    assert (verdict.found, verdict.parsed) == (True, False)
    assert "leads out of its root" in verdict.problems[0]


def test_a_latest_json_that_is_a_dangling_link_counts_as_missing(world: Any) -> None:
    world.path(LATEST).unlink()
    world.path(LATEST).symlink_to("nowhere.json")
    assert world.verdict().status == "not_run"


def test_a_document_that_does_not_parse_is_named(world: Any) -> None:
    world.write("bundle/scorer-results.json", "{")
    world.seal()
    assert any(problem.startswith(f"{RUN}/scorer-results.json: ") for problem in world.verdict().problems)


def test_a_manifest_entry_without_a_path_is_left_to_the_schema(world: Any) -> None:
    manifest = world.read("bundle/manifest.json")
    manifest["artifacts"].append({"type": "note", "sha256": "0" * 64, "required": False})
    world.write("bundle/manifest.json", json.dumps(manifest))
    assert _only_problem(world) == f"{RUN}/manifest.json: $.artifacts[6].path: missing; expected a string"


def test_a_manifest_of_thousands_of_lies_is_answered_in_a_hundred_lines(world: Any) -> None:
    manifest = world.read("bundle/manifest.json")
    lie = {"type": "note", "path": "nowhere", "sha256": "0" * 64, "required": False}
    manifest["artifacts"] += [{**lie, "type": f"note-{number}"} for number in range(5_000)]
    world.write("bundle/manifest.json", json.dumps(manifest))
    problems = world.verdict().problems
    assert len(problems) == 101
    assert problems[0].endswith("$.artifacts[6]: nowhere: there is no such file")


def test_a_timeline_of_an_unknown_run_is_not_compared(world: Any) -> None:
    world.change(LATEST, case_id=7)
    problems = world.verdict().problems
    assert problems == [f"{LATEST}: $.case_id: 7; expected a string"]


def test_a_failing_run_that_says_so_everywhere_passes_the_check(failing: Any) -> None:
    verdict = failing.verdict()
    assert (verdict.problems, verdict.run_verdict) == ([], "fail")


def test_bundles_are_found_where_the_project_manifest_says(world: Any) -> None:
    world.project(
        artifact_policy={
            "artifact_roots": ["evidence/none", "./evidence/runs/"],
            "allow_absolute_paths": False,
            "allow_parent_traversal": False,
        }
    )
    runs = world.root / ".harness/evals/runs"
    moved = world.root / "evidence/runs"
    moved.parent.mkdir()
    runs.rename(moved)
    for file in moved.rglob("*"):
        if file.is_file():
            file.write_text(file.read_text().replace(".harness/evals/runs", "evidence/runs"))
    folder = "evidence/runs/20261130T175456Z-closeout-36c761f8"
    for _ in range(2):
        for name, key in (("result.json", "artifact_refs"), ("manifest.json", "artifacts")):
            document = world.read(f"{folder}/{name}")
            for entry in document[key]:
                entry["sha256"] = world.digest(entry["path"])
            world.write(f"{folder}/{name}", json.dumps(document))
        baseline = world.read(f"{folder}/baseline-result.json")
        baseline["current_artifact_ref"]["sha256"] = world.digest(f"{folder}/command-log.json")
        world.write(f"{folder}/baseline-result.json", json.dumps(baseline))
    verdict = world.verdict()
    assert (verdict.latest_path, verdict.problems) == ("evidence/runs/latest.json", [])


def test_the_usual_place_wins_and_stays_the_answer_where_nothing_is(world: Any) -> None:
    assert latest_prefix(str(world.root), ["elsewhere"]) == ".harness/evals/runs"
    world.path(LATEST).unlink()
    assert latest_prefix(str(world.root), ["elsewhere"]) == ".harness/evals/runs"


def test_the_repository_itself_is_no_folder_of_runs(world: Any) -> None:
    world.path(LATEST).rename(world.root / "latest.json")
    assert latest_prefix(str(world.root), [".", "./"]) == ".harness/evals/runs"


def test_the_runs_are_never_listed_however_many_there_are(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[str] = []
    listdir, scandir = os.listdir, os.scandir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(str(path)) or listdir(path))
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(str(path)) or scandir(path))
    assert world.verdict().status == "passed"
    assert not [path for path in listed if path.startswith(str(world.root))]
