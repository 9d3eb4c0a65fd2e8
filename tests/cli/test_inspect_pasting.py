"""Every recommended command line can be pasted: a shell runs it, and it does what it is recommended for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CASE = "fixtures/smoke/pr-closeout.case.json"
SUITE = {
    "schema_version": 1,
    "suite_id": "pasted",
    "owner_repo": "pasted",
    "domain": "closeout",
    "purpose": "Commands can be pasted.",
    "cases": ["cases/a.case.json"],
    "scorers": ["exit-code"],
    "baseline": None,
    "artifact_policy": {"write_bundle": True, "retain_locally": True, "allow_network": False},
}
NAMES = ["plain", 'it\'s a "$(touch marker)"; `touch marker`', "--smoke", "-", "new\nline\x1b[31m", "ünï ☃"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell that knows $'...'")


class Shell:
    """A shell in one folder, with `evals` on its path and nothing of the tests' environment besides."""

    def __init__(self, script: str, folder: Path) -> None:
        self.folder = folder
        self._environment = {
            "PATH": f"{Path(script).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Paste one command line."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def document(self, command: str, code: int) -> Any:
        """The document that a pasted command line prints."""
        done = self.run(command)
        assert (done.returncode, done.stderr) == (code, ""), command
        return json.loads(done.stdout)


@pytest.fixture
def shell(script: str, tmp_path: Path) -> Shell:
    (tmp_path / "here").mkdir()
    return Shell(script, tmp_path / "here")


def _consumer(shell: Shell, repository: Path, name: str) -> Path:
    root = shell.folder / name
    (root / ".evals/cases").mkdir(parents=True)
    (root / ".evals/cases/a.case.json").write_bytes((repository / CASE).read_bytes())
    (root / ".evals/suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
    return root


def _named(shell: Shell, command: str, name: str) -> str:
    from evals_cli.core.next_commands import quoted

    return f"evals {command} --repo-root {quoted(name)} --json"


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_what_is_recommended_for_a_named_root_leads_to_a_ready_state(
    shell: Shell, repository: Path, name: str
) -> None:
    _consumer(shell, repository, name)
    missing = shell.document(_named(shell, "state", name), 0)
    assert missing["status"] == "missing"
    rerun, check = missing["recommended_commands"]
    assert shell.document(rerun, 0)["verdict"] == "pass"
    found = shell.document(check, 1)
    assert found["recovery_command"] is None
    for following in found["authority_classification"]["recovery_guidance"]["commands"]:
        assert shell.run(following).returncode in (0, 1), following
    ready = shell.document(_named(shell, "state", name), 0)
    assert ready["status"] == "ready"
    for command in ready["recommended_commands"]:
        shell.document(command, 1)
    assert not list(shell.folder.rglob("marker"))


def test_what_is_recommended_for_damage_repairs_it(shell: Shell, repository: Path) -> None:
    root = _consumer(shell, repository, "a b")
    run = shell.document("cd 'a b' && evals run .evals/suite.json --json", 0)["case_results"][0]
    (root / run["report_path"]).write_text("other", encoding="utf-8")
    stale = shell.document("evals state --repo-root 'a b' --json", 0)
    assert stale["status"] == "stale"
    check, rerun, state = stale["recommended_commands"]
    assert shell.document(check, 1)["recovery_command"] == rerun
    for command in stale["authority_classification"]["recovery_guidance"]["commands"]:
        shell.document(command, 1)
    shell.document(rerun, 0)
    assert shell.document(state, 0)["status"] == "ready"


def test_without_a_suite_the_case_is_repeated_under_its_awkward_name(shell: Shell, repository: Path) -> None:
    root = shell.folder / "root"
    (root / ".git").mkdir(parents=True)
    name = "it's; $(touch marker).case.json"
    (root / name).write_bytes((repository / CASE).read_bytes())
    assert shell.document("cd root && evals run ./it*.case.json --json", 0)["verdict"] == "pass"
    next(root.glob(".harness/evals/runs/*/report.md")).write_text("other", encoding="utf-8")
    recovery = shell.document("evals check --repo-root root --json", 1)["recovery_command"]
    assert shell.document(recovery, 0)["verdict"] == "pass"
    assert shell.document("evals state --repo-root root --json", 0)["status"] == "ready"
    assert not list(shell.folder.rglob("marker"))


def test_where_nothing_is_there_the_first_step_prints_a_schema(shell: Shell) -> None:
    (shell.folder / ".git").mkdir()
    first, check = shell.document("evals state --json", 0)["recommended_commands"]
    assert shell.document(first, 0)["title"]
    assert shell.document(check, 1)["recovery_command"] == first


@pytest.mark.parametrize("command", ["validate-contracts", "validate-promotions", "validate-improvements"])
def test_what_a_validator_recommends_can_be_pasted(shell: Shell, command: str) -> None:
    (shell.folder / "a b/contracts/docs").mkdir(parents=True)
    (shell.folder / "a b/contracts/docs/x.json").write_text("{}", encoding="utf-8")
    recovery = shell.document(f"evals {command} --repo-root 'a b' --json", 1)["recovery"]
    done = shell.run(recovery)
    schema = recovery.startswith("evals schema ")
    assert (done.returncode, done.stdout[:1]) == ((0, "{") if schema else (1, "F")), recovery


def test_what_a_failed_validation_recommends_can_be_pasted(shell: Shell) -> None:
    (shell.folder / ".git").mkdir()
    (shell.folder / "it's a.json").write_text("{}", encoding="utf-8")
    for command in ("validate", "validate-schema score-vector"):
        document = shell.document(f"evals {command} it*.json --json", 1)
        again = document["recovery"].partition(", then ")[2]
        done = shell.run(again)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (1, f"next: {again}")
