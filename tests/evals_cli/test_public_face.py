"""The names and signatures that Python programs build on: a change here breaks somebody else's code."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import evals_cli

PROMISED = """
canonical.loads(source)
canonical.canonical_json(value)
canonical.sha256_hex(data)
canonical.hash_value(value)
envelope.redact_payload(payload, allowlist=None)
envelope.scan_for_canaries(value)
envelope.validate_envelope(entry)
envelope.compute_entry_hash(entry)
capsule.Capsule.create(path, *, run_id='', capsule_id='', harness_version='', task_family='', clock=None)
capsule.Capsule.open(path, *, clock=None)
capsule.Capsule.append(self, lineage, kind, payload=None, *, effect_class='SE0', strict=True, allowlist=None)
capsule.Capsule.append_many(self, records, *, strict=True, allowlist=None)
capsule.Capsule.writer(self)
capsule.Capsule.entries(self)
capsule.verify(path)
capsule.project(path)
capsule.write_projection(path)
capsule.export_bundle(path, out)
receipt.build_receipt(path, *, artifact_path=None, artifact_digest=None, gate_receipt=None, signer=None, clock=None)
receipt.verify_receipt(receipt, path, *, artifact_path=None, artifact_digest=None, gate_receipt=None, verifier=None)
receipt.write_receipt(receipt, path)
retrospective.group_capsules(paths)
replay.FixtureStore(path)
replay.FixtureStore.key(self, tool, args)
replay.FixtureStore.path_for(self, tool, args)
replay.FixtureStore.has(self, tool, args)
replay.FixtureStore.put(self, tool, args, response)
replay.FixtureStore.get(self, tool, args)
replay.create_replayer(tools, *, mode='replay', store=None, max_effect_class='SE2', on_call=None)
replay.Replayer.call(self, name, args=None)
gate.require_supported_isolation()
gate.run_gate(*_, **__)
gate.run_variant(*_, **__)
gate.digest_dir(path)
gate.load_variant(path, *, parse=None)
gate.load_taskset(path)
gate.scan_tripwires(variant, *, max_effect_class='SE1', tripwires=None)
gate.parse_child_result(child, tasks)
gate.baseline_failure(run, tasks)
"""  # noqa: E501  one signature a line, as it is printed


@pytest.mark.parametrize("promised", PROMISED.split("\n")[1:-1])
def test_a_promised_signature_stands(promised: str) -> None:
    name = promised.partition("(")[0]
    assert f"{name}{_signature(_found(name))}" == promised


def _found(name: str) -> Any:
    found: Any = evals_cli
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _signature(function: Any) -> inspect.Signature:
    """The signature without types, which are mypy's business."""
    signature = inspect.signature(function)
    bare = [item.replace(annotation=inspect.Parameter.empty) for item in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("envelope.SCHEMA_VERSION", "capsule-envelope/v1"),
        ("envelope.LINEAGES", ("plan", "attempt", "interaction", "environment", "strategy")),
        ("envelope.EFFECT_CLASSES", ("SE0", "SE1", "SE2", "SE3", "SE4")),
        ("envelope.GENESIS_HASH", "0" * 64),
        ("replay.EFFECT_FENCE_PRELOAD", "evals_cli.core.effect_fence"),
    ],
)
def test_a_promised_constant_has_its_value(name: str, value: object) -> None:
    assert _found(name) == value


def test_entries_come_one_by_one(tmp_path: Any) -> None:
    entries = evals_cli.capsule.Capsule.create(tmp_path / "c").entries()
    assert iter(entries) is entries


def test_a_replayer_shows_its_mode_and_its_calls(tmp_path: Any) -> None:
    replayer = evals_cli.replay.create_replayer({}, store=evals_cli.replay.FixtureStore(tmp_path))
    assert (replayer.mode, replayer.calls) == ("replay", [])


def test_a_session_appends_as_its_capsule_does(tmp_path: Any) -> None:
    with evals_cli.capsule.Capsule.create(tmp_path / "c").writer() as session:
        assert inspect.signature(session.append).parameters.keys() == {
            "lineage",
            "kind",
            "payload",
            "effect_class",
            "strict",
            "allowlist",
        }


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("capsule.verify", ["ok", "code", "reason", "failed_at", "entry_count", "root_hash"]),
        ("receipt.verify_receipt", ["ok", "check", "reason"]),
        ("envelope.redact_payload", ["payload", "dropped", "findings", "errors"]),
        ("gate.parse_child_result", ["outputs", "fatal"]),
    ],
)
def test_a_result_has_the_promised_fields(tmp_path: Any, name: str, fields: list[str]) -> None:
    arguments = {"capsule.verify": [tmp_path], "receipt.verify_receipt": [{}, tmp_path]}
    arguments["gate.parse_child_result"] = [None, [{"id": "a"}]]
    result = _found(name)(*arguments.get(name, [{}]))
    assert [field for field in fields if not hasattr(result, field)] == []
