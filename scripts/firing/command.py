"""The command line of `scripts/fire`: choose lanes, run them, print the table, write the JSON.

Rules:
- Exit 0 when no lane failed, 1 when one did, 2 for wrong usage. A skipped lane is no failure.
- Each lane works in a scratch folder of its own, in memory (/dev/shm) where the system offers that, and the
  folder is removed afterwards.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Protocol, cast

from .registry import LANES
from .report import Context, LaneResult, as_json, table

ROOT = Path(__file__).resolve().parent.parent.parent
_MEMORY = "/dev/shm"


class Lane(Protocol):
    """A module of this package that `registry` names."""

    NAME: str
    SUMMARY: str

    def run(self, context: Context) -> LaneResult:
        """Try everything, and say what was tried and what went wrong."""


def main(arguments: list[str] | None = None) -> int:
    """Run the lanes asked for."""
    parser = argparse.ArgumentParser(prog="scripts/fire", description="Run the long fault tests.")
    parser.add_argument("--only", metavar="LANE", action="append", help="run this lane; may be repeated")
    parser.add_argument("--quick", action="store_true", help="a sample of each class instead of everything")
    parser.add_argument("--json", metavar="FILE", help="write the report here as JSON, too")
    parser.add_argument("--list", action="store_true", help="print the lanes and what each does")
    chosen = parser.parse_args(arguments)
    if chosen.list:
        print("\n".join(f"{lane.NAME:<12} {lane.SUMMARY}" for lane in map(load, LANES)))
        return 0
    unknown = [name for name in chosen.only or () if name not in LANES]
    if unknown:
        parser.error(f"no lane is called {', '.join(unknown)}; there are {', '.join(LANES)}")
    results = [_run(load(name), quick=chosen.quick) for name in LANES if name in (chosen.only or LANES)]
    sys.stdout.write(table(results))
    if chosen.json:
        Path(chosen.json).write_text(as_json(results, quick=chosen.quick), encoding="utf-8")
    return 1 if any(result.status == "failed" for result in results) else 0


def load(name: str) -> Lane:
    """The lane `name`."""
    return cast("Lane", importlib.import_module(f"{__package__}.{name}"))


def _run(lane: Lane, *, quick: bool) -> LaneResult:
    print(f"{lane.NAME}: {lane.SUMMARY}", file=sys.stderr, flush=True)
    started = time.monotonic()
    place = _MEMORY if os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="evals-fire-", dir=place) as folder:
        try:
            result = lane.run(Context(folder=os.path.realpath(folder), root=str(ROOT), quick=quick))
        except Exception:  # noqa: BLE001 - a broken lane must not keep the others from running
            result = LaneResult(lane.NAME)
            result.fail("the lane itself broke: " + traceback.format_exc().strip().replace("\n", " | "))
    result.seconds = time.monotonic() - started
    return result
