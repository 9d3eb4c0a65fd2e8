"""The capsule's part of lane `bits`: each of its files, a receipt, what that vouches for, and surgery."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from evals_cli.commands.receipt_files import read_document
from evals_cli.core import capsule, receipt
from evals_cli.core.canonical import canonical_bytes
from evals_cli.core.envelope import compute_entry_hash
from evals_cli.core.errors import EvalsError

from . import ways
from .capsule_oracle import CapsuleOracle, ReceiptOracle
from .capsule_sample import GATE, RECORDS, Sample, verifier
from .comparing import Comparison, Outcome
from .mutants import Mutant, flips, truncations
from .slot import Slot

if TYPE_CHECKING:
    from pathlib import Path

    from .report import LaneResult

Observe = Callable[[], Outcome]
Expected = Callable[[bytes], Outcome]


def fire_capsule(folder: Path, result: LaneResult, per_class: int | None) -> None:
    """Mutate the sample capsule in `folder` in every way, and compare what is said with the oracle."""
    comparison = Comparison(result, per_class)
    sample = Sample(folder)
    oracle = CapsuleOracle(sample.journal, sample.metadata)
    for way in ways.WAYS:
        with ways.taken(way) as share:
            _fire_way(sample, oracle, comparison, way)
        if (way == ways.CERTIFIED) is (share.lines == 0):
            result.fail(f"the certifier proved {share.lines} lines of the sample the {way} way")
    _fire_metadata_layouts(sample, comparison)
    _fire_receipt(sample, comparison)
    _fire_not_covered(folder, sample, comparison)


def _verdict(folder: Path) -> Outcome:
    found = capsule.verify(folder)
    if found.ok is not (found.code == "ok") or found.ok is (found.root_hash is None):
        return ("contradicts itself", found.as_dict())
    return (found.code, found.failed_at, found.entry_count)


def _fire_way(sample: Sample, oracle: CapsuleOracle, comparison: Comparison, way: str) -> None:
    def observe() -> Outcome:
        return _verdict(sample.folder)

    for name, what, cases, expected in (
        ("journal.ndjson", "bits", flips(sample.journal), oracle.journal),
        ("journal.ndjson", "truncations", truncations(sample.journal), oracle.journal),
        ("capsule.json", "bits", flips(sample.metadata), oracle.metadata),
        ("capsule.json", "truncations", truncations(sample.metadata), oracle.metadata),
    ):
        label = f"{name} {what} ({way})"
        comparison.compare(label, sample.folder / name, cases, expected=expected, observe=observe)
    every = Comparison(comparison.result, None)
    every.compare(
        f"journal.ndjson surgery ({way})",
        sample.folder / "journal.ndjson",
        _surgery(sample.journal),
        expected=_surgery_outcomes(sample.journal),
        observe=observe,
    )


def _surgery(journal: bytes) -> Iterator[Mutant]:
    """Whole lines dropped, repeated, swapped, foreign or laid out otherwise; names are `what at index`."""
    for name, data, _ in _operations(journal):
        yield name, data


def _surgery_outcomes(journal: bytes) -> Expected:
    outcomes = {data: outcome for _, data, outcome in _operations(journal)}
    return lambda data: outcomes[data]


def _operations(journal: bytes) -> Iterator[tuple[str, bytes, Outcome]]:
    lines = journal.splitlines(keepends=True)
    count = len(lines)
    yield "untouched", journal, ("ok", None, count)
    for at, line in enumerate(lines):
        before, after = lines[:at], lines[at + 1 :]
        last = at == count - 1
        dropped: Outcome = ("ok", None, at) if last else ("capsule.reordered", at, at)
        yield f"drop {at}", b"".join([*before, *after]), dropped
        repeated = ("capsule.reordered", at + 1, at + 1)
        yield f"repeat {at}", b"".join([*before, line, line, *after]), repeated
        if not last:
            swapped = b"".join([*before, after[0], line, *after[1:]])
            yield f"swap {at}", swapped, ("capsule.reordered", at, at)
        yield from _rewritten(before, line, after, at)


def _rewritten(
    before: list[bytes], line: bytes, after: list[bytes], at: int
) -> Iterator[tuple[str, bytes, Outcome]]:
    def put(new: bytes) -> bytes:
        return b"".join([*before, new, *after])

    entry = json.loads(line)
    loose = ("capsule.non_canonical", at, at)
    yield f"spaced {at}", put(line.replace(b'":', b'": ', 1)), loose
    yield f"CRLF {at}", put(line[:-1] + b"\r\n"), loose
    yield f"reversed keys {at}", put(_dumped(dict(reversed(entry.items())))), loose
    yield f"empty line {at}", put(b"\n" + line), ("capsule.corrupt_entry", at, at)
    yield f"foreign parent {at}", put(_resealed(entry, parent_hash="f" * 64)), ("capsule.broken_link", at, at)
    # An entry resealed with another value is good in itself; the link of the next one betrays it, and where
    # there is none, nothing in the journal does.
    resealed = put(_resealed(entry, ts="2026-08-20T10:20:30.401Z"))
    betrayed = ("capsule.broken_link", at + 1, at + 1) if after else ("ok", None, at + 1)
    yield f"resealed {at}", resealed, betrayed
    for seq in (at + 1, at + 2):
        yield f"seq {seq} at {at}", put(_resealed(entry, seq=seq)), ("capsule.reordered", at, at)
    if not after:
        foreign = put(_resealed(entry, run_id="run-other"))
        yield f"foreign run {at}", foreign, ("capsule.metadata_mismatch", at, at + 1)


def _dumped(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _resealed(entry: dict[str, Any], **changes: Any) -> bytes:
    changed = {**entry, **changes}
    changed["entry_hash"] = compute_entry_hash(changed)
    return canonical_bytes(changed) + b"\n"


def _fire_metadata_layouts(sample: Sample, comparison: Comparison) -> None:
    """capsule.json laid out freely, with other keys and CR LF: what may differ there, what may not."""
    document = {**json.loads(sample.metadata), "operator": "caf\u00e9 \u0001", "more": [1, {"x": None}]}
    loose = json.dumps(document, indent=2, ensure_ascii=False).replace("\n", "\r\n").encode()
    path = sample.folder / "capsule.json"
    path.write_bytes(loose)
    comparison.compare(
        "capsule.json in free layout, bits",
        path,
        flips(loose),
        expected=CapsuleOracle(sample.journal, loose).metadata,
        observe=lambda: _verdict(sample.folder),
    )
    path.write_bytes(sample.metadata)


def _fire_receipt(sample: Sample, comparison: Comparison) -> None:
    oracle = ReceiptOracle(sample.receipt_bytes, sample.projection)
    for with_verifier in (True, False):
        _fire_receipt_file(sample, oracle, comparison, with_verifier=with_verifier)
    _fire_vouched_files(sample, oracle, comparison)


def _fire_receipt_file(
    sample: Sample, oracle: ReceiptOracle, comparison: Comparison, *, with_verifier: bool
) -> None:
    def observe() -> Outcome:
        try:
            document = read_document(str(sample.receipt_path), "the receipt")
        except EvalsError as error:
            return (error.code,)
        return _receipt_verdict(sample, document, with_verifier=with_verifier)

    def expected(data: bytes) -> Outcome:
        return oracle.receipt(data, with_verifier=with_verifier)

    for what, cases in (("bits", flips), ("truncations", truncations)):
        label = f"receipt {what}, {'with' if with_verifier else 'without'} a verifier"
        mutants = cases(sample.receipt_bytes)
        comparison.compare(label, sample.receipt_path, mutants, expected=expected, observe=observe)


def _receipt_verdict(sample: Sample, document: object, *, with_verifier: bool = True) -> Outcome:
    verdict = receipt.verify_receipt(
        document,
        sample.folder,
        artifact_path=sample.artifact,
        gate_receipt=GATE,
        verifier=verifier if with_verifier else None,
    )
    return ("ok" if verdict.ok else verdict.check,)


def _fire_vouched_files(sample: Sample, oracle: ReceiptOracle, comparison: Comparison) -> None:
    """What a receipt vouches for: projection, artifact, journal and metadata, each mutated beside it."""
    chain = CapsuleOracle(sample.journal, sample.metadata)

    def observe() -> Outcome:
        return _receipt_verdict(sample, sample.receipt)

    def artifact(_: bytes) -> Outcome:
        return ("artifact",)

    def journal(data: bytes) -> Outcome:
        return ("truncation",) if chain.journal(data)[0] == "ok" else ("journal_integrity",)

    def metadata(data: bytes) -> Outcome:
        return ("ok",) if chain.metadata(data)[0] == "ok" else ("metadata",)

    targets: tuple[tuple[str, Path, bytes, Expected], ...] = (
        ("projection.json", sample.folder / "projection.json", sample.projection, oracle.projection),
        ("artifact", sample.artifact, sample.artifact.read_bytes(), artifact),
        ("journal", sample.folder / "journal.ndjson", sample.journal, journal),
        ("capsule.json", sample.folder / "capsule.json", sample.metadata, metadata),
    )
    for name, path, data, expected in targets:
        for what, cases in (("bits", flips), ("truncations", truncations)):
            label = f"{name} {what}, under a receipt"
            comparison.compare(label, path, cases(data), expected=expected, observe=observe)


def _fire_not_covered(folder: Path, sample: Sample, comparison: Comparison) -> None:
    """What nothing vouches for must be accepted; what only a receipt shows must be shown by it."""

    def expect(what: str, found: Outcome, wanted: Outcome) -> None:
        comparison.expect(f"not covered: {what}: {wanted[0]}", what, found, wanted)

    original = json.loads(sample.metadata)
    whole = ("ok", None, len(RECORDS))
    with Slot(sample.folder / "capsule.json") as slot:
        for what, document in (
            ("another created_at", {**original, "created_at": "1999-12-31T23:59:59.999Z"}),
            ("another key in capsule.json", {**original, "operator": "anyone"}),
        ):
            slot.put(json.dumps(document, indent=4).encode())
            expect(what, _verdict(sample.folder), whole)
            expect(f"{what}, under a receipt", _receipt_verdict(sample, sample.receipt), ("ok",))
    with Slot(sample.folder / "projection.json") as slot:
        slot.put(json.dumps(json.loads(sample.projection), indent=1).encode() + b" \n")
        expect("projection.json in free layout", _receipt_verdict(sample, sample.receipt), ("ok",))
    other = folder / "rewritten"
    other.mkdir()
    rewritten = Sample(other, (*RECORDS[:-1], {"lineage": "plan", "kind": "another.end"}))
    expect("a full consistent rewrite", _verdict(rewritten.folder), whole)
    foreign = _receipt_verdict(rewritten, sample.receipt)
    expect("a full consistent rewrite, under the receipt of the original", foreign, ("capsule_root",))
