"""validate-contracts, validate-promotions, validate-improvements: exit codes, documents, words for people."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.main import main

COMMANDS = ["validate-contracts", "validate-promotions", "validate-improvements"]
PACKETS = COMMANDS[1:]
SCHEMAS = {"validate-promotions": "case-promotion", "validate-improvements": "eval-improvement-packet"}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def world(repository: Path, tmp_path: Path) -> Path:
    """A copy of what the validators of this checkout look at."""
    for name in (".harness", "contracts", "fixtures"):
        shutil.copytree(repository / name, tmp_path / "root" / name)
    return tmp_path / "root"


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out, err = capsys.readouterr()
    assert err == ""
    value: dict[str, Any] = json.loads(out)
    return value


@pytest.mark.parametrize("command", COMMANDS)
def test_this_checkout_holds(command: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--repo-root", str(repository), "--json"]) == 0
    result = document(capsys)
    assert result["status"] == "passed"
    assert documents().problems(f"{command}-output", result) == []


@pytest.mark.parametrize("command", PACKETS)
def test_a_root_without_packets_fails_and_says_where_they_would_be(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--repo-root", str(tmp_path), "--json"]) == 1
    result = document(capsys)
    assert result["recovery"] == f"evals schema {SCHEMAS[command]}"
    assert "/<name>.json" in result["errors"][0]
    assert documents().problems(f"{command}-output", result) == []


def test_a_root_without_contracts_proves_the_installed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["validate-contracts"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("PASS")
    assert "installed" in out
    assert "output.strict-json-when-requested.v1" in out


def test_a_root_of_an_awkward_name_is_repeated_so_that_it_can_be_pasted(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world / "fixtures/contracts/bad/every-check-passed.md").write_text("Nothing ran.", encoding="utf-8")
    world.rename(tmp_path / "--a\x1bb")
    monkeypatch.chdir(tmp_path)
    assert main(["validate-contracts", "--repo-root=--a\x1bb", "--json"]) == 1
    assert document(capsys)["recovery"] == r"evals validate-contracts --repo-root $'./--a\u001bb'"


def test_people_see_the_verdict_the_reason_and_the_next_command(
    world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world / "fixtures/contracts/bad/every-check-passed.md").write_text("Nothing ran.", encoding="utf-8")
    monkeypatch.chdir(world / "fixtures")
    assert main(["validate-contracts"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("FAIL")
    assert "contracts/evidence/no-fake-ci-pass.v1.json: $.fixtures.bad[1]: " in out
    assert "evals validate-contracts" in out.splitlines()[-1]
    assert err == "evals: contract.validation: 1 of 3 contracts does not hold\n"


def test_a_broken_promotion_fails_both_packet_validators(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (packet,) = (world / ".harness/case-promotions").glob("*.json")
    packet.write_text("{}", encoding="utf-8")
    codes = []
    for command in PACKETS:
        assert main([command, "--repo-root", str(world)]) == 1
        codes.append(capsys.readouterr().err.split(": ")[1])
    assert codes == ["promotion.validation", "improvement.validation"]


def test_people_hear_that_there_is_nothing_to_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate-improvements", "--repo-root", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert ".harness/eval-improvements/<name>.json" in out
    assert err == "evals: improvement.validation: there is no eval improvement to judge\n"


def test_several_failures_are_counted(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (world / f".harness/case-promotions/{name}.json").write_text("{}", encoding="utf-8")
    assert main(["validate-promotions", "--repo-root", str(world)]) == 1
    assert "2 of 3 case promotions do not hold" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_root_that_is_none_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--repo-root", str(tmp_path / "gone"), "--json"]) == 1
    result = document(capsys)
    assert result["requirement"] == "repo root option"
    assert documents().problems(f"{command}-output", result) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_is_wrong_usage(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "name"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_validating_changes_nothing_in_the_root(command: str, world: Path) -> None:
    def tree() -> list[tuple[str, int]]:
        return sorted((str(file), file.lstat().st_mtime_ns) for file in world.rglob("*"))

    before = tree()
    main([command, "--repo-root", str(world), "--json"])
    assert tree() == before


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("validate-case-promotions", "validate-promotions"),
        ("validate-eval-improvements", "validate-improvements"),
    ],
)
def test_a_script_calls_its_command_with_every_argument(
    script: str, words: str, repository: Path, tmp_path: Path
) -> None:
    scripts = tmp_path / "with space" / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy(repository / "scripts" / script, scripts)
    (scripts / "evals").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 7\n', encoding="utf-8")
    os.chmod(scripts / "evals", 0o755)
    (tmp_path / "link").symlink_to(scripts / script)
    for program in (scripts / script, tmp_path / "link"):
        done = subprocess.run(
            [str(program), "--json", "--repo-root", "a b"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (7, f"{words}\n--json\n--repo-root\na b\n")
