"""The scripts that make and use the environment, tried in a small checkout with stand-ins for Python."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stands in for Python by a shell script")

STAND_IN = '#!/bin/sh\necho "$(basename "$0") $(basename "$1") [${PYTHONPATH-unset}] $2 $3"\n'
SETUP = "import sys\nprint('built', sys.argv[2], file=sys.stderr)\nraise SystemExit(%d)\n"


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Path:
    """A checkout with an environment whose Python says how it was called, and a build that only says so."""
    root = tmp_path / "a checkout"
    (root / "scripts/house").mkdir(parents=True)
    for name in ("evals", "house/environment.sh"):
        shutil.copy(repository / "scripts" / name, root / "scripts" / name)
    (root / "scripts/house/environment.py").write_text(SETUP % 0)
    (root / "pyproject.toml").write_text("version 1\n")
    (root / "requirements").mkdir()
    (root / "requirements/runtime.txt").write_text("pins 1\n")
    (root / ".venv/bin").mkdir(parents=True)
    python = root / ".venv/bin/python"
    python.write_text(STAND_IN)
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    stamp = root / ".venv/evals-setup"
    stamp.mkdir()
    shutil.copy(root / "pyproject.toml", stamp)
    shutil.copy(root / "requirements/runtime.txt", stamp)
    (stamp / "wanted").write_text("\n")
    return root


def run(script: Path | str, *arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"EVALS_PYTHON", "PYTHON"}}
    return subprocess.run(
        [str(script), *arguments],
        cwd=cwd,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_environment_that_fits_is_used_without_a_word(checkout: Path) -> None:
    done = run(checkout / "scripts/evals", "run", "x y", cwd=checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "python evals [unset] run x y\n", "")


RECORDER = '#!/bin/sh\necho "${0##*/}" >> "$RECORD"\nexec "/usr/bin/${0##*/}" "$@"\n'


@pytest.mark.skipif(
    not os.path.exists("/usr/bin/cmp"), reason="records programs by wrapping those in /usr/bin"
)
def test_an_environment_that_fits_costs_two_comparisons_and_one_python(
    checkout: Path, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in (
        "cmp",
        "readlink",
        "dirname",
        "basename",
        "python3",
        "python",
        "python3.12",
        "git",
        "sed",
        "env",
    ):
        (programs / name).write_text(RECORDER)
        (programs / name).chmod(0o755)
    python = checkout / ".venv/bin/python"
    python.write_text('#!/bin/sh\necho "the environment\'s python" >> "$RECORD"\n')
    record = tmp_path / "record"
    done = run(checkout / "scripts/evals", "state", cwd=checkout, PATH=str(programs), RECORD=str(record))
    assert (done.returncode, done.stderr) == (0, "")
    assert record.read_text().splitlines() == ["cmp", "cmp", "the environment's python"]


def test_it_works_from_any_folder_and_through_links(checkout: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "first").symlink_to(checkout / "scripts/evals")
    (elsewhere / "second").symlink_to("first")
    (elsewhere / "folder").symlink_to(checkout / "scripts")
    for way in ("./second", "folder/evals"):
        assert run(way, "state", cwd=elsewhere).stdout == "python evals [unset] state \n"


def test_modules_named_by_the_environment_are_not_imported(checkout: Path) -> None:
    done = run(checkout / "scripts/evals", "state", cwd=checkout, PYTHONPATH="/hostile")
    assert done.stdout == "python evals [unset] state \n"


@pytest.mark.parametrize("changed", ["pyproject.toml", "requirements/runtime.txt"])
def test_a_change_of_what_it_is_made_from_makes_it_again(checkout: Path, changed: str) -> None:
    (checkout / changed).write_text("version 2\n")
    done = run(checkout / "scripts/evals", "state", cwd=checkout)
    assert done.stderr == "built runtime\n"
    assert done.returncode == 0


def test_a_python_that_has_gone_makes_it_again(checkout: Path) -> None:
    (checkout / ".venv/bin/python").unlink()
    assert "built runtime" in run(checkout / "scripts/evals", "state", cwd=checkout).stderr


def test_another_python_that_is_asked_for_makes_it_again(checkout: Path) -> None:
    done = run(checkout / "scripts/evals", "state", cwd=checkout, EVALS_PYTHON=sys.executable)
    assert done.stderr == "built runtime\n"


def test_the_python_it_was_made_for_is_kept(checkout: Path) -> None:
    (checkout / ".venv/evals-setup/wanted").write_text(f"{sys.executable}\n")
    assert run(checkout / "scripts/evals", "state", cwd=checkout, PYTHON=sys.executable).stderr == ""
    assert run(checkout / "scripts/evals", "state", cwd=checkout).stderr == ""


def test_a_python_that_does_not_run_is_named(checkout: Path) -> None:
    done = run(checkout / "scripts/evals", "state", cwd=checkout, EVALS_PYTHON="/no/such/python")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("evals: /no/such/python (EVALS_PYTHON or PYTHON) is not a Python")


def test_a_build_that_fails_stops_the_command(checkout: Path) -> None:
    (checkout / "scripts/house/environment.py").write_text(SETUP % 1)
    (checkout / "pyproject.toml").write_text("version 2\n")
    done = run(checkout / "scripts/evals", "state", cwd=checkout)
    assert done.returncode == 1
    assert done.stdout == ""
