"""What a command may ask of the face: a terminal, and the summary it prints for people.

Rules of this module:
1. A command writes through its terminal only; it never touches sys.stdout or sys.stderr.
2. stdout carries the result, stderr carries words about it.
3. No command knows whether colours, a pipe or a test stands behind the terminal.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Protocol

    from ..core.errors import EvalsError
else:
    Protocol = object  # `typing` costs more at start-up than the whole of this package


class Summary:
    """A verdict for people: first the verdict, then what failed and why, then the next command.

    verdict: one word ("pass", "fail", "ready", "stale", ...). good: whether the word is good news.
    headline: one sentence. facts: (label, value) pairs. problems: one line each, naming file and JSON path.
    next_command: a command line that can be pasted, or None.
    """

    __slots__ = ("facts", "good", "headline", "next_command", "problems", "verdict")

    def __init__(
        self,
        verdict: str,
        good: bool,
        headline: str,
        *,
        facts: Sequence[tuple[str, str]] = (),
        problems: Sequence[str] = (),
        next_command: str | None = None,
    ) -> None:
        self.verdict = verdict
        self.good = good
        self.headline = headline
        self.facts = list(facts)
        self.problems = list(problems)
        self.next_command = next_command


class Progress(Protocol):
    """A running count; `advance` is called once for each finished piece of work."""

    def advance(self) -> None:
        """Count one piece of work."""


class Terminal(Protocol):
    """Where a command's words go."""

    def done(self, what: str) -> None:
        """Say what is on disk by now, as in "the entry is in the journal": a failure to print names it."""

    def document(self, value: object) -> None:
        """Print one JSON document on stdout: two spaces, LF at the end, in one write."""

    def record(self, value: object) -> None:
        """Print one JSON value on stdout as canonical text on a line of its own (NDJSON)."""

    def text(self, text: str) -> None:
        """Print a text file's content on stdout exactly as it is, in one write."""

    def line(self, text: str) -> None:
        """Print one line for people on stdout."""

    def note(self, text: str) -> None:
        """Print one line for people on stderr."""

    def error(self, error: EvalsError) -> None:
        """Print `evals: CODE: message` on stderr, one line for each problem."""

    def summary(self, summary: Summary) -> None:
        """Print a verdict block for people on stdout."""

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows for people on stdout; the columns are as wide as their widest cell."""

    def progress(self, label: str, total: int) -> AbstractContextManager[Progress]:
        """Show a running count on stderr while the block runs; silent where stderr is no terminal."""
