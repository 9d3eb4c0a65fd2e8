"""Lane `many`: many writers at once, and writers that are killed at any moment.

Rules:
- Eight processes append to one capsule, each with its own retries. All of them first meet a lock that the
  lane holds, so each must see `capsule.busy`. Afterwards there is one linear chain that holds exactly what
  was acknowledged.
- Eight processes run one case at once: every bundle is whole and of its own name, and whatever latest.json
  was while they ran, it named a whole bundle.
- Processes that append or run are killed by SIGKILL at seeded moments: everything acknowledged is there, and
  besides it at most what was in flight, or a torn tail that verification refuses. After a killed run
  latest.json is an older one or a newer one, whole.
"""

from __future__ import annotations

import hashlib
import json
import random
import select
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from evals_cli.core import capsule
from evals_cli.core.errors import EvalsError
from evals_cli.core.lock import AppendLock

from .bundle_sample import ARTIFACTS, LATEST, judged, make_repository, run_case
from .laboring import Worker
from .report import Context, LaneResult

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "many"
SUMMARY = "eight writers at once, and writers killed at random moments"
WORKERS = 8
SEED = 20261130
KILLS, QUICK_KILLS = 300, 12
APPENDS, QUICK_APPENDS = 100, 4
RUNS, QUICK_RUNS = 25, 2
# What one acknowledged step may have in flight, by task.
IN_FLIGHT = {"append": 1, "session": 1, "append_many": 3}
_MOST_DELAY_S = 0.012


def run(context: Context) -> LaneResult:
    """Many at once, then the kills."""
    result = LaneResult(NAME)
    folder = Path(context.folder)
    fire_appends(folder / "appends", result, QUICK_APPENDS if context.quick else APPENDS)
    fire_runs(folder / "runs", result, QUICK_RUNS if context.quick else RUNS)
    fire_kills(folder / "kills", result, QUICK_KILLS if context.quick else KILLS)
    return result


def fire_appends(folder: Path, result: LaneResult, times: int) -> None:
    """Eight processes append `times` entries each to one capsule."""
    folder.mkdir()
    place = folder / "capsule"
    capsule.Capsule.create(place)
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker("append", folder, number, times)) for number in range(WORKERS)]
        with AppendLock(str(place)):
            for worker in workers:
                _let_begin(worker)
            for worker in workers:
                if worker.hear() != {"busy": True}:
                    result.fail(f"appends at once: while the lock was held, a writer said {worker.said[-1]}")
        for worker in workers:
            worker.finish()
    result.count("appends at once", WORKERS * times)
    result.count("appends at once: writers that saw capsule.busy", WORKERS)
    for problem in _chain_problems(place, workers, times):
        result.fail(f"appends at once: {problem}")


def _let_begin(worker: Worker) -> None:
    worker.hear()
    worker.begin()


def _chain_problems(place: Path, workers: list[Worker], times: int) -> Iterator[str]:
    for worker in workers:
        yield from worker.problems
    verdict = capsule.verify(place)
    if not verdict.ok or verdict.entry_count != WORKERS * times:
        yield f"{WORKERS * times} entries were written; verify: {verdict.code}, {verdict.entry_count} entries"
        return
    there = [entry["entry_hash"] for entry in capsule.Capsule.open(place).entries()]
    acknowledged = [entry_hash for worker in workers for entry_hash in worker.acknowledged]
    if sorted(there) != sorted(acknowledged):
        yield "the entries that are there are not those that were acknowledged"
    for worker in workers:
        places = [there.index(entry_hash) for entry_hash in worker.acknowledged if entry_hash in there]
        if places != sorted(places):
            yield "a writer's entries are not in the order in which it wrote them"
    if (place / ".append.lock").exists():
        yield "the lock stayed"


def fire_runs(folder: Path, result: LaneResult, times: int) -> None:
    """Eight processes run one case `times` times each, at once."""
    make_repository(folder)
    looks = 0
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker("run", folder, number, times)) for number in range(WORKERS)]
        for worker in workers:
            _let_begin(worker)
        for worker in workers:
            while worker.hear() is not None:
                looks += 1
                for problem in _pointer_problems(folder):
                    result.fail(f"runs at once: while they ran: {problem}")
            worker.finish()
    result.count("runs at once", WORKERS * times)
    result.count("runs at once: looks at latest.json meanwhile", looks)
    for problem in _runs_problems(folder, workers, times):
        result.fail(f"runs at once: {problem}")


def _runs_problems(folder: Path, workers: list[Worker], times: int) -> Iterator[str]:
    for worker in workers:
        yield from worker.problems
    run_ids = [run_id for worker in workers for run_id in worker.acknowledged]
    if len(set(run_ids)) != WORKERS * times:
        yield f"{WORKERS * times} runs have {len(set(run_ids))} names"
    there = {path.name for path in (folder / LATEST).parent.iterdir()} - {"latest.json"}
    if there != set(run_ids):
        yield f"folders that no run acknowledged, or the other way round: {sorted(there ^ set(run_ids))[:5]}"
    for run_id in run_ids:
        yield from bundle_problems(folder, run_id)
    yield from judged(folder).problems
    yield from _pointer_problems(folder)


def _pointer_problems(folder: Path) -> Iterator[str]:
    """What is wrong with latest.json as it is now: torn, or naming a bundle that is not whole."""
    latest = folder / LATEST
    if not latest.exists():
        return
    try:
        pointer = json.loads(latest.read_bytes())
    except ValueError:
        yield "latest.json is torn"
        return
    yield from bundle_problems(folder, pointer["run_id"])


def bundle_problems(folder: Path, run_id: str) -> Iterator[str]:
    """What is wrong with the bundle of a run that was acknowledged or is pointed at."""
    place = (folder / LATEST).parent / run_id
    try:
        manifest = json.loads((place / "manifest.json").read_bytes())
        stated = {Path(entry["path"]).name: entry["sha256"] for entry in manifest["artifacts"]}
        found = {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in ARTIFACTS}
    except (OSError, ValueError) as error:
        yield f"{run_id}: not whole: {error}"
        return
    if stated != found:
        yield f"{run_id}: its manifest names other bytes than there are"


def fire_kills(folder: Path, result: LaneResult, kills: int) -> None:
    """Kill writers at seeded moments: by turns while they append in each way and while they run."""
    folder.mkdir()
    dice = random.Random(SEED)
    tasks = [*IN_FLIGHT, "run"]
    for number in range(kills):
        task = tasks[number % len(tasks)]
        place = folder / f"{number}"
        if task == "run":
            problems = list(_killed_run(place, dice, result))
        else:
            problems = list(_killed_append(place, task, dice, result))
        for problem in problems:
            result.fail(f"kill no. {number} (seed {SEED}), {task}: {problem}")
        shutil.rmtree(place)


def _killed_append(place: Path, task: str, dice: random.Random, result: LaneResult) -> Iterator[str]:
    place.mkdir()
    handle = capsule.Capsule.create(place / "capsule")
    before = [handle.append("plan", "before")["entry_hash"] for _ in range(dice.randrange(3))]
    worker = _killed(task, place, dice)
    yield from worker.problems
    journal = (place / "capsule" / "journal.ndjson").read_bytes()
    whole = journal[: journal.rfind(b"\n") + 1]
    there = [json.loads(line)["entry_hash"] for line in whole.splitlines()]
    acknowledged = before + worker.acknowledged
    in_flight = len(there) - len(acknowledged)
    if there[: len(acknowledged)] != acknowledged or in_flight > IN_FLIGHT[task]:
        yield f"{len(acknowledged)} entries were acknowledged, {len(there)} are there"
    locked = (place / "capsule" / ".append.lock").exists()
    result.count(f"killed while it appended ({task}): {'in' if locked else 'outside'} the lock")
    if in_flight:
        result.count(f"killed while it appended ({task}): written, not acknowledged")
    yield from _recovery_problems(place / "capsule", journal, whole, locked=locked, result=result)


def _recovery_problems(
    place: Path, journal: bytes, whole: bytes, *, locked: bool, result: LaneResult
) -> Iterator[str]:
    """What the next writer meets, before and after an operator has looked."""
    verdict = capsule.verify(place)
    wanted = "ok" if journal == whole else "capsule.truncated_tail"
    if verdict.code != wanted:
        yield f"expected {wanted}, found {verdict.code}: {verdict.reason}"
    if wanted != "ok":
        result.count("killed while it appended: the tail is torn, and refused")
    if locked:
        if _refusal(place) != "capsule.busy" or (place / "journal.ndjson").read_bytes() != journal:
            yield "a lock that a killed writer left is not respected"
        (place / ".append.lock").unlink()
    later = _refusal(place)
    if later != (None if wanted == "ok" else wanted):
        yield f"after the lock was removed an append came to {later}"


def _refusal(place: Path) -> str | None:
    try:
        capsule.append_entry(place, "plan", "later")
    except EvalsError as error:
        return error.code
    return None if capsule.verify(place).ok else "an append that broke the capsule"


def _killed_run(place: Path, dice: random.Random, result: LaneResult) -> Iterator[str]:
    make_repository(place)
    first = run_case(place).document["run_id"]
    worker = _killed("run", place, dice)
    yield from worker.problems
    acknowledged = [first, *worker.acknowledged]
    for run_id in acknowledged:
        yield from bundle_problems(place, run_id)
    pointer = json.loads((place / LATEST).read_bytes())["run_id"]
    newer = pointer not in acknowledged
    if not newer and pointer != acknowledged[-1]:
        yield "latest.json is older than a run that was acknowledged after it"
    yield from judged(place).problems
    complete = len(list((place / LATEST).parent.glob("*/latest-candidate.json")))
    folders = [path for path in (place / LATEST).parent.iterdir() if path.is_dir()]
    if len(folders) > len(acknowledged) + 1:
        yield f"{len(folders)} folders for {len(acknowledged)} runs and one that was killed"
    result.count(f"killed while it ran: latest.json is {'newer' if newer else 'the last acknowledged'}")
    if complete < len(folders):
        result.count("killed while it ran: a bundle stayed unfinished, and nothing points at it")
    run_case(place)
    yield from judged(place).problems


def _killed(task: str, place: Path, dice: random.Random) -> Worker:
    """A worker that was killed a moment after it had done a few things."""
    with Worker(task, place, dice.randrange(WORKERS)) as worker:
        _let_begin(worker)
        for _ in range(dice.randrange(4)):
            worker.hear()
        # Waiting for nothing: a moment that the system's clock ends, not the worker.
        select.select([], [], [], dice.random() * _MOST_DELAY_S)
        worker.kill()
    return worker
