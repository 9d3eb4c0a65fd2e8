"""Names and texts that would steer a terminal, in every word and in every document, on a real terminal.

Rules:
- Nothing of EVIL reaches the terminal raw: no control character but line ends and this program's own colours,
  no bidi override, no line or paragraph separator, and no line that is forged by a line end in a name.
- The same with colours and without.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from evals_cli.core import capsule

from .bundle_sample import CASE, EVIDENCE, LATEST
from .terminals import on_terminal
from .world import COMMANDS, PROJECT, PROMOTION, SUITE, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from .report import LaneResult

FORGED = "evals: forged"
EVIL = f"a\n{FORGED}\r\x1b]0;owned\x07\x1b[2J\u202e\u2066\x9b31m\x7f\u2028\u2029\x08b"
BRANCH = "a\u202e\u2066b"
_SETTINGS: tuple[dict[str, str], ...] = ({}, {"NO_COLOR": "1"})
# ESC begins a colour of this program's own; everything else that steers is counted.
_FORBIDDEN = (
    *(bytes([code]) for code in range(0x20) if code not in (0x0A, 0x0D, 0x1B)),
    *(b"\x7f", b"\x1b]", b"\x1b[2J", b"owned\x07"),
    *(char.encode() for char in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2028\u2029\x85\x9b\x9d"),
)


def fire_names(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Every command with evil words, then with evil documents; a quick run takes every fifth."""
    world = folder / "world"
    make_world(world)
    evil = folder / "evil"
    make_world(evil)
    _make_evil(evil)
    attempts = [*((words, world) for words in _evil_words()), *((words, evil) for words in _words(evil))]
    for words, place in attempts[:: 5 if quick else 1]:
        for setting in _SETTINGS:
            _fire(words, place, setting, result)


def _fire(words: Sequence[str], place: Path, setting: dict[str, str], result: LaneResult) -> None:
    status, got = on_terminal(words, place, **setting)
    what = "words" if place.name == "world" else "documents"
    result.count(f"evil {what} on a terminal")
    for problem in [*raw_problems(got), *([] if status in (0, 1, 2) else [f"exit code {status}"])]:
        result.fail(f"evil {what}: {list(words)!a}: {problem}")


def raw_problems(got: bytes) -> Iterator[str]:
    """What is steering in the bytes that a terminal got."""
    for forbidden in _FORBIDDEN:
        if forbidden in got:
            yield f"{forbidden!r} came through in {got[:400]!r}"
    if any(line.startswith(FORGED.encode()) for line in got.replace(b"\r", b"\n").split(b"\n")):
        yield f"a forged line in {got[:400]!r}"


def _evil_words() -> Iterator[tuple[str, ...]]:
    """Each word of each command but its name, replaced."""
    for use in COMMANDS:
        named = 2 if use.words[0] in ("capsule", "receipt", "gate") else 1
        for place in range(named, len(use.words)):
            yield (*use.words[:place], EVIL, *use.words[place + 1 :])
            if use.words[place].startswith("--"):
                yield (*use.words[:place], f"--{EVIL}", *use.words[place + 1 :])
    yield (EVIL,)
    yield ("capsule", EVIL)
    yield ("check", f"--repo-root={EVIL}")
    yield ("capsule", "append", "capsule", "--lineage", "plan", "--kind", "k", "--payload", f'{{"{EVIL}"')


def _make_evil(folder: Path) -> None:
    """Put EVIL wherever a document takes a text, and into names of files."""
    for path in (CASE, SUITE, PROJECT, LATEST, EVIDENCE, PROMOTION, "claims.json", "vector.json"):
        document = json.loads((folder / path).read_bytes())
        (folder / path).write_text(json.dumps(_soiled(document)), encoding="utf-8")
    shutil.copyfile(folder / PROMOTION, (folder / PROMOTION).with_name(f"{EVIL}.json"))
    shutil.copyfile(folder / "variant" / "run.js", folder / "variant" / f"{EVIL}.js")
    (folder / "variant" / f"{EVIL}.json").write_text('require("http")\nfetch("x")\n', encoding="utf-8")
    (folder / "evidence" / f"{EVIL}.case.json").write_text("{", encoding="utf-8")
    capsule.Capsule.create(folder / "soiled", task_family=EVIL, harness_version=EVIL).append(
        "plan", "k", {"note": EVIL, "model": EVIL}
    )
    broken = folder / "broken"
    shutil.copytree(folder / "soiled", broken)
    (broken / "journal.ndjson").write_text(
        json.dumps({EVIL: EVIL}, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (folder / "soiled.json").write_text(json.dumps({"verdict": EVIL, EVIL: 1}), encoding="utf-8")
    subprocess.run(["git", "init", "-q", "-b", BRANCH, str(folder)], check=False, capture_output=True)


def _soiled(value: Any) -> Any:
    """Every text replaced but enumerations and versions, and one key more in each object."""
    if isinstance(value, dict):
        return {**{key: _soiled(item) for key, item in value.items()}, EVIL: EVIL}
    if isinstance(value, list):
        return [_soiled(item) for item in value]
    return EVIL if isinstance(value, str) else value


def _words(folder: Path) -> Iterator[tuple[str, ...]]:
    for use in COMMANDS:
        yield use.words
        yield tuple(word for word in use.words if word != "--json")
    for name in ("soiled", "broken"):
        for command in ("verify", "project", "group", "show"):
            yield ("capsule", command, name)
        yield ("capsule", "show", name, "--json")
        yield ("capsule", "append", name, "--lineage", "plan", "--kind", EVIL)
        yield ("receipt", "build", name, "--gate", "soiled.json")
        yield ("receipt", "verify", "soiled.json", name)
    yield ("validate-promotions", "--repo-root", str(folder))
