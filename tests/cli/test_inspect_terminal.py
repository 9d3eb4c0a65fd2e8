"""run, check and state on a terminal: colour and signs there, plain words on a pipe or with NO_COLOR."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

CASE = "fixtures/smoke/pr-closeout.case.json"
ESCAPE = "\x1b["


@pytest.fixture
def root(tmp_path: Path, repository: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.case.json").write_bytes((repository / CASE).read_bytes())
    return tmp_path


def _on_terminal(script: str, root: Path, *words: str, **variables: str) -> str:
    """What a person sees of a command whose stdout and stderr are a terminal."""
    ours, theirs = pty.openpty()
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM", "FORCE_COLOR")}
    environment = {**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **variables}
    with subprocess.Popen(
        [script, *words], cwd=root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        except OSError:
            # Linux says so when the last writer has gone.
            pass
        finally:
            os.close(ours)
        process.wait(timeout=60)
    return b"".join(pieces).decode("utf-8")


SEEN = (("run", "a.case.json"), ("check",), ("state",))


@pytest.mark.parametrize("words", SEEN, ids=lambda words: words[0])
def test_on_a_terminal_the_verdict_is_coloured(script: str, root: Path, words: tuple[str, ...]) -> None:
    subprocess.run([script, "run", "a.case.json", "--json"], cwd=root, check=True, capture_output=True)
    seen = _on_terminal(script, root, *words)
    verdict = {"run": "✓ PASS", "check": "✗ FAIL", "state": "✓ READY"}[words[0]]
    assert verdict in seen
    assert f"{ESCAPE}1;3{'1' if words == ('check',) else '2'}m{verdict}" in seen


@pytest.mark.parametrize("words", SEEN, ids=lambda words: words[0])
def test_a_person_who_wants_no_colour_gets_none(script: str, root: Path, words: tuple[str, ...]) -> None:
    subprocess.run([script, "run", "a.case.json", "--json"], cwd=root, check=True, capture_output=True)
    seen = _on_terminal(script, root, *words, NO_COLOR="1")
    assert ESCAPE not in seen
    assert {"run": "PASS", "check": "FAIL", "state": "READY"}[words[0]] in seen


@pytest.mark.parametrize("words", SEEN, ids=lambda words: words[0])
def test_a_pipe_gets_plain_words(script: str, root: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run([script, *words], cwd=root, check=False, capture_output=True, text=True)
    assert ESCAPE not in done.stdout + done.stderr
    assert done.stdout.startswith(("PASS  ", "FAIL  ", "MISSING  "))
