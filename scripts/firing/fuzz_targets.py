"""Every reader and the command line, each as a target that takes any bytes.

A target's `attempt(data)` lists the promises that were broken: for a reader of the library, anything raised
but its documented errors; for a command, those of `trying`. `seeds` are good inputs to begin from.

Rules:
- A command is tried with the bytes in the place of one file that it reads, or as its words. The words are
  kept inside the world's folder: no `/`, and no `..`.
- What a command that writes leaves behind stays in the world; no later attempt depends on it.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals_cli.commands.ports import documents, parse_document
from evals_cli.core import canonical, replay, strict_json
from evals_cli.core.errors import EvalsError
from evals_cli.core.gate_protocol import parse_child_result
from evals_cli.core.gate_taskset import load_taskset
from evals_cli.core.timestamps import parse_ms
from evals_cli.schemas.validator import problems as schema_problems
from evals_cli.schemas.validator import schema_names, schema_text

from .slot import Slot
from .trying import tried
from .world import COMMANDS, Use, bundle_files, make_world

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT_WORDS = tuple(sorted({word for use in COMMANDS for word in use.words}))
_ENDLESS_WORDS = ("example",)


@dataclass(frozen=True)
class Target:
    """Something that takes any bytes."""

    name: str
    attempt: Callable[[bytes], list[str]]
    seeds: tuple[bytes, ...]

    @property
    def costly(self) -> bool:
        """Whether one attempt looks at a whole repository."""
        return self.name.startswith(("check", "state", "run", "validate-"))


def targets(folder: Path) -> list[Target]:
    """Every target, in worlds of their own in `folder`; nothing is written into the one that is read."""
    world, written, toml = folder / "world", folder / "written", folder / "toml"
    make_world(world)
    make_world(written)
    _make_toml_world(toml)
    return [
        *_library_targets(folder),
        *(
            _position(use, path, written if use.writes else world)
            for use in COMMANDS
            for path in (*use.reads, *_more_reads(use, world))
        ),
        *(_position(use, path, toml) for use, path in _TOML_USES),
        Target("argv", lambda data: tried(_words(data), written, data).problems, _argv_seeds()),
    ]


def _more_reads(use: Use, world: Path) -> list[str]:
    return bundle_files(world) if use.name in ("check", "state") else []


# Documents that people may write as TOML.

_SUITE_TOML, _CASE_TOML, _PROJECT_TOML = ".evals/suite.toml", ".evals/one.case.toml", ".evals/project.toml"
_TOML_USES = (
    (Use("run of a TOML suite", ("run", _SUITE_TOML, "--json")), _SUITE_TOML),
    (Use("run of a TOML suite", ("run", _SUITE_TOML, "--json")), _CASE_TOML),
    (Use("check with a TOML manifest", ("check", "--json")), _PROJECT_TOML),
    (Use("gate inspect of a TOML variant", ("gate", "inspect", "variant")), "variant/variant.toml"),
)


def _make_toml_world(folder: Path) -> None:
    make_world(folder)
    for path in (_SUITE_TOML, _CASE_TOML, _PROJECT_TOML):
        source = folder / path.replace(".toml", ".json")
        document = strict_json.loads_unique(source.read_bytes())
        if path == _SUITE_TOML:
            document["cases"] = ["one.case.toml"]
        (folder / path).write_text(_toml(document), encoding="utf-8")
        source.unlink()
    variant = folder / "variant" / "variant.json"
    (folder / "variant" / "variant.toml").write_text(_toml(canonical.loads(variant.read_bytes())))
    variant.unlink()


def _toml(document: dict[str, Any]) -> str:
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in document.items() if value is not None)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        members = (f"{key} = {_toml_value(item)}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(members) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    return canonical.canonical_json(value)


# Commands.


def _position(use: Use, path: str, world: Path) -> Target:
    place = world / path

    def attempt(data: bytes) -> list[str]:
        with Slot(place) as slot:
            slot.put(data)
            return tried(use.words, world).problems

    kind = path.rpartition("/")[2] if "/runs/" in path else path
    return Target(f"{use.name}: {kind}", attempt, (place.read_bytes(),))


def _argv_seeds() -> tuple[bytes, ...]:
    return tuple("\0".join(use.words).encode() for use in COMMANDS if use.words[0] not in _ENDLESS_WORDS)


def _words(data: bytes) -> list[str]:
    """The words that `data` stands for: parts between NULs; a byte alone is one of the words that exist."""
    words = []
    for part in data.split(b"\0")[:12]:
        if len(part) == 1 and part[0] >= 0x80:
            words.append(_TEXT_WORDS[part[0] % len(_TEXT_WORDS)])
        else:
            words.append(os.fsdecode(part))
    kept = [_inside(word) for word in words]
    return ["--version"] if kept[0] in _ENDLESS_WORDS else kept


def _inside(word: str) -> str:
    """`word` so that, taken as a path, it does not leave the world."""
    if word in _TEXT_WORDS:
        return word
    return re.sub(r"\.\.+", ".", word.replace("/", "_"))


# Readers of the library.


def _library_targets(folder: Path) -> list[Target]:
    json_seeds = (
        b'{"a": [1, -0, 1.5e-7, "\\u00e9\\ud83d\\ude00", null, true, {"b": {}}]}',
        b'"\\ud800"',
        b"1e21",
    )
    toml_seeds = (b'a = 1\nb = [1.5, "x"]\n[c]\nd = 2026-01-31T09:30:00Z\n[[e]]\nf = """\ny"""\n',)
    store = _Store(folder / "fixtures")
    tasks = folder / "tasks.json"
    tasks.write_bytes(b'{"version": 1, "family": "f", "tasks": [{"id": "a", "input": 1, "expected": null}]}')
    return [
        Target("canonical.loads", _round_trip, json_seeds),
        Target("strict_json.loads_unique", _guarded(strict_json.loads_unique), json_seeds),
        Target("TOML", _guarded(lambda data: parse_document("x.toml", data)), toml_seeds),
        Target("schemas", _schemas, _schema_seeds()),
        Target("documents.problems", _documents, (b"eval-case\0{}", b"latest-run\0[]")),
        Target("timestamps.parse_ms", _times, (b"2026-01-31T09:30:00.123Z", b"+010000-01-01T24:00:00+01:00")),
        Target(
            "gate child", _child, (b'{"results": [{"id": "a", "output": 1}, {"id": "b", "error": "e"}]}',)
        ),
        Target("task set", _in_file(tasks, lambda: load_taskset(tasks)), (tasks.read_bytes(),)),
        Target("replay fixture", store.attempt, (store.path.read_bytes(),)),
    ]


def _guarded(act: Callable[[bytes], object]) -> Callable[[bytes], list[str]]:
    """`act`, which may raise EvalsError and nothing else."""

    def attempt(data: bytes) -> list[str]:
        try:
            act(data)
        except EvalsError as error:
            return [] if "\n" not in error.message else [f"a message of several lines: {error.message!r}"]
        except Exception as error:  # noqa: BLE001 - whatever is not documented is what is looked for
            return [f"{type(error).__name__} came through: {error}"]
        return []

    return attempt


def _in_file(path: Path, act: Callable[[], object]) -> Callable[[bytes], list[str]]:
    def placed(data: bytes) -> object:
        path.write_bytes(data)
        return act()

    return _guarded(placed)


def _round_trip(data: bytes) -> list[str]:
    """Whatever can be read has one canonical text, and both texts read back as the same."""
    found: list[str] = []

    def act(raw: bytes) -> None:
        value = canonical.loads(raw)
        text = canonical.canonical_json(value)
        for again in (text, canonical.pretty_json(value), text.encode()):
            if canonical.canonical_json(canonical.loads(again)) != text:
                found.append(f"{text[:80]!r} does not survive")

    return [*_guarded(act)(data), *found]


def _schema_seeds() -> tuple[bytes, ...]:
    return tuple(schema_text(name).encode() for name in ("eval-case", "suite", "latest-run"))


def _schemas(data: bytes) -> list[str]:
    """Any document before every schema."""

    def act(raw: bytes) -> None:
        value = canonical.loads(raw)
        for name in schema_names():
            schema_problems(name, value)

    return _guarded(act)(data)


def _documents(data: bytes) -> list[str]:
    name, _, raw = data.partition(b"\0")
    known = documents()
    text = name.decode("utf-8", "replace")
    return _guarded(lambda _: known.problems(text, known.parse("x.json", raw)))(data)


def _times(data: bytes) -> list[str]:
    return _guarded(lambda raw: parse_ms(raw.decode("utf-8", "surrogateescape")))(data)


def _child(data: bytes) -> list[str]:
    account = {"status": 0, "signal": None, "stdout": data.decode("utf-8", "replace"), "error": None}
    return _guarded(lambda _: parse_child_result(account, [{"id": "a"}, {"id": "b"}]))(data)


class _Store:
    """A store with one fixture, whose bytes are exchanged."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._store = replay.FixtureStore(folder)
        self._store.put("tool", {"a": 1}, {"answer": "\u00e9"})
        self.path = Path(self._store.path_for("tool", {"a": 1}))

    def attempt(self, data: bytes) -> list[str]:
        """What is broken when the fixture holds `data`."""
        return _in_file(self.path, lambda: self._store.get("tool", {"a": 1}))(data)
