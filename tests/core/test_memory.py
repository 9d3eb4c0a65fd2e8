"""Memory: a capsule is verified, projected, shown, exported and appended to without holding its journal.

Measured from outside, as the highest resident size of a process of its own: a journal of many megabytes may
cost a command little more than one of a single megabyte, which loads the same code.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from evals_cli.core import capsule, journal, receipt

if TYPE_CHECKING:
    from pathlib import Path

_MEGABYTE = 1024 * 1024
_SMALL, _LARGE = 1, 24
# Room for what allocators do; a journal that is held would take all of its 24 MiB.
_MOST_MORE = 3 * _MEGABYTE

_PROGRAM = """
import resource, sys
from evals_cli import main

code = main(sys.argv[1:])
try:
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
sys.stderr.write(f"{code} {peak}")
"""


def _capsule(folder: Path, megabytes: int) -> None:
    made = capsule.Capsule.create(folder / "capsule", run_id="run-1", capsule_id="cap-1")
    records = [{"lineage": "attempt", "kind": "step", "payload": {"note": "x" * 1600}}] * 512
    for _ in range(megabytes):
        made.append_many(records)
    assert (folder / "capsule" / "journal.ndjson").stat().st_size > megabytes * _MEGABYTE * 0.9
    (folder / "receipt.json").write_text(json.dumps(receipt.build_receipt(folder / "capsule")))
    shutil.copytree(folder / "capsule", folder / "growing")


@pytest.fixture(name="world", scope="module")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = tmp_path_factory.mktemp("memory")
    for megabytes in (_SMALL, _LARGE):
        (world / str(megabytes)).mkdir()
        _capsule(world / str(megabytes), megabytes)
    return world


def _peak(folder: Path, words: list[str], code: int = 0) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
        check=True,
    )
    found, peak = done.stderr.split()[-2:]
    assert int(found) == code, done.stderr
    return int(peak)


@pytest.mark.parametrize(
    "words",
    [
        ["capsule", "verify", "capsule"],
        ["capsule", "project", "capsule"],
        ["capsule", "show", "capsule", "--json"],
        ["capsule", "show", "capsule", "--tail", "3"],
        ["capsule", "export", "capsule", "exported"],
        ["receipt", "build", "capsule"],
        ["receipt", "verify", "receipt.json", "capsule"],
        ["capsule", "append", "growing", "--lineage", "plan", "--kind", "later"],
    ],
    ids=lambda words: " ".join(words[:2] + words[3:4]),
)
def test_a_long_journal_takes_no_more_memory_than_a_short_one(world: Path, words: list[str]) -> None:
    short, long = (_peak(world / str(megabytes), words) for megabytes in (_SMALL, _LARGE))
    assert long - short < _MOST_MORE, f"{short / _MEGABYTE:.1f} MiB, then {long / _MEGABYTE:.1f} MiB"


def test_a_hostile_line_takes_what_one_line_of_the_longest_may_take_and_no_more(tmp_path: Path) -> None:
    capsule.Capsule.create(tmp_path / "capsule")
    item = b'{"":{}},'
    line = b"[" + item * (journal.MAX_LINE_BYTES // len(item) - 1) + b"{}]\n"
    (tmp_path / "capsule" / "journal.ndjson").write_bytes(line * 4)
    peak = _peak(tmp_path, ["capsule", "verify", "capsule"], code=1)
    assert peak < 48 * journal.MAX_LINE_BYTES, f"{peak / _MEGABYTE:.1f} MiB"
