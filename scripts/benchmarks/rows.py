"""What the benchmark says: rows of figures and bars, as a table for people and as a document for programs.

Rules:
- A figure is what a bar limits: a ratio to a yardstick of the same run, else seconds or MiB.
- Being over a bar is said, and is no error: machines differ, and tests never judge by time.
- The report names the kind of machine, never the machine.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from typing import Any


@dataclass(kw_only=True)
class Row:
    """One line of the table.

    `ours` and `yardstick` are texts such as "0.43 s"; `figure` is what is judged, in `unit` ("x", "s" or
    "MiB"), against `bar` and `stretch` (at most, or at least where `at_least`). A row that could not be
    measured says why in `missing`.
    """

    work: str
    ours: str = ""
    yardstick: str = ""
    figure: float | None = None
    unit: str = "x"
    bar: float | None = None
    stretch: float | None = None
    at_least: bool = False
    missing: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)

    def _meets(self, limit: float | None) -> bool:
        if limit is None or self.figure is None:
            return False
        return self.figure >= limit if self.at_least else self.figure <= limit

    @property
    def verdict(self) -> str:
        """Where the figure stands: "stretch", "within", "over", or "" where there is no bar."""
        if self.missing:
            return f"not measured: {self.missing}"
        if self.bar is None:
            return ""
        if self._meets(self.stretch):
            return "stretch"
        return "within" if self._meets(self.bar) else "over"

    def cells(self) -> tuple[str, ...]:
        """The texts of the table's columns."""
        figure = "" if self.figure is None else amount(self.figure, self.unit)
        bar = "" if self.bar is None else ("at least " if self.at_least else "") + amount(self.bar, self.unit)
        if self.stretch is not None:
            bar += f", stretch {amount(self.stretch, self.unit)}"
        return (self.work, self.ours, self.yardstick, figure, bar, self.verdict)

    def document(self) -> dict[str, Any]:
        """The row for programs; samples are seconds."""
        return {
            "work": self.work,
            "ours": self.ours,
            "yardstick": self.yardstick,
            "figure": None if self.figure is None else round(self.figure, 4),
            "unit": self.unit,
            "bar": self.bar,
            "stretch": self.stretch,
            "at_least": self.at_least,
            "verdict": self.verdict,
            "missing": self.missing or None,
            "samples": {name: [round(one, 6) for one in all_] for name, all_ in self.samples.items()},
        }


@dataclass(kw_only=True)
class Table:
    """A titled table of texts."""

    title: str
    head: tuple[str, ...]
    body: list[tuple[str, ...]]

    def text(self) -> str:
        """The table in Markdown, padded so that it reads well as it is."""
        lines = [self.head, *self.body]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.head))]
        rule = tuple("-" * width for width in widths)
        shown = [
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
            for line in (self.head, rule, *self.body)
        ]
        return f"### {self.title}\n\n" + "\n".join(shown) + "\n"


HEAD = ("work", "ours", "yardstick", "figure", "bar", "verdict")


def amount(number: float, unit: str) -> str:
    """`number` with its unit, in as many digits as mean something."""
    if unit == "x":
        return f"{number:.2f}" if number < 100 else f"{number:.0f}"
    return f"{seconds(number)}" if unit == "s" else f"{number:.1f} {unit}"


def seconds(number: float) -> str:
    """A duration in the unit that suits it."""
    if number >= 1:
        return f"{number:.2f} s"
    return f"{number * 1000:.1f} ms" if number >= 0.001 else f"{number * 1e6:.1f} us"


def machine() -> dict[str, Any]:
    """The kind of machine: system, CPU family, usable cores, Python."""
    return {
        "system": platform.system(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()
