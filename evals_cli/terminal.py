"""Where the program's words go: documents to stdout, words about them to stderr.

Rules of this module:
1. A JSON document is UTF-8 whatever the locale, and is written in one piece. On a terminal, what does not
   print is escaped the JSON way, so no evidence can steer a terminal; the value stays the same.
2. Words for people are one line each, with unprintable characters escaped, and ASCII with escapes where the
   stream cannot encode them.
3. A failed write to stdout is OutputFailed (`output.unwritable`), a reader that has gone is OutputClosed;
   neither can end in success. OutputFailed says what the command had done by then, so that nobody repeats
   it blindly. A failed write to stderr is ignored: the exit code still speaks.
4. Colour and layout need a terminal (or FORCE_COLOR), no NO_COLOR, and a TERM other than dumb; only then is
   rich imported, by `terminal_rich`.
"""

from __future__ import annotations

import os
import sys

from .core.errors import EvalsError, RequirementError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import TextIO

    from .commands.contract import Progress, Summary


class OutputClosed(Exception):
    """The reader of stdout has gone; there is nobody to tell."""


class OutputFailed(EvalsError):
    """stdout cannot be written (code `output.unwritable`); `done` is what was done before, if anything."""

    def __init__(self, reason: str, done: str | None = None) -> None:
        advice = "the output is incomplete, send it elsewhere and try again"
        if done is not None:
            advice = f"but {done}: only printing failed, so look before you repeat the command"
        super().__init__("output.unwritable", f"stdout cannot be written ({reason}); {advice}")


class Terminal:
    """The two standard streams, as a command may use them (see `commands.contract.Terminal`)."""

    _done: str | None = None

    def done(self, what: str) -> None:
        """Remember what a failure of stdout can no longer undo."""
        self._done = what

    def document(self, value: object) -> None:
        """Print one JSON document on stdout, in one write."""
        from .core.canonical import pretty_json

        self._write(self._escaped(pretty_json(value)), "utf-8")

    def record(self, value: object) -> None:
        """Print one JSON value on stdout as a line of NDJSON."""
        from .core.canonical import canonical_json

        self._write(self._escaped(canonical_json(value) + "\n"), "utf-8", flush=False)

    def text(self, text: str) -> None:
        """Print the content of a text file on stdout."""
        self._write(self._escaped(text), "utf-8")

    def line(self, text: str) -> None:
        """Print one line for people on stdout."""
        self._write(printable(text) + "\n")

    def note(self, text: str) -> None:
        """Print one line for people on stderr."""
        _write_stderr(printable(text) + "\n")

    def error(self, error: EvalsError) -> None:
        """Print a refusal on stderr, one line for each problem."""
        problems = error.problems if isinstance(error, RequirementError) else [error.message]
        for problem in problems:
            self._error_line(error.code, problem)
        if isinstance(error, RequirementError) and error.recovery:
            self.note(f"next: {error.recovery}")

    def summary(self, summary: Summary) -> None:
        """Print a verdict block for people on stdout."""
        if styled(sys.stdout):
            from .terminal_rich import styled_summary

            self._write(styled_summary(summary, _encodes(sys.stdout, "✓✗→")))
            return
        from .plain_layout import plain_summary

        self._write("".join(printable(line) + "\n" for line in plain_summary(summary)))

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows for people on stdout."""
        if styled(sys.stdout):
            from .terminal_rich import styled_table

            self._write(styled_table(headers, rows))
            return
        from .plain_layout import plain_table

        shown = [[printable(cell) for cell in row] for row in rows]
        self._write("".join(line + "\n" for line in plain_table(headers, shown)))

    def progress(self, label: str, total: int) -> AbstractContextManager[Progress]:
        """Show a running count on stderr, on a terminal only."""
        if styled(sys.stderr) and _is_terminal(sys.stderr):
            from .terminal_rich import running_progress

            return running_progress(printable(label), total)
        from .plain_layout import silent_progress

        return silent_progress()

    def flush(self) -> None:
        """Hand everything to the system now; raises OutputFailed or OutputClosed."""
        if sys.stdout is not None:
            self._guarded(sys.stdout.flush)

    def _error_line(self, code: str, problem: str) -> None:
        if styled(sys.stderr):
            from .terminal_rich import styled_error

            _write_stderr(styled_error(code, printable(problem)))
            return
        _write_stderr(f"evals: {code}: {printable(problem)}\n")

    def _escaped(self, text: str) -> str:
        """On a terminal: the same JSON text with JSON escapes in place of unprintable characters."""
        if text.isascii() or not _is_terminal(sys.stdout):
            return text
        return "".join(_json_escape(char) for char in text)

    def _write(self, text: str, encoding: str | None = None, *, flush: bool = True) -> None:
        """Write `text` to stdout as one piece; `encoding` None means the stream's own, with escapes."""
        stream = sys.stdout
        if stream is None:
            raise OutputFailed("it is closed", self._done)
        buffer = getattr(stream, "buffer", None)
        if buffer is None:  # a stream of text only, as a test or an embedding program may put in place
            self._guarded(lambda: stream.write(text))
            return
        data = text.encode(encoding or stream.encoding or "utf-8", "backslashreplace")
        self._guarded(lambda: _write_bytes(stream, data, flush))

    def _guarded(self, effect: Callable[[], object]) -> None:
        """Run a write to stdout, naming its failure."""
        try:
            effect()
        except BrokenPipeError:
            raise OutputClosed from None
        except OSError as error:
            raise OutputFailed(error.strerror or type(error).__name__, self._done) from None
        except ValueError:  # I/O on a closed stream object
            raise OutputFailed("it is closed", self._done) from None


def printable(text: str) -> str:
    """Give `text` on one line, with every character that does not print as an escape."""
    if text.isascii() and text.isprintable():
        return text
    from .core.files import shown

    return shown(text)


def styled(stream: TextIO | None) -> bool:
    """Say whether colour and layout are wanted on `stream` (NO_COLOR, FORCE_COLOR, TERM, a terminal)."""
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM", "") not in ("dumb", "unknown") and _is_terminal(stream)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # the stream object is closed
        return False


def _encodes(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _json_escape(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _write_bytes(stream: TextIO, data: bytes, flush: bool) -> None:
    stream.flush()  # whatever went through the text layer comes first
    stream.buffer.write(data)
    if flush:
        stream.buffer.flush()


def _write_stderr(text: str) -> None:
    stream = sys.stderr
    if stream is None:
        return
    try:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except (OSError, ValueError):
        return
