"""Each system call of receipts, groups, replay and inspection fails once: a documented code, nothing lost."""

from __future__ import annotations

import errno
import os
import shutil

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
    target = world / "out" / "receipt.json"
    document = receipt.build_receipt(world / "capsule", artifact_path=world / "artifact", clock=lambda: WHEN)
    receipt.write_receipt(document, target)
    return document, (world / "capsule" / "projection.json").read_bytes(), target.read_bytes()


def group(world):
    return retrospective.group_capsules([world / "capsule"] * 3)


def inspect(world):
    return gate.scan_tripwires(gate.load_variant(world / "variant"))


def load_tasks(world):
    return gate.load_taskset(world / "tasks.json")


def put(world):
    key = FixtureStore(world / "new").put("t", {}, 2)
    return key, (world / "new" / f"{key}.json").read_bytes()


def get(world):
    return FixtureStore(world / "kept").get("t", {})


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
# Calls whose failure may change nothing at all; any other that fails unnoticed is a fault that was swallowed.
HARMLESS = {
    (build, "close"),  # of a file that was read to its end
    (get, "close"),
    (group, "close"),
    (inspect, "close"),
    (load_tasks, "close"),
    (group, "stat"),  # asks only whether threads are worth their start
    (build, "stat"),  # asks whether a folder has to be made; making it says what is true
    (put, "stat"),
}


def evidence(world):
    names = ("capsule/capsule.json", "capsule/journal.ndjson", "artifact", "variant/run.js", "tasks.json")
    return [(world / name).read_bytes() for name in names]


def outcome_when_failing(work, world, call, at, number):
    """Code (None: it passes) and result of `work` when `call` number `at` fails; whether it came to that."""
    true_call, seen = getattr(os, call), []

    def failing(*arguments, **named):
        seen.append(call)
        if len(seen) == at:
            raise OSError(number, os.strerror(number))
        return true_call(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, call, failing)
        try:
            result = work(world)
        except EvalsError as error:
            return error.code, None, True
    return None, result, len(seen) >= at


def _clear(world):
    """Take away what an earlier try has written, so that each one has all of its calls to make."""
    for name in ("out", "new"):
        shutil.rmtree(world / name, ignore_errors=True)
    (world / "capsule" / "projection.json").unlink(missing_ok=True)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EINTR], ids=errno.errorcode.get)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("work", CODES, ids=lambda work: work.__name__)
def test_a_failing_call_is_a_documented_code_and_costs_no_evidence(work, world, call, number):
    expected, before, at, failed = work(world), evidence(world), 0, True
    while failed:
        _clear(world)
        at += 1
        code, result, failed = outcome_when_failing(work, world, call, at, number)
        if code is None:
            assert not failed or (work, call) in HARMLESS
            assert result == expected
        else:
            assert code in CODES[work]
        assert evidence(world) == before
        assert not [name for name in os.listdir(world / "capsule") if name.endswith(".tmp")]


@pytest.mark.parametrize("call", ["open", "read", "fstat"])
def test_a_failing_call_during_verification_is_a_failed_check(world, call):
    document = receipt.build_receipt(world / "capsule", artifact_path=world / "artifact")
    checks = set()

    def verify(_world):
        return receipt.verify_receipt(document, world / "capsule", artifact_path=world / "artifact").check

    before, at, failed = evidence(world), 0, True
    while failed:
        at += 1
        code, check, failed = outcome_when_failing(verify, world, call, at, errno.EIO)
        assert code is None
        assert (check is None) == (not failed), "a call failed and every check passed"
        checks.add(check)
    assert evidence(world) == before
    assert checks == {None, "journal_integrity", "metadata", "projection", "artifact"}
