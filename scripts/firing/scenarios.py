"""What is done while something goes wrong: each command that writes, library calls beside it, and readers.

A scenario has a template folder, made once by `prepare` and copied for every fault; an `act` inside a copy,
during which the fault happens; and a `judge`, which names every promise that the copy then breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals_cli.core import capsule, receipt
from evals_cli.core.errors import EvalsError
from evals_cli.core.projection import projection_bytes

from . import judging
from .acting import Ending, call, command
from .bundle_sample import CASE, LATEST, make_repository, run_case
from .capsule_sample import GATE, RECORDS, Sample, clock, signer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CAPSULE, FRESH, TARGET, OUT = "capsule", "new/deep/capsule", "exported", "receipts/out.json"
APPEND = [
    "capsule",
    "append",
    CAPSULE,
    "--lineage",
    "plan",
    "--kind",
    "fire",
    "--payload",
    '{"note":"\u00e9"}',
]
SECRET = [*APPEND[:-1], '{"note":"PASSWORD=not-a-real-one"}']
EXPORT = ["capsule", "export", CAPSULE]
LONG = 20_000
MORE: tuple[dict[str, Any], ...] = RECORDS[1:4]


@dataclass(frozen=True)
class Scenario:
    """One thing to do. `words` is its command line, where it is a command: other lanes run it for real.

    `refusal` is the code with which it is refused, None where it is done.
    """

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], Ending]
    judge: Callable[[Path, Path, Ending], list[str]]
    words: tuple[str, ...] = ()
    refusal: str | None = None


def _commanded(
    name: str,
    prepare: Callable[[Path], None],
    words: list[str],
    judge: Callable[[Path, Path, Ending], list[str]],
) -> Scenario:
    return Scenario(name, prepare, lambda folder: command(words, folder), judge, tuple(words))


def _refused(name: str, prepare: Callable[[Path], None], words: list[str], code: str) -> Scenario:
    return Scenario(name, prepare, lambda folder: command(words, folder), _judge_refused, tuple(words), code)


def _called(
    name: str,
    prepare: Callable[[Path], None],
    act: Callable[[Path, Ending], object],
    judge: Callable[[Path, Path, Ending], list[str]],
) -> Scenario:
    return Scenario(name, prepare, lambda folder: call(lambda ending: act(folder, ending)), judge)


# What is there before.


def _nothing(folder: Path) -> None:
    folder.mkdir()


def _capsule(folder: Path) -> None:
    folder.mkdir()
    Sample(folder)


def _longer_capsule(folder: Path) -> None:
    """A capsule that has grown since its projection and its export were made."""
    _capsule(folder)
    capsule.export_bundle(folder / CAPSULE, folder / TARGET)
    capsule.append_entry(folder / CAPSULE, "plan", "later", clock=clock)


def _two_capsules(folder: Path) -> None:
    """A capsule, and half of another one where an export is asked to go."""
    _capsule(folder)
    capsule.Capsule.create(folder / TARGET, clock=clock)
    (folder / TARGET / "journal.ndjson").unlink()


def _locked_capsule(folder: Path) -> None:
    _capsule(folder)
    (folder / CAPSULE / ".append.lock").touch()


def _repository_with_bad_suite(folder: Path) -> None:
    _repository_with_run(folder)
    (folder / ".evals" / "two.case.json").unlink()


def _repository(folder: Path) -> None:
    folder.mkdir()
    make_repository(folder)


def _repository_with_run(folder: Path) -> None:
    _repository(folder)
    run_case(folder)


# What is done.


def _create(folder: Path, _: Ending) -> None:
    capsule.Capsule.create(folder / FRESH, clock=clock)


def _append(folder: Path, ending: Ending) -> None:
    handle = capsule.Capsule.open(folder / CAPSULE, clock=clock)
    ending.acknowledged.append(handle.append("plan", "fire", {"note": "\u00e9"}))


def _append_entry(folder: Path, ending: Ending) -> None:
    ending.acknowledged.append(capsule.append_entry(folder / CAPSULE, "plan", "fire", clock=clock))


def _append_long(folder: Path, ending: Ending) -> None:
    handle = capsule.Capsule.open(folder / CAPSULE, clock=clock)
    ending.acknowledged.append(handle.append("plan", "fire", {"note": "x" * LONG}))


def _append_many(folder: Path, ending: Ending) -> None:
    handle = capsule.Capsule.open(folder / CAPSULE, clock=clock)
    ending.acknowledged += handle.append_many(MORE)


def _append_stubbornly(folder: Path, ending: Ending) -> None:
    """Three appends through one handle, whatever the others came to."""
    handle = capsule.Capsule.open(folder / CAPSULE, clock=clock)
    _each(MORE, handle.append, ending)


def _session(folder: Path, ending: Ending) -> None:
    with capsule.Capsule.open(folder / CAPSULE, clock=clock).writer() as session:
        for record in MORE:
            ending.acknowledged.append(_given(session.append, record))


def _session_stubbornly(folder: Path, ending: Ending) -> None:
    """Three appends in one session, whatever the others came to."""
    with capsule.Capsule.open(folder / CAPSULE, clock=clock).writer() as session:
        _each(MORE, session.append, ending)


def _each(records: tuple[dict[str, Any], ...], append: Callable[..., dict[str, Any]], ending: Ending) -> None:
    for record in records:
        try:
            ending.acknowledged.append(_given(append, record))
        except EvalsError as error:
            ending.details = ending.details or error.details
            ending.code = ending.code or error.code


def _given(append: Callable[..., dict[str, Any]], record: dict[str, Any]) -> dict[str, Any]:
    options = {key: value for key, value in record.items() if key in ("payload", "effect_class")}
    return append(record["lineage"], record["kind"], **options)


def _export(folder: Path, _: Ending) -> None:
    capsule.export_bundle(folder / CAPSULE, folder / TARGET)


def _receipt(folder: Path, _: Ending) -> None:
    made = receipt.build_receipt(
        folder / CAPSULE, artifact_path=folder / "artifact.bin", gate_receipt=GATE, signer=signer, clock=clock
    )
    receipt.write_receipt(made, folder / "receipt.json")


# What must then hold.


def _judge_append(at_most: int) -> Callable[[Path, Path, Ending], list[str]]:
    def judge(template: Path, folder: Path, ending: Ending) -> list[str]:
        place = folder / CAPSULE
        before = (template / CAPSULE / "journal.ndjson").read_bytes()
        return [
            *judging.journal_problems(place, before, ending, at_most=at_most),
            *judging.lock_problems(place, ending),
            *judging.stray_problems(place, judging.CAPSULE_FILES, ending),
            *judging.later_append_problems(place),
        ]

    return judge


def _judge_create(_: Path, folder: Path, ending: Ending) -> list[str]:
    place = folder / FRESH
    if not place.exists():
        return [] if ending.code is not None or ending.died else ["it was created and is not there"]
    problems = judging.stray_problems(place, judging.CAPSULE_FILES, ending)
    good = capsule.verify(place).ok
    if ending.code is None and not ending.died:
        return problems if good else [*problems, "it was created and does not verify"]
    try:
        capsule.Capsule.create(place, clock=clock)
    except EvalsError as error:
        # What a dead process has left is for people to look at.
        if error.code != "capsule.exists" or not (ending.died or ending.late or good):
            problems.append(f"another creation: {error}")
    return problems


def _judge_projection(template: Path, folder: Path, ending: Ending) -> list[str]:
    place, before = folder / CAPSULE, template / CAPSULE
    journal = (before / "journal.ndjson").read_bytes()
    problems = judging.journal_problems(place, journal, ending, at_most=0)
    problems += judging.stray_problems(place, judging.CAPSULE_FILES, ending)
    old = (before / "projection.json").read_bytes()
    new = _projection_of(before)
    problems += judging.whole_problems(
        place / "projection.json", *([new] if _succeeded(ending) else [old, new])
    )
    return problems


def _projection_of(folder: Path) -> bytes:
    return projection_bytes(capsule.project(folder))


def _succeeded(ending: Ending) -> bool:
    return ending.code is None and not ending.died


def _judge_export(template: Path, folder: Path, ending: Ending) -> list[str]:
    problems = _judge_projection(template, folder, ending)
    target = folder / TARGET
    old = template / TARGET
    if target.exists():
        problems += judging.stray_problems(target, judging.CAPSULE_FILES, ending)
        _refresh(folder)
        problems += judging.export_problems(target, old if old.exists() else None, folder / CAPSULE)
    if _succeeded(ending) and not capsule.verify(target).ok:
        problems.append("the export succeeded and its target does not verify")
    capsule.export_bundle(folder / CAPSULE, target)
    if not capsule.verify(target).ok:
        problems.append("after another export the target does not verify")
    return problems


def _refresh(folder: Path) -> None:
    capsule.write_projection(folder / CAPSULE)


def _judge_receipt(name: str) -> Callable[[Path, Path, Ending], list[str]]:
    def judge(template: Path, folder: Path, ending: Ending) -> list[str]:
        problems = _judge_projection(template, folder, ending)
        path = folder / name
        old = template / name
        if not path.exists() or (old.exists() and path.read_bytes() == old.read_bytes()):
            return [*problems, "the receipt is not there"] if _succeeded(ending) else problems
        # A receipt that is there holds for the capsule beside it, whose projection it may have outlived.
        _refresh(folder)
        problems += judging.receipt_problems(path, folder / CAPSULE)
        return problems + judging.stray_problems(
            path.parent, {path.name, CAPSULE, "artifact.bin", TARGET}, ending
        )

    return judge


def _judge_run(template: Path, folder: Path, ending: Ending) -> list[str]:
    latest = template / LATEST
    return judging.run_problems(folder, latest.read_bytes() if latest.exists() else None, ending)


def _judge_reader(template: Path, folder: Path, _: Ending) -> list[str]:
    """A reader changes nothing."""
    return [] if _contents(folder) == _contents(template) else ["a reader has changed something"]


def _judge_refused(template: Path, folder: Path, ending: Ending) -> list[str]:
    """A refusal stays one, and changes nothing, whatever goes wrong; the lock may outlive a process."""
    problems = [] if ending.code is not None or ending.died else ["it was let through"]
    if ending.died or ending.late or ending.code == "capsule.lock_failed":
        _unlock_like(template, folder)
    changed = _contents(folder) != _contents(template) or _times(folder) != _times(template)
    return [*problems, "a refused command has changed something"] if changed else problems


def _unlock_like(template: Path, folder: Path) -> None:
    if not (template / CAPSULE / ".append.lock").exists():
        (folder / CAPSULE / ".append.lock").unlink(missing_ok=True)


def _times(folder: Path) -> dict[str, int]:
    """When each file was last written: a copy keeps that, so a file that was replaced by its like shows."""
    return {path.name: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


def _contents(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


SCENARIOS = (
    _commanded("create", _nothing, ["capsule", "create", FRESH], _judge_create),
    _called("create, called", _nothing, _create, _judge_create),
    _commanded("append", _capsule, APPEND, _judge_append(1)),
    _called("append, called", _capsule, _append, _judge_append(1)),
    _called("append_entry, called", _capsule, _append_entry, _judge_append(1)),
    _called("append of a long entry, called", _capsule, _append_long, _judge_append(1)),
    _called("append_many, called", _capsule, _append_many, _judge_append(3)),
    _called("append three, whatever happens", _capsule, _append_stubbornly, _judge_append(3)),
    _called("session, called", _capsule, _session, _judge_append(3)),
    _called("session, whatever happens", _capsule, _session_stubbornly, _judge_append(3)),
    _commanded("project", _longer_capsule, ["capsule", "project", CAPSULE], _judge_projection),
    _commanded("export", _capsule, [*EXPORT, TARGET], _judge_export),
    _called("export over an earlier one, called", _longer_capsule, _export, _judge_export),
    _commanded(
        "receipt build",
        _longer_capsule,
        ["receipt", "build", CAPSULE, "--artifact", "artifact.bin", "--out", OUT],
        _judge_receipt(OUT),
    ),
    _called("receipt over an earlier one, called", _longer_capsule, _receipt, _judge_receipt("receipt.json")),
    _commanded("first run", _repository, ["run", CASE, "--json"], _judge_run),
    _commanded("run", _repository_with_run, ["run", CASE, "--json"], _judge_run),
    _commanded("run of a suite", _repository_with_run, ["run", ".evals/suite.json", "--json"], _judge_run),
    _refused("create over a capsule", _capsule, ["capsule", "create", CAPSULE], "capsule.exists"),
    _refused("append to a locked capsule", _locked_capsule, APPEND, "capsule.busy"),
    _refused("append of a secret", _capsule, SECRET, "capsule.secret_canary"),
    _refused("export onto itself", _capsule, [*EXPORT, CAPSULE], "capsule.export_conflict"),
    _refused("export onto another", _two_capsules, [*EXPORT, TARGET], "capsule.export_conflict"),
    _refused(
        "run of a bad suite",
        _repository_with_bad_suite,
        ["run", ".evals/suite.json", "--json"],
        "suite.validation",
    ),
    _commanded("verify", _capsule, ["capsule", "verify", CAPSULE], _judge_reader),
    _commanded("receipt verify", _capsule, ["receipt", "verify", "receipt.json", CAPSULE], _judge_reader),
    _commanded("check", _repository_with_run, ["check", "--json"], _judge_reader),
    _commanded("state", _repository_with_run, ["state", "--json"], _judge_reader),
)
