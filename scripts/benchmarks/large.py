"""Large work: a group of a hundred capsules, and check of a bundle whose report has a gigabyte."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.measuring import (
    CommandError,
    by_turns,
    clock_seconds,
    command_seconds,
    evals,
    own_seconds,
    peak_mebibytes,
    process,
)
from benchmarks.rows import Row, seconds
from benchmarks.starting import smoke_home
from evals_cli.core import capsule
from evals_cli.core.retrospective import group_capsules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.command import Settings
    from benchmarks.measuring import Work

CAPSULES, ENTRIES = 100, 1000
MEBIBYTE = 1024 * 1024
_SHA256 = """
import hashlib, sys
digest = hashlib.sha256()
with open(sys.argv[1], "rb") as file:
    while chunk := file.read(1024 * 1024):
        digest.update(chunk)
"""


def group(settings: Settings) -> list[Row]:
    """A group against the sum of verifies of its members, both on one core, and the group on all cores."""
    folders = [settings.member(number, ENTRIES) for number in range(CAPSULES)]
    works: dict[str, Work] = {
        "group": partial(group_capsules, folders),
        "verifies": partial(_verify_each, folders),
    }
    with _one_core() as pinned:
        on_one = by_turns(works, settings.rounds, own_seconds)
    on_all = by_turns(works, settings.rounds, clock_seconds)
    work = f"group of {CAPSULES} capsules of {ENTRIES:,} entries"
    return [
        _group_row(f"{work}, {'one core' if pinned else 'cores not limited here'}", on_one, 1.1),
        _group_row(f"{work}, all cores", on_all, None),
    ]


def _group_row(work: str, samples: dict[str, list[float]], bar: float | None) -> Row:
    ours, yardstick = min(samples["group"]), min(samples["verifies"])
    return Row(
        work=work,
        ours=seconds(ours),
        yardstick=f"sum of verifies {seconds(yardstick)}",
        figure=ours / yardstick,
        bar=bar,
        samples=samples,
    )


def _verify_each(folders: list[str]) -> None:
    for folder in folders:
        if not capsule.verify(folder).ok:
            raise AssertionError(folder)


@contextmanager
def _one_core() -> Iterator[bool]:
    """Keep this process on one core inside the block; False where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        yield False
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


def artifact(settings: Settings) -> list[Row]:
    """Check of a bundle with a large report against sha256sum of that file, and its memory."""
    size = f"{settings.artifact_mebibytes / 1024:g} GiB"
    work = f"check of a bundle with an artifact of {size}"
    try:
        home = smoke_home(settings)
        report = _grow_report(home, settings.artifact_mebibytes)
        works: dict[str, Work] = {"check": evals("check", "--json", cwd=home)}
        tool = shutil.which("sha256sum")
        works["yardstick"] = process([tool, report] if tool else [sys.executable, "-c", _SHA256, report])
        samples = by_turns(works, settings.large_rounds, command_seconds)
        peak = peak_mebibytes("check", "--json", cwd=home)
    except CommandError as error:
        return [Row(work=work, missing=str(error))]
    shutil.rmtree(home)
    ours, yardstick = min(samples["check"]), min(samples["yardstick"])
    return [
        Row(
            work=work,
            ours=seconds(ours),
            yardstick=f"{'sha256sum' if tool else 'hashlib'} {seconds(yardstick)}",
            figure=ours / yardstick,
            bar=1.3,
            samples=samples,
        ),
        Row(work=f"memory of check, {size}", ours=f"{peak:.1f} MiB", figure=peak, unit="MiB", bar=64),
    ]


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(MEBIBYTE):
            digest.update(chunk)
    return digest.hexdigest()


def _grow_report(home: str, mebibytes: int) -> str:
    """Put a large report into the bundle and its digest into the documents that hold it; its path."""
    bundle = glob.glob(os.path.join(home, ".harness", "evals", "runs", "*", "manifest.json"))[0]
    report, result = (os.path.join(os.path.dirname(bundle), name) for name in ("report.md", "result.json"))
    old = {path: _digest(path).encode() for path in (report, result)}
    block = os.urandom(MEBIBYTE)
    with open(report, "wb") as file:
        for _ in range(mebibytes):
            file.write(block)
    _replace(result, old[report], _digest(report).encode())
    _replace(bundle, old[report], _digest(report).encode())
    _replace(bundle, old[result], _digest(result).encode())
    return report


def _replace(path: str, old: bytes, new: bytes) -> None:
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content.replace(old, new))
