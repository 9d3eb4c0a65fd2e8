"""Receipts are built and judged as by a reference implementation, row by row."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from evals_cli.core.canonical import canonical_json
from evals_cli.core.receipt import build_receipt, verify_receipt

DATA = Path(__file__).parent / "data"


def lay(folder, files):
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(base64.b64decode(content))
    return folder


def sign(receipt_hash):
    return f"sig:{receipt_hash[:8]}"


def is_signed(receipt_hash, signature):
    return signature == sign(receipt_hash)


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_build(row, tmp_path, artifact):
    folder = lay(tmp_path / "built", row["files"])
    receipt = build_receipt(
        folder,
        artifact_path=artifact,
        gate_receipt=row["gate_receipt"],
        signer=sign if row["signed"] else None,
        clock=lambda: row["created_at"],
    )
    assert list(receipt) == list(row["receipt"])
    assert canonical_json(receipt) == canonical_json(row["receipt"])


def options_of(case, artifact, tmp_path):
    options = dict(case["options"])
    named = {}
    if "artifact" in options:
        changed = tmp_path / "changed"
        changed.write_bytes(b"something else")
        same = artifact or changed
        places = {"same": same, "changed": changed, "missing": tmp_path / "gone"}
        named["artifact_path"] = places[options.pop("artifact")]
    if "artifact_digest" in options:
        named["artifact_digest"] = options.pop("artifact_digest")
    if "gate" in options:
        named["gate_receipt"] = options.pop("gate")
    if options.pop("verifier", False):
        named["verifier"] = is_signed
    assert not options, "an option that this test does not know"
    return named


def check_row(row, tmp_path):
    tmp_path.mkdir()
    artifact = None
    if row["artifact"] is not None:
        artifact = tmp_path / "artifact"
        artifact.write_bytes(base64.b64decode(row["artifact"]))
    check_build(row, tmp_path, artifact)
    for index, case in enumerate(row["cases"]):
        folder = lay(tmp_path / f"case-{index}", case["files"])
        before = snapshot(folder)
        verdict = verify_receipt(case["receipt"], folder, **options_of(case, artifact, tmp_path))
        assert (verdict.ok, verdict.check) == (case["ok"], case["check"]), case["label"]
        assert (verdict.reason is None) == case["ok"]
        assert snapshot(folder) == before, "verifying changed a file"


def check(rows, tmp_path):
    assert rows
    for index, row in enumerate(rows):
        check_row(row, tmp_path / str(index))


def test_a_share_of_the_receipts(tmp_path):
    check(json.loads((DATA / "receipt.json").read_bytes().decode()), tmp_path)


def test_every_receipt(shared, tmp_path):
    check(json.loads((shared / "vectors" / "capsules" / "receipt.json").read_bytes().decode()), tmp_path)
