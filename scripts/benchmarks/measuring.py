"""How things are measured, so that a busy machine distorts both sides of a ratio alike.

Rules:
- What is compared runs by turns; of each side the best time counts.
- CPU seconds are what counts, of this process or of the commands that it ran, since other programs on the
  machine distort them least; only where waiting is part of the work (fsync, several cores) the clock counts.
- Commands are measured as processes, from start to exit, with their output thrown away; a command that does
  not give the expected exit code stops the benchmark, since it did other work than was meant.
- Peak memory is the resident size of the process that ran the command, as the system counts it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Work = Callable[[], object]

EVALS = os.path.join(os.path.dirname(sys.executable), "evals")

# Runs the command line, then tells the peak of this very process. VmHWM belongs to the program that was
# started; ru_maxrss may still hold the size of the process that started it.
_PEAK = """
import sys
from evals_cli.main import main
code = main(sys.argv[1:])
try:
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
except OSError:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
sys.stderr.write(f"peak {peak}\\n")
sys.exit(code)
"""


class CommandError(Exception):
    """A measured command did not do what was to be measured."""


def own_seconds() -> float:
    """The CPU seconds of this process so far."""
    return time.process_time()


def command_seconds() -> float:
    """The CPU seconds of all commands that this process has waited for; the clock where none are kept."""
    if sys.platform == "win32":
        return time.perf_counter()
    import resource

    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def clock_seconds() -> float:
    """The seconds of a clock that only goes forward."""
    return time.perf_counter()


def by_turns(works: Mapping[str, Work], rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """The seconds by `clock` that each of `works` took in each of `rounds` turns."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = clock()
            work()
            seconds[name].append(clock() - start)
    return seconds


def process(words: Sequence[str], *, cwd: str | None = None, code: int = 0) -> Work:
    """The work of running a program to its end; raises CommandError for another exit code than `code`."""

    def work() -> None:
        done = subprocess.run(words, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != code:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise CommandError(f"{' '.join(words[:4])}: exit {done.returncode}; {said[-1] if said else ''}")

    return work


def evals(*words: str, cwd: str | None = None, code: int = 0) -> Work:
    """The work of running the installed `evals` with these words."""
    return process([EVALS, *words], cwd=cwd, code=code)


def peak_mebibytes(*words: str, cwd: str | None = None) -> float:
    """The peak resident size of an `evals` command, in MiB."""
    child = [sys.executable, "-c", _PEAK, *words]
    done = subprocess.run(
        child, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    said = done.stderr.splitlines()
    if done.returncode != 0 or not said or not said[-1].startswith("peak "):
        raise CommandError(f"evals {' '.join(words[:3])}: exit {done.returncode}; {said[-1] if said else ''}")
    return int(said[-1].split()[1]) / 1024
