"""Each system call of receipts, groups, replay and inspection fails once: a documented code, nothing lost."""

from __future__ import annotations

import errno
import os

import pytest

from evals_cli.core import gate, receipt, retrospective
from evals_cli.core.canonical import canonical_bytes
from evals_cli.core.envelope import GENESIS_HASH, compute_entry_hash
from evals_cli.core.errors import EvalsError
from evals_cli.core.replay import FixtureStore

WHEN = "2026-08-20T00:00:00.000Z"
CALLS = (
    "open", "read", "write", "fsync", "close", "replace", "unlink", "mkdir", "stat", "lstat",
    "fstat", "listdir",
)  # fmt: skip


@pytest.fixture
def world(tmp_path):
    capsule = tmp_path / "capsule"
    capsule.mkdir()
    own = {"schema": "capsule-envelope/v1", "run_id": "r", "capsule_id": "c", "harness_version": "h"}
    own["task_family"] = "slugify"
    (capsule / "capsule.json").write_bytes(canonical_bytes({**own, "created_at": WHEN}))
    entry = {**own, "seq": 0, "ts": WHEN, "kind": "step", "payload": {}, "parent_hash": GENESIS_HASH}
    entry.update(lineage="plan", effect_class="SE0")
    entry["entry_hash"] = compute_entry_hash(entry)
    (capsule / "journal.ndjson").write_bytes(canonical_bytes(entry) + b"\n")
    (tmp_path / "artifact").write_bytes(b"artifact")
    FixtureStore(tmp_path / "kept").put("t", {}, 1)
    variant = tmp_path / "variant"
    variant.mkdir()
    (variant / "run.js").write_text("fetch(1)")
    (variant / "variant.json").write_text('{"name":"v","effect_class":"SE0"}')
    (tmp_path / "tasks.json").write_text(
        '{"version":"1","family":"f","tasks":[{"id":"a","input":1,"expected":1}]}'
    )
    return tmp_path


def build(world):
    document = receipt.build_receipt(world / "capsule", artifact_path=world / "artifact")
    receipt.write_receipt(document, world / "out" / "receipt.json")


def group(world):
    retrospective.group_capsules([world / "capsule"] * 3)


def inspect(world):
    gate.scan_tripwires(gate.load_variant(world / "variant"))


def load_tasks(world):
    gate.load_taskset(world / "tasks.json")


def put(world):
    FixtureStore(world / "new").put("t", {}, 2)


def get(world):
    FixtureStore(world / "kept").get("t", {})


CODES = {
    build: {
        "receipt.artifact_unreadable",
        "capsule.unreadable_journal",
        "capsule.metadata_invalid",
        "file.write_failed",
    },
    group: {"retrospective.invalid_capsule"},
    inspect: {"gate.variant_invalid"},
    load_tasks: {"file.unreadable"},
    put: {"tool.fixture_unwritable"},
    get: {"tool.fixture_corrupt"},
}


def evidence(world):
    names = ("capsule/capsule.json", "capsule/journal.ndjson", "artifact", "variant/run.js", "tasks.json")
    return [(world / name).read_bytes() for name in names]


def outcome_when_failing(work, world, call, at, number):
    """The code of `work` when its `call` number `at` fails (None: it passes), and whether it came to that."""
    true_call, seen = getattr(os, call), []

    def failing(*arguments, **named):
        seen.append(call)
        if len(seen) == at:
            raise OSError(number, os.strerror(number))
        return true_call(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, call, failing)
        try:
            work(world)
        except EvalsError as error:
            return error.code, True
    return None, len(seen) >= at


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EINTR], ids=errno.errorcode.get)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("work", CODES, ids=lambda work: work.__name__)
def test_a_failing_call_is_a_documented_code_and_costs_no_evidence(work, world, call, number):
    before, at, failed = evidence(world), 0, True
    while failed:
        at += 1
        code, failed = outcome_when_failing(work, world, call, at, number)
        assert code is None or code in CODES[work]
        assert evidence(world) == before
        assert not [name for name in os.listdir(world / "capsule") if name.endswith(".tmp")]


@pytest.mark.parametrize("call", ["open", "read", "fstat"])
def test_a_failing_call_during_verification_is_a_failed_check(world, call):
    document = receipt.build_receipt(world / "capsule", artifact_path=world / "artifact")
    checks = set()

    def verify(_world):
        verdict = receipt.verify_receipt(document, world / "capsule", artifact_path=world / "artifact")
        checks.add(verdict.check)

    before, at, failed = evidence(world), 0, True
    while failed:
        at += 1
        code, failed = outcome_when_failing(verify, world, call, at, errno.EIO)
        assert code is None
    assert evidence(world) == before
    assert checks == {None, "journal_integrity", "metadata", "projection", "artifact"}
