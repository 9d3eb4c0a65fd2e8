"""The bundle's part of lane `bits`: every file that a run leaves, and the case that it ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals_cli.commands.ports import documents, installed_folder
from evals_cli.core.check import check_packet
from evals_cli.core.inspection import inspect_root
from evals_cli.core.roots import select_root

from .bundle_oracle import ACCEPTED, REFUSED, expected
from .bundle_sample import ARTIFACTS, CASE, LATEST, judged, make_repository, run_case
from .comparing import Comparison, Outcome
from .mutants import Mutant, flips, truncations
from .plain_json import parse
from .slot import Slot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .report import LaneResult

# What latest.json says of itself and the other files are compared with.
IDS = (": $.case_id: ", ": $.suite_id: ")


def fire_bundle(folder: Path, result: LaneResult, per_class: int | None) -> None:
    """Mutate every file of a finished run in `folder`, and compare what check says with the oracle."""
    comparison = Comparison(result, per_class)
    make_repository(folder)
    bundle = folder / run_case(folder).document["artifact_root"]
    if problems := judged(folder).problems:
        result.fail(f"the sample bundle itself is refused: {problems}")
        return
    _fire_digested(folder, bundle, comparison)
    for path in (folder / LATEST, bundle / "manifest.json"):
        _fire_agreeing(folder, path, comparison)
    _fire_free(folder, bundle, comparison)
    _fire_unread(folder, bundle, comparison)
    _fire_packet(folder, bundle, comparison)


def _mutants(data: bytes) -> Iterable[tuple[str, Iterable[Mutant]]]:
    return (("bits", flips(data)), ("truncations", truncations(data)))


def _fire_digested(folder: Path, bundle: Path, comparison: Comparison) -> None:
    """The files that a digest covers: any other byte is refused, and the digest's place is named."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    order = [Path(entry["path"]).name for entry in manifest["artifacts"]]
    relative = bundle.relative_to(folder).as_posix()
    for name in (*ARTIFACTS, CASE):
        path = folder / CASE if name == CASE else bundle / name
        place = (
            f"{LATEST}: $.producer.case_path: {CASE}: its bytes have SHA-256"
            if name == CASE
            else f"{relative}/manifest.json: $.artifacts[{order.index(name)}]: {relative}/{name}: "
            "its bytes have SHA-256"
        )

        def observe(place: str = place) -> Outcome:
            problems = judged(folder).problems
            if not problems:
                return ACCEPTED
            named = any(problem.startswith(place) for problem in problems)
            return REFUSED if named else ("refused without naming the digest", *problems)

        for what, cases in _mutants(path.read_bytes()):
            comparison.compare(f"{name} {what}", path, cases, expected=lambda _: REFUSED, observe=observe)


def _fire_agreeing(folder: Path, path: Path, comparison: Comparison) -> None:
    """The files that only agreement covers: what nothing repeats is accepted, all else refused by name.

    Where an id differs, agreement cannot tell whose is wrong: it is compared with that of latest.json, and
    the other files are named.
    """
    data = path.read_bytes()
    original = parse(data)
    shown = path.relative_to(folder).as_posix()

    def observe() -> Outcome:
        problems = judged(folder).problems
        if not problems:
            return ACCEPTED
        keys = IDS if path.name == "latest.json" else ()
        named = any(
            problem.startswith(f"{shown}: ") or any(key in problem for key in keys) for problem in problems
        )
        return REFUSED if named else ("refused without naming the file", *problems)

    def wanted(mutant: bytes) -> Outcome:
        return expected(path.name, original, mutant)

    for what, cases in _mutants(data):
        comparison.compare(f"{path.name} {what}", path, cases, expected=wanted, observe=observe)


def _fire_free(folder: Path, bundle: Path, comparison: Comparison) -> None:
    """White space of the two files that no digest covers may differ; of all others it may not."""
    for path in (folder / LATEST, bundle / "manifest.json", *(bundle / name for name in ARTIFACTS)):
        data = path.read_bytes()
        if path.suffix != ".json":
            continue
        wanted = ACCEPTED if path.name in ("latest.json", "manifest.json") else REFUSED
        looser = (b" " + data + b"\n", data.replace(b"\n", b"\r\n"), json.dumps(json.loads(data)).encode())
        with Slot(path) as slot:
            for changed in looser:
                slot.put(changed)
                what = f"{path.name} in another layout"
                found = REFUSED if judged(folder).problems else ACCEPTED
                comparison.expect(f"{what}: {wanted[0]}", what, found, wanted)


def _fire_unread(folder: Path, bundle: Path, comparison: Comparison) -> None:
    """The run's own draft of latest.json is read by nobody."""
    path = bundle / "latest-candidate.json"
    mutants = list(flips(path.read_bytes()))[:: 1 if comparison.per_class is None else 100]

    def observe() -> Outcome:
        return REFUSED if judged(folder).problems else ACCEPTED

    every = Comparison(comparison.result, None)
    every.compare(f"{path.name} bits", path, mutants, expected=lambda _: ACCEPTED, observe=observe)


def _fire_packet(folder: Path, bundle: Path, comparison: Comparison) -> None:
    """The whole of `evals check` follows the verdict: it passes, and one bit in each file fails it."""
    _expect_packet(folder, comparison, "untouched", "passed")
    for path in (folder / LATEST, folder / CASE, bundle / "manifest.json", *(bundle / n for n in ARTIFACTS)):
        data = path.read_bytes()
        with Slot(path) as slot:
            slot.put(bytes((data[0] ^ 1,)) + data[1:])
            _expect_packet(folder, comparison, f"one bit of {path.name}", "failed")


def _expect_packet(folder: Path, comparison: Comparison, what: str, wanted: str) -> None:
    ports = documents()
    root = select_root(str(folder), str(folder))
    installed = Path(installed_folder("contracts")).parent
    packet: dict[str, Any] = check_packet(
        inspect_root(root, ports, installed=str(installed)), ports, smoke=False
    )
    consistent = bool(packet["errors"]) is (packet["status"] == "failed")
    found = (packet["status"],) if consistent else (packet["status"], *packet["errors"])
    comparison.expect(f"check, {what}: {wanted}", f"check, {what}", found, (wanted,))
