"""Every bit: what is said of a mutated file is what an independent oracle expects, place and code.

A sample of each outcome is tried here; `scripts/fire --only bits` tries every one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from firing import bits, bundle_bits, capsule_bits, ways
from firing.capsule_oracle import CapsuleOracle
from firing.capsule_sample import RECORDS, Sample
from firing.report import LaneResult

from evals_cli.core import capsule, envelope
from evals_cli.core.verification import Verification

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def capsule_result(tmp_path_factory: pytest.TempPathFactory) -> LaneResult:
    result = LaneResult("capsule")
    capsule_bits.fire_capsule(tmp_path_factory.mktemp("capsule"), result, bits.QUICK_SAMPLE)
    return result


@pytest.fixture(scope="module")
def bundle_result(tmp_path_factory: pytest.TempPathFactory) -> LaneResult:
    result = LaneResult("bundle")
    bundle_bits.fire_bundle(tmp_path_factory.mktemp("bundle"), result, bits.QUICK_SAMPLE)
    return result


def test_no_mutant_of_a_capsule_or_its_receipt_gets_another_verdict_than_it_deserves(
    capsule_result: LaneResult,
) -> None:
    assert capsule_result.failures == []


def test_no_mutant_of_a_run_bundle_gets_another_verdict_than_it_deserves(bundle_result: LaneResult) -> None:
    assert bundle_result.failures == []


@pytest.mark.parametrize(
    "outcome",
    [
        *(
            f"journal.ndjson {what} ({way}): {code}"
            for way in ways.WAYS
            for what, code in (
                ("bits", "capsule.corrupt_entry"),
                ("bits", "capsule.invalid_entry"),
                ("bits", "capsule.non_canonical"),
                ("bits", "capsule.truncated_tail"),
                ("truncations", "capsule.truncated_tail"),
                ("truncations", "capsule.non_canonical"),
                ("truncations", "ok"),
                ("surgery", "capsule.reordered"),
                ("surgery", "capsule.broken_link"),
                ("surgery", "capsule.metadata_mismatch"),
                ("surgery", "ok"),
            )
        ),
        "capsule.json in free layout, bits: ok",
        "receipt bits, with a verifier: signature",
        "receipt bits, with a verifier: receipt_hash",
        "receipt bits, with a verifier: schema",
        "receipt bits, with a verifier: receipt.unreadable",
        "receipt bits, without a verifier: ok",
        "projection.json bits, under a receipt: projection",
        "artifact bits, under a receipt: artifact",
        "journal truncations, under a receipt: truncation",
        "journal bits, under a receipt: journal_integrity",
        "capsule.json bits, under a receipt: metadata",
        "not covered: another created_at, under a receipt: ok",
        "not covered: a full consistent rewrite: ok",
    ],
)
def test_the_mutants_of_a_capsule_reach_this_outcome(capsule_result: LaneResult, outcome: str) -> None:
    assert capsule_result.counts[outcome] > 0


@pytest.mark.parametrize(
    "outcome",
    [
        *(f"{name} bits: refused" for name in (*bundle_bits.ARTIFACTS, bundle_bits.CASE)),
        *(
            f"{name} bits: {outcome}"
            for name in ("latest.json", "manifest.json")
            for outcome in ("refused", "ok")
        ),
        "latest.json in another layout: ok",
        "result.json in another layout: refused",
        "latest-candidate.json bits: ok",
        "check, untouched: passed",
        "check, one bit of report.md: failed",
    ],
)
def test_the_mutants_of_a_bundle_reach_this_outcome(bundle_result: LaneResult, outcome: str) -> None:
    assert bundle_result.counts[outcome] > 0


def test_the_sample_holds_everything_that_the_format_has() -> None:
    payloads = [record.get("payload", {}) for record in RECORDS]
    assert {record["lineage"] for record in RECORDS} == set(envelope.LINEAGES)
    assert {record.get("effect_class", "SE0") for record in RECORDS} == set(envelope.EFFECT_CLASSES)
    assert {key for payload in payloads for key in payload} == set(envelope.PAYLOAD_TYPES)


def test_the_oracle_does_not_take_the_verifiers_word(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    oracle = CapsuleOracle(sample.journal, sample.metadata)
    whole = len(RECORDS)
    upper = sample.journal.replace(b"e+21", b"E+21")
    assert oracle.journal(sample.journal) == ("ok", None, whole)
    assert oracle.journal(upper) == ("capsule.non_canonical", 3, 3)
    assert oracle.journal(sample.journal + b"{}\n") == ("capsule.invalid_entry", whole, whole)


@pytest.mark.parametrize(
    "verdict",
    [
        Verification("ok", None, None, len(RECORDS), "0" * 64),
        Verification("capsule.invalid_entry", "no", 0, 0, None),
        Verification("capsule.non_canonical", "no", None, 0, None),
    ],
    ids=["accepts everything", "refuses everything", "refuses without a place"],
)
def test_a_verifier_that_always_says_the_same_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verification
) -> None:
    monkeypatch.setattr(capsule, "verify", lambda path: verdict)
    result = LaneResult("capsule")
    capsule_bits.fire_capsule(tmp_path, result, 3)
    assert len(result.failures) > 50
