"""What the repository promises about itself: evidence stays byte for byte, the scripts run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

EVIDENCE = (
    ".harness/evals/runs/x/report.md",
    ".harness/evals/runs/x/trace-events.jsonl",
    "anywhere/capsule.json",
    "anywhere/journal.ndjson",
    "fixtures/example/run.js",
    "tests/vectors/data/canonical.json",
)
SCRIPTS = (".ci/run", "scripts/check-docs", "scripts/evals", "scripts/lock", "scripts/setup", "scripts/test")


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("path", EVIDENCE)
def test_git_never_changes_a_byte_of_evidence(repository: Path, path: str) -> None:
    assert git(repository, "check-attr", "text", "--", path).endswith("text: unset\n")


def test_scripts_keep_line_feeds_on_every_system(repository: Path) -> None:
    for script in SCRIPTS:
        assert git(repository, "check-attr", "eol", "--", script).endswith("eol: lf\n"), script


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_may_be_run_and_says_what_it_does(repository: Path, script: str) -> None:
    assert os.access(repository / script, os.X_OK)
    first, second = (repository / script).read_text(encoding="utf-8").splitlines()[:2]
    assert first == "#!/bin/sh"
    assert second.startswith("# ")


def test_the_version_is_the_same_everywhere(repository: Path) -> None:
    stated = re.search(
        r'^version = "([^"]+)"$', (repository / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    from evals_cli.version import VERSION

    assert stated
    assert stated[1] == VERSION


def test_the_licence_is_the_whole_of_apache_2(repository: Path) -> None:
    text = (repository / "LICENSE.md").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_every_package_folder_is_installed_and_linked(repository: Path) -> None:
    text = (repository / "pyproject.toml").read_text(encoding="utf-8")
    mapped = dict(re.findall(r'^"(evals_cli[.\w]*)" = "(\w+)"$', text, re.MULTILINE))
    listed = re.findall(
        r'^    "(evals_cli[.\w]*)",$', text.split("[tool.setuptools.package-dir]")[0], re.MULTILINE
    )
    assert sorted(mapped) == sorted(listed)
    assert all((repository / folder / "__init__.py").is_file() for folder in mapped.values())
