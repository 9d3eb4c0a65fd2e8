"""Lane `fuzz`: every reader and the command line, with any bytes.

Rules:
- Each target gets the corpus of the tests, then seeded mutations of good inputs, then, where atheris can be
  installed and loaded, a share of coverage-guided fuzzing in a process of its own with a memory limit.
- Files of many GB (sparse) then stand in the place of each document that a command reads: it must refuse, or
  end, within its stated limits of memory.
- atheris is installed by its package name into a throw-away folder, which no other code ever sees.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .fuzz_targets import targets
from .mutations import mutated
from .oversize import fire_oversize
from .report import Context, LaneResult

if TYPE_CHECKING:
    from .fuzz_targets import Target

NAME = "fuzz"
SUMMARY = "every reader and the command line, with any bytes"
SEED = 20261130
ROUNDS, QUICK_ROUNDS = 600, 10
GUIDED_SECONDS, QUICK_GUIDED_SECONDS = 6, 1
_MEMORY_MB = 1024
_QUICK_SHARE = 5


def run(context: Context) -> LaneResult:
    """Corpus, mutations, guided fuzzing, and files that are far too large."""
    result = LaneResult(NAME)
    folder = Path(context.folder)
    every = targets(folder / "targets")
    corpus = corpus_inputs(Path(context.root))
    for target in every:
        fire_corpus(target, corpus, result, quick=context.quick)
        fire_mutations(target, QUICK_ROUNDS if context.quick else ROUNDS, result)
    fire_oversize(folder / "oversize", result, quick=context.quick)
    seconds = QUICK_GUIDED_SECONDS if context.quick else GUIDED_SECONDS
    _fire_guided([target.name for target in every], folder, result, seconds, context)
    return result


def corpus_inputs(root: Path) -> dict[str, bytes]:
    """The inputs that the tests keep, by folder and name."""
    folder = root / "tests" / "corpus"
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in sorted(folder.glob("*/*"))}


def fire_corpus(target: Target, corpus: dict[str, bytes], result: LaneResult, *, quick: bool) -> None:
    """Every seed as it is and every kept input of its kind; in the short form costly targets take a share."""
    inputs = {name: data for name, data in corpus.items() if _concerns(name.partition("/")[0], target)}
    if quick and target.costly:
        first = len(target.name) % _QUICK_SHARE
        inputs = dict(list(inputs.items())[first::_QUICK_SHARE])
    for name, data in [*inputs.items(), *((f"seed {n}", seed) for n, seed in enumerate(target.seeds))]:
        result.count("corpus")
        for problem in target.attempt(data):
            result.fail(f"{target.name}: corpus {name}: {problem}")


def _concerns(kind: str, target: Target) -> bool:
    if kind == "words" or target.name == "argv":
        return kind == "words" and target.name == "argv"
    if kind == "toml":
        return "TOML" in target.name
    return kind == "json" or "capsule/" in target.name


def fire_mutations(target: Target, rounds: int, result: LaneResult) -> None:
    """Seeded changes of the seeds."""
    for number in range(rounds):
        dice = random.Random(f"{SEED} {target.name} {number}")
        data = mutated(dice, dice.choice(target.seeds))
        result.count("mutations")
        for problem in target.attempt(data):
            result.fail(f"{target.name}: mutation {number}: {data[:200]!r}: {problem}")


def _fire_guided(names: list[str], folder: Path, result: LaneResult, seconds: int, context: Context) -> None:
    package = folder / "atheris"
    reason = _install(package)
    if reason:
        result.note(f"no coverage-guided fuzzing: {reason}")
        return
    for name in names:
        _guide(name, folder, package, result, seconds=seconds, root=context.root)


def _install(package: Path) -> str | None:
    """Install atheris into the folder `package`; why it cannot be, or None."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    wheel = ["--only-binary", ":all:", "--no-deps", "--target", str(package), "atheris"]
    done = subprocess.run([*pip, *wheel], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"atheris cannot be installed ({done.stderr.strip().splitlines()[-1:]})"
    probe = [sys.executable, "-c", "import atheris"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(probe, env=environment, capture_output=True, text=True, check=False)
    return f"atheris cannot be loaded ({done.stderr.strip().splitlines()[-1:]})" if done.returncode else None


def _guide(name: str, folder: Path, package: Path, result: LaneResult, *, seconds: int, root: str) -> None:
    place = folder / "guided"
    scripts = Path(root, "scripts")
    command = [sys.executable, "-c", "from firing.fuzz_guided import child; child()", name, str(place)]
    done = subprocess.run(
        [*command, str(seconds), str(_MEMORY_MB)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(scripts), str(package)))},
        capture_output=True,
        check=False,
        timeout=seconds * 4 + 300,
    )
    said = done.stderr.decode("utf-8", "replace")
    result.count("guided", sum(_executions(line) for line in said.splitlines()))
    if done.returncode:
        result.fail(f"{name}: guided: {' | '.join(said.strip().splitlines()[-12:])[-1500:]}")


def _executions(line: str) -> int:
    words = line.split()
    return int(words[1]) if words[:1] == ["stat::number_of_executed_units:"] else 0
