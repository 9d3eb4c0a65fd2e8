"""Where documents of one bundle disagree, and what the disagreement is called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import bundle_agreement as agreement
from evals_cli.core.bundle_files import BundleFiles

if TYPE_CHECKING:
    from pathlib import Path

LATEST = ".harness/evals/runs/latest.json"
RUN = ".harness/evals/runs/20261130T175456Z-closeout-36c761f8"


def _problems(world: Any) -> list[str]:
    return list(world.verdict().problems)


@pytest.mark.parametrize("key", ["run_id", "case_id", "suite_id"])
def test_a_result_of_another_run_case_or_suite_is_named(world: Any, key: str) -> None:
    world.change("bundle/result.json", **{key: "other"})
    problems = _problems(world)
    assert len(problems) == 1
    assert problems[0].startswith(f"{RUN}/result.json: $.{key}: other; expected ")


@pytest.mark.parametrize("key", ["run_id", "case_id"])
def test_a_manifest_of_another_run_or_case_is_named(world: Any, key: str) -> None:
    world.change("bundle/manifest.json", **{key: "other"})
    problems = _problems(world)
    assert len(problems) == 1
    assert problems[0].startswith(f"{RUN}/manifest.json: $.{key}: other; expected ")


def test_a_pointer_of_latest_that_is_wrong_is_reported_once_not_in_every_document(world: Any) -> None:
    world.write("other.md", "other")
    world.change(LATEST, report_path="other.md")
    assert _problems(world) == [f"{LATEST}: $.report_path: other.md; expected {RUN}/report.md"]


def test_backslashes_compare_equal_in_pointers_but_are_not_read_as_slashes(world: Any) -> None:
    result = world.read("bundle/result.json")
    backslashes = result["trace_events_path"].replace("/", "\\")
    world.change("bundle/result.json", trace_events_path=backslashes)
    assert _problems(world) == []
    world.change(LATEST, seal=False, trace_events_path=backslashes)
    assert _problems(world) == [f"{LATEST}: $.trace_events_path: {backslashes}: there is no such file"]


def test_a_repeated_type_is_a_problem_in_manifest_and_result(world: Any) -> None:
    manifest = world.read("bundle/manifest.json")
    note = {"type": "note", "path": ".evals/suite.json", "sha256": world.digest(".evals/suite.json")}
    manifest["artifacts"] += [{**note, "required": False}, {**note, "required": False}]
    world.write("bundle/manifest.json", json.dumps(manifest))
    result = world.read("bundle/result.json")
    world.change("bundle/result.json", artifact_refs=[*result["artifact_refs"], note, note])
    assert [problem.rpartition(": ")[2] for problem in _problems(world)] == [
        "note again, as in $.artifacts[6]; expected it once in artifacts",
        "note again, as in $.artifact_refs[5]; expected it once in artifact_refs",
    ]


def test_a_baseline_may_name_an_artifact_elsewhere_in_the_repository(world: Any) -> None:
    world.write("baselines/one.json", "{}")
    reference = {
        "type": "baseline-artifact",
        "path": "baselines/one.json",
        "sha256": world.digest("baselines/one.json"),
    }
    world.change("bundle/baseline-result.json", current_artifact_ref=reference)
    assert _problems(world) == []


def test_a_command_log_reference_must_be_that_of_the_run(world: Any) -> None:
    world.write("other.json", "{}")
    reference = {"type": "command-log", "path": "other.json", "sha256": world.digest("other.json")}
    world.change("bundle/baseline-result.json", current_artifact_ref=reference)
    (problem,) = _problems(world)
    assert problem.startswith(
        f"{RUN}/baseline-result.json: $.current_artifact_ref.path: other.json; expected "
    )


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"status": "failed"}, "$.status: failed; expected passed"),
        ({"status": "blocked"}, "$.status: blocked; expected passed"),
        ({"deterministic_verdict": "blocked"}, "$.deterministic_verdict: blocked; expected pass"),
    ],
)
def test_a_verdict_that_does_not_follow_from_the_scorers_is_refused(
    world: Any, members: dict[str, str], said: str
) -> None:
    world.change("bundle/result.json", **members)
    assert any(said in problem for problem in _problems(world))


def test_a_passing_scorer_with_a_failed_assertion_is_a_contradiction(world: Any) -> None:
    scorers = world.read("bundle/scorer-results.json")
    assertion = scorers["results"][0]["assertions"][0]
    assertion["status"] = "fail"
    world.write("bundle/scorer-results.json", json.dumps(scorers))
    world.change("bundle/result.json", failed_assertions=[assertion])
    assert any(
        problem.startswith(f"{RUN}/scorer-results.json: $.results[0].status: pass, while")
        for problem in _problems(world)
    )


MALFORMED: list[Any] = [None, 7, "text", [], {}, {"artifacts": 7}, {"artifacts": [7, {"type": 7}, {}]}]


@pytest.mark.parametrize("document", MALFORMED)
def test_members_of_the_wrong_type_are_left_to_the_schema(document: Any, tmp_path: Path) -> None:
    run = agreement.Pointers({"run_id": 7}, "runs")
    assert agreement.entries(document, "artifacts") == [
        (f"$.artifacts[{index}]", item)
        for index, item in enumerate(document["artifacts"] if document == MALFORMED[6] else ())
        if isinstance(item, dict)
    ]
    whole = document if isinstance(document, dict) else {}
    files = BundleFiles(str(tmp_path))
    assert agreement.identity_problems(whole, {}, ("run_id",)) == []
    assert agreement.result_pointer_problems(whole, run) == []
    assert agreement.pointer_problems(whole, "runs") == []
    assert agreement.baseline_problems(whole, run, files) == []
    assert agreement.baseline_problems({"current_artifact_ref": whole}, run, files) == []
    assert len(agreement.manifest_problems(whole, run)) == 6
    assert len(agreement.reference_problems(whole, document, run)) == 5
    assert agreement.verdict_problems({"status": 7, "failed_assertions": 7}, document) == []


def test_a_long_value_is_cut_in_a_problem() -> None:
    problem = agreement.run_id_problem("/" * 5000)
    assert problem is not None
    assert len(problem) < 300


def test_an_artifact_of_another_type_than_the_pointers_needs_no_pointer() -> None:
    run = agreement.Pointers({}, "runs")
    assert run.problem("$.x", "anything", "report_path") == []


def _entry(world: Any, name: str, key: str, kind: str, **members: Any) -> None:
    document = world.read(name)
    document[key] = [
        {**entry, **members} if entry["type"] == kind else entry
        for entry in document[key]
        if members or entry["type"] != kind
    ]
    world.write(name, json.dumps(document))


@pytest.mark.parametrize(
    ("name", "key", "members", "said"),
    [
        ("manifest", "artifacts", {}, "$.artifacts: no entry of type report; expected exactly one"),
        ("manifest", "artifacts", {"required": False}, "$.artifacts[1].required: false; expected true"),
        ("result", "artifact_refs", {}, "$.artifact_refs: no entry of type report; expected exactly one"),
        ("result", "artifact_refs", {"sha256": "0" * 64}, "$.artifact_refs[0].sha256: 000"),
        ("result", "artifact_refs", {"path": "other.md"}, "$.artifact_refs[0].path: other.md; expected "),
    ],
)
def test_an_entry_that_is_missing_or_wrong_is_named(
    world: Any, name: str, key: str, members: dict[str, Any], said: str
) -> None:
    _entry(world, f"bundle/{name}.json", key, "report", **members)
    problems = [problem for problem in _problems(world) if "its bytes have" not in problem]
    assert len(problems) == 1
    assert problems[0].startswith(f"{RUN}/{name}.json: {said}")


def test_a_baseline_reference_of_another_type_is_refused(world: Any) -> None:
    reference = world.read("bundle/baseline-result.json")["current_artifact_ref"]
    world.change("bundle/baseline-result.json", current_artifact_ref={**reference, "type": "report"})
    (problem,) = _problems(world)
    assert problem.endswith("$.current_artifact_ref.type: report; expected command-log or baseline-artifact")


def test_failed_assertions_that_no_scorer_reported_are_refused(world: Any) -> None:
    scorers = world.read("bundle/scorer-results.json")
    assertion = {**scorers["results"][0]["assertions"][0], "status": "fail"}
    world.change("bundle/result.json", failed_assertions=[assertion])
    (problem,) = _problems(world)
    assert "$.failed_assertions: not the failed assertions of the scorer results" in problem
