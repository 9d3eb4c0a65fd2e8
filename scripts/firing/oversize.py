"""Files that are far too large, in the place of each document that a command reads.

Rules:
- A document has a stated limit: a file beyond it (sparse, 1 TiB of zero bytes) is refused, and the process
  never holds more than the limit and a base.
- Journals and artifacts are streamed: 1 GiB of them takes no more memory than the base, whatever they hold.
  So are the files of a run bundle but its manifest, and the case that a check digests, whatever their size.
- Within its limit a hostile text may cost a multiple of its size: no more than FACTOR times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .bundle_sample import CASE
from .world import COMMANDS, Use, bundle_files, make_world

if TYPE_CHECKING:
    from pathlib import Path

    from .report import LaneResult

MIB = 1024 * 1024
BASE_MIB = 80
FACTOR = 40
TIME_LIMIT_S = 120
_FAR_TOO_LARGE = 1 << 40
_STREAMED_SIZE, _QUICK_STREAMED_SIZE = 1 << 30, 1 << 26
_STREAMED = ("capsule/journal.ndjson", "artifact.bin", "variant/run.js")
# What a document may hold, in MiB; 16 covers all that are not named.
_LIMITS_MIB = {"receipt.json": 256, "gate.json": 256, "claims.json": 64, "vector.json": 64}
_OTHER_MIB = 64
_LAUNCH = "import sys; from evals_cli.main import run; sys.exit(run())"


@dataclass(frozen=True)
class Cost:
    """How a process ended (None: not in time), its peak memory, and what it said."""

    status: int | None
    peak_mib: float
    said: str


def fire_oversize(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Try each position of each command; a quick run tries every twelfth."""
    make_world(folder)
    pairs = [(use, path) for use in COMMANDS for path in _paths(use, folder)]
    for use, path in pairs[:: 12 if quick else 1]:
        _fire(use, path, folder, result, _QUICK_STREAMED_SIZE if quick else _STREAMED_SIZE)
    if not quick:
        _fire_within_limit(folder, result)


def _paths(use: Use, folder: Path) -> list[str]:
    # A run digests its case, whose bytes it also keeps: the position `run: CASE` is enough.
    return [*use.reads, *(bundle_files(folder) if use.name == "check" else [])]


def _fire(use: Use, path: str, folder: Path, result: LaneResult, streamed_size: int) -> None:
    place = folder / path
    streamed = path in _STREAMED or _is_digested(use, path)
    kept = place.read_bytes()
    os.truncate(place, streamed_size if streamed else _FAR_TOO_LARGE)
    limit = 0 if path in _STREAMED else _LIMITS_MIB.get(path, _OTHER_MIB)
    try:
        cost = measured(use.words, folder)
    finally:
        os.truncate(place, len(kept))
        place.write_bytes(kept)
    result.count("far too large: streamed" if streamed else "far too large: refused")
    for problem in _problems(cost, BASE_MIB + limit):
        result.fail(f"{use.name}: {path}: far too large: {problem}")


def _is_digested(use: Use, path: str) -> bool:
    """Whether a check digests the file at `path` without reading it as a document, or besides."""
    if "/runs/" in path:
        return not path.endswith(("latest.json", "manifest.json"))
    return use.name == "check" and path == CASE


def _fire_within_limit(folder: Path, result: LaneResult) -> None:
    """Texts that are within every limit and cost their reader most."""
    for use, path, size in (
        (next(use for use in COMMANDS if use.name == "capsule verify"), "capsule/journal.ndjson", 4),
        (next(use for use in COMMANDS if use.name == "check"), ".evals/project.json", 8),
    ):
        place = folder / path
        kept = place.read_bytes()
        place.write_bytes(b"[" + b"[]," * (size * MIB // 3 - 2) + b"0]\n")
        cost = measured(use.words, folder)
        place.write_bytes(kept)
        result.count("as large as may be")
        result.note(f"{use.name}: {size} MiB of empty lists in {path}: peak {cost.peak_mib:.0f} MiB")
        for problem in _problems(cost, BASE_MIB + size * FACTOR):
            result.fail(f"{use.name}: {path}: as large as may be: {problem}")


def _problems(cost: Cost, bound_mib: float) -> list[str]:
    if cost.status is None:
        return [f"no end within {TIME_LIMIT_S} s"]
    problems = [] if cost.status in (0, 1, 2) else [f"exit code {cost.status}"]
    if "Traceback" in cost.said or "internal.error" in cost.said:
        problems.append(cost.said.strip()[-300:])
    if cost.peak_mib > bound_mib:
        problems.append(f"it took {cost.peak_mib:.0f} MiB; {bound_mib:.0f} MiB are stated")
    return problems


def measured(words: tuple[str, ...], folder: Path) -> Cost:
    """Run the command in a process of its own and measure it."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MEASURE, str(TIME_LIMIT_S), sys.executable, "-c", _LAUNCH, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate()
    status, _, peak = err.decode("utf-8", "replace").rpartition("MEASURED ")[2].partition(" ")
    text = (out[-4096:] + err).decode("utf-8", "replace")
    return Cost(None if status == "late" else int(status), int(peak or 0) / 1024, text)


# The peak of all children of a process is known to it alone: so each command gets a parent of its own.
_MEASURE = """
import resource, subprocess, sys
try:
    status = subprocess.run(sys.argv[2:], timeout=float(sys.argv[1])).returncode
except subprocess.TimeoutExpired:
    status = "late"
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.stderr.write(f"MEASURED {status} {peak}")
"""
