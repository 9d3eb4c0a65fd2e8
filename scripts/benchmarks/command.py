"""The command line of `scripts/bench`: which groups of rows are measured, how large, and where they go."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import appending, large, starting, verifying
from benchmarks.journals import write_capsule
from benchmarks.rows import HEAD, Row, Table, machine

if TYPE_CHECKING:
    from collections.abc import Callable

GROUPS: dict[str, tuple[Callable[[Settings], list[Row]], ...]] = {
    "verify": (verifying.against_json, verifying.peer),
    "memory": (verifying.memory,),
    "append": (appending.through_a_handle, appending.in_a_session, appending.by_command),
    "group": (large.group,),
    "start": (starting.small_commands, starting.commands_of_runs),
    "artifact": (large.artifact,),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes and places of one benchmark; folders are made on first use below `scratch`."""

    root: str
    scratch: str
    memory_folder: str
    quick: bool

    @property
    def entries(self) -> int:
        """Entries of the journals that speed is measured with."""
        return 20_000 if self.quick else 100_000

    @property
    def peer_entries(self) -> int:
        """Entries of the peer's log."""
        return 5_000 if self.quick else 20_000

    @property
    def rounds(self) -> int:
        """Turns for work of a second or so."""
        return 3 if self.quick else 7

    @property
    def starts(self) -> int:
        """Turns for starting small commands."""
        return 10 if self.quick else 40

    @property
    def large_rounds(self) -> int:
        """Turns for work of several seconds."""
        return 2 if self.quick else 3

    @property
    def growth(self) -> tuple[int, ...]:
        """Sizes of the growth curve."""
        return (1000, 10_000) if self.quick else (1000, 10_000, 100_000, 1_000_000)

    @property
    def memory_entries(self) -> tuple[int, ...]:
        """Sizes that memory is measured at."""
        return (self.entries,) if self.quick else (self.entries, 1_000_000)

    @property
    def appends(self) -> int:
        """Appends through one handle."""
        return 500 if self.quick else 2000

    @property
    def batch(self) -> int:
        """Records of one append_many."""
        return 2000 if self.quick else 10_000

    @property
    def session(self) -> int:
        """Appends in one writing session."""
        return 1000 if self.quick else 10_000

    @property
    def artifact_mebibytes(self) -> int:
        """Size of the large artifact."""
        return 128 if self.quick else 1024

    @property
    def has_memory_folder(self) -> bool:
        """Whether there is a memory file system."""
        return bool(self.memory_folder)

    def folder(self, name: str) -> str:
        """A folder of this name below the scratch folder."""
        return os.path.join(self.scratch, name)

    def capsule(self, kind: str, count: int) -> str:
        """The folder of a capsule of this kind and size."""
        return verifying.prepare(self.folder(f"{kind}-{count}"), kind, count)

    def member(self, number: int, count: int) -> str:
        """The folder of one of many plain capsules with identities of their own."""
        folder = self.folder(os.path.join("members", str(number)))
        return folder if os.path.exists(folder) else write_capsule(folder, "plain", count, name=str(number))

    def fresh_folder(self, name: str) -> str:
        """An empty folder on disk."""
        return tempfile.mkdtemp(prefix=f"{name}-", dir=self.scratch)

    def fresh_memory_folder(self, name: str) -> str:
        """An empty folder on the memory file system, on disk where there is none."""
        return tempfile.mkdtemp(prefix=f"evals-{name}-", dir=self.memory_folder or self.scratch)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", allow_abbrev=False, description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer turns: a minute or two")
    parser.add_argument("--json", metavar="FILE", help="also write every figure and sample to FILE")
    parser.add_argument(
        "--only", metavar="GROUP", action="append", choices=[*GROUPS, "growth"], help="repeat for more"
    )
    parser.add_argument(
        "--scratch", metavar="DIR", help="where journals are made (default: a temporary folder)"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Measure what was asked for and print it; 0 whatever the figures are."""
    arguments = _arguments(argv)
    scratch = arguments.scratch or tempfile.mkdtemp(prefix="evals-bench-")
    os.makedirs(scratch, exist_ok=True)
    settings = Settings(
        root=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
        scratch=scratch,
        memory_folder="/dev/shm" if os.access("/dev/shm", os.W_OK) else "",
        quick=arguments.quick,
    )
    try:
        rows, curve = _measure(settings, arguments.only or [*GROUPS, "growth"])
    finally:
        if not arguments.scratch:
            shutil.rmtree(scratch)
    _report(rows, curve, settings, arguments.json)
    return 0


def _measure(settings: Settings, groups: list[str]) -> tuple[list[Row], Table | None]:
    rows: list[Row] = []
    for name, measures in GROUPS.items():
        if name in groups:
            for measure in measures:
                rows += _noted(measure(settings))
    return rows, verifying.growth(settings) if "growth" in groups else None


def _noted(rows: list[Row]) -> list[Row]:
    for row in rows:
        _, _, _, figure, _, verdict = row.cells()
        print(f"{row.work}: {figure} {verdict}".rstrip(), file=sys.stderr, flush=True)
    return rows


def _report(rows: list[Row], curve: Table | None, settings: Settings, target: str | None) -> None:
    kind = machine()
    print("machine: " + ", ".join(f"{name} {value}" for name, value in kind.items()) + "\n")
    if rows:
        print(Table(title="Work and bars", head=HEAD, body=[row.cells() for row in rows]).text())
    if curve is not None:
        print(curve.text())
    if target:
        document: dict[str, Any] = {
            "schema_version": 1,
            "form": "quick" if settings.quick else "full",
            "machine": kind,
            "rows": [row.document() for row in rows],
            "growth": None
            if curve is None
            else [dict(zip(curve.head, line, strict=True)) for line in curve.body],
        }
        with open(target, "w", encoding="utf-8") as file:
            file.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
