"""A run leaves a complete bundle that names no machine, and only a finished one becomes the latest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.bundle_layout import ARTIFACTS, pointers
from evals_cli.core.canonical import sha256_hex
from evals_cli.core.documents import Documents
from evals_cli.core.errors import RequirementError
from evals_cli.core.run import execute, plan_run
from evals_cli.core.trace import trace_problems
from evals_cli.schemas.validator import problems

if TYPE_CHECKING:
    from .conftest import Consumer

PREFIX = ".harness/evals/runs"
NAMES = [
    "baseline-result.json",
    "command-log.json",
    "latest-candidate.json",
    "manifest.json",
    "report.md",
    "result.json",
    "scorer-results.json",
    "trace-events.jsonl",
]


def _one(consumer: Consumer, **options: Any) -> dict[str, Any]:
    document = consumer.run(**options).document
    (result,) = document["case_results"]
    found: dict[str, Any] = result
    return found


def test_a_run_is_named_by_its_time_its_case_and_the_digest_of_the_raw_text(consumer: Consumer) -> None:
    raw = (consumer.root / ".evals/cases/closeout.case.json").read_bytes()
    assert _one(consumer)["run_id"] == f"20260131T090000Z-closeout-{sha256_hex(raw)[:8]}"


def test_a_bundle_holds_eight_files_that_fit_their_schemas(consumer: Consumer) -> None:
    result = _one(consumer)
    folder = consumer.root / result["artifact_root"]
    assert sorted(each.name for each in folder.iterdir()) == NAMES
    for name, schema in (
        ("result.json", "eval-result"),
        ("manifest.json", "artifact-manifest"),
        ("scorer-results.json", "scorer-result"),
        ("baseline-result.json", "baseline-result"),
        ("latest-candidate.json", "latest-run"),
    ):
        assert problems(schema, json.loads((folder / name).read_text(encoding="utf-8"))) == []
    trace = (folder / "trace-events.jsonl").read_bytes()
    assert trace_problems(trace, run_id=result["run_id"], case_id="closeout", problems=problems) == []


def test_the_manifest_lists_every_artifact_with_the_digest_on_disk(consumer: Consumer) -> None:
    result = _one(consumer)
    manifest = consumer.read(result["manifest_path"])
    assert [entry["type"] for entry in manifest["artifacts"]] == [each.type for each in ARTIFACTS]
    for entry in manifest["artifacts"]:
        assert entry["required"] is True
        assert entry["sha256"] == sha256_hex((consumer.root / entry["path"]).read_bytes())
    refs = consumer.read(result["result_path"])["artifact_refs"]
    assert refs == [
        {key: entry[key] for key in ("type", "path", "sha256")} for entry in manifest["artifacts"][1:]
    ]


def test_latest_is_the_candidate_and_names_every_artifact(consumer: Consumer) -> None:
    result = _one(consumer)
    latest = consumer.latest()
    folder = consumer.root / result["artifact_root"]
    assert (folder / "latest-candidate.json").read_bytes() == (
        consumer.root / PREFIX / "latest.json"
    ).read_bytes()
    assert {key: latest[key] for key in pointers(PREFIX, result["run_id"])} == pointers(
        PREFIX, result["run_id"]
    )
    assert latest["producer"] == {
        "package_name": "evals-cli",
        "package_version": "9.9.9",
        "command": "evals run .evals/suite.json --json",
        "generated_at": "2026-01-31T09:00:00.000Z",
        "evaluated_repo_root": ".",
        "artifact_root_prefix": PREFIX,
        "case_path": ".evals/cases/closeout.case.json",
        "case_sha256": sha256_hex((consumer.root / ".evals/cases/closeout.case.json").read_bytes()),
        "suite_path": ".evals/suite.json",
        "suite_sha256": sha256_hex((consumer.root / ".evals/suite.json").read_bytes()),
    }


def test_no_artifact_names_a_path_of_this_machine(consumer: Consumer) -> None:
    result = _one(consumer, cwd=consumer.root / ".evals", word=str(consumer.root / ".evals/suite.json"))
    for file in (consumer.root / result["artifact_root"]).iterdir():
        assert str(consumer.root) not in file.read_text(encoding="utf-8")


def test_the_command_log_says_that_nothing_was_executed(consumer: Consumer) -> None:
    log = consumer.read(_one(consumer)["command_log_path"])
    assert list(log) == [
        "command",
        "input_command",
        "execution_mode",
        "output_format",
        "started_at",
        "finished_at",
        "duration_ms",
        "exit_code",
        "stdout",
        "stderr",
        "failure_class",
    ]
    assert (log["execution_mode"], log["output_format"], log["exit_code"]) == ("synthetic", "json", 0)
    assert (log["duration_ms"], log["stderr"], log["failure_class"]) == (1000, "", None)
    stdout = json.loads(log["stdout"])
    assert list(stdout) == ["case_id", "suite_id", "execution_mode", "artifact_root", "logs"]
    assert len(stdout["logs"]) == 3


def test_in_text_the_output_is_three_lines(consumer: Consumer) -> None:
    log = consumer.read(_one(consumer, as_json=False)["command_log_path"])
    assert log["output_format"] == "text"
    assert log["command"] == "evals run .evals/suite.json"
    lines = log["stdout"].split("\n")
    assert len(lines) == 3
    assert "closeout" in lines[0]
    assert "artifact bundle" in lines[0]
    assert "deterministic scorers" in lines[1]
    assert lines[2] == (
        "baseline missing: presence_status=missing comparison_status=not_compared "
        "promotion_status=not_requested"
    )


def test_a_clock_that_is_set_back_gives_no_negative_duration(consumer: Consumer) -> None:
    times = iter(["2026-01-31T09:00:05.000Z", *["2026-01-31T09:00:00.000Z"] * 9])
    assert consumer.read(_one(consumer, clock=lambda: next(times))["command_log_path"])["duration_ms"] == 0


def test_a_case_that_fails_still_leaves_its_bundle_and_becomes_the_latest(consumer: Consumer) -> None:
    consumer.write(
        ".evals/cases/closeout.case.json",
        consumer.changed(expected={**consumer.case["expected"], "exit_code": 7}),
    )
    outcome = consumer.run()
    (result,) = outcome.document["case_results"]
    assert not outcome.passed
    assert (outcome.document["status"], outcome.document["verdict"]) == ("failed", "fail")
    assert (result["status"], result["verdict"]) == ("failed", "fail")
    written = consumer.read(result["result_path"])
    (failed,) = written["failed_assertions"]
    assert (written["status"], failed["actual"], failed["expected"]) == ("failed", "0", "7")
    assert outcome.failures == [
        f"{result['scorer_results_path']}: $.results[0]: exit-code failed: exit code 0, expected 7"
    ]
    assert consumer.latest()["run_id"] == result["run_id"]


def test_output_has_its_fields_in_order_and_fits_its_schema(consumer: Consumer) -> None:
    document = consumer.run().document
    assert problems("suite-run-output", document) == []
    assert list(document) == [
        "status",
        "verdict",
        "suite_id",
        "owner_repo",
        "domain",
        "evaluated_repo_root",
        "artifact_root_prefix",
        "case_results",
    ]
    assert list(document["case_results"][0]) == [
        "verdict",
        "status",
        "run_id",
        "case_id",
        "suite_id",
        "execution_mode",
        "artifact_root",
        "manifest_path",
        "result_path",
        "report_path",
        "command_log_path",
        "baseline_path",
        "baseline_result_path",
        "scorer_results_path",
        "trace_events_path",
    ]


def test_a_case_alone_runs_from_the_project_root(consumer: Consumer) -> None:
    consumer.write("x y/it's.case.json", consumer.case)
    outcome = consumer.run("it's.case.json", cwd=consumer.root / "x y")
    assert outcome.passed
    assert problems("run-output", outcome.document) == []
    producer = consumer.latest()["producer"]
    assert producer["command"] == """evals run 'x y/it'"'"'s.case.json' --json"""
    assert (producer["case_path"], producer["suite_path"]) == ("x y/it's.case.json", None)


def test_the_baseline_of_a_case_alone_is_relative_to_the_project(consumer: Consumer) -> None:
    case = consumer.changed(baseline={"expected_presence": "present", "artifact_path": "base.json"})
    consumer.write(".evals/cases/closeout.case.json", case)
    consumer.write("base.json", "{}")
    document = consumer.run(".evals/cases/closeout.case.json").document
    assert document["verdict"] == "pass"
    assert consumer.read(document["baseline_path"])["current_artifact_ref"]["path"] == "base.json"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("-x.json", "evals run ./-x.json"),
        ("--json", "evals run ./--json"),
        ("a\\b.case.json", r"evals run 'a\b.case.json'"),
        ("a\x1b[2J\n\u202e.json", r"evals run $'a\u001b[2J\u000a\u202e.json'"),
    ],
)
def test_the_recorded_command_can_be_pasted_whatever_the_name(
    consumer: Consumer, name: str, command: str
) -> None:
    consumer.write(name, consumer.case)
    consumer.run(name if name[0] != "-" else f"./{name}", as_json=False)
    assert consumer.latest()["producer"]["command"] == command


def test_all_cases_run_in_order_whatever_one_gives(consumer: Consumer) -> None:
    for number in range(3):
        expected = {**consumer.case["expected"], "exit_code": number % 2}
        consumer.write(
            f".evals/cases/{number}.json", consumer.changed(case_id=f"c{number}", expected=expected)
        )
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": [f"cases/{n}.json" for n in range(3)]})
    advanced: list[int] = []
    outcome = consumer.run(advance=lambda: advanced.append(1))
    results = outcome.document["case_results"]
    assert [(each["case_id"], each["verdict"]) for each in results] == [
        ("c0", "pass"),
        ("c1", "fail"),
        ("c2", "pass"),
    ]
    assert len(advanced) == 3
    assert consumer.latest()["run_id"] == results[2]["run_id"]


def test_one_invalid_case_keeps_a_suite_from_writing_anything(consumer: Consumer) -> None:
    consumer.write(".evals/cases/bad.json", consumer.changed(case_id="Bad"))
    consumer.write(".evals/cases/worse.json", "{")
    cases = ["cases/closeout.case.json", "cases/bad.json", "cases/worse.json"]
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": cases})
    with pytest.raises(RequirementError) as caught:
        consumer.run()
    assert caught.value.requirement == "case validation"
    assert [line.split(":")[0] for line in caught.value.problems] == [
        ".evals/cases/bad.json",
        ".evals/cases/worse.json",
    ]
    assert not (consumer.root / ".harness").exists()


def test_a_suite_of_invalid_cases_stops_at_a_hundred(consumer: Consumer) -> None:
    for number in range(150):
        consumer.write(f".evals/c/{number}.json", "{")
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": [f"c/{n}.json" for n in range(150)]})
    with pytest.raises(RequirementError) as caught:
        consumer.plan()
    assert len(caught.value.problems) == 100


def test_a_case_that_changes_after_it_was_validated_is_refused(consumer: Consumer) -> None:
    for name in ("a", "b"):
        consumer.write(f".evals/{name}.json", consumer.changed(case_id=name))
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": ["a.json", "b.json"]})
    with pytest.raises(RequirementError) as caught:
        consumer.run(
            advance=lambda: consumer.write(".evals/b.json", consumer.changed(case_id="other")) and None
        )
    assert caught.value.requirement == "case read"
    assert len(consumer.run_folders()) == 1


def test_a_case_is_validated_once(consumer: Consumer) -> None:
    asked: list[str] = []
    known = documents()

    def counted(name: str, document: object) -> list[str]:
        asked.append(name)
        return known.problems(name, document)

    counting = Documents(parse=known.parse, problems=counted)
    plan = plan_run(".evals/suite.json", cwd=str(consumer.root), documents=counting)
    execute(plan, documents=counting, version="9", as_json=True)
    assert asked.count("eval-case") == 1


def test_runs_in_one_second_get_numbered_names(consumer: Consumer) -> None:
    names = [_one(consumer, clock=lambda: "2026-01-31T09:00:00.000Z")["run_id"] for _ in range(3)]
    assert names == [names[0], f"{names[0]}-01", f"{names[0]}-02"]
    assert consumer.latest()["run_id"] == names[2]


def test_an_identifier_of_two_hundred_letters_runs(consumer: Consumer) -> None:
    consumer.write(".evals/cases/closeout.case.json", consumer.changed(case_id="a" * 200))
    assert consumer.run().passed


def test_an_identifier_that_no_folder_can_have_is_refused_before_the_start(consumer: Consumer) -> None:
    consumer.write(".evals/cases/closeout.case.json", consumer.changed(case_id="a" * 300))
    with pytest.raises(RequirementError) as caught:
        consumer.run()
    assert caught.value.requirement == "run directory"
    assert consumer.run_folders() == []


def test_eight_runs_at_once_leave_eight_bundles_and_a_whole_latest(consumer: Consumer) -> None:
    command = [sys.executable, "-m", "evals_cli", "run", ".evals/suite.json", "--json"]
    processes = [subprocess.Popen(command, cwd=consumer.root, stdout=subprocess.DEVNULL) for _ in range(8)]
    latest = consumer.root / PREFIX / "latest.json"
    while any(process.poll() is None for process in processes):
        if latest.exists():
            assert problems("latest-run", json.loads(latest.read_bytes())) == []
    assert [process.returncode for process in processes] == [0] * 8
    folders = consumer.run_folders()
    assert len(folders) == 8
    assert all(sorted(each.name for each in folder.iterdir()) == NAMES for folder in folders)
    assert consumer.latest()["run_id"] in {folder.name for folder in folders}


def test_a_latest_that_is_a_link_is_replaced_and_its_target_left_alone(
    consumer: Consumer, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("mine", encoding="utf-8")
    (consumer.root / PREFIX).mkdir(parents=True)
    (consumer.root / PREFIX / "latest.json").symlink_to(outside)
    _one(consumer)
    assert outside.read_text(encoding="utf-8") == "mine"
    assert not (consumer.root / PREFIX / "latest.json").is_symlink()


def test_an_artifact_folder_that_leads_out_is_refused(consumer: Consumer, tmp_path: Path) -> None:
    outside = tmp_path / "repo-evil"
    outside.mkdir()
    (consumer.root / ".harness").symlink_to(outside)
    with pytest.raises(RequirementError) as caught:
        consumer.run()
    assert (caught.value.requirement, list(outside.iterdir())) == ("run directory", [])
