"""Lane `syscalls`: every file effect of every command that writes goes wrong once, in this process.

Rules:
- A run without a fault counts the effects of each kind; then the k-th of each fails, for every k, with every
  error, and once the process ends there. Writes also come up short, make no progress, or end in the middle.
- Afterwards the promises of `judging` are checked on what is left on disk, by fresh eyes.
- No descriptor is left open by a process that goes on.
- The short form takes the first, the middle and the last call of each kind.
"""

from __future__ import annotations

from pathlib import Path

from . import judging
from .report import Context, LaneResult
from .scenarios import SCENARIOS, Scenario
from .shim import Fault, Shim, faults
from .side_by_side import add_parts

NAME = "syscalls"
SUMMARY = "every file effect of every command fails once, or the process dies there"


def run(context: Context) -> LaneResult:
    """Try every fault of every scenario."""
    parts = [(index, context.folder, context.quick) for index in range(len(SCENARIOS))]
    return add_parts(LaneResult(NAME), _part, parts)


def _part(index: int, folder: str, quick: bool) -> LaneResult:
    place = Path(folder, str(index))
    place.mkdir()
    result = LaneResult(NAME)
    fire(SCENARIOS[index], place, result, quick=quick)
    return result


def fire(scenario: Scenario, folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Try every fault of one scenario in `folder`."""
    template = folder / f"template of {scenario.name}"
    scenario.prepare(template)
    _act(scenario, template, folder / "warm", None)
    counted, problems = _act(scenario, template, folder / "plain", None)
    for problem in problems:
        result.fail(f"{scenario.name}, without a fault: {problem}")
    for fault in faults(counted.counts, quick=quick):
        shim, problems = _act(scenario, template, folder / "work", fault)
        result.count(scenario.name)
        if not shim.fired:
            problems = [*problems, "the call did not come: the effects are not the same in every run"]
        for problem in problems:
            result.fail(f"{scenario.name}: {fault} ({_shown(shim.where, folder)}): {problem}")


def _shown(where: str | None, folder: Path) -> str:
    return (where or "").replace(str(folder / "work"), "").lstrip("/")


def _act(scenario: Scenario, template: Path, place: Path, fault: Fault | None) -> tuple[Shim, list[str]]:
    judging.copied(template, place)
    with Shim(fault) as shim:
        ending = scenario.act(place)
    ending.late = fault is not None and fault.how == "late"
    if fault is None and ending.code != scenario.refusal:
        return shim, [f"expected {scenario.refusal}, found {ending.code} {ending.problems}"]
    problems = [*ending.problems, *judging.code_problems(ending)]
    if shim.leaked and not shim.died:
        problems.append(f"{shim.leaked} descriptors were left open")
    if shim.died and not ending.died:
        problems.append("the death of the process was caught")
    return shim, problems + scenario.judge(template, place, ending)
