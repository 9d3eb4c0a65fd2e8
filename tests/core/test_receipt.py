"""Receipts bind a capsule to a small document; every way of parting the two is named by its check."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil

import pytest

from evals_cli.core import capsule, receipt
from evals_cli.core.canonical import canonical_bytes, hash_value
from evals_cli.core.envelope import GENESIS_HASH, compute_entry_hash
from evals_cli.core.errors import EvalsError, UnsupportedValue
from evals_cli.core.receipt import ReceiptVerdict, build_receipt, verify_receipt, write_receipt

IDENTITY = {
    "schema": "capsule-envelope/v1",
    "run_id": "run-1",
    "capsule_id": "capsule-1",
    "harness_version": "h/1",
    "task_family": "slugify",
}
WHEN = "2026-08-20T00:00:00.000Z"
BAD_PATHS = [b"capsule", 5, None, "a\0b", "\ud800"]
FIELDS = [
    "schema",
    "envelope_schema",
    "capsule_id",
    "run_id",
    "capsule_root",
    "entry_count",
    "journal_sha256",
    "projection_hash",
    "artifact_digest",
    "gate_receipt_digest",
    "gate_verdict",
    "created_at",
    "signature",
    "receipt_hash",
]


def fill(folder, count, **identity):
    """A capsule of `count` entries, written without the code under test."""
    folder.mkdir(exist_ok=True)
    own = {**IDENTITY, **identity}
    (folder / "capsule.json").write_bytes(canonical_bytes({**own, "created_at": WHEN}) + b"\n")
    lines, parent = [], GENESIS_HASH
    for index in range(count):
        entry = {**own, "seq": index, "ts": WHEN, "lineage": "plan", "kind": "step", "effect_class": "SE1"}
        entry.update(payload={"note": str(index)}, parent_hash=parent)
        parent = entry["entry_hash"] = compute_entry_hash(entry)
        lines.append(canonical_bytes(entry) + b"\n")
    (folder / "journal.ndjson").write_bytes(b"".join(lines))
    return folder


@pytest.fixture
def folder(tmp_path):
    return fill(tmp_path / "capsule", 3)


@pytest.fixture
def artifact(tmp_path):
    path = tmp_path / "artifact.bin"
    path.write_bytes(b"artifact" * 400_000)
    return path


def build(folder, **options):
    return build_receipt(folder, clock=lambda: WHEN, **options)


def sign(receipt_hash):
    return "sig:" + receipt_hash[:8]


def accepts(receipt_hash, signature):
    return signature == sign(receipt_hash)


def resealed(document, **changes):
    changed = {**document, **changes}
    return {**changed, "receipt_hash": receipt.receipt_hash(changed)}


def failing(document, folder, **options):
    before = state(folder)
    verdict = verify_receipt(document, folder, **options)
    assert state(folder) == before, "verifying changed something"
    assert verdict.ok == (verdict.check is None) == (verdict.reason is None)
    assert verdict.reason is None or "\n" not in verdict.reason
    return verdict.check


def state(folder):
    return sorted((p.name, os.lstat(p).st_mtime_ns, os.lstat(p).st_size) for p in folder.iterdir())


def refused(call, *arguments, **named):
    with pytest.raises(EvalsError) as caught:
        call(*arguments, **named)
    assert "\n" not in caught.value.message
    return caught.value.code


class TestBuild:
    def test_a_receipt_has_its_fields_in_order_and_its_own_hash(self, folder):
        document = build(folder)
        assert list(document) == FIELDS
        body = {**document, "signature": None}
        del body["receipt_hash"]
        assert document["receipt_hash"] == hash_value(body)
        assert (document["entry_count"], document["created_at"]) == (3, WHEN)
        assert document["capsule_root"] == capsule.verify(folder).root_hash

    def test_an_empty_journal_can_be_receipted(self, tmp_path):
        empty = fill(tmp_path / "empty", 0)
        document = build(empty)
        assert (document["entry_count"], document["capsule_root"]) == (0, GENESIS_HASH)
        assert failing(document, empty) is None

    def test_the_projection_is_persisted(self, folder):
        document = build(folder)
        stored = json.loads((folder / "projection.json").read_text())
        assert stored == capsule.project(folder)
        assert document["projection_hash"] == stored["projection_hash"]

    def test_the_artifact_is_named_by_its_digest(self, folder, artifact):
        expected = hashlib.sha256(artifact.read_bytes()).hexdigest()
        assert build(folder, artifact_path=artifact)["artifact_digest"] == expected

    def test_a_digest_beside_a_path_wins_and_the_path_is_not_read(self, folder, tmp_path):
        digest = "a" * 64
        document = build(folder, artifact_path=tmp_path / "gone", artifact_digest=digest)
        assert document["artifact_digest"] == digest
        assert failing(document, folder, artifact_path=tmp_path / "gone", artifact_digest=digest) is None

    def test_the_gate_document_is_named_by_hash_and_verdict(self, folder):
        document = build(folder, gate_receipt={"verdict": "pass", "n": 1.0})
        assert document["gate_receipt_digest"] == hash_value({"n": 1, "verdict": "pass"})
        assert document["gate_verdict"] == "pass"
        assert build(folder, gate_receipt=[1])["gate_verdict"] is None

    def test_a_signer_signs_the_receipts_hash(self, folder):
        document = build(folder, signer=sign)
        assert document["signature"] == sign(document["receipt_hash"])
        assert document["receipt_hash"] == build(folder)["receipt_hash"]

    @pytest.mark.parametrize("digest", ["", "A" * 64, "a" * 63, "a" * 64 + "\n", 5])
    def test_a_bad_digest_is_refused_before_anything_is_touched(self, tmp_path, digest):
        assert refused(build, tmp_path / "gone", artifact_digest=digest) == "receipt.schema_invalid"

    @pytest.mark.parametrize("kind", ["gone", "folder", "fifo"])
    def test_an_artifact_that_cannot_be_read_is_refused_and_nothing_is_written(self, folder, tmp_path, kind):
        path = tmp_path / kind
        if kind == "folder":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        assert refused(build, folder, artifact_path=path) == "receipt.artifact_unreadable"
        assert not (folder / "projection.json").exists()

    def test_a_capsule_that_does_not_verify_has_no_receipt(self, folder):
        (folder / "journal.ndjson").write_bytes(b"{}")
        assert refused(build, folder) == "capsule.truncated_tail"
        assert not (folder / "projection.json").exists()

    @pytest.mark.parametrize("options", [{"gate_receipt": {1}}, {"signer": lambda _: b"bytes"}])
    def test_what_is_not_json_is_refused_and_nothing_is_written(self, folder, options):
        assert refused(build, folder, **options) == "json.unsupported_value"
        assert not (folder / "projection.json").exists()

    def test_a_projection_that_cannot_be_written_is_an_error(self, folder, monkeypatch):
        def read_only(*_args):
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(os, "replace", read_only)
        assert refused(build, folder) == "file.write_failed"

    @pytest.mark.parametrize(
        "options", [{"signer": lambda _: "x" * 4194304}, {"gate_receipt": {"verdict": "x" * 4194304}}]
    )
    def test_a_receipt_that_could_not_be_read_back_is_not_issued(self, folder, options):
        assert refused(build, folder, **options) == "json.too_large"
        assert not (folder / "projection.json").exists()

    @pytest.mark.parametrize("path", BAD_PATHS)
    def test_what_is_no_path_is_the_callers_mistake(self, folder, path):
        for call in (build, lambda bad: build(folder, artifact_path=bad or 0, artifact_digest="a" * 64)):
            with pytest.raises((TypeError, ValueError)) as caught:
                call(path)
            assert not isinstance(caught.value, EvalsError)
        assert not (folder / "projection.json").exists()

    @pytest.mark.parametrize("document", [None, 5, "text", [1]])
    def test_the_hash_of_what_is_no_receipt_is_the_callers_mistake(self, document):
        with pytest.raises(TypeError):
            receipt.receipt_hash(document)


class TestWrite:
    def test_a_receipt_is_one_canonical_line_and_folders_are_made(self, folder, tmp_path):
        document = build(folder)
        path = tmp_path / "a" / "b" / "receipt.json"
        write_receipt(document, path)
        assert path.read_bytes() == canonical_bytes(document) + b"\n"
        write_receipt(document, os.fspath(path))
        assert len(list(path.parent.iterdir())) == 1

    @pytest.mark.parametrize("name", ["journal.ndjson", "capsule.json", "projection.json"])
    def test_a_receipt_never_replaces_a_capsules_file(self, folder, name):
        document = build(folder)
        before = (folder / name).read_bytes()
        assert refused(write_receipt, document, folder / name) == "receipt.target_refused"
        assert (folder / name).read_bytes() == before

    @pytest.mark.parametrize(
        "name", [".append.lock", ".Append.LOCK", "JOURNAL.ndjson", "Capsule.json", "projection.json. ."]
    )
    def test_a_receipt_has_no_name_that_may_be_taken_for_a_capsules_file(self, folder, name):
        document = build(folder)
        before = state(folder)
        assert refused(write_receipt, document, folder / name) == "receipt.target_refused"
        assert state(folder) == before

    @pytest.mark.parametrize("link", [os.link, os.symlink])
    def test_a_receipt_never_replaces_another_name_of_a_capsules_file(self, folder, link):
        document = build(folder)
        link(folder / "journal.ndjson", folder / "r.json")
        assert refused(write_receipt, document, folder / "r.json") == "receipt.target_refused"
        assert os.path.samefile(folder / "journal.ndjson", folder / "r.json")

    def test_a_receipt_may_stand_beside_the_capsules_files(self, folder):
        document = build(folder)
        for _ in range(2):
            write_receipt(document, folder / "receipt.json")
        assert failing(document, folder) is None

    @pytest.mark.parametrize("kind", ["folder", "fifo"])
    def test_a_receipt_never_replaces_what_is_no_file(self, folder, tmp_path, kind):
        path = tmp_path / kind
        (os.mkdir if kind == "folder" else os.mkfifo)(path)
        assert refused(write_receipt, build(folder), path) == "receipt.target_refused"

    def test_a_target_below_a_file_cannot_be_written(self, folder, artifact):
        assert refused(write_receipt, build(folder), artifact / "x") == "file.write_failed"

    def test_a_target_that_cannot_be_looked_at_is_an_error(self, folder, tmp_path, monkeypatch):
        document = build(folder)

        def denied(*_args, **_named):
            raise OSError(errno.EACCES, "Permission denied")

        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", denied)
            code = refused(write_receipt, document, tmp_path / "r.json")
        assert code == "file.write_failed"

    def test_what_is_not_json_is_not_written(self, tmp_path):
        assert refused(write_receipt, {"a": {1}}, tmp_path / "r.json") == "json.unsupported_value"

    @pytest.mark.parametrize("path", BAD_PATHS)
    def test_what_is_no_path_is_the_callers_mistake(self, folder, path):
        with pytest.raises((TypeError, ValueError)) as caught:
            write_receipt(build(folder), path)
        assert not isinstance(caught.value, EvalsError)


class TestVerify:
    @pytest.mark.parametrize("path", BAD_PATHS)
    def test_what_is_no_path_is_the_callers_mistake(self, folder, path):
        document = build(folder)
        for call in (verify_receipt, lambda one, bad: verify_receipt(one, folder, artifact_path=bad or 0)):
            for one in (document, None):
                with pytest.raises((TypeError, ValueError)) as caught:
                    call(one, path)
                assert not isinstance(caught.value, EvalsError)

    def test_an_untouched_capsule_passes_here_and_exported(self, folder, tmp_path):
        document = build(folder)
        assert verify_receipt(document, folder) == ReceiptVerdict(True, None, None)
        shutil.copytree(folder, tmp_path / "copy")
        assert failing(document, tmp_path / "copy") is None

    @pytest.mark.parametrize("document", [None, [], "text", 5, {}])
    def test_what_is_no_receipt_fails_its_schema(self, folder, document):
        assert failing(document, folder) == "schema"

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("schema", "capsule-receipt/v2"),
            ("envelope_schema", None),
            ("entry_count", True),
            ("entry_count", -1),
            ("entry_count", 1.5),
            ("entry_count", "3"),
            ("entry_count", 2**53),
            ("entry_count", float("inf")),
            ("entry_count", float("nan")),
            ("run_id", "-a"),
            ("run_id", "run-1\n"),
            ("capsule_id", ""),
            ("capsule_root", "A" * 64),
            ("journal_sha256", None),
            ("projection_hash", "a" * 65),
            ("receipt_hash", 5),
            ("artifact_digest", "text"),
            ("gate_receipt_digest", False),
        ],
    )
    def test_a_field_of_another_form_fails_the_schema(self, folder, field, value):
        assert failing({**build(folder), field: value}, folder) == "schema"

    @pytest.mark.parametrize("field", [name for name in FIELDS if name not in ("signature", "receipt_hash")])
    def test_an_absent_field_never_passes(self, folder, field):
        document = build(folder)
        del document[field]
        assert failing(document, folder) in ("schema", "receipt_hash")

    def test_a_changed_field_fails_the_receipts_hash(self, folder):
        document = build(folder)
        assert failing({**document, "created_at": "2026-08-21T00:00:00.000Z"}, folder) == "receipt_hash"
        assert failing({**document, "extra": 1}, folder) == "receipt_hash"
        assert failing({**document, "extra": {1}}, folder) == "receipt_hash"

    def test_further_fields_are_fine_when_hashed(self, folder):
        document = build(folder)
        assert failing(resealed(document, extra=[1], created_at=5, gate_verdict={}), folder) is None
        assert failing(resealed(document, entry_count=3.0), folder) is None

    def test_a_signature_counts_only_with_a_verifier(self, folder):
        signed, plain = build(folder, signer=sign), build(folder)
        assert failing(signed, folder, verifier=accepts) is None
        assert failing({**signed, "signature": "sig:other"}, folder) is None
        assert failing({**signed, "signature": "sig:other"}, folder, verifier=accepts) == "signature"
        assert failing(plain, folder, verifier=lambda *_: True) == "signature"
        del plain["signature"]
        assert failing(plain, folder, verifier=lambda *_: True) == "signature"

    @pytest.mark.parametrize("answer", [None, 1, "yes", object()])
    def test_only_true_is_an_accepted_signature(self, folder, answer):
        assert failing(build(folder, signer=sign), folder, verifier=lambda *_: answer) == "signature"

    def test_what_a_verifier_raises_comes_through(self, folder):
        def broken(*_args):
            raise LookupError("no key")

        with pytest.raises(LookupError):
            verify_receipt(build(folder, signer=sign), folder, verifier=broken)

    def test_no_journal(self, folder, tmp_path):
        document = build(folder)
        (folder / "journal.ndjson").unlink()
        assert failing(document, folder) == "journal_present"
        assert verify_receipt(document, tmp_path / "gone").check == "journal_present"

    def test_a_changed_byte_in_the_journal(self, folder):
        document = build(folder)
        raw = (folder / "journal.ndjson").read_bytes()
        (folder / "journal.ndjson").write_bytes(raw.replace(b'"note":"1"', b'"note":"9"'))
        assert failing(document, folder) == "journal_integrity"

    def test_metadata_of_another_run(self, folder):
        document = build(folder)
        raw = (folder / "capsule.json").read_bytes()
        (folder / "capsule.json").write_bytes(raw.replace(b"run-1", b"run-2"))
        assert failing(document, folder) == "metadata"
        (folder / "capsule.json").unlink()
        assert failing(document, folder) == "metadata"

    def test_a_shortened_journal_is_a_truncation(self, folder):
        document = build(folder)
        assert failing(document, fill(folder, 2)) == "truncation"
        assert failing(document, fill(folder, 0)) == "truncation"

    def test_a_rewritten_journal_has_another_root(self, folder):
        document = build(folder)
        assert failing(document, fill(folder, 3, task_family="other")) == "capsule_root"
        assert failing(document, fill(folder, 4, task_family="other")) == "capsule_root"

    def test_a_longer_journal_is_a_stale_checkpoint(self, folder):
        document = build(folder)
        assert failing(document, fill(folder, 4)) == "stale_checkpoint"
        assert failing(build(fill(folder, 0)), fill(folder, 1)) == "stale_checkpoint"

    def test_another_digest_of_the_journal(self, folder):
        document = resealed(build(folder), journal_sha256="a" * 64)
        assert failing(document, folder) == "journal_integrity"

    @pytest.mark.parametrize("field", ["run_id", "capsule_id"])
    def test_another_identity_in_the_receipt(self, folder, field):
        assert failing(resealed(build(folder), **{field: "other"}), folder) == "metadata"

    def test_an_empty_journal_is_bound_to_its_metadata_by_the_receipt(self, tmp_path):
        empty = fill(tmp_path / "empty", 0)
        document = build(empty)
        assert failing(document, fill(empty, 0, harness_version="h/2")) == "projection"

    @pytest.mark.parametrize("content", [None, b"", b"\xff", b"[]", b"{}", b"{", b"[" * 9999])
    def test_a_projection_that_is_no_projection(self, folder, content):
        document = build(folder)
        (folder / "projection.json").unlink()
        if content is not None:
            (folder / "projection.json").write_bytes(content)
        assert failing(document, folder) == "projection"

    @pytest.mark.parametrize("kind", ["link", "fifo", "folder", "huge"])
    def test_a_projection_that_is_no_plain_file(self, folder, tmp_path, kind):
        document = build(folder)
        path = folder / "projection.json"
        os.rename(path, tmp_path / "projection.json")
        if kind == "link":
            path.symlink_to(tmp_path / "projection.json")
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            with path.open("wb") as stream:
                stream.truncate(200 * 1024 * 1024)
        assert failing(document, folder) == "projection"

    def test_the_layout_of_the_projection_is_free(self, folder):
        document = build(folder)
        path = folder / "projection.json"
        path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
        assert failing(document, folder) is None

    def test_a_projection_must_be_the_derived_one_in_full(self, folder):
        document = build(folder)
        path = folder / "projection.json"
        forged = {**json.loads(path.read_text()), "extra": 1}
        path.write_text(json.dumps(forged))
        assert failing(document, folder) == "projection"
        del forged["projection_hash"]
        forged["projection_hash"] = hash_value(forged)
        path.write_text(json.dumps(forged))
        assert failing(document, folder) == "projection"
        assert failing(resealed(document, projection_hash=forged["projection_hash"]), folder) == "projection"

    def test_the_artifact_is_compared_only_when_supplied(self, folder, artifact, tmp_path):
        document = build(folder, artifact_path=artifact)
        assert failing(document, folder) is None
        assert failing(document, folder, artifact_path=artifact) is None
        assert failing(document, folder, artifact_path=tmp_path / "gone") == "artifact"
        assert failing(document, folder, artifact_digest="b" * 64) == "artifact"
        artifact.write_bytes(b"other")
        assert failing(document, folder, artifact_path=artifact) == "artifact"

    def test_an_artifact_that_the_receipt_does_not_name_fails(self, folder, artifact):
        assert failing(build(folder), folder, artifact_path=artifact) == "artifact"

    def test_the_gate_document_is_compared_only_when_supplied(self, folder):
        document = build(folder, gate_receipt={"verdict": "pass"})
        assert failing(document, folder) is None
        assert failing(document, folder, gate_receipt={"verdict": "pass"}) is None
        assert failing(document, folder, gate_receipt={"verdict": "fail"}) == "gate_receipt"
        assert failing(build(folder), folder, gate_receipt={}) == "gate_receipt"

    def test_a_gate_document_that_is_not_json_is_the_callers_mistake(self, folder):
        with pytest.raises(UnsupportedValue):
            verify_receipt(build(folder, gate_receipt={}), folder, gate_receipt={1})

    def test_the_first_failing_check_is_reported(self, folder, artifact):
        document = build(folder, signer=sign)
        (folder / "projection.json").write_bytes(b"broken")
        late = {"artifact_path": artifact, "gate_receipt": {}}
        order = []
        order.append(
            failing({**document, "run_id": "-", "extra": 1}, folder, verifier=lambda *_: False, **late)
        )
        order.append(failing({**document, "extra": 1}, folder, verifier=lambda *_: False, **late))
        order.append(failing(document, folder, verifier=lambda *_: False, **late))
        broken = resealed(document, entry_count=9, capsule_root="a" * 64, journal_sha256="a" * 64, run_id="x")
        order.append(failing(broken, folder, **late))
        broken = resealed(broken, entry_count=2)
        order.append(failing(broken, folder, **late))
        second = json.loads((folder / "journal.ndjson").read_bytes().split(b"\n")[1])["entry_hash"]
        broken = resealed(broken, capsule_root=second)
        order.append(failing(broken, folder, **late))
        broken = resealed(broken, entry_count=3, capsule_root=document["capsule_root"])
        order.append(failing(broken, folder, **late))
        broken = resealed(broken, journal_sha256=document["journal_sha256"])
        order.append(failing(broken, folder, **late))
        order.append(failing(document, folder, **late))
        capsule.write_projection(folder)
        order.append(failing(document, folder, **late))
        order.append(failing(document, folder, gate_receipt={}))
        assert order == [
            "schema",
            "receipt_hash",
            "signature",
            "truncation",
            "capsule_root",
            "stale_checkpoint",
            "journal_integrity",
            "metadata",
            "projection",
            "artifact",
            "gate_receipt",
        ]
        assert set(order) | {"journal_present"} == set(receipt.CHECKS)
