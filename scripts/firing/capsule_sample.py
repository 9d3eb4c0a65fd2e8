"""A small capsule that holds everything the format has: lineages, effect classes, payload types, odd texts.

Rules:
- Ids and times are fixed, so that the bytes are the same in every run and a mutant can be named by its place.
- Every lineage, every effect class and every payload key occurs; texts hold every kind of escape, non-ASCII
  of two, three and four bytes and lone surrogates; numbers hold the edges of the canonical form.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from evals_cli.core import capsule, receipt

if TYPE_CHECKING:
    from pathlib import Path

RUN_ID = "run-fire"
CAPSULE_ID = "capsule-fire"
CREATED_AT = "2026-08-20T10:20:30.400Z"
ARTIFACT = b"an artifact: \xc3\xa9\n"
GATE: dict[str, Any] = {"verdict": "pass\u000b", "note": "\u00e9", "score": 0.30000000000000004}
_KEY = b"not a secret: a key for tests"

RECORDS: tuple[dict[str, Any], ...] = (
    {"lineage": "plan", "kind": "start"},
    {
        "lineage": "attempt",
        "kind": "tool.call",
        "effect_class": "SE1",
        "payload": {
            "task_id": "t-1",
            "task_family": "slugify",
            "tool": "read_file",
            "tool_call_id": "c:1",
            "args_hash": "a" * 64,
            "response_hash": "b" * 64,
            "status": "ok",
            "exit_code": None,
        },
    },
    {
        "lineage": "interaction",
        "kind": "texts",
        "effect_class": "SE2",
        "payload": {
            "message": '"\\\b\f\n\r\t\u0000\u001f\u007f\u2028\u2029/',
            "note": "\u00e9\u00df \u4e16\u754c \U0001f600 \ud800 \udfff",
            "reason": "",
            "model": "\ufeff\u00a0 x",
        },
    },
    {
        "lineage": "environment",
        "kind": "numbers",
        "effect_class": "SE3",
        "payload": {
            "exit_code": -1,
            "duration_ms": 0.30000000000000004,
            "tokens_in": 9007199254740992,
            "tokens_out": 1e20,
            "cost_usd": 5e-324,
            "score": -1.7976931348623157e308,
            "passed": 0,
            "failed": 100,
            "total": 1e21,
            "hits": 1e300,
        },
    },
    {
        "lineage": "strategy",
        "kind": "rest",
        "effect_class": "SE4",
        "payload": {
            "decision": "keep",
            "variant": "v2",
            "digest": "c" * 64,
            "path": "a/b.txt",
            "fixture_key": "d" * 64,
            "stage": "two",
            "verdict": "pass",
            "branch_id": "b-2",
            "parent_branch_id": "b-1",
            "summary": "done",
            "score": 1.5e-7,
            "duration_ms": 7205759403792793.6,
            "cost_usd": 123456.789,
        },
    },
    {"lineage": "plan", "kind": "small", "payload": {"score": 1, "note": "e1E1"}},
    {"lineage": "attempt", "kind": "small", "effect_class": "SE1", "payload": {"exit_code": 0, "hits": 10}},
    {"lineage": "plan", "kind": "end", "payload": {"status": "\u000b"}},
)


def clock() -> str:
    """The time of every entry."""
    return CREATED_AT


def signer(receipt_hash: str) -> str:
    """A signature by a key that the verifier knows too."""
    return hmac.new(_KEY, receipt_hash.encode(), "sha256").hexdigest()


def verifier(receipt_hash: str, signature: object) -> bool:
    """Whether `signature` is the signer's."""
    return isinstance(signature, str) and hmac.compare_digest(signature, signer(receipt_hash))


class Sample:
    """The files of the sample capsule in `folder`, an artifact, a gate document and a signed receipt."""

    def __init__(self, folder: Path, records: tuple[dict[str, Any], ...] = RECORDS) -> None:
        self.folder = folder / "capsule"
        self.artifact = folder / "artifact.bin"
        self.artifact.write_bytes(ARTIFACT)
        handle = capsule.Capsule.create(
            self.folder,
            run_id=RUN_ID,
            capsule_id=CAPSULE_ID,
            harness_version="harness/1",
            task_family="slugify",
            clock=clock,
        )
        handle.append_many(records)
        self.receipt = receipt.build_receipt(
            self.folder, artifact_path=self.artifact, gate_receipt=GATE, signer=signer, clock=clock
        )
        self.receipt_path = folder / "receipt.json"
        receipt.write_receipt(self.receipt, self.receipt_path)
        self.metadata = self._read("capsule.json")
        self.journal = self._read("journal.ndjson")
        self.projection = self._read("projection.json")
        self.receipt_bytes = self.receipt_path.read_bytes()

    def _read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()
