"""The command lines that `evals example` shows print what it says, typed in the folder that it keeps."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")

# Words in outcomes that are the story's own; every other word must be in what the commands print.
_OWN_WORDS = {"entries", "each", "is", "the", "before", "it", "of", "receipt", "journal", "unchanged"}
_OWN_WORDS |= {"titles", "from", "a", "fixture", "hits", "groups", "tools", "called"}


@pytest.fixture(scope="module")
def kept(script: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], str]:
    """The folder of a kept example, the environment to type in, and what the example printed for people."""
    home = tmp_path_factory.mktemp("example")
    programs = os.pathsep.join([os.path.dirname(script), os.path.dirname(sys.executable), os.environ["PATH"]])
    env = {**os.environ, "PATH": programs, "TMPDIR": str(home), "NO_COLOR": "1"}
    said = _typed("evals example --keep", home, env)
    (folder,) = home.iterdir()
    start_over = re.findall(r"^  start over there  (.*)$", said, re.MULTILINE)
    assert _typed(start_over[0], folder, env) == ""
    return folder, env, said


def _typed(line: str, folder: Path, env: dict[str, str]) -> str:
    """Everything that a shell in `folder` prints for `line`."""
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, stdout=-1, stderr=-2, text=True, check=False, timeout=60
    )
    return done.stdout


def test_the_commands_print_what_the_example_says(kept: tuple[Path, dict[str, str], str]) -> None:
    folder, env, _ = kept
    document = json.loads(_typed("evals example --json", folder, env))
    wrong = []
    for step in document["steps"]:
        printed = _typed(step["command"], folder, env)
        wrong += [f"{step['step']}: {missing}" for missing in _missing(step["outcome"], printed)]
    assert wrong == []


def _missing(outcome: str, printed: str) -> list[str]:
    """The parts of an outcome that the commands did not print: `name value` as a JSON member, else words."""
    missing = []
    for part in re.split(r"[,;:] ", outcome.replace("...", "")):
        member = re.fullmatch(r"([a-z_]+) (\S+)", part)
        if member and re.search(rf'"{member[1]}": "?{re.escape(member[2])}', printed):
            continue
        missing += [word for word in part.split() if word not in _OWN_WORDS and word not in printed]
    return missing


def test_the_kept_folder_holds_all_that_the_commands_name(kept: tuple[Path, dict[str, str], str]) -> None:
    folder, _, said = kept
    inputs = {
        "entry.json",
        "secret.json",
        "gate.json",
        "tasks.json",
        "replay",
        "replay_titles.py",
        "variants",
    }
    assert inputs <= {path.name for path in folder.iterdir()}
    assert "NOT AS CLAIMED" not in said
