"""Summaries, tables, errors and progress with colour. The only module here that imports rich.

Rules of this module:
1. It is imported only where colour is wanted (see `terminal.styled`), never on a pipe.
2. It gives text; `terminal` writes it, so failures of stdout are treated in one place.
3. Values are plain text to rich: no markup, no emoji codes, no links are read out of evidence.
"""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from .core.files import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.progress import TaskID

    from .commands.contract import Summary


class RunningProgress:
    """The count behind a bar."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def advance(self) -> None:
        """Count one piece of work."""
        self._bar.advance(self._task)


@contextmanager
def running_progress(label: str, total: int) -> Iterator[RunningProgress]:
    """Show a bar for `total` pieces of work on stderr; it disappears when the block ends."""
    words = TextColumn("{task.description}", markup=False)
    with Progress(
        words, BarColumn(), MofNCompleteColumn(), console=Console(file=sys.stderr), transient=True
    ) as bar:
        yield RunningProgress(bar, bar.add_task(label, total=total))


def styled_summary(summary: Summary, unicode: bool) -> str:
    """Give a coloured verdict block; `unicode` says whether the stream can encode signs beyond ASCII."""
    colour = "green" if summary.good else "red"
    sign = ("✓" if summary.good else "✗") if unicode else ("+" if summary.good else "x")
    lines = [
        Text.assemble(
            (f"{sign} {shown(summary.verdict).upper()}", f"bold {colour}"),
            f"  {shown(summary.headline)}",
        )
    ]
    lines += [Text.assemble(("  - ", "red"), shown(problem)) for problem in summary.problems]
    width = max((len(label) for label, _ in summary.facts), default=0)
    lines += [
        Text.assemble((f"  {shown(label):<{width}}", "dim"), f"  {shown(value)}")
        for label, value in summary.facts
    ]
    if summary.next_command:
        arrow = "→" if unicode else "->"
        lines.append(Text.assemble((f"{arrow} ", "bold"), (shown(summary.next_command), "cyan")))
    return _rendered(*lines)


def styled_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Give a coloured table as wide as the terminal allows."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for position, header in enumerate(headers):
        table.add_column(header, no_wrap=position < len(headers) - 1, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    return _rendered(table, wrap=True)


def styled_error(code: str, message: str) -> str:
    """Give one error line; the words are those of the plain form."""
    return _rendered(Text.assemble(("evals:", "bold red"), " ", (f"{code}:", "bold"), f" {message}"))


def _rendered(*parts: RenderableType, wrap: bool = False) -> str:
    # The width and the colours of the real terminal, but into memory.
    real = Console(force_terminal=True)
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=real.width,
        color_system="standard",
        legacy_windows=False,
    )
    for part in parts:
        console.print(part, soft_wrap=not wrap, highlight=False, markup=False, emoji=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
