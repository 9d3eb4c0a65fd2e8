"""`evals run`: the verdict first, the failures with their places, the next command, and one document."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.commands.run import run
from evals_cli.core.bundle_check import check_bundle
from evals_cli.core.bundle_files import BundleFiles
from evals_cli.main import main
from evals_cli.version import VERSION

CASE = "fixtures/smoke/pr-closeout.case.json"
SUITE = {
    "schema_version": 1,
    "suite_id": "mine",
    "owner_repo": "me",
    "domain": "d",
    "purpose": "p",
    "cases": ["a.case.json"],
    "scorers": ["exit-code"],
    "artifact_policy": {"write_bundle": True, "retain_locally": True, "allow_network": False},
}


@pytest.fixture
def world(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh repository with the smoke case, as the working directory."""
    monkeypatch.setenv("NO_COLOR", "1")
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "fixtures/smoke").mkdir(parents=True)
    (root / CASE).write_bytes((repository / CASE).read_bytes())
    monkeypatch.chdir(root)
    return root


def _suite(world: Path, **parts: Any) -> None:
    (world / ".evals").mkdir(exist_ok=True)
    (world / ".evals/a.case.json").write_bytes((world / CASE).read_bytes())
    (world / ".evals/suite.json").write_text(json.dumps({**SUITE, **parts}), encoding="utf-8")


def _failing(world: Path, path: str = CASE) -> None:
    case = json.loads((world / CASE).read_text(encoding="utf-8"))
    case["expected"]["required_output_contains"] = ["absent"]
    (world / path).write_text(json.dumps(case), encoding="utf-8")


def test_json_is_one_document_that_fits_its_schema(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", CASE, "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (err, documents().problems("run-output", document)) == ("", [])
    latest = json.loads((world / ".harness/evals/runs/latest.json").read_text(encoding="utf-8"))
    assert latest["run_id"] == document["run_id"]
    assert latest["producer"]["package_version"] == VERSION
    assert latest["producer"]["command"] == f"evals run {CASE} --json"


def test_people_read_the_verdict_first_and_the_next_command_last(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", CASE]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("PASS  case pr-closeout")
    assert lines[-1] == "next: evals state"
    assert any("report.md" in line for line in lines)
    assert err == ""


def test_a_failure_names_the_file_the_path_and_what_to_run_again(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _failing(world)
    assert main(["run", CASE]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("FAIL  case pr-closeout")
    assert "scorer-results.json: $.results[1]: required-output failed: 1 of 1 required fragments" in lines[1]
    assert lines[-1] == f"next: evals run {CASE}"


def test_a_suite_counts_its_cases(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _suite(world, cases=["a.case.json", "b.case.json"])
    _failing(world, ".evals/b.case.json")
    assert main(["run", ".evals/suite.json"]) == 1
    assert capsys.readouterr().out.startswith("FAIL  suite mine: 1 of 2 cases passed")
    assert main(["run", ".evals/suite.json", "--json"]) == 1
    assert documents().problems("suite-run-output", json.loads(capsys.readouterr().out)) == []


def test_a_suite_of_another_repository_is_looked_at_there(
    world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _suite(world)
    elsewhere = world.parent / "else where"
    (elsewhere / ".git").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    assert main(["run", "../repo/.evals/suite.json"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "next: evals state --repo-root ../repo"
    assert (world / ".harness/evals/runs/latest.json").exists()
    assert not (elsewhere / ".harness").exists()


def test_a_run_elsewhere_says_so_on_stderr(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _suite(world, artifact_policy={**SUITE["artifact_policy"], "artifact_root": "out"})  # type: ignore[dict-item]  # a dict of dicts
    assert main(["run", ".evals/suite.json", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["artifact_root_prefix"] == "out"
    assert '"artifact_roots": ["out"]' in err


def test_nothing_named_says_how_to_start(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run"]) == 2
    err = capsys.readouterr().err
    assert "there is no .evals/suite.json here yet" in err
    assert "docs/guide.md" in err
    _suite(world)
    assert main(["run"]) == 2
    assert "for example: evals run .evals/suite.json" in capsys.readouterr().err


def test_a_case_that_is_not_there_says_how_to_start(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "gone.json"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[0]) == ("", "evals: case.path: gone.json: there is no such case file")
    assert "docs/guide.md" in err


def test_a_refusal_with_json_is_a_document(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (world / "bad.json").write_text("{", encoding="utf-8")
    assert main(["run", "bad.json", "--json"]) == 1
    packet = json.loads(capsys.readouterr().out)
    assert (packet["status"], packet["requirement"]) == ("failed", "case parse")
    assert packet["errors"][0].startswith("bad.json: line 1")
    assert not (world / ".harness").exists()


def test_an_absolute_path_inside_the_project_is_fine(
    world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world / "fixtures")
    assert main(["run", str(world / CASE), "--json"]) == 0
    assert str(world) not in capsys.readouterr().out
    assert os.listdir(world / "fixtures") == ["smoke"]


class _Counting:
    """A terminal that counts; what it would print is dropped."""

    def __init__(self) -> None:
        self.totals: list[tuple[str, int]] = []
        self.advanced = 0
        self.printed = 0

    @contextlib.contextmanager
    def progress(self, label: str, total: int) -> Iterator[_Counting]:
        self.totals.append((label, total))
        yield self

    def advance(self) -> None:
        self.advanced += 1

    def _drop(self, _: object) -> None:
        self.printed += 1

    done = text = summary = note = _drop


@pytest.mark.parametrize("as_json", [True, False])
def test_progress_knows_how_many_cases_there_are_and_counts_each(world: Path, as_json: bool) -> None:
    _suite(world, cases=["a.case.json", "b.case.json", "c.case.json"])
    for name in ("b", "c"):
        (world / f".evals/{name}.case.json").write_bytes((world / CASE).read_bytes())
    terminal = _Counting()
    args = argparse.Namespace(target=".evals/suite.json", json=as_json)
    assert run(args, terminal) == 0  # type: ignore[arg-type]  # what the command uses of a terminal
    assert (terminal.totals, terminal.advanced) == ([("running cases", 3)], 3)


# A whole `evals run` that is killed, as by the system, once the file of this name is in its place.
_KILLED_AT = """
import os, signal, sys
from evals_cli.main import main
name, real = sys.argv[1], os.replace
def replace(source, target, **options):
    real(source, target, **options)
    if target == name:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
sys.exit(main(["run", ".evals/suite.json", "--json"]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system cannot kill a process outright")
@pytest.mark.parametrize(
    "name", ["command-log.json", "result.json", "manifest.json", "latest-candidate.json", "latest.json"]
)
def test_a_killed_run_leaves_a_latest_that_passes_the_check(world: Path, name: str) -> None:
    _suite(world)
    runs = world / ".harness/evals/runs"
    assert main(["run", ".evals/suite.json", "--json"]) == 0
    before = json.loads((runs / "latest.json").read_bytes())["run_id"]
    killed = subprocess.run([sys.executable, "-c", _KILLED_AT, name], check=False)
    assert killed.returncode == -signal.SIGKILL
    (other,) = {each.name for each in runs.iterdir() if each.is_dir()} - {before}
    assert (runs / (name if name == "latest.json" else f"{other}/{name}")).exists()
    latest = json.loads((runs / "latest.json").read_bytes())["run_id"]
    assert latest == (other if name == "latest.json" else before)
    assert _found(world) == []
    assert main(["run", ".evals/suite.json", "--json"]) == 0
    assert _found(world) == []


def _found(world: Path) -> list[str]:
    files = BundleFiles(str(world))
    return check_bundle(str(world), ".harness/evals/runs", files, documents(), home=False).problems
