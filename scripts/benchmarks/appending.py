"""Appending: through a handle, in a batch, in a writing session against bare write and fsync, by command.

The first two run on a memory file system where there is one, since they measure this program and not the
disk. The session runs on disk, in small turns with the bare loop, since the cost of fsync changes from minute
to minute.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import by_turns, command_seconds, evals
from benchmarks.rows import Row, seconds
from evals_cli.core.capsule import Capsule

if TYPE_CHECKING:
    from benchmarks.command import Settings

# What the reference implementation needs for one append, as observed: about 50 s for 2,000, on disk.
REFERENCE_APPEND = 0.025
TURN = 25

PAYLOAD: dict[str, Any] = {
    "task_id": "t-01",
    "tool": "read_file",
    "status": "ok",
    "tokens_in": 1234,
    "tokens_out": 56,
    "duration_ms": 12.5,
    "message": "read src/module_7.py",
}
RECORD: dict[str, Any] = {
    "lineage": "attempt",
    "kind": "tool.call",
    "payload": PAYLOAD,
    "effect_class": "SE1",
}


def through_a_handle(settings: Settings) -> list[Row]:
    """Appends one by one, and the same many at once."""
    one_by_one, at_once = [], []
    for _ in range(settings.rounds):
        folder = settings.fresh_memory_folder("appends")
        one_by_one.append(_append_each(Capsule.create(os.path.join(folder, "each")), settings.appends))
        at_once.append(_append_all(Capsule.create(os.path.join(folder, "all")), settings.batch))
        shutil.rmtree(folder)
    each, record = min(one_by_one) / settings.appends, min(at_once) / settings.batch
    where = "" if settings.has_memory_folder else " (on disk: there is no memory file system)"
    return [
        Row(
            work=f"{settings.appends:,} appends through one handle{where}",
            ours=f"{seconds(each)} an entry",
            figure=min(one_by_one),
            unit="s",
            bar=2.5 * settings.appends / 2000,
            samples={"appends": one_by_one},
        ),
        Row(
            work=f"append_many of {settings.batch:,}{where}",
            ours=f"{seconds(record)} an entry",
            yardstick=f"reference {seconds(REFERENCE_APPEND)}",
            figure=REFERENCE_APPEND / record,
            bar=50,
            at_least=True,
            samples={"append_many": at_once},
        ),
        Row(
            work="append_many, times faster an entry than one by one",
            ours=f"{seconds(record)} an entry",
            yardstick=f"through the handle {seconds(each)}",
            figure=each / record,
        ),
    ]


def _append_each(capsule: Capsule, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        capsule.append("attempt", "tool.call", PAYLOAD, effect_class="SE1")
    return time.perf_counter() - start


def _append_all(capsule: Capsule, count: int) -> float:
    records = [RECORD] * count
    start = time.perf_counter()
    capsule.append_many(records)
    return time.perf_counter() - start


def in_a_session(settings: Settings) -> list[Row]:
    """A writing session with fsync against a bare loop that writes and fsyncs the same bytes."""
    folder = settings.fresh_folder("session")
    capsule = Capsule.create(os.path.join(folder, "capsule"))
    journal = os.path.join(folder, "capsule", "journal.ndjson")
    bare = os.open(os.path.join(folder, "bare"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    samples: dict[str, list[float]] = {"session": [], "bare": []}
    try:
        with capsule.writer() as writer, open(journal, "rb") as written:
            for _ in range(settings.session // TURN):
                start = time.perf_counter()
                for _ in range(TURN):
                    writer.append("attempt", "tool.call", PAYLOAD, effect_class="SE1")
                samples["session"].append(time.perf_counter() - start)
                lines = written.read().splitlines(keepends=True)
                start = time.perf_counter()
                for line in lines:
                    os.write(bare, line)
                    os.fsync(bare)
                samples["bare"].append(time.perf_counter() - start)
    finally:
        os.close(bare)
        shutil.rmtree(folder)
    ours, yardstick = sum(samples["session"]), sum(samples["bare"])
    return [
        Row(
            work=f"{settings.session:,} appends in one writing session, fsync on",
            ours=f"{seconds(ours / settings.session)} an entry",
            yardstick=f"write and fsync {seconds(yardstick / settings.session)}",
            figure=ours / yardstick,
            bar=1.6,
            samples=samples,
        )
    ]


def by_command(settings: Settings) -> list[Row]:
    """One append by command to a long capsule against verify by command."""
    folder = settings.fresh_folder("append")
    copy = shutil.copytree(settings.capsule("plain", settings.entries), os.path.join(folder, "capsule"))
    append = ("capsule", "append", copy, "--lineage", "attempt", "--kind", "tool.call", "--payload", "{}")
    works = {"append": evals(*append), "verify": evals("capsule", "verify", copy)}
    samples = by_turns(works, settings.rounds, command_seconds)
    shutil.rmtree(folder)
    ours, yardstick = min(samples["append"]), min(samples["verify"])
    return [
        Row(
            work=f"one append by command to {settings.entries:,} entries",
            ours=seconds(ours),
            yardstick=f"verify by command {seconds(yardstick)}",
            figure=ours / yardstick,
            bar=1.1,
            samples=samples,
        )
    ]
