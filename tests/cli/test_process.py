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


def _unread(script: str, *words: str, cwd: Path | None = None) -> tuple[int, bytes]:
    """Exit code and stderr of a command whose stdout is a pipe that lost its reader before the start."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [script, *words], stdout=writer, stderr=subprocess.PIPE, cwd=cwd, check=False, timeout=60
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@posix_only
@pytest.mark.parametrize("words", ["--version", "--help", "explain --json", "schema", "capsule --help"])
def test_a_full_stdout_is_one_line_and_exit_1(script: str, words: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    done = _shell(f'"$EVALS" {words} > /dev/full', EVALS=script)
    assert done.returncode == 1
    assert done.stderr.startswith(b"evals: output.unwritable: ")
    assert done.stderr.count(b"\n") == 1


_WRITING = {
    "capsule create new": "the capsule is created",
    "capsule append c --lineage plan --kind b": "the entry is in the journal",
    "capsule project c": "projection.json is written",
    "capsule export c copy": "the copy is complete",
}
_READING = ["capsule verify c", "capsule group c", "capsule show c", "capsule show c --json"]
_READING += ["receipt build c", "receipt verify r.json c", "gate inspect v", "example", "example --json"]
_EVIDENCE = [*_WRITING, *_READING]
_BREAKS = {"full": "> /dev/full", "closed": ">&-"}


@pytest.fixture
def place(script: str, tmp_path: Path) -> Path:
    """A folder with a capsule of one entry, its receipt and a variant that hits nothing."""
    _run(script, "capsule", "create", "c", cwd=tmp_path)
    _run(script, "capsule", "append", "c", "--lineage", "plan", "--kind", "a", cwd=tmp_path)
    _run(script, "receipt", "build", "c", "--out", "r.json", cwd=tmp_path)
    (tmp_path / "v").mkdir()
    (tmp_path / "v/variant.json").write_text('{"name": "v", "effect_class": "SE0", "entry": "run.js"}')
    (tmp_path / "v/run.js").write_text("exports.run = (x) => x;\n")
    return tmp_path


@posix_only
@pytest.mark.parametrize("words", _EVIDENCE)
@pytest.mark.parametrize("how", _BREAKS)
def test_evidence_that_cannot_be_printed_is_one_line_and_exit_1(
    script: str, place: Path, words: str, how: str
) -> None:
    if how == "full" and not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    done = _shell(f'cd "$PLACE"; "$EVALS" {words} {_BREAKS[how]}', EVALS=script, PLACE=str(place))
    assert done.returncode == 1
    assert done.stderr.startswith(b"evals: output.unwritable: stdout cannot be written (")
    assert done.stderr.count(b"\n") == 1
    assert (b"try again" in done.stderr) is (words not in _WRITING)
    assert _WRITING.get(words, "").encode() in done.stderr


@posix_only
@pytest.mark.parametrize("words", _EVIDENCE)
def test_evidence_that_nobody_reads_is_met_with_silence(script: str, place: Path, words: str) -> None:
    assert _unread(script, *words.split(), cwd=place) == (1, b"")


@pytest.mark.parametrize("words", _EVIDENCE)
def test_evidence_that_can_be_printed_is_exit_0(script: str, place: Path, words: str) -> None:
    done = _run(script, *words.split(), cwd=place)
    assert (done.returncode, done.stderr) == (0, b"")


@posix_only
@pytest.mark.parametrize("how", _BREAKS)
def test_an_entry_that_could_not_be_printed_is_in_the_journal_once(
    script: str, place: Path, how: str
) -> None:
    if how == "full" and not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    words = "capsule append c --lineage plan --kind written.unseen"
    _shell(f'cd "$PLACE"; "$EVALS" {words} {_BREAKS[how]}', EVALS=script, PLACE=str(place))
    assert (place / "c/journal.ndjson").read_bytes().count(b"written.unseen") == 1
    assert _run(script, "capsule", "verify", "c", cwd=place).returncode == 0


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
    assert _unread(script, *words.split()) == (1, b"")


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
