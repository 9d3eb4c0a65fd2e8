"""Lane `strace`: the real command, with errors that the kernel reports and kills that it carries out.

Rules:
- A run without injection is traced; every call that touches evidence then goes wrong once, in a process of
  its own, by turns with EIO, ENOSPC, EINTR and a SIGKILL at that very call.
- An injection counts only where the log says that it happened, at a call that touches evidence.
- The command runs from a copy of the package, so that nothing else can change the numbers of its calls.
- Without strace, or where tracing is not allowed, the lane is skipped and says so.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from . import judging
from .acting import Ending, judge_output
from .report import Context, LaneResult
from .scenarios import SCENARIOS, Scenario
from .side_by_side import add_parts
from .traced import KINDS, Call, own_calls

NAME = "strace"
SUMMARY = "the real command: every call that touches evidence fails, or the process is killed there"
WAYS = ("error=EIO", "error=ENOSPC", "error=EINTR", "signal=KILL")
# git is another program, and state only reads.
LEFT_OUT = ("state",)
QUICK_STEP = 25
TIME_LIMIT_S = 60
_PARTS = ("commands", "core", "schemas", "contracts", "fixtures")
_LAUNCHER = "import sys\n\nfrom evals_cli.main import run\n\nsys.exit(run())\n"


def run(context: Context) -> LaneResult:
    """Inject into every command of the scenarios that has a command line."""
    result = LaneResult(NAME)
    folder = Path(context.folder)
    result.skipped = unavailable(folder)
    if result.skipped:
        return result
    launcher = _frozen(Path(context.root), folder / "package")
    step = QUICK_STEP if context.quick else 1
    chosen = [i for i, one in enumerate(SCENARIOS) if one.words and one.name not in LEFT_OUT]
    return add_parts(result, _part, [(index, folder, launcher, step) for index in chosen])


def _part(index: int, folder: Path, launcher: Path, step: int) -> LaneResult:
    place = folder / str(index)
    place.mkdir()
    result = LaneResult(NAME)
    _Traced(SCENARIOS[index], place, launcher, result).fire(step)
    return result


def unavailable(folder: Path) -> str | None:
    """Why injection is not possible here, or None."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return "there is no strace here"
    probe = ["strace", "-qq", "-o", str(folder / "probe"), "-e", "inject=mkdir:error=EIO:when=1", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"strace cannot trace here: {done.stderr.strip()[:200]}"


def _frozen(root: Path, place: Path) -> Path:
    """A copy of the package, compiled, and a script in it that starts the command."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "evals_cli", place / "evals_cli", ignore=ignored)
    for part in _PARTS:
        shutil.copytree(root / part, place / "evals_cli" / part, ignore=ignored)
    launcher = place / "launch.py"
    launcher.write_text(_LAUNCHER, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(place)], check=True)
    return launcher


class _Traced:
    """One scenario's command, to be traced again and again."""

    def __init__(self, scenario: Scenario, folder: Path, launcher: Path, result: LaneResult) -> None:
        self._scenario = scenario
        self._template = folder / f"template of {scenario.name}"
        self._work = folder / "work"
        self._log = folder / "log"
        self._launcher = launcher
        self._result = result

    def fire(self, step: int) -> None:
        """Inject at every `step`-th call that touches evidence."""
        self._scenario.prepare(self._template)
        ending = self._run([])
        if ending.code != self._scenario.refusal:
            self._result.fail(f"{self._scenario.name}: without injection it ends with {ending.code}")
            return
        for index, call in enumerate(self._own()):
            if index % step == 0:
                self._inject(call, WAYS[(index // step) % len(WAYS)])

    def _own(self) -> list[Call]:
        return own_calls(self._log.read_text(encoding="utf-8", errors="replace"), str(self._work))

    def _inject(self, call: Call, way: str) -> None:
        ending = self._run(["-e", f"inject={call.kind}:{way}:when={call.number}"])
        log = self._log.read_text(encoding="utf-8", errors="replace")
        if not ending.died and "(INJECTED)" not in log:
            self._result.count("not injected")
            self._result.fail(f"{self._scenario.name}: {call.text}: {way}: the call did not come again")
            return
        self._result.count(f"{self._scenario.name}: {way.partition('=')[2]}")
        problems = [*ending.problems, *judging.code_problems(ending)]
        problems += self._scenario.judge(self._template, self._work, ending)
        for problem in problems:
            self._result.fail(f"{self._scenario.name}: {call.text}: {way}: {problem}")

    def _run(self, injection: list[str]) -> Ending:
        judging.copied(self._template, self._work)
        trace = ["strace", "-f", "-qq", "-o", str(self._log), "-e", f"trace={','.join(KINDS)}", *injection]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*trace, sys.executable, str(self._launcher), *self._scenario.words]
        ending = Ending()
        try:
            done = subprocess.run(
                command,
                cwd=self._work,
                env=environment,
                capture_output=True,
                check=False,
                timeout=TIME_LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            ending.problems.append(f"it did not end in {TIME_LIMIT_S} s")
            ending.died = True
            return ending
        ending.died = done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        judge_output(ending, done.returncode, done.stdout, done.stderr)
        return ending
