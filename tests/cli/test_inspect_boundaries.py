"""check and state on other people's repositories, as real processes: nothing is run, followed or changed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASE = json.loads(
    (Path(__file__).parents[1] / "vectors" / "data" / "bundles.json").read_text(encoding="utf-8")
)["base"]
RUNS = ".harness/evals/runs"
RUN = f"{RUNS}/20261130T175456Z-closeout-36c761f8"
COMMANDS = ("check", "state")
MEMORY_LIMIT_KIB = 64 * 1024

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files and processes")


def _fill(root: Path) -> Path:
    for name, content in BASE.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(content))
    return root


def _run(
    script: str, *words: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run(
        [script, *words], capture_output=True, cwd=cwd, env=environment, check=False, timeout=60
    )


def _tree(root: Path) -> dict[str, tuple[int, int, int, str]]:
    found = {}
    for path in (root, *sorted(root.rglob("*"))):
        status = path.lstat()
        content = ""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


def _commit(root: Path) -> None:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example",
    }
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", str(root), *words], env=environment, check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_reading_a_repository_changes_nothing_in_it(script: str, tmp_path: Path, command: str) -> None:
    root = _fill(tmp_path / "consumer")
    _commit(root)
    # An index that is out of date is what git would like to rewrite.
    os.utime(root / ".evals/suite.json", (1, 1))
    before = _tree(root)
    assert _run(script, command, "--repo-root", str(root), "--json").stdout
    assert _run(script, command, cwd=root).stdout
    assert _tree(root) == before


VALIDATIONS = (
    ("validate", ".evals/cases/closeout.case.json"),
    ("validate", ".evals/suite.json"),
    ("validate", f"{RUNS}/latest.json"),
    ("validate", ".evals/project.json"),
    ("validate-schema", "claim-registry", ".evals/suite.json"),
    ("validate-contracts",),
    ("validate-promotions",),
    ("validate-improvements",),
)


@pytest.mark.parametrize("words", VALIDATIONS, ids=" ".join)
def test_validating_changes_nothing_in_a_repository(
    script: str, repository: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    root = _fill(tmp_path / "consumer")
    (root / ".evals/project.json").write_text("{}")
    for name in ("contracts", "fixtures", ".harness/case-promotions", ".harness/eval-improvements"):
        shutil.copytree(repository / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    _commit(root)
    before = _tree(root)
    for output in ([], ["--json"]):
        assert _run(script, *words, *output, cwd=root).returncode in (0, 1)
    assert _tree(root) == before


def _bound_by_permissions() -> list[str]:
    """What starts a process that may write only where permissions let it, also for root."""
    if os.geteuid() != 0:
        return []
    without = "-dac_override,-dac_read_search,-fowner"
    setpriv = shutil.which("setpriv")
    start = [str(setpriv), f"--bounding-set={without}", f"--inh-caps={without}"]
    if setpriv is None or subprocess.run([*start, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root cannot be kept from writing here")
    return start


@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_copy_is_judged_like_the_original(script: str, tmp_path: Path, command: str) -> None:
    start = _bound_by_permissions()
    root = _fill(tmp_path / "consumer")
    _commit(root)
    words = [command, "--repo-root", str(root), "--json"]
    original = json.loads(_run(script, *words).stdout)
    for path in (*root.rglob("*"), root):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = _tree(root)
    try:
        assert _run(*start, "touch", str(root / "new")).returncode != 0, "the copy is not read-only"
        done = _run(*start, script, *words)
        assert _tree(root) == before
    finally:
        for path in (root, *root.rglob("*")):
            path.chmod(0o755)
    told, copy = (_without_times(packet) for packet in (original, json.loads(done.stdout)))
    assert copy == told


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _without_times(item)
            for key, item in value.items()
            if key not in ("generated_at", "observed_at")
        }
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def _plant_modules(root: Path) -> None:
    attack = "import os; open(os.environ['MARKER'], 'a').write(__name__ + '\\n')\n"
    for package in ("core", "commands", "schemas", "contracts", "fixtures", "evals_cli"):
        (root / package).mkdir(exist_ok=True)
        (root / package / "__init__.py").write_text(attack)
    for module in ("json", "re", "os", "jsonschema", "rich", "hashlib", "typing", "sitecustomize", "check"):
        (root / f"{module}.py").write_text(attack)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_module_of_the_inspected_repository_is_imported(script: str, tmp_path: Path, command: str) -> None:
    root = _fill(tmp_path / "consumer")
    _plant_modules(root)
    done = _run(script, command, "--json", cwd=root, MARKER=str(tmp_path / "marker"))
    assert json.loads(done.stdout)["latest_path"] == f"{RUNS}/latest.json"
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("linked", [".evals", ".harness", ".harness/evals", RUNS, RUN])
def test_folders_that_link_out_of_the_repository_are_not_followed(
    script: str, tmp_path: Path, command: str, linked: str
) -> None:
    root = _fill(tmp_path / "consumer")
    outside = tmp_path / "outside"
    (root / linked).rename(outside)
    (root / linked).symlink_to(outside)
    before = _tree(outside)
    done = _run(script, command, "--repo-root", str(root), "--json")
    packet = json.loads(done.stdout)
    assert packet["status"] in ("failed", "invalid", "stale")
    assert b"leads out of its root" in done.stdout
    assert _tree(outside) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_fifos_and_devices_everywhere_are_named_and_never_waited_for(
    script: str, tmp_path: Path, command: str
) -> None:
    root = _fill(tmp_path / "consumer")
    for file in sorted((root / RUN).iterdir()):
        file.unlink()
        os.mkfifo(file)
    for name in (".evals/suite.json", ".evals/cases/closeout.case.json"):
        (root / name).unlink()
        (root / name).symlink_to("/dev/zero")
    os.mkfifo(root / ".evals/project.json")
    done = _run(script, command, "--repo-root", str(root), "--json")
    assert done.stdout.count(b"not a regular file") >= 8
    assert b"leads out of its root" in done.stdout


def test_a_fifo_in_place_of_latest_json_is_named(script: str, tmp_path: Path) -> None:
    root = _fill(tmp_path / "consumer")
    (root / RUNS / "latest.json").unlink()
    os.mkfifo(root / RUNS / "latest.json")
    packet = json.loads(_run(script, "state", "--repo-root", str(root), "--json").stdout)
    assert (packet["status"], packet["non_ready_reason_code"]) == ("invalid", "latest_invalid")
    assert packet["validation"]["errors"] == [f"{RUNS}/latest.json: not a regular file"]


def test_a_sibling_whose_name_begins_like_the_root_is_outside(script: str, tmp_path: Path) -> None:
    root = _fill(tmp_path / "root")
    evil = _fill(tmp_path / "root-evil")
    (root / RUN / "report.md").unlink()
    (root / RUN / "report.md").symlink_to(evil / RUN / "report.md")
    packet = json.loads(_run(script, "state", "--repo-root", str(root), "--json").stdout)
    statuses = {artifact["key"]: artifact["status"] for artifact in packet["artifacts"]}
    assert (packet["status"], statuses["report_path"]) == ("invalid", "invalid")


def test_a_missing_git_is_no_reason_to_fail(script: str, tmp_path: Path) -> None:
    root = _fill(tmp_path / "consumer")
    _commit(root)
    done = _run(script, "state", "--repo-root", str(root), "--json", PATH="/nonexistent")
    git = json.loads(done.stdout)["evidence_packet"]["git_state"]
    assert (done.returncode, git["status"]) == (0, "unavailable")
    assert git["reason"] == "git is not installed on this machine"


MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
sys.stdout.buffer.write(done.stdout)
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


def _measured(*words: str) -> tuple[dict[str, object], int]:
    """The document that a command prints, and its greatest resident size in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words], capture_output=True, check=True, timeout=120
    )
    size = int(done.stderr)
    return json.loads(done.stdout), size // 1024 if sys.platform == "darwin" else size


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_CHILDREN"), reason="memory cannot be measured here")
def test_a_huge_artifact_is_digested_in_little_memory(script: str, tmp_path: Path) -> None:
    root = _fill(tmp_path / "consumer")
    with open(root / RUN / "report.md", "wb") as report:
        report.truncate(256 * 1024 * 1024)
    packet, size = _measured(script, "check", "--repo-root", str(root), "--json")
    assert packet["status"] == "failed"
    assert size < MEMORY_LIMIT_KIB


def test_a_huge_latest_json_is_refused_in_little_memory(script: str, tmp_path: Path) -> None:
    root = _fill(tmp_path / "consumer")
    latest = root / RUNS / "latest.json"
    text = latest.read_bytes()
    with open(latest, "wb") as file:
        file.write(text)
        file.truncate(200 * 1024 * 1024)
    packet, size = _measured(script, "state", "--repo-root", str(root), "--json")
    assert packet["status"] == "invalid"
    assert size < MEMORY_LIMIT_KIB


def test_ten_thousand_runs_beside_the_latest_do_not_matter(script: str, tmp_path: Path) -> None:
    root = _fill(tmp_path / "consumer")
    for number in range(10_000):
        os.mkdir(root / RUNS / f"20200101T000000Z-old-{number:08x}")
    packet, size = _measured(script, "state", "--repo-root", str(root), "--json")
    assert packet["status"] == "ready"
    assert size < MEMORY_LIMIT_KIB
    shutil.rmtree(root)
