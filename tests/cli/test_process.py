"""The real process: streams that are full, closed or gone, no home, no locale, and hostile folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")

_MARKER = "import os; open(os.environ['MARKER'], 'a').write(__name__ + '\\n')\n"


def _run(
    script: str, *words: str, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([script, *words], capture_output=True, cwd=cwd, env=env, check=False, timeout=60)


def _shell(line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", line]
    return subprocess.run(
        command, capture_output=True, env={**os.environ, **variables}, check=False, timeout=60
    )


@posix_only
@pytest.mark.parametrize("words", ["--version", "--help", "explain --json", "schema", "capsule --help"])
def test_a_full_stdout_is_one_line_and_exit_1(script: str, words: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    done = _shell(f'"$EVALS" {words} > /dev/full', EVALS=script)
    assert done.returncode == 1
    assert done.stderr.startswith(b"evals: output.unwritable: ")
    assert done.stderr.count(b"\n") == 1


@posix_only
@pytest.mark.parametrize("words", ["--version", "--help", "explain --json", "schema"])
def test_a_closed_stdout_is_one_line_and_exit_1(script: str, words: str) -> None:
    done = _shell(f'"$EVALS" {words} >&-', EVALS=script)
    assert done.returncode == 1
    assert done.stderr.startswith(b"evals: output.unwritable: ")
    assert done.stderr.count(b"\n") == 1


@posix_only
@pytest.mark.parametrize("words", ["--version", "--help", "explain --json", "schema"])
def test_a_reader_that_has_gone_is_met_with_silence(script: str, words: str) -> None:
    # The reader ends before the command starts to write.
    done = _shell(f'{{ sleep 0.2; "$EVALS" {words}; echo $? >&2; }} | true', EVALS=script)
    assert done.stderr == b"1\n"


@posix_only
def test_all_streams_closed_still_gives_an_exit_code(script: str, tmp_path: Path) -> None:
    done = _shell(f'"$EVALS" capsule verify "{tmp_path}" <&- >&- 2>&-', EVALS=script)
    assert done.returncode == 1


@posix_only
def test_a_full_stderr_does_not_change_the_exit_code(script: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    assert _shell('"$EVALS" nope 2> /dev/full', EVALS=script).returncode == 2
    assert _shell('"$EVALS" gate run x 2> /dev/full', EVALS=script).returncode == 1


_INTERRUPTED_READ = """
import os, signal, sys
from evals_cli.main import run

real = os.read

def read(descriptor, size):
    if descriptor == 0:
        os.kill(os.getpid(), signal.SIGINT)
    return real(descriptor, size)

os.read = read
sys.exit(run())
"""


@posix_only
def test_an_interrupt_while_reading_stdin_exits_130(tmp_path: Path) -> None:
    words = ["capsule", "append", str(tmp_path), "--lineage", "plan", "--kind", "a", "--payload", "-"]
    done = _run(sys.executable, "-c", _INTERRUPTED_READ, *words)
    assert done.returncode == 130
    assert done.stderr == b"evals: interrupted\n"


def test_documents_are_utf8_in_the_c_locale_without_a_home(script: str, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env.update({name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ})
    folder = tmp_path / "é"
    created = _run(script, "capsule", "create", str(folder), "--task-family", "é", env=env)
    assert created.returncode == 0, created.stderr
    document = json.loads(created.stdout.decode("utf-8"))
    assert document["task_family"] == "é"
    missing = _run(script, "receipt", "verify", "é.json", str(folder), env=env)
    assert missing.returncode == 1
    assert missing.stderr.isascii()
    assert missing.stderr.startswith(b"evals: receipt.unreadable: ")


def test_python_m_is_the_same_program(tmp_path: Path) -> None:
    done = _run(sys.executable, "-m", "evals_cli", "gate", "run", "x", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(b"evals: gate.isolation_required: ")


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["capsule", "verify", "."],
        ["explain", "ok"],
        ["schema", "capsule-envelope"],
        ["gate", "inspect", "."],
        ["validate", "core/__init__.py"],
        ["check"],
        ["state"],
    ],
    ids=" ".join,
)
def test_modules_in_the_working_directory_are_never_imported(
    script: str, tmp_path: Path, words: list[str]
) -> None:
    marker = tmp_path / "marker"
    place = tmp_path / "repository"
    for package in ("core", "commands", "schemas", "evals_cli"):
        (place / package).mkdir(parents=True)
        (place / package / "__init__.py").write_text(_MARKER)
    (place / "json.py").write_text(_MARKER)
    _run(script, *words, cwd=place, env={**os.environ, "MARKER": str(marker)})
    assert not marker.exists(), marker.read_text()


@pytest.mark.parametrize("words", [["capsule", "verify", "."], ["state"], ["schema"]], ids=" ".join)
def test_modules_on_the_python_path_do_not_stand_in_for_our_own(
    script: str, tmp_path: Path, words: list[str]
) -> None:
    marker = tmp_path / "marker"
    for package in ("core", "commands", "schemas"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(_MARKER)
    env = {**os.environ, "MARKER": str(marker), "PYTHONPATH": str(tmp_path)}
    _run(script, *words, cwd=tmp_path, env=env)
    assert not marker.exists(), marker.read_text()
