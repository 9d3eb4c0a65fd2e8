"""The steps of `evals example`: the evidence story from an empty capsule to a refused gate.

Rules of this module:
1. Every step calls the same functions as the commands that it shows, on files in one folder of its own.
2. A step claims one thing; it is good only when that very thing came out, refusals by their code and index.
3. Ids and times are fixed, so that two runs print the same hashes.
4. Nothing outside the folder is written; what is read besides is the installed example data.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..core.capsule import Capsule, export_bundle, verify, write_projection
from ..core.errors import EvalsError
from ..core.files import make_folders, read_regular, write_whole
from ..core.gate import load_variant, run_gate, scan_tripwires
from ..core.receipt import build_receipt, verify_receipt, write_receipt
from ..core.replay import FixtureStore, create_replayer
from ..core.retrospective import group_capsules

if TYPE_CHECKING:
    from collections.abc import Callable

_FAMILY = "slugify"
_TAMPERED_ENTRY = 2
_ENTRIES: tuple[dict[str, Any], ...] = (
    {"lineage": "plan", "kind": "plan.made", "payload": {"task_id": "t01", "summary": "fold accents first"}},
    {"lineage": "environment", "kind": "session.started", "payload": {"model": "none", "stage": "local"}},
    {
        "lineage": "attempt",
        "kind": "tests.run",
        "effect_class": "SE1",
        "payload": {"task_id": "t01", "passed": 8, "failed": 1, "total": 9, "duration_ms": 12.5},
    },
    {"lineage": "interaction", "kind": "titles.read", "payload": {"tool": "read_titles", "exit_code": 0}},
    {"lineage": "strategy", "kind": "branch.kept", "payload": {"branch_id": "b1", "score": 0.9}},
)


@dataclass(kw_only=True)
class World:
    """The folder that the story works in, the installed example data, and what later steps need."""

    folder: str
    data: str
    receipt: dict[str, Any] = field(default_factory=dict)

    def path(self, *names: str) -> str:
        """Give a path in the story's folder."""
        return os.path.join(self.folder, *names)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came out of a step, in short, and whether that is what it claimed."""

    text: str
    ok: bool


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: what it claims, what a person would type for it, and the function that does it."""

    name: str
    claim: str
    command: str
    act: Callable[[World], Outcome]


def play(step: Step, world: World) -> Outcome:
    """Do one step; an unexpected refusal is an outcome that was not claimed."""
    try:
        return step.act(world)
    except EvalsError as error:
        return Outcome(text=str(error).replace(world.folder + os.sep, ""), ok=False)


def _clock() -> Callable[[], str]:
    second = iter(range(60))
    return lambda: f"2026-01-01T00:00:{next(second):02d}.000Z"


def _create(world: World) -> Outcome:
    made = _new_capsule(world.path("run"), "run-example", "example/1")
    return Outcome(
        text=f"run_id {made.metadata.run_id}, capsule_id {made.metadata.capsule_id}",
        ok=verify(world.path("run")).entry_count == 0,
    )


def _new_capsule(path: str, run_id: str, harness_version: str) -> Capsule:
    return Capsule.create(
        path,
        run_id=run_id,
        capsule_id=f"{run_id}-capsule",
        harness_version=harness_version,
        task_family=_FAMILY,
        clock=_clock(),
    )


def _append(world: World) -> Outcome:
    capsule = Capsule.open(world.path("run"), clock=_clock())
    entries = [capsule.append(**entry) for entry in _ENTRIES]
    chained = all(later["parent_hash"] == earlier["entry_hash"] for earlier, later in pairwise(entries))
    return Outcome(text=f"{len(entries)} entries, the last is {entries[-1]['entry_hash'][:16]}", ok=chained)


def _secret(world: World) -> Outcome:
    before = read_regular(world.path("run", "journal.ndjson"))
    payload = {"note": "PASSWORD=" + "not-a-real-one"}
    code = _code_of(lambda: Capsule.open(world.path("run")).append("attempt", "note.made", payload))
    unchanged = read_regular(world.path("run", "journal.ndjson")) == before
    return Outcome(
        text=f"{code}; the journal is {'unchanged' if unchanged else 'changed'}",
        ok=code == "capsule.secret_canary" and unchanged,
    )


def _code_of(act: Callable[[], object]) -> str:
    """Give the code with which `act` refuses."""
    try:
        act()
    except EvalsError as error:
        return error.code
    return "no refusal"


def _verify(world: World) -> Outcome:
    found = verify(world.path("run"))
    return Outcome(
        text=f"code {found.code}, entry_count {found.entry_count}, root_hash {_short(found.root_hash)}",
        ok=found.ok and found.entry_count == len(_ENTRIES),
    )


def _short(text: str | None) -> str:
    return "null" if text is None else text[:16]


def _project(world: World) -> Outcome:
    derived = write_projection(world.path("run"))
    counts = ", ".join(f"{name} {count}" for name, count in derived["by_lineage"].items())
    return Outcome(
        text=f"{counts}; max_effect_class {derived['max_effect_class']}",
        ok=derived["max_effect_class"] == "SE1" and sum(derived["by_lineage"].values()) == len(_ENTRIES),
    )


def _export(world: World) -> Outcome:
    exported = export_bundle(world.path("run"), world.path("copy"))
    same = all(
        read_regular(world.path("copy", name)) == read_regular(world.path("run", name))
        for name in exported["files"]
    )
    return Outcome(text=", ".join(exported["files"]), ok=same and len(exported["files"]) == 3)


def _artifact(world: World) -> str:
    return os.path.join(world.data, "variants", "candidate", "run.js")


def _build(world: World) -> Outcome:
    world.receipt = build_receipt(world.path("run"), artifact_path=_artifact(world), clock=_clock())
    write_receipt(world.receipt, world.path("run.receipt.json"))
    return Outcome(
        text=f"receipt_hash {_short(world.receipt['receipt_hash'])},"
        f" artifact_digest {_short(world.receipt['artifact_digest'])}",
        ok=world.receipt["entry_count"] == len(_ENTRIES),
    )


def _accept(world: World) -> Outcome:
    verdict = verify_receipt(world.receipt, world.path("copy"), artifact_path=_artifact(world))
    return Outcome(text="every check passes" if verdict.ok else str(verdict.reason), ok=verdict.ok)


def _lines(world: World) -> list[bytes]:
    return read_regular(world.path("copy", "journal.ndjson")).splitlines(keepends=True)


def _copy_with(world: World, name: str, lines: list[bytes]) -> str:
    """Make a copy of the export whose journal holds `lines`."""
    make_folders(world.path(name))
    for kept in ("capsule.json", "projection.json"):
        write_whole(world.path(name, kept), read_regular(world.path("copy", kept)))
    write_whole(world.path(name, "journal.ndjson"), b"".join(lines))
    return world.path(name)


def _tamper(world: World) -> Outcome:
    lines = _lines(world)
    lines[_TAMPERED_ENTRY] = lines[_TAMPERED_ENTRY].replace(b'"passed":8', b'"passed":9')
    path = _copy_with(world, "tampered", lines)
    found = _refused(path, "capsule.invalid_entry", _TAMPERED_ENTRY)
    check = verify_receipt(world.receipt, path).check
    return Outcome(
        text=f"{found.text}; receipt verify says {check}", ok=found.ok and check == "journal_integrity"
    )


def _swap(world: World) -> Outcome:
    lines = _lines(world)
    lines[1], lines[2] = lines[2], lines[1]
    return _refused(_copy_with(world, "swapped", lines), "capsule.reordered", 1)


def _refused(path: str, code: str, index: int) -> Outcome:
    found = verify(path)
    return Outcome(
        text=f"code {found.code}, failed_at {found.failed_at}",
        ok=(found.ok, found.code, found.failed_at) == (False, code, index),
    )


def _shorten(world: World) -> Outcome:
    path = _copy_with(world, "shortened", _lines(world)[:-1])
    write_projection(path)
    verdict = verify_receipt(world.receipt, path)
    return Outcome(
        text=f"capsule verify says {verify(path).code}, receipt verify says {verdict.check}",
        ok=verify(path).ok and verdict.check == "truncation",
    )


def _replay(world: World) -> Outcome:
    called: list[object] = []
    tools = {
        "read_titles": {"effect_class": "SE0", "determinism": "deterministic", "impl": called.append},
        "publish": {"effect_class": "SE4", "determinism": "nondeterministic", "impl": called.append},
    }
    replayer = create_replayer(tools, store=FixtureStore(os.path.join(world.data, "replay")))
    titles = replayer.call("read_titles", {"site": "docs"})["titles"]
    code = _code_of(lambda: replayer.call("publish", {"site": "docs"}))
    return Outcome(
        text=f"read_titles: {len(titles)} titles from a fixture; publish: {code};"
        f" tools called: {len(called)}",
        ok=bool(titles) and code == "tool.effect_forbidden" and not called,
    )


def _gate(world: World) -> Outcome:
    before = sorted(os.listdir(world.folder))
    code = _code_of(lambda: run_gate(os.path.join(world.data, "gate.json")))
    return Outcome(
        text=code, ok=code == "gate.isolation_required" and sorted(os.listdir(world.folder)) == before
    )


def _inspect(world: World) -> Outcome:
    hits = {}
    for name in ("candidate", "hasty"):
        variant = load_variant(os.path.join(world.data, "variants", name))
        hits[name] = scan_tripwires(variant)
    rules = sorted({hit["rule"] for hit in hits["hasty"]})
    return Outcome(
        text=f"candidate: {len(hits['candidate'])} hits; hasty: {', '.join(rules)}",
        ok=not hits["candidate"] and len(rules) > 1,
    )


def _group(world: World) -> Outcome:
    other = _new_capsule(world.path("run-2"), "run-example-2", "example/2")
    other.append("plan", "plan.made", {"task_id": "t01"})
    paths = [world.path(name) for name in ("run", "copy", "run-2")]
    report = group_capsules(paths)
    text = ", ".join(f"{name} {report[name]}" for name in ("input_count", "capsule_count", "duplicate_count"))
    versions = [group["harness_version"] for group in report["groups"]]
    return Outcome(
        text=f"{text}; groups {', '.join(versions)}",
        ok=(report["capsule_count"], report["duplicate_count"], len(versions)) == (2, 1, 2),
    )


STEPS: tuple[Step, ...] = (
    Step(
        name="create",
        claim="a new capsule has an identity and no entries",
        command=f"evals capsule create run --task-family {_FAMILY}",
        act=_create,
    ),
    Step(
        name="append",
        claim="each entry names the hash of the one before it",
        command="evals capsule append run --lineage plan --kind plan.made --payload @entry.json ...",
        act=_append,
    ),
    Step(
        name="secret",
        claim="what looks like a credential is refused before a byte is written",
        command="evals capsule append run --lineage attempt --kind note.made --payload @secret.json",
        act=_secret,
    ),
    Step(
        name="verify",
        claim="the journal is one unbroken chain",
        command="evals capsule verify run",
        act=_verify,
    ),
    Step(
        name="project",
        claim="a summary follows from the verified bytes",
        command="evals capsule project run",
        act=_project,
    ),
    Step(
        name="export",
        claim="the three files are copied byte for byte, and nothing else",
        command="evals capsule export run copy",
        act=_export,
    ),
    Step(
        name="receipt",
        claim="a receipt fixes the capsule's state and an artifact's digest",
        command="evals receipt build run --artifact candidate/run.js --out run.receipt.json",
        act=_build,
    ),
    Step(
        name="accept",
        claim="whoever has the receipt can check the copy without its producer",
        command="evals receipt verify run.receipt.json copy --artifact candidate/run.js",
        act=_accept,
    ),
    Step(
        name="tamper",
        claim=f"a changed number is refused at its entry, {_TAMPERED_ENTRY}",
        command='sed -i \'s/"passed":8/"passed":9/\' tampered/journal.ndjson; evals capsule verify tampered',
        act=_tamper,
    ),
    Step(
        name="swap",
        claim="entries in another order are refused at the first that moved, 1",
        command="evals capsule verify swapped",
        act=_swap,
    ),
    Step(
        name="shorten",
        claim="a shortened journal still verifies; only the receipt tells",
        command="evals receipt verify run.receipt.json shortened",
        act=_shorten,
    ),
    Step(
        name="replay",
        claim="recorded responses are served, effects are refused, and no tool is called",
        command="replay.create_replayer(tools, store=replay.FixtureStore('replay'))  # Python",
        act=_replay,
    ),
    Step(
        name="gate",
        claim="no candidate is executed: the gate refuses before it reads anything",
        command="evals gate run gate.json",
        act=_gate,
    ),
    Step(
        name="inspect",
        claim="a variant can be looked at without running it",
        command="evals gate inspect candidate; evals gate inspect hasty",
        act=_inspect,
    ),
    Step(
        name="group",
        claim="a copy counts once, and capsules are grouped by harness version",
        command="evals capsule group run copy run-2",
        act=_group,
    ),
)
