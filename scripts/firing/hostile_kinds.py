"""Anything but a regular file, in the place of each file that a command reads, and where one writes.

Rules:
- A FIFO, a socket, a folder, a device, a link that dangles or leads to itself: every command comes to an end,
  and refuses (state does not refuse, and finds no readiness).
- A link to the genuine file, outside the repository: whatever a document names is refused. A file that the
  user names on the command line may be a link; that is what the user asked for.
- What stands where a command writes is replaced whole, or refused; a lock of any kind is `capsule.busy`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .bundle_sample import LATEST
from .trying import tried
from .world import COMMANDS, REFUSING, Use, bundle_files, make_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .report import LaneResult
    from .trying import Trial

# The user's own words: links in them are followed.
_USER_NAMED = ("payload.json", "receipt.json", "artifact.bin", "gate.json")
_RUNS = str(Path(LATEST).parent)
_BY_NAME = {use.name: use for use in COMMANDS}
# Where commands write, and whether anything that stands there must make them refuse.
_OUTPUTS = (
    ("capsule append", "capsule/.append.lock", True),
    ("capsule project", "capsule/projection.json", False),
    ("capsule export", "exported", False),
    ("capsule export", "exported/journal.ndjson", False),
    ("capsule create", "another", False),
    ("capsule create", "another/capsule/capsule.json", True),
    ("receipt build", "capsule/projection.json", False),
    ("run", LATEST, False),
    ("run", _RUNS, False),
    ("run", ".harness/evals", False),
)


def fire_kinds(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Every kind in every place; a quick run takes every seventh pair."""
    make_world(folder / "world")
    attempts = list(_attempts(folder))
    for attempt in attempts[:: 7 if quick else 1]:
        attempt(result)


def _attempts(folder: Path) -> Iterator[Callable[[LaneResult], None]]:
    world = folder / "world"
    for use in COMMANDS:
        more = bundle_files(world) if use.name in ("check", "state") else []
        for path in (*use.reads, *more):
            for kind in KINDS:
                yield _reading(use, path, kind, folder)
    for name, path, refuses in _OUTPUTS:
        for kind in KINDS:
            yield _writing(_BY_NAME[name], path, kind, refuses, folder)


def _reading(use: Use, path: str, kind: str, folder: Path) -> Callable[[LaneResult], None]:
    def fire(result: LaneResult) -> None:
        work = _work(folder, use)
        with replaced(work / path, kind, folder) as made:
            if not made:
                result.count(f"{kind}: cannot be made here")
                return
            trial = tried(use.words, work)
        result.count(f"{kind}: in the place of a file that is read")
        for problem in [*trial.problems, *_verdict_problems(use, path, kind, trial)]:
            result.fail(f"{use.name}: {kind} at {path}: {problem}")

    return fire


def _writing(use: Use, path: str, kind: str, refuses: bool, folder: Path) -> Callable[[LaneResult], None]:
    def fire(result: LaneResult) -> None:
        work = _work(folder, use)
        with replaced(work / path, kind, folder) as made:
            if not made:
                return
            trial = tried(use.words, work)
            problems = [*trial.problems, *_outside_problems(folder)]
            if refuses and trial.status == 0:
                problems.append("it was not refused")
            if path.endswith(".append.lock") and trial.codes != ["capsule.busy"]:
                problems.append(f"expected capsule.busy, found {trial.codes}")
        result.count(f"{kind}: where a command writes")
        for problem in problems:
            result.fail(f"{use.name}: {kind} at {path}: {problem}")

    return fire


def _work(folder: Path, use: Use) -> Path:
    """The world to try in: a fresh copy for a command that writes."""
    if not use.writes:
        return folder / "world"
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder / "world", work, symlinks=True)
    return work


def _verdict_problems(use: Use, path: str, kind: str, trial: Trial) -> list[str]:
    if use.name in REFUSING or (kind == "link to the genuine file" and path in _USER_NAMED):
        return []
    if use.name == "state":
        return [] if trial.status == 0 and not _says_ready(trial) else ["state sees nothing wrong"]
    return [] if trial.status == 1 else [f"exit code {trial.status}, and 1 was expected"]


def _says_ready(trial: Trial) -> bool:
    packet = json.loads(trial.out)
    readiness = packet["evidence_packet"]["readiness_verdict"]["status"]
    return bool(packet["status"] == "ready" and readiness == "pass")


def _outside_problems(folder: Path) -> list[str]:
    outside = folder / "outside"
    left = sorted(path.name for path in outside.rglob("*")) if outside.exists() else []
    return [f"something was written outside: {left}"] if set(left) - {"genuine", "genuine.fifo"} else []


# The kinds.


@contextmanager
def replaced(place: Path, kind: str, folder: Path) -> Iterator[bool]:
    """`kind` at `place` inside the block, what was there again afterwards; False where it cannot be made."""
    place.parent.mkdir(parents=True, exist_ok=True)
    kept = place.with_name(f"{place.name}.kept")
    outside = folder / "outside"
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir()
    if os.path.lexists(place):
        place.rename(kept)
    try:
        yield _made(place, kind, kept, outside)
    finally:
        _remove(place)
        if os.path.lexists(kept):
            kept.rename(place)


def _made(place: Path, kind: str, kept: Path, outside: Path) -> bool:
    genuine = outside / "genuine"
    if kept.is_dir():
        genuine.mkdir()
    elif kept.is_file():
        shutil.copyfile(kept, genuine)
    try:
        _MAKE[kind](place, genuine)
    except OSError:
        return False
    return True


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _make_socket(place: Path, _: Path) -> None:
    # The name of a socket is short; the folder is entered instead.
    before = os.getcwd()
    os.chdir(place.parent)
    try:
        with socket.socket(socket.AF_UNIX) as endpoint:
            endpoint.bind(place.name)
    finally:
        os.chdir(before)


def _make_device(place: Path, _: Path) -> None:
    os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def _make_link_to_fifo(place: Path, genuine: Path) -> None:
    os.mkfifo(genuine.with_name("genuine.fifo"))
    os.symlink(genuine.with_name("genuine.fifo"), place)


_MAKE: dict[str, Callable[[Path, Path], None]] = {
    "FIFO": lambda place, _: os.mkfifo(place),
    "socket": _make_socket,
    "folder": lambda place, _: os.mkdir(place),
    "device": _make_device,
    "link to /dev/zero": lambda place, _: os.symlink("/dev/zero", place),
    "link to a FIFO": _make_link_to_fifo,
    "dangling link": lambda place, _: os.symlink("nowhere/at all", place),
    "link to itself": lambda place, _: os.symlink(place.name, place),
    "link to the genuine file": lambda place, genuine: os.symlink(genuine, place),
}
KINDS = tuple(_MAKE)
