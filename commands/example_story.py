"""The steps of `evals example`: the evidence story from an empty capsule to a refused gate.

Rules of this module:
1. Every step calls the same functions as the commands that it shows, on files in one folder of its own.
2. A step claims one thing; it is good only when that very thing came out, refusals by their code and index.
3. The command lines, typed in the folder with the inputs alone, print what the outcomes say; a test types
   them. No outcome depends on the time, so every run prints the same.
4. Nothing outside the folder is read or written.
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
from .example_inputs import (
    ENTRIES,
    FAMILY,
    OTHER_ENTRY,
    SECRET,
    append_command,
    append_commands,
    create_command,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_TAMPERED_ENTRY = 2
_ARTIFACT = "variants/candidate/run.js"
_RECEIPT = "run.receipt.json"


@dataclass(kw_only=True)
class World:
    """The folder that the story works in, with its inputs, and what later steps need."""

    folder: str
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
    """One step: what it claims, what a person types for it, and the function that does it."""

    name: str
    claim: str
    commands: list[str]
    act: Callable[[World], Outcome]


def play(step: Step, world: World) -> Outcome:
    """Do one step; an unexpected refusal is an outcome that was not claimed."""
    try:
        return step.act(world)
    except EvalsError as error:
        return Outcome(text=str(error).replace(world.folder + os.sep, ""), ok=False)


def _create(world: World) -> Outcome:
    made = _new_capsule(world.path("run"), 1)
    return Outcome(
        text=f"run_id {made.metadata.run_id}, capsule_id {made.metadata.capsule_id}",
        ok=verify(world.path("run")).entry_count == 0,
    )


def _new_capsule(path: str, number: int) -> Capsule:
    return Capsule.create(
        path,
        run_id=f"run-{number}",
        capsule_id=f"c-{number}",
        harness_version=f"v{number}",
        task_family=FAMILY,
    )


def _append(world: World) -> Outcome:
    capsule = Capsule.open(world.path("run"))
    entries = [capsule.append(**entry) for entry in ENTRIES]
    chained = all(later["parent_hash"] == earlier["entry_hash"] for earlier, later in pairwise(entries))
    return Outcome(text=f"{len(entries)} entries; each parent_hash is the entry_hash before it", ok=chained)


def _secret(world: World) -> Outcome:
    before = read_regular(world.path("run", "journal.ndjson"))
    code = _code_of(lambda: Capsule.open(world.path("run")).append("attempt", "note.made", SECRET))
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
        text=f"code {found.code}, entry_count {found.entry_count}",
        ok=found.ok and found.entry_count == len(ENTRIES),
    )


def _project(world: World) -> Outcome:
    derived = write_projection(world.path("run"))
    counts = ", ".join(f"{name} {count}" for name, count in derived["by_lineage"].items())
    return Outcome(
        text=f"{counts}; max_effect_class {derived['max_effect_class']}",
        ok=derived["max_effect_class"] == "SE1" and sum(derived["by_lineage"].values()) == len(ENTRIES),
    )


def _export(world: World) -> Outcome:
    exported = export_bundle(world.path("run"), world.path("copy"))
    same = all(
        read_regular(world.path("copy", name)) == read_regular(world.path("run", name))
        for name in exported["files"]
    )
    return Outcome(text=", ".join(exported["files"]), ok=same and len(exported["files"]) == 3)


def _build(world: World) -> Outcome:
    world.receipt = build_receipt(world.path("run"), artifact_path=world.path(_ARTIFACT))
    write_receipt(world.receipt, world.path(_RECEIPT))
    count, digest = world.receipt["entry_count"], world.receipt["artifact_digest"]
    return Outcome(text=f"entry_count {count}, artifact_digest {digest[:16]}...", ok=count == len(ENTRIES))


def _accept(world: World) -> Outcome:
    verdict = verify_receipt(world.receipt, world.path("copy"), artifact_path=world.path(_ARTIFACT))
    return Outcome(text="ok true, check null" if verdict.ok else str(verdict.reason), ok=verdict.ok)


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
        text=f"{found.text}; of the receipt: check {check}", ok=found.ok and check == "journal_integrity"
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
        text=f"code {verify(path).code}; of the receipt: check {verdict.check}",
        ok=verify(path).ok and verdict.check == "truncation",
    )


def _replay(world: World) -> Outcome:
    called: list[object] = []
    tools = {
        "read_titles": {"effect_class": "SE0", "determinism": "deterministic", "impl": called.append},
        "publish": {"effect_class": "SE4", "determinism": "nondeterministic", "impl": called.append},
    }
    replayer = create_replayer(tools, store=FixtureStore(world.path("replay")))
    titles = replayer.call("read_titles", {"site": "docs"})["titles"]
    code = _code_of(lambda: replayer.call("publish", {"site": "docs"}))
    return Outcome(
        text=f"read_titles: {len(titles)} titles from a fixture; publish: {code};"
        f" tools called: {len(called)}",
        ok=bool(titles) and code == "tool.effect_forbidden" and not called,
    )


def _gate(world: World) -> Outcome:
    before = sorted(os.listdir(world.folder))
    code = _code_of(lambda: run_gate(world.path("gate.json")))
    return Outcome(
        text=code, ok=code == "gate.isolation_required" and sorted(os.listdir(world.folder)) == before
    )


def _inspect(world: World) -> Outcome:
    hits = {}
    for name in ("candidate", "hasty"):
        variant = load_variant(world.path("variants", name))
        hits[name] = scan_tripwires(variant)
    rules = sorted({hit["rule"] for hit in hits["hasty"]})
    return Outcome(
        text=f"candidate: {len(hits['candidate'])} hits; hasty: {', '.join(rules)}",
        ok=not hits["candidate"] and len(rules) > 1,
    )


def _group(world: World) -> Outcome:
    _new_capsule(world.path("run-2"), 2).append(**OTHER_ENTRY)
    paths = [world.path(name) for name in ("run", "copy", "run-2")]
    report = group_capsules(paths)
    text = ", ".join(f"{name} {report[name]}" for name in ("input_count", "capsule_count", "duplicate_count"))
    versions = [group["harness_version"] for group in report["groups"]]
    return Outcome(
        text=f"{text}; groups {', '.join(versions)}",
        ok=(report["capsule_count"], report["duplicate_count"], len(versions)) == (2, 1, 2),
    )


def _copy_commands(name: str, edit: str) -> list[str]:
    """Give the command lines that copy the export and edit the journal of the copy with sed."""
    return [f"cp -R copy {name}", f"sed {edit} copy/journal.ndjson > {name}/journal.ndjson"]


STEPS: tuple[Step, ...] = (
    Step(
        name="create",
        claim="a new capsule has an identity and no entries",
        commands=[create_command("run", 1)],
        act=_create,
    ),
    Step(
        name="append",
        claim="each entry names the hash of the one before it",
        commands=append_commands(),
        act=_append,
    ),
    Step(
        name="secret",
        claim="what looks like a credential is refused before a byte is written",
        commands=["evals capsule append run --lineage attempt --kind note.made --payload @secret.json"],
        act=_secret,
    ),
    Step(
        name="verify",
        claim="the journal is one unbroken chain",
        commands=["evals capsule verify run"],
        act=_verify,
    ),
    Step(
        name="project",
        claim="a summary follows from the verified bytes",
        commands=["evals capsule project run"],
        act=_project,
    ),
    Step(
        name="export",
        claim="the three files are copied byte for byte, and nothing else",
        commands=["evals capsule export run copy"],
        act=_export,
    ),
    Step(
        name="receipt",
        claim="a receipt fixes the capsule's state and an artifact's digest",
        commands=[f"evals receipt build run --artifact {_ARTIFACT} --out {_RECEIPT}"],
        act=_build,
    ),
    Step(
        name="accept",
        claim="whoever has the receipt can check the copy without its producer",
        commands=[f"evals receipt verify {_RECEIPT} copy --artifact {_ARTIFACT}"],
        act=_accept,
    ),
    Step(
        name="tamper",
        claim=f"a changed number is refused at its entry, {_TAMPERED_ENTRY}",
        commands=[
            *_copy_commands("tampered", """'s/"passed":8/"passed":9/'"""),
            "evals capsule verify tampered",
            f"evals receipt verify {_RECEIPT} tampered",
        ],
        act=_tamper,
    ),
    Step(
        name="swap",
        claim="entries in another order are refused at the first that moved, 1",
        commands=[*_copy_commands("swapped", "-e '2{h;d;}' -e 3G"), "evals capsule verify swapped"],
        act=_swap,
    ),
    Step(
        name="shorten",
        claim="a shortened journal still verifies; only the receipt tells",
        commands=[
            *_copy_commands("shortened", "'$d'"),
            "evals capsule project shortened > shortened.projection.json",
            "evals capsule verify shortened",
            f"evals receipt verify {_RECEIPT} shortened",
        ],
        act=_shorten,
    ),
    Step(
        name="replay",
        claim="recorded responses are served, effects are refused, and no tool is called",
        commands=["python replay_titles.py"],
        act=_replay,
    ),
    Step(
        name="gate",
        claim="no candidate is executed: the gate refuses before it reads anything",
        commands=["evals gate run gate.json"],
        act=_gate,
    ),
    Step(
        name="inspect",
        claim="a variant can be looked at without running it",
        commands=["evals gate inspect variants/candidate", "evals gate inspect variants/hasty"],
        act=_inspect,
    ),
    Step(
        name="group",
        claim="a copy counts once, and capsules are grouped by harness version",
        commands=[
            create_command("run-2", 2),
            append_command("run-2", OTHER_ENTRY),
            "evals capsule group run copy run-2",
        ],
        act=_group,
    ),
)
