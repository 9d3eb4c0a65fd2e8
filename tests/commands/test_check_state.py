"""`evals check` and `evals state`: exit codes, documents, and words for people."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from evals_cli.main import main

BASE = json.loads(
    (Path(__file__).parents[1] / "vectors" / "data" / "bundles.json").read_text(encoding="utf-8")
)["base"]
RUN = ".harness/evals/runs/20261130T175456Z-closeout-36c761f8"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def consumer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A consumer with one sound bundle, and the working directory beside it."""
    root = tmp_path / "consumer"
    for name, content in BASE.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(content))
    monkeypatch.chdir(tmp_path)
    return root


def _configure(consumer: Path, repository: Path) -> None:
    sample = sorted((repository / "fixtures/runtime-evidence").glob("*.case.json"))[0]
    (consumer / "evidence").mkdir()
    (consumer / "evidence/sample.case.json").write_bytes(sample.read_bytes())
    project = {
        "schema_version": 1,
        "manifest_version": "1",
        "project": {"project_id": "sample", "owner_repo": "example/sample"},
        "suite_roots": [".evals"],
        "authority": {"supported_modes": ["artifact_only"], "default_mode": "artifact_only"},
        "runtime_evidence_policy": {
            "required": True,
            "missing_status": "blocked",
            "evidence_paths": ["evidence"],
        },
        "privacy": {
            "privacy_class": "synthetic",
            "approval_status": "not_required",
            "scope": "everything",
            "data_classes": ["synthetic"],
        },
        "artifact_policy": {
            "artifact_roots": [".harness/evals/runs"],
            "allow_absolute_paths": False,
            "allow_parent_traversal": False,
        },
        "baseline_authority": {"owner": "target_project", "promotion_status": "not_configured"},
        "execution_policy": {"allow_target_execution": False, "black_box_execution_status": "blocked"},
        "unknown_field_policy": "reject",
    }
    (consumer / ".evals/project.json").write_text(json.dumps(project))


def _document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out, err = capsys.readouterr()
    assert err == ""
    value: dict[str, Any] = json.loads(out)
    return value


def test_a_check_that_passes_exits_0(
    consumer: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(consumer, repository)
    assert main(["check", "--repo-root", "consumer", "--json"]) == 0
    packet = _document(capsys)
    assert (packet["status"], packet["artifact_repo_root"]) == ("passed", "consumer")


def test_a_check_that_passes_tells_people_in_words(
    consumer: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(consumer, repository)
    assert main(["check", "--repo-root", "consumer"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("PASS  the latest bundle is complete, consistent and unchanged")
    assert "adoption          warning (next: suite_quality.steady_state_hypothesis)" in out
    assert "\nnext:" not in out
    assert err == ""


@pytest.fixture
def failed_run(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A repository with the sound bundle of a run that failed, as the working directory."""
    case = json.loads((repository / "fixtures/smoke/pr-closeout.case.json").read_text(encoding="utf-8"))
    case["expected"]["required_output_contains"] = ["words that no run prints"]
    root = tmp_path / "failing"
    (root / ".evals").mkdir(parents=True)
    (root / "c.json").write_text(json.dumps(case), encoding="utf-8")
    monkeypatch.chdir(root)
    assert main(["run", "c.json", "--json"]) == 1
    capsys.readouterr()
    _configure(root, repository)
    return root


def test_a_sound_bundle_of_a_run_that_failed_says_both(
    failed_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--json"]) == 0
    packet = _document(capsys)
    assert (packet["status"], packet["run_verdict"]) == ("passed", "fail")
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "PASS  the bundle is sound; its run failed"
    assert "  run verdict       fail" in lines
    assert main(["state", "--json"]) == 0
    packet = _document(capsys)
    readiness = packet["evidence_packet"]["readiness_verdict"]
    assert (packet["status"], readiness["status"]) == ("ready", "pass")
    assert readiness["reason"].endswith("; its run failed")
    assert main(["state"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "READY  the latest bundle is sound; its run failed"
    assert "  run verdict       fail" in lines


def test_a_broken_bundle_without_a_suite_is_run_again_from_its_case(
    failed_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for report in failed_run.glob(".harness/evals/runs/*/report.md"):
        report.write_text("other", encoding="utf-8")
    assert main(["check"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "next: evals run c.json"


def test_a_check_that_fails_exits_1_with_the_document(
    consumer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--repo-root=consumer", "--json"]) == 1
    assert _document(capsys)["status"] == "failed"


def test_damage_is_told_with_file_and_path_and_the_command_that_repairs_it(
    consumer: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(consumer, repository)
    with open(consumer / RUN / "report.md", "a", encoding="utf-8") as report:
        report.write("one more line\n")
    assert main(["check", "--repo-root", "consumer"]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "FAIL  1 of 13 checks failed: artifact digests"
    assert lines[1].startswith(f"  - {RUN}/manifest.json: $.artifacts[1]: {RUN}/report.md: its bytes have ")
    assert lines[-1] == "next: (cd consumer && evals run .evals/suite.json)"
    assert err == "evals: check.failed: 1 of 13 checks failed: artifact digests\n"


def test_a_consumer_without_a_manifest_is_shown_what_to_write(
    consumer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--repo-root", "consumer"]) == 1
    out, _ = capsys.readouterr()
    assert out.splitlines()[-1] == "next: evals schema external-project-manifest"
    assert "adoption          missing_input (next: .evals/project.json)" in out


def test_a_consumer_whose_evidence_fails_is_sent_to_its_state(
    consumer: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(consumer, repository)
    (consumer / "evidence/broken.case.json").write_text("{}")
    assert main(["check", "--repo-root", "consumer"]) == 1
    out, _ = capsys.readouterr()
    assert out.splitlines()[-1] == "next: evals state --repo-root consumer"


def test_the_root_around_the_working_directory_is_checked(
    consumer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(consumer / ".evals/cases")
    assert main(["state", "--json"]) == 0
    packet = _document(capsys)
    assert packet["status"] == "ready"
    assert packet["evidence_packet"]["repo"]["root"] == "."
    assert packet["recommended_commands"] == ["evals check --json"]


@pytest.mark.parametrize("command", ["check", "state"])
def test_a_root_that_is_none_is_refused(
    consumer: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--repo-root", "nowhere", "--json"]) == 1
    packet = _document(capsys)
    assert packet["requirement"] == "repo root option"
    assert main([command, "--repo-root", "nowhere"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("evals: repo.root_option: nowhere: there is no such folder; ")


@pytest.mark.parametrize("words", [["--smoke"], ["--smoke", "--repo-root", "consumer"]])
def test_the_smoke_check_is_refused_outside_home(
    consumer: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *words, "--json"]) == 1
    assert _document(capsys)["requirement"] == "check mode"


@pytest.mark.parametrize(
    ("damage", "first", "following"),
    [
        (
            lambda root: None,
            "READY  the latest bundle is complete, consistent and unchanged",
            "evals check --repo-root consumer",
        ),
        (
            lambda root: (root / ".harness/evals/runs/latest.json").unlink(),
            "MISSING  no run has finished here yet",
            "(cd consumer && evals run .evals/suite.json)",
        ),
        (
            lambda root: (root / RUN / "report.md").unlink(),
            "STALE  the latest bundle does not pass its check",
            "evals check --repo-root consumer",
        ),
        (
            lambda root: (root / ".harness/evals/runs/latest.json").write_text("{"),
            "INVALID  the evidence cannot be trusted as it stands",
            "evals check --repo-root consumer",
        ),
    ],
    ids=["ready", "missing", "stale", "invalid"],
)
def test_a_state_never_fails_and_tells_people_what_is_next(
    consumer: Path, damage: Any, first: str, following: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(consumer)
    assert main(["state", "--repo-root", "consumer"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == first
    assert out.splitlines()[-1] == f"next: {following}"
    assert err == ""


def test_a_blocker_is_told_with_its_code_before_its_problems(
    consumer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (consumer / RUN / "report.md").unlink()
    main(["state", "--repo-root", "consumer"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  - artifact_missing: An artifact that latest.json names is missing."
    assert (
        lines[2]
        == f"  - .harness/evals/runs/latest.json: $.report_path: {RUN}/report.md: there is no such file"
    )


def test_the_state_of_a_ready_consumer_with_evidence_has_no_problem_to_tell(
    consumer: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(consumer, repository)
    assert main(["state", "--repo-root", "consumer"]) == 0
    out = capsys.readouterr().out
    assert "  - " not in out
    assert "readiness         pass: " in out


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"status": "unavailable", "reason": "there is no git"}, "unavailable: there is no git"),
        ({"branch": "main", "commit": "c" * 40, "dirty": False}, f"main at {'c' * 12}, unchanged"),
        ({"branch": None, "commit": "c" * 40, "dirty": True}, f"detached at {'c' * 12}, changed"),
        (
            {"branch": "main", "commit": None, "dirty": None, "reason": "no time"},
            "main at no commit yet, unknown whether changed: no time",
        ),
    ],
)
def test_the_git_state_in_words(state: dict[str, Any], told: str) -> None:
    from evals_cli.commands.state import _git_text

    assert _git_text({"status": "available", **state}) == told


@pytest.fixture
def home(consumer: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of this project with one bundle that is not of the smoke case, and the place to work in."""
    for name in ("contracts", "fixtures"):
        shutil.copytree(repository / name, consumer / name)
    (consumer / "schemas").mkdir()
    monkeypatch.chdir(consumer)
    return consumer


def test_at_home_people_are_told_whether_it_is_the_smoke_case(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check"]) == 0
    assert "smoke case        no (case_id_mismatch)" in capsys.readouterr().out
    assert main(["check", "--smoke"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("FAIL  1 of ")
    assert out.splitlines()[-1] == "next: evals run fixtures/smoke/pr-closeout.case.json"


def test_at_home_the_smoke_case_itself_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = home / "fixtures/smoke/pr-closeout.case.json"
    case.write_text(json.dumps({"case_id": "closeout", "suite_id": "consumer-closeout"}))
    assert main(["check"]) == 0
    assert "smoke case        yes" in capsys.readouterr().out


def test_at_home_a_state_tells_no_adoption(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state"]) == 0
    assert "adoption" not in capsys.readouterr().out


def test_names_of_a_hostile_repository_reach_no_terminal_raw(
    consumer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = tmp_path / "evil\n\x1b[31mname"
    consumer.rename(hostile)
    os.makedirs(hostile / ".harness/evals/runs/a\nb")
    latest = hostile / ".harness/evals/runs/latest.json"
    document = json.loads(latest.read_text())
    document["report_path"] = "bad\n\x1b[2Jpath"
    latest.write_text(json.dumps(document))
    assert main(["check", "--repo-root", str(hostile)]) == 1
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "bad\\n\\x1b[2Jpath" in out
    assert main(["state", "--repo-root", str(hostile)]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert out.splitlines()[-1].startswith("next: evals check --repo-root $'")


def test_both_commands_are_quiet_about_a_repository_on_stderr(
    consumer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["state", "--repo-root", "consumer", "--json"])
    assert capsys.readouterr().err == ""
