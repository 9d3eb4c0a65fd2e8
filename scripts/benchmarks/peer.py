"""Measures waxseal's verify on a log of its own, against `json.loads` of its lines; a program of its own.

It runs in an environment that has waxseal and not this project: `peer.py FOLDER ENTRIES ROUNDS` prints the
samples as JSON. The payloads are those of the plain journal, as far as its format carries them.
"""

from __future__ import annotations

import json
import os
import sys
import time

import waxseal  # type: ignore[import-not-found]  # only in the environment that is made for it


def _write(path: str, count: int) -> None:
    log = waxseal.AuditLog.open(path)
    for seq in range(count):
        payload = {
            "task_id": f"t{seq % 100:02d}",
            "tool": "read_file",
            "status": "ok",
            "tokens_in": seq % 5000,
            "tokens_out": seq % 900,
            "duration_ms": f"{seq % 1000}.25",
            "message": f"read src/module_{seq % 37}.py",
        }
        log.append(payload=payload, payload_type="application/vnd.bench+json")


def _read_as_json(path: str) -> None:
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            json.loads(line)


def _verify(path: str) -> None:
    result = waxseal.AuditLog.open(path).verify(measure_drops=False)
    assert result.ok, result


def main() -> int:
    """Write the log, then measure by turns."""
    folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "log.jsonl")
    if not os.path.exists(path):
        _write(path, count)
    samples: dict[str, list[float]] = {"json.loads": [], "verify": []}
    for _ in range(rounds):
        for name, work in (("json.loads", _read_as_json), ("verify", _verify)):
            start = time.process_time()
            work(path)
            samples[name].append(time.process_time() - start)
    sys.stdout.write(json.dumps(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
