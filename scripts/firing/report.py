"""What a lane gives back, and how all of it is shown: a table for people, JSON for programs.

Rules:
- `counts` are what was tried, by name, in the order in which the lane met it; `tried` is their sum unless the
  lane says otherwise.
- A failure is one line that says what was done, what was expected and what was found. A lane with a failure
  has failed; at most MAX_FAILURES are kept, and the rest are counted.
- The report names no machine: the kind of system, the Python version and the number of processors only.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from typing import Any

MAX_FAILURES = 200


@dataclass
class LaneResult:
    """What a lane tried and found."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    more_failures: int = 0
    notes: list[str] = field(default_factory=list)
    skipped: str | None = None
    seconds: float = 0.0

    @property
    def status(self) -> str:
        """passed, failed or skipped."""
        if self.failures:
            return "failed"
        return "skipped" if self.skipped else "passed"

    @property
    def tried(self) -> int:
        """How many things were tried."""
        return sum(self.counts.values())

    def count(self, what: str, times: int = 1) -> None:
        """Count `times` of `what`."""
        self.counts[what] = self.counts.get(what, 0) + times

    def fail(self, what: str) -> None:
        """Note a failure, in one line."""
        if len(self.failures) < MAX_FAILURES:
            self.failures.append(what)
        else:
            self.more_failures += 1

    def add(self, other: LaneResult) -> None:
        """Take over what another part of the lane counted and found."""
        for what, times in other.counts.items():
            self.count(what, times)
        for failure in other.failures:
            self.fail(failure)
        self.more_failures += other.more_failures
        self.notes += other.notes

    def note(self, what: str) -> None:
        """Note something that a reader of the report should know."""
        self.notes.append(what)

    def document(self) -> dict[str, Any]:
        """The result for the JSON report."""
        return {
            "lane": self.name,
            "status": self.status,
            "tried": self.tried,
            "counts": dict(self.counts),
            "failures": list(self.failures),
            "more_failures": self.more_failures,
            "notes": list(self.notes),
            "skipped": self.skipped,
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True)
class Context:
    """What a lane is given: the short or the long form, a scratch folder of its own, the checkout's root."""

    folder: str
    root: str
    quick: bool = False


def document(results: list[LaneResult], *, quick: bool) -> dict[str, Any]:
    """The whole report for programs."""
    return {
        "schema_version": 1,
        "form": "quick" if quick else "long",
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "status": "failed" if any(result.status == "failed" for result in results) else "passed",
        "lanes": [result.document() for result in results],
    }


def as_json(results: list[LaneResult], *, quick: bool) -> str:
    """The JSON text of `document`, with a line feed at its end."""
    return json.dumps(document(results, quick=quick), indent=2, ensure_ascii=False) + "\n"


def table(results: list[LaneResult]) -> str:
    """The summary for people: one row a lane, then what went wrong and what was skipped."""
    rows = [("lane", "status", "tried", "failures", "seconds")]
    for result in results:
        failures = len(result.failures) + result.more_failures
        rows.append((result.name, result.status, str(result.tried), str(failures), f"{result.seconds:.1f}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]
    for result in results:
        lines += _details(result)
    return "\n".join(lines) + "\n"


def _details(result: LaneResult) -> list[str]:
    lines = [f"{result.name}: skipped: {result.skipped}"] if result.skipped else []
    lines += [f"{result.name}: {what}: {times}" for what, times in result.counts.items()]
    lines += [f"{result.name}: note: {note}" for note in result.notes]
    lines += [f"{result.name}: FAILED: {failure}" for failure in result.failures]
    if result.more_failures:
        lines.append(f"{result.name}: FAILED: and {result.more_failures} more")
    return lines
