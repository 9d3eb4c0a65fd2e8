"""Starting: small commands against a bare interpreter, and the commands of runs against `import jsonschema`.

A command that is short is mostly its start; each is a process of the installed `evals`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.measuring import CommandError, by_turns, command_seconds, evals, process
from benchmarks.rows import Row, seconds

if TYPE_CHECKING:
    from benchmarks.command import Settings

SMOKE_CASE = "fixtures/smoke/pr-closeout.case.json"
_IMPORTED = """
import sys
from evals_cli.main import main
main(sys.argv[1:])
sys.exit(",".join(name for name in ("rich", "jsonschema") if name in sys.modules))
"""


def small_commands(settings: Settings) -> list[Row]:
    """`evals --version` and verify of ten entries against `python -c pass`."""
    folder = settings.capsule("plain", 10)
    words = {"evals --version": ("--version",), "verify of 10 entries": ("capsule", "verify", folder)}
    works = {"python -c pass": process([sys.executable, "-c", "pass"])}
    works |= {name: evals(*word) for name, word in words.items()}
    bars = {"evals --version": 2.0, "verify of 10 entries": 2.5}
    samples = by_turns(works, settings.starts, command_seconds)
    rows = _rows(samples, "python -c pass", bars)
    for row in rows:
        loaded = _heavy_imports(*words[row.work])
        row.work += f" (loads {loaded})" if loaded else " (loads neither rich nor jsonschema)"
    return rows


def _heavy_imports(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stderr.strip()


def commands_of_runs(settings: Settings) -> list[Row]:
    """check, state and run of the smoke case against `python -c "import jsonschema"`."""
    yardstick = 'python -c "import jsonschema"'
    try:
        home = smoke_home(settings)
        works = {yardstick: process([sys.executable, "-c", "import jsonschema"])}
        for name in ("check", "state"):
            works[f"{name} of the smoke case"] = evals(name, "--json", cwd=home)
        # Last, since each run leaves a bundle.
        works["run of the smoke case"] = evals("run", SMOKE_CASE, "--json", cwd=home)
        samples = by_turns(works, settings.starts, command_seconds)
    except CommandError as error:
        return [Row(work="check, state and run of the smoke case", missing=str(error))]
    shutil.rmtree(home)
    return _rows(samples, yardstick, dict.fromkeys([name for name in works if name != yardstick], 1.5))


def smoke_home(settings: Settings) -> str:
    """A root that passes check: what a checkout of this project has, and a bundle of the smoke case."""
    home = settings.fresh_folder("home")
    for name in ("schemas", "contracts", "fixtures"):
        shutil.copytree(
            os.path.join(settings.root, name),
            os.path.join(home, name),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    os.mkdir(os.path.join(home, ".harness"))
    evals("run", SMOKE_CASE, "--json", cwd=home)()
    return home


def _rows(samples: dict[str, list[float]], yardstick: str, bars: dict[str, float]) -> list[Row]:
    against = min(samples[yardstick])
    return [
        Row(
            work=name,
            ours=seconds(min(samples[name])),
            yardstick=f"{yardstick} {seconds(against)}",
            figure=min(samples[name]) / against,
            bar=bar,
            samples={name: samples[name], yardstick: samples[yardstick]},
        )
        for name, bar in bars.items()
    ]
