"""The process in which atheris guides the fuzzing of one target; started by the lane `fuzz`."""

from __future__ import annotations

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path


def child() -> None:
    """Fuzz the target named on the command line; the exit code is not 0 where a promise broke."""
    atheris = import_module("atheris")  # installed by the lane, for this process only

    name, place, seconds, memory = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    shutil.rmtree(place, ignore_errors=True)
    with atheris.instrument_imports(include=["evals_cli"]):
        from .fuzz_targets import targets

        target = next(target for target in targets(place / "targets") if target.name == name)
        # What is imported late is imported now, so that it is instrumented too.
        for seed in target.seeds:
            target.attempt(seed)
    seeds = place / "seeds"
    seeds.mkdir()
    for number, seed in enumerate(target.seeds):
        (seeds / str(number)).write_bytes(seed)
    os.chdir(place)

    def one(data: bytes) -> None:
        problems = target.attempt(data)
        if problems:
            raise AssertionError(f"{data[:300]!r}: {problems}")

    options = [f"-max_total_time={seconds}", f"-rss_limit_mb={memory}", "-timeout=20", "-max_len=8192"]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", "-seed=1", str(seeds)], one)
    atheris.Fuzz()
