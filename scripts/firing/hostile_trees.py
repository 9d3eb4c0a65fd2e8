"""Trees that are large, or whose names clash: ten thousand runs, names that differ by case or normalisation.

Rules:
- check and state make the same number of calls of the system whether there is one run folder or ten thousand.
- Names that are one on some systems are two here: each file keeps its own bytes, digests tell trees apart,
  and a pointer never finds the file of the other name.
- Names that Windows reserves are names like others here; what the program itself makes never has one, and no
  two names that it makes differ by case alone.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from typing import TYPE_CHECKING

from evals_cli.core.gate_variant import digest_dir

from .bundle_sample import EVIDENCE, LATEST
from .shim import Shim
from .trying import tried
from .world import COMMANDS, PROJECT, make_world

if TYPE_CHECKING:
    from pathlib import Path

    from .report import LaneResult

RUNS, QUICK_RUNS = 10_000, 1_000
_TIMES = 9
RESERVED = (
    "con",
    "PRN",
    "aux.case.json",
    "nul.json",
    "COM1",
    "lpt9.txt",
    "a.",
    "a ",
    "a:b",
    "a?b",
    "a|b",
    '"',
)
_RESERVED = re.compile(r'(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)|.*[. ]$|.*[<>:"|?*\\\x00-\x1f]')


def fire_many_runs(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Let check and state look beside one run folder, and beside very many."""
    world = folder / "world"
    make_world(world)
    runs = (world / LATEST).parent
    number = QUICK_RUNS if quick else RUNS
    few = {name: _cost(name, world) for name in ("check", "state")}
    for each in range(number):
        (runs / f"20260101T000000Z-old-{each:08x}").mkdir()
    many = {name: _cost(name, world) for name in ("check", "state")}
    result.count("run folders beside the latest", number)
    for name in few:
        if few[name][0] != many[name][0]:
            result.fail(f"{name}: {few[name][0]} calls beside one run, {many[name][0]} beside {number}")
        ratio = many[name][1] / few[name][1]
        result.note(f"{name} beside {number} run folders takes {ratio:.2f} times as long as beside one")


def _cost(name: str, world: Path) -> tuple[int, float]:
    """The number of calls of the system, and the best time of several."""
    words = next(use.words for use in COMMANDS if use.name == name)
    tried(words, world)
    with Shim() as shim:
        tried(words, world)
    best = float("inf")
    for _ in range(_TIMES):
        started = time.perf_counter()
        tried(words, world)
        best = min(best, time.perf_counter() - started)
    return sum(shim.counts.values()), best


def fire_clashes(folder: Path, result: LaneResult) -> None:
    """Names that some systems take for one."""
    for first, second in (("Case.js", "case.js"), _normalised("caf\u00e9.js"), ("stra\u00dfe", "strasse")):
        _fire_clash(folder / f"clash {first!a}", first, second, result)
    _fire_wrong_pointer(folder / "pointer", result)
    _fire_reserved(folder / "reserved", result)


def _normalised(name: str) -> tuple[str, str]:
    return unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)


def _fire_clash(folder: Path, first: str, second: str, result: LaneResult) -> None:
    digests: set[str] = set()
    for names in ((first,), (second,), (first, second)):
        tree = folder / str(len(names)) / str(len(digests))
        tree.mkdir(parents=True)
        for name in names:
            (tree / name).write_text("x", encoding="utf-8")
        if len(list(tree.iterdir())) != len(names):
            result.note(f"this file system takes {first!a} and {second!a} for one name")
            return
        digests.add(digest_dir(tree))
    result.count("trees told apart by names that clash", len(digests))
    if len(digests) != 3:
        result.fail(f"clash: trees of {first!a} and {second!a} have one digest")


def _fire_wrong_pointer(folder: Path, result: LaneResult) -> None:
    """Evidence under the name that is nearly the stated one is not found."""
    for nearly in (
        EVIDENCE.upper(),
        "evidence/WRITES.case.json",
        *_normalised("evidence/writ\u00e9s.case.json"),
    ):
        world = folder / f"{nearly!a}".replace("/", "_")
        make_world(world)
        project = json.loads((world / PROJECT).read_bytes())
        project["runtime_evidence_policy"]["evidence_paths"] = [nearly]
        (world / PROJECT).write_text(json.dumps(project), encoding="utf-8")
        other = unicodedata.normalize("NFD" if unicodedata.is_normalized("NFC", nearly) else "NFC", nearly)
        if other != nearly and not nearly.isascii():
            (world / EVIDENCE).rename(world / other)
        result.count("pointers to nearly the name of a file")
        if not (world / nearly).exists() and tried(("check", "--json"), world).status != 1:
            result.fail(f"check takes another file for {nearly!a}")


def _fire_reserved(folder: Path, result: LaneResult) -> None:
    make_world(folder)
    for name in RESERVED:
        (folder / "evidence" / name).write_text("{}", encoding="utf-8")
        (folder / "variant" / name).write_text("x", encoding="utf-8")
        (folder / "capsules" / name).mkdir(parents=True)
        for words in (
            ("capsule", "create", f"capsules/{name}/c"),
            ("capsule", "verify", f"capsules/{name}/c"),
        ):
            trial = tried(words, folder)
            result.count("reserved names")
            if trial.status != 0 or trial.problems:
                result.fail(f"reserved name {name!r}: {words}: {trial.said[-300:]}")
    for use in COMMANDS:
        trial = tried(use.words, folder)
        for problem in trial.problems:
            result.fail(f"reserved names: {use.name}: {problem}")
    own = [path for path in folder.rglob("*") if not {"evidence", "variant", "capsules"} & set(path.parts)]
    for path in own:
        result.count("names that the program made")
        if _RESERVED.match(path.name) or not path.name.isascii():
            result.fail(f"the program made a name that cannot be everywhere: {path.name!r}")
    if len({str(path).casefold() for path in own}) != len(own):
        result.fail("the program made two names that differ by case alone")
