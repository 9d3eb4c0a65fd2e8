"""When evidence backs a claim, and when readiness passes."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from evals_cli.core.bundle_files import BundleFiles
from evals_cli.core.claims import ClaimLedger, readiness, score_missing_evidence, verified_digest

REPORT = ".harness/evals/runs/20261130T175456Z-closeout-36c761f8/report.md"


def _digest(world: Any, manifest: object, path: str = REPORT) -> str | None:
    return verified_digest(path, manifest, BundleFiles(str(world.root)))


def _manifest(*digests: object) -> dict[str, Any]:
    return {"artifacts": [{"path": REPORT, "sha256": digest} for digest in digests]}


def test_evidence_is_verified_where_the_manifest_states_the_digest(world: Any) -> None:
    digest = world.digest(REPORT)
    assert _digest(world, _manifest(digest)) == digest
    assert _digest(world, _manifest(digest, digest)) == digest


@pytest.mark.parametrize(
    "manifest", [None, [], {}, {"artifacts": 7}, {"artifacts": [{"path": 7}]}, _manifest(7)]
)
def test_without_a_usable_entry_nothing_is_verified(world: Any, manifest: object) -> None:
    assert _digest(world, manifest) is None


def test_one_wrong_entry_among_right_ones_is_enough_to_doubt(world: Any) -> None:
    assert _digest(world, _manifest(world.digest(REPORT), "0" * 64)) is None


def test_an_artifact_that_cannot_be_read_is_not_verified(world: Any) -> None:
    world.path(REPORT).unlink()
    os.mkfifo(world.path(REPORT))
    assert _digest(world, _manifest("0" * 64)) is None


def test_a_manifest_with_repeated_keys_vouches_for_nothing(world: Any) -> None:
    file = world.path("bundle/manifest.json")
    file.write_text(
        file.read_text().replace('"schema_version": 1,', '"schema_version": 1, "schema_version": 1,')
    )
    statuses = {
        record["evidence_id"]: record["status"] for record in world.state()["evidence_packet"]["evidence"]
    }
    assert statuses["artifact:report-path"] == "present"
    assert statuses["manifest:latest"] == "present"


def test_a_verified_record_holds_digest_and_manifest(world: Any) -> None:
    records = {record["evidence_id"]: record for record in world.state()["evidence_packet"]["evidence"]}
    record = records["artifact:report-path"]
    assert record["sha256"] == world.digest(REPORT)
    assert record["manifest_path"].endswith("/manifest.json")
    assert record["path"] == REPORT


def test_a_claim_without_its_evidence_is_named() -> None:
    ledger = ClaimLedger("2026-12-01T00:00:00.000Z")
    ledger.claim("artifact-exists:x", "artifact-exists", "X exists.", "artifact:x")
    result = score_missing_evidence(ledger)
    assert (result["status"], result["failure_reason"]) == ("fail", "not backed: artifact:x")


def test_a_state_that_was_observed_as_invalid_backs_no_claim(world: Any) -> None:
    world.write(".harness/evals/runs/latest.json", "[]")
    scorer = world.state()["evidence_packet"]["missing_evidence_scorer"]
    assert (scorer["status"], scorer["failure_reason"]) == ("fail", "not backed: runtime-state")


GOOD = {
    "status": "ready",
    "validation": "passed",
    "missing_evidence": "pass",
    "runtime_evidence": "ready",
    "run_verdict": "pass",
}


def test_readiness_passes_when_all_four_hold() -> None:
    assert readiness(**GOOD)["status"] == "pass"
    assert readiness(**GOOD)["blocking_fields"] == []


def test_readiness_says_what_the_run_came_to_without_deciding_by_it() -> None:
    failed = readiness(**{**GOOD, "run_verdict": "fail"})
    assert (failed["status"], failed["reason"].rpartition("; ")[2]) == ("pass", "its run failed")
    assert readiness(**GOOD)["reason"].endswith("; its run passed")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"status": "stale", "runtime_evidence": "failing"}, "runtime_state.status"),
        ({"validation": "failed", "missing_evidence": "fail"}, "validation_evidence.status"),
        ({"missing_evidence": "fail", "runtime_evidence": "failing"}, "missing_evidence_scorer.status"),
        ({"runtime_evidence": "not_configured"}, "runtime_evidence_contract_health.status"),
    ],
)
def test_only_the_first_field_in_the_way_is_named(changes: dict[str, str], field: str) -> None:
    verdict = readiness(**{**GOOD, **changes})
    assert (verdict["status"], verdict["blocking_fields"]) == ("fail", [field])


def test_records_are_version_one_and_dated(world: Any) -> None:
    packet = world.state()["evidence_packet"]
    assert {record["schema_version"] for record in (*packet["claims"], *packet["evidence"])} == {1}
    assert {record["observed_at"] for record in packet["evidence"]} == {"2026-12-01T00:00:00.000Z"}
    json.dumps(packet)
