"""Verification: speed against `json.loads` of the same lines, growth, and memory.

Both sides run in this process by turns, and read the same file. The peer is measured in its own environment
on its own format, against `json.loads` of its own lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.journals import KINDS, read_as_json, write_capsule
from benchmarks.measuring import by_turns, own_seconds, peak_mebibytes
from benchmarks.rows import Row, Table, seconds
from evals_cli.core import capsule

if TYPE_CHECKING:
    from benchmarks.command import Settings
    from benchmarks.measuring import Work

BARS = {"plain": (1.5, 1.0)}
OTHER_BARS = (3.0, 2.0)
MEMORY_BAR = 48.0
PEER = "waxseal==0.1.6"
PEER_ROW = "the best Python peer, waxseal 0.1.6, on its own format: verify"


def _verify(folder: str) -> None:
    verdict = capsule.verify(folder)
    if not verdict.ok:
        raise AssertionError(f"{folder} does not verify: {verdict.reason}")


def against_json(settings: Settings) -> list[Row]:
    """Verify and project against `for line in journal: json.loads(line)`."""
    rows = []
    for kind in KINDS:
        folder = settings.capsule(kind, settings.entries)
        works: dict[str, Work] = {
            "json.loads": partial(read_as_json, folder),
            "verify": partial(_verify, folder),
        }
        if kind == "plain":
            works["project"] = partial(capsule.project, folder)
        samples = by_turns(works, settings.rounds, own_seconds)
        rows += [
            _compared(f"{name}, {kind} journal of {settings.entries:,}", samples, name, kind)
            for name in works
            if name != "json.loads"
        ]
    return rows


def _compared(work: str, samples: dict[str, list[float]], name: str, kind: str) -> Row:
    bar, stretch = BARS.get(kind, OTHER_BARS)
    ours, yardstick = min(samples[name]), min(samples["json.loads"])
    return Row(
        work=work,
        ours=seconds(ours),
        yardstick=f"json.loads {seconds(yardstick)}",
        figure=ours / yardstick,
        bar=bar if name == "verify" else None,
        stretch=stretch if name == "verify" else None,
        samples={name: samples[name], "json.loads": samples["json.loads"]},
    )


def peer(settings: Settings) -> list[Row]:
    """The peer's verify on its own format, in an environment made for it."""
    python = _peer_python(os.path.join(settings.root, "build", "bench-peer"))
    if not python:
        return [Row(work=PEER_ROW, missing=f"{PEER} could not be installed here")]
    script = os.path.join(settings.root, "scripts", "benchmarks", "peer.py")
    words = [python, script, settings.folder("peer"), str(settings.peer_entries), str(settings.rounds)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [Row(work=PEER_ROW, missing="it did not run on this Python")]
    samples: dict[str, list[float]] = json.loads(done.stdout)
    ours, yardstick = min(samples["verify"]), min(samples["json.loads"])
    return [
        Row(
            work=f"{PEER_ROW}, {settings.peer_entries:,} entries",
            ours=seconds(ours),
            yardstick=f"json.loads {seconds(yardstick)}",
            figure=ours / yardstick,
            samples=samples,
        )
    ]


def _peer_python(folder: str) -> str:
    """The Python of an environment with the peer in it, made on first use; "" where that is not possible."""
    python = os.path.join(folder, "Scripts" if os.name == "nt" else "bin", "python")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEER]
        probe = [python, "-c", "import waxseal"]
        if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
            subprocess.run(install, capture_output=True, check=True, timeout=180)
    except (OSError, subprocess.SubprocessError):
        return ""
    return python


def growth(settings: Settings) -> Table:
    """Verify of plain journals from 1,000 entries up: time in all and for an entry, ratio, memory."""
    body = []
    for count in settings.growth:
        folder = settings.capsule("plain", count)
        rounds = settings.rounds if count <= settings.entries else 2
        works = {"json.loads": partial(read_as_json, folder), "verify": partial(_verify, folder)}
        samples = by_turns(works, rounds, own_seconds)
        ours, yardstick = min(samples["verify"]), min(samples["json.loads"])
        cells: tuple[Any, ...] = (
            f"{count:,}",
            seconds(ours),
            seconds(ours / count),
            f"{ours / yardstick:.2f}",
            f"{peak_mebibytes('capsule', 'verify', folder):.1f} MiB",
        )
        body.append(cells)
    head = ("entries", "verify", "for an entry", "to json.loads", "peak memory")
    return Table(title="Growth of verify, plain journals", head=head, body=body)


def memory(settings: Settings) -> list[Row]:
    """Peak memory of the verify and project commands."""
    rows = []
    for count in settings.memory_entries:
        folder = settings.capsule("plain", count)
        for name in ("verify", "project"):
            peak = peak_mebibytes("capsule", name, folder)
            work = f"memory of {name}, {count:,} entries"
            rows.append(Row(work=work, ours=f"{peak:.1f} MiB", figure=peak, unit="MiB", bar=MEMORY_BAR))
    return rows


def prepare(folder: str, kind: str, count: int) -> str:
    """A capsule of this kind and size in `folder`, made on first use."""
    if not os.path.exists(os.path.join(folder, "journal.ndjson")):
        write_capsule(folder, kind, count)
    return folder
