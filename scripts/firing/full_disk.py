"""Lane `full_disk`: a file system that is really full, of blocks or of names, at every point of a command.

Rules:
- A tiny tmpfs is mounted in a mount namespace of this lane's own, so that nothing of the machine is touched
  and nothing has to be unmounted. That needs root or user namespaces; without either the lane is skipped.
- For n = 0, 1, 2, ... the medium is filled until n pages (or n names) are free, and the command runs, until
  it has succeeded twice. Afterwards the promises of `judging` are checked, with the filling taken away.
- A capsule is then filled to the brim by appends of all sizes: what was acknowledged is there, every time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

from evals_cli.core import capsule
from evals_cli.core.errors import EvalsError

from . import judging
from .capsule_sample import clock
from .report import Context, LaneResult
from .scenarios import SCENARIOS, Scenario

NAME = "full_disk"
SUMMARY = "a tiny file system, really full, at every point of every command"
SIZE_BYTES = 2 * 1024 * 1024
NAMES = 400
MOST_FREE = 200
READERS = ("verify", "receipt verify", "check", "state")
# With the mount namespace comes the right to mount: root has it, others get it by a user namespace.
_NAMESPACES = (["unshare", "--mount"], ["unshare", "--mount", "--user", "--map-root-user"])
_CHILD = "from firing.full_disk import child; child()"


def run(context: Context) -> LaneResult:
    """Run the lane's work in a process that has a mount namespace of its own."""
    result = LaneResult(NAME)
    if sys.platform != "linux" or shutil.which("unshare") is None:
        result.skipped = "there are no mount namespaces here"
        return result
    reasons = []
    for namespace in _NAMESPACES:
        done = subprocess.run(
            [*namespace, sys.executable, "-c", _CHILD, context.folder, "quick" if context.quick else "long"],
            env={**os.environ, "PYTHONPATH": str(Path(context.root, "scripts"))},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            found = json.loads(done.stdout.splitlines()[-1])
            result.counts, result.failures = found["counts"], found["failures"]
            result.more_failures, result.notes = found["more_failures"], found["notes"]
            return result
        reasons.append(f"{' '.join(namespace)}: {done.stderr.strip().splitlines()[-1:]}")
    result.skipped = f"nothing can be mounted here ({'; '.join(reasons)})"
    return result


def child() -> None:
    """The work, inside the mount namespace; prints the result as one line of JSON."""
    place = Path(sys.argv[1], "medium")
    quick = sys.argv[2] == "quick"
    place.mkdir()
    options = f"size={SIZE_BYTES},nr_inodes={NAMES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
    result = LaneResult(NAME)
    for scenario in SCENARIOS:
        if scenario.name not in READERS and scenario.refusal is None:
            for medium in (Pages(place), Names(place)):
                _fill_and_act(scenario, Path(sys.argv[1]), place, medium, result, step=4 if quick else 1)
    _append_to_the_brim(place, result, rounds=2 if quick else 20)
    print(json.dumps(result.document()))


class Pages:
    """Blocks of the medium at `place`: a filler takes all but some of them."""

    what = "pages"

    def __init__(self, place: Path) -> None:
        self._place = place
        self._filler = place / "filler"

    def fill(self, free: int) -> None:
        """Leave `free` pages."""
        page = os.sysconf("SC_PAGE_SIZE")
        state = os.statvfs(self._place)
        with open(self._filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(page, state.f_bavail * state.f_frsize - free * page))

    def empty(self) -> None:
        """Take the filler away."""
        self._filler.unlink(missing_ok=True)


class Names:
    """Names (inodes) of the medium at `place`: empty files take all but some of them."""

    what = "names"

    def __init__(self, place: Path) -> None:
        self._place = place
        self._folder = place / "names"

    def fill(self, free: int) -> None:
        """Leave `free` names."""
        self._folder.mkdir()
        for number in range(os.statvfs(self._place).f_favail - free):
            (self._folder / str(number)).touch()

    def empty(self) -> None:
        """Take the empty files away."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _fill_and_act(
    scenario: Scenario, folder: Path, place: Path, medium: Pages | Names, result: LaneResult, *, step: int
) -> None:
    template = folder / f"template of {scenario.name}"
    if not template.exists():
        scenario.prepare(template)
    work = place / "work"
    successes = 0
    for free in count(0, step):
        judging.copied(template, work)
        medium.fill(free)
        ending = scenario.act(work)
        medium.empty()
        ending.hampered = True
        result.count(f"{scenario.name}: {medium.what} run out" if ending.code else f"{scenario.name}: fits")
        problems = [*ending.problems, *judging.code_problems(ending)]
        problems += scenario.judge(template, work, ending)
        for problem in problems:
            result.fail(f"{scenario.name}: {free} free {medium.what}: {problem}")
        successes += ending.code is None
        if successes > 1:
            break
        if free > MOST_FREE:
            result.fail(f"{scenario.name}: {free} free {medium.what} were not enough")
            break
    shutil.rmtree(work)


def _append_to_the_brim(place: Path, result: LaneResult, *, rounds: int) -> None:
    for number in range(rounds):
        folder = place / f"brim {number}"
        medium = Pages(place)
        handle = capsule.Capsule.create(folder, clock=clock)
        medium.fill(8 + number)
        acknowledged = 0
        code = None
        while code is None:
            try:
                handle.append("plan", "fill", {"note": "x" * (37 * (acknowledged + number) % 30011)})
                acknowledged += 1
            except EvalsError as error:
                code = error.code
        medium.empty()
        result.count("appends to the brim", acknowledged)
        if not (folder / "journal.ndjson").read_bytes().endswith(b"\n"):
            result.count("appends to the brim: the last entry was torn")
        for problem in _brim_problems(folder, acknowledged, code):
            result.fail(f"appends to the brim, round {number}: {problem}")
        shutil.rmtree(folder)


def _brim_problems(folder: Path, acknowledged: int, code: str) -> list[str]:
    problems = [] if code == "capsule.write_failed" else [f"expected capsule.write_failed, found {code}"]
    journal = (folder / "journal.ndjson").read_bytes()
    line_feed = b"\n"
    whole = journal[: journal.rfind(b"\n") + 1]
    if not acknowledged <= whole.count(b"\n") <= acknowledged + 1:
        problems.append(f"{acknowledged} entries were acknowledged, {whole.count(line_feed)} are there")
    wanted = "ok" if journal == whole else "capsule.truncated_tail"
    if capsule.verify(folder).code != wanted:
        problems.append(f"expected {wanted}, found {capsule.verify(folder).code}")
    (folder / "journal.ndjson").write_bytes(whole)
    if not capsule.verify(folder).ok:
        problems.append("the whole lines do not verify")
    return problems
