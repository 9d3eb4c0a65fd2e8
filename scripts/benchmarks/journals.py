"""Capsules to measure with: journals of five kinds, the same bytes every time.

Rules:
- Written without this project's own code, so that a fault there cannot make its own yardstick: the lines are
  `json.dumps` with sorted keys, whose numbers are chosen to be printed alike by ECMAScript.
- plain: one payload shape of seven keys. mixed: one to eight keys of all 31, picked anew for each entry.
  escapes: quotes, backslashes and controls in three texts. floats: three numbers of 16 or 17 digits.
  text: Chinese, accents and emoji.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LINEAGES = ("plan", "attempt", "interaction", "environment", "strategy")
TEXTS = [
    "task_id",
    "task_family",
    "tool",
    "tool_call_id",
    "args_hash",
    "response_hash",
    "status",
    "model",
    "message",
    "note",
    "decision",
    "reason",
    "variant",
    "digest",
    "path",
    "fixture_key",
    "stage",
    "verdict",
    "branch_id",
    "parent_branch_id",
    "summary",
]
INTEGERS = ["tokens_in", "tokens_out", "passed", "failed", "total", "hits", "exit_code"]
NUMBERS = ["duration_ms", "cost_usd", "score"]
REMARKS = ("pass", "read_file", "src/module/a.py", "a longer remark about what happened here", "t-01")

Payload = dict[str, Any]


def _decimal(chance: random.Random, digits: int) -> float:
    # Never integral, which prints without a point, nor so small that it prints with an exponent.
    odd = 2 * chance.randrange(10**digits // 2) + 1
    return chance.randrange(1, 10_000) + odd / float(10**digits)


def _plain(seq: int, chance: random.Random) -> Payload:
    return {
        "task_id": f"t{seq % 100:02d}",
        "tool": "read_file",
        "status": "ok",
        "tokens_in": chance.randrange(5000),
        "tokens_out": chance.randrange(900),
        "duration_ms": _decimal(chance, 2),
        "message": f"read src/module_{seq % 37}.py",
    }


def _mixed(_: int, chance: random.Random) -> Payload:
    payload: Payload = {}
    for key in chance.sample(TEXTS + INTEGERS + NUMBERS, chance.randrange(1, 9)):
        if key in NUMBERS:
            payload[key] = _decimal(chance, 3)
        elif key in INTEGERS:
            payload[key] = chance.randrange(10_000)
        else:
            payload[key] = chance.choice(REMARKS)
    return payload


def _escapes(seq: int, _: random.Random) -> Payload:
    return {
        "task_id": f"t{seq % 100:02d}",
        "message": f'line one\nline "two" of {seq}\twith\\slashes\x01\x07 and more\r\n',
        "note": 'it said "hi"\\n',
        "path": "C:\\work\\module.py",
        "exit_code": 0,
    }


def _floats(seq: int, chance: random.Random) -> Payload:
    return {
        "task_id": f"t{seq % 100:02d}",
        "duration_ms": 1 + chance.random() * 1000,
        "cost_usd": 0.001 + chance.random(),
        "score": 0.001 + chance.random() / 10,
    }


def _text(seq: int, _: random.Random) -> Payload:
    return {
        "task_id": f"t{seq % 100:02d}",
        "message": f"评测框架记录发生了什么 – größer, naïve café 😀 тест {seq}",
        "note": "証拠は信頼できる",
        "status": "ok",
    }


KINDS: dict[str, Callable[[int, random.Random], Payload]] = {
    "plain": _plain,
    "mixed": _mixed,
    "escapes": _escapes,
    "floats": _floats,
    "text": _text,
}


def _line(value: Payload) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def write_capsule(folder: str, kind: str, count: int, *, name: str = "bench") -> str:
    """Make a capsule of `count` entries in `folder`, whose identity carries `name`; returns the folder."""
    os.makedirs(folder, exist_ok=True)
    identity: Payload = {
        "schema": "capsule-envelope/v1",
        "run_id": f"run-{name}",
        "capsule_id": f"capsule-{name}",
        "harness_version": "h/1.2.3",
        "task_family": "slugify",
    }
    with open(os.path.join(folder, "capsule.json"), "wb") as file:
        file.write(_line({**identity, "created_at": "2026-08-14T20:41:14.189Z"}) + b"\n")
    make, chance, parent = KINDS[kind], random.Random(7), "0" * 64
    with open(os.path.join(folder, "journal.ndjson"), "wb") as file:
        for seq in range(count):
            entry = {**identity, "seq": seq, "ts": _time(seq), "parent_hash": parent}
            entry |= {"lineage": LINEAGES[seq % 5], "kind": "tool.call", "effect_class": f"SE{seq % 3}"}
            entry["payload"] = make(seq, chance)
            parent = entry["entry_hash"] = hashlib.sha256(_line(entry)).hexdigest()
            file.write(_line(entry) + b"\n")
    return folder


def _time(seq: int) -> str:
    minutes, second = divmod(seq // 3, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    return f"2026-08-{14 + day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{seq * 37 % 1000:03d}Z"


def read_as_json(folder: str) -> None:
    """The yardstick of verification: parse each line of the journal in `folder`, and nothing else."""
    with open(os.path.join(folder, "journal.ndjson"), encoding="utf-8", newline="\n") as journal:
        for line in journal:
            json.loads(line)
