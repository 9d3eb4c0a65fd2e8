"""Summaries and tables as plain lines, for pipes, logs and terminals without colour.

Rules of this module:
1. Nothing but ASCII is added around the words that are given.
2. The verdict comes first, then the problems, then the facts, then the next command.
"""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .commands.contract import Summary


class SilentProgress:
    """A running count that nobody sees."""

    def advance(self) -> None:
        """Count one piece of work, for nobody."""


@contextmanager
def silent_progress() -> Iterator[SilentProgress]:
    """Give a count that shows nothing."""
    yield SilentProgress()


def plain_summary(summary: Summary) -> list[str]:
    """Give the lines of a verdict block."""
    lines = [f"{summary.verdict.upper()}  {summary.headline}"]
    lines += [f"  - {problem}" for problem in summary.problems]
    width = max((len(label) for label, _ in summary.facts), default=0)
    lines += [f"  {label:<{width}}  {value}" for label, value in summary.facts]
    if summary.next_command:
        lines.append(f"next: {summary.next_command}")
    return lines


def plain_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Give the lines of a table; the last column is not padded."""
    table = [list(headers), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(headers))]
    return [_row(row, widths) for row in table]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()
