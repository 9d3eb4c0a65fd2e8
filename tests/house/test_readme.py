"""What the README tells a Python programmer to type works, and whoever types it elsewhere is told why not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def _python(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=kept, capture_output=True, text=True, check=False, timeout=60
    )


def test_the_python_block_of_the_readme_runs_as_it_stands(repository: Path, tmp_path: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    done = _python("-c", blocks[0], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "run-42/journal.ndjson").read_bytes().count(b"\n") == 2


@pytest.fixture
def bare(repository: Path, tmp_path: Path) -> Path:
    """A folder that holds the source folder of the package alone, as a checkout's root does for Python."""
    shutil.copytree(
        repository / "evals_cli", tmp_path / "evals_cli", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


@pytest.mark.parametrize("name", ["capsule", "EvalsError"])
def test_a_python_that_finds_the_source_folder_only_says_what_to_use(bare: Path, name: str) -> None:
    done = _python("-S", "-c", f"from evals_cli import {name}", cwd=bare)
    assert done.returncode == 1
    assert "use the checkout's own .venv/bin/python (scripts/setup" in done.stderr.splitlines()[-1]
    assert done.stderr.endswith("or install the package: pip install .\n")


@pytest.mark.parametrize("words", [["state"], ["capsule", "verify", "x"], ["nope"]], ids=" ".join)
def test_the_command_line_of_the_bare_source_folder_says_it_in_one_line(bare: Path, words: list[str]) -> None:
    done = _python("-S", "-m", "evals_cli", *words, cwd=bare)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("evals: this evals_cli is the bare source folder of a checkout; ")
    assert done.stderr.count("\n") == 1
