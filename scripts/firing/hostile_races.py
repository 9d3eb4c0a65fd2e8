"""Links that are swapped while a command looks: what is inside is bad, what the link leads to is good.

Rules:
- Another process puts, as fast as it can, by turns the file that belongs there and a link to a genuine one
  outside the repository. The file inside fails its check; so a command that comes to a good end has followed
  the link out.
- The same with whole folders, which are renamed away and back.
- The number of looks is fixed; nothing waits.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .bundle_sample import EVIDENCE, LATEST
from .trying import tried
from .world import COMMANDS, PROJECT, bundle_files, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .report import LaneResult

LOOKS, QUICK_LOOKS = 60, 8
_BY_NAME = {use.name: use for use in COMMANDS}

# place, the bad one that belongs there, the outside one that is good, a spare name
_SWAP_FILES = """
import os, sys
place, bad, good, spare = sys.argv[1:]
os.write(1, b".")
while True:
    os.symlink(good, spare); os.rename(spare, place)
    os.link(bad, spare); os.rename(spare, place)
"""
_SWAP_FOLDERS = """
import os, sys
place, away, good, _ = sys.argv[1:]
os.write(1, b".")
while True:
    os.rename(place, away); os.symlink(good, place)
    os.unlink(place); os.rename(away, place)
"""


@dataclass(frozen=True)
class Race:
    """A command that looks while `place` is swapped; `hurt` is the file whose bytes inside are bad."""

    command: str
    place: str
    hurt: str


def fire_races(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Every race; a quick run looks less often, at every third."""
    make_world(folder / "genuine")
    for race in _races(folder / "genuine")[:: 3 if quick else 1]:
        _fire(race, folder, result, QUICK_LOOKS if quick else LOOKS)


def _races(world: Path) -> list[Race]:
    files = bundle_files(world)
    runs = os.path.dirname(LATEST)
    single = [LATEST, *files, PROJECT, EVIDENCE]
    folders = (os.path.dirname(files[0]), runs, ".harness", "evidence", ".evals")
    hurt = {"evidence": EVIDENCE, ".evals": PROJECT}
    return [
        *(Race(name, path, path) for name in ("check", "state") for path in single),
        *(Race(name, path, hurt.get(path, files[1])) for name in ("check", "state") for path in folders),
        Race("capsule verify", "capsule/journal.ndjson", "capsule/journal.ndjson"),
        Race("receipt verify", "capsule/journal.ndjson", "capsule/journal.ndjson"),
        Race("validate", "smoke.case.json", "smoke.case.json"),
        Race("validate-promotions", ".harness/case-promotions", ".harness/case-promotions/one.json"),
    ]


def _fire(race: Race, folder: Path, result: LaneResult, looks: int) -> None:
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder / "genuine", work)
    _hurt(work / race.hurt)
    use = _BY_NAME[race.command]
    seen = set()
    with _swapped(work / race.place, folder / "genuine" / race.place, folder):
        for _ in range(looks):
            trial = tried(use.words, work)
            seen.add((trial.status, trial.out, trial.err))
            result.count(f"{race.command}: looks during a swap")
            for problem in trial.problems:
                result.fail(f"{race.command}: {race.place} swapped: {problem}")
            if trial.status == 0 and _is_good(race.command, trial.out):
                result.fail(f"{race.command}: {race.place} swapped: the link was followed")
    result.count("races in which the command saw more than one thing", len(seen) > 1)


def _hurt(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2] + b"?\n")


def _is_good(command: str, out: bytes) -> bool:
    if command != "state":
        return True
    packet = json.loads(out)
    ready: bool = packet["evidence_packet"]["readiness_verdict"]["status"] == "pass"
    return packet["status"] == "ready" and ready


@contextmanager
def _swapped(place: Path, good: Path, folder: Path) -> Iterator[None]:
    """Swap `place` for a link to `good` and back, in another process, inside the block."""
    if place.is_dir():
        script, kept = _SWAP_FOLDERS, folder / "away"
    else:
        script, kept = _SWAP_FILES, folder / "bad"
        shutil.copyfile(place, kept)
    words = [str(place), str(kept), str(good), str(folder / "spare")]
    with subprocess.Popen([sys.executable, "-S", "-c", script, *words], stdout=subprocess.PIPE) as swapping:
        assert swapping.stdout is not None
        swapping.stdout.read(1)
        try:
            yield
        finally:
            swapping.kill()
            swapping.wait()
    _settle(place, kept, folder / "spare")


def _settle(place: Path, kept: Path, spare: Path) -> None:
    """Whatever the killed process left half done is taken away."""
    if place.is_symlink():
        place.unlink()
    for path in (kept, spare):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
