"""What reaches stdout and stderr: whole documents, harmless words, and a clear failure when it cannot."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli import plain_layout, terminal, terminal_rich
from evals_cli.commands.contract import Summary
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable


class Stream(io.TextIOWrapper):
    """A standard stream in memory, a terminal or not, of any encoding."""

    def __init__(self, *, tty: bool = False, encoding: str = "utf-8") -> None:
        self.bytes = io.BytesIO()
        self._tty = tty
        super().__init__(self.bytes, encoding=encoding)

    def isatty(self) -> bool:
        return self._tty

    def said(self) -> bytes:
        self.flush()
        return self.bytes.getvalue()


class Broken(io.RawIOBase):
    """A descriptor whose writes fail."""

    def __init__(self, error: OSError) -> None:
        self.error = error

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raise self.error


@pytest.fixture
def stdout(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Stream]:
    return _streams(monkeypatch, "stdout")


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Stream]:
    return _streams(monkeypatch, "stderr")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def _streams(monkeypatch: pytest.MonkeyPatch, name: str) -> Callable[..., Stream]:
    def install(**kind: Any) -> Stream:
        stream = Stream(**kind)
        monkeypatch.setattr(sys, name, stream)
        return stream

    return install


HOSTILE = "a\x1b[31m\x9b\u202e\u2028\udcffé😀\n"


def test_a_document_is_utf8_whatever_the_locale(stdout: Callable[..., Stream]) -> None:
    stream = stdout(encoding="ascii")
    terminal.Terminal().document({"b": "é", "a": []})
    assert stream.said() == '{\n  "b": "é",\n  "a": []\n}\n'.encode()


def test_a_document_on_a_terminal_holds_the_same_value_and_nothing_that_steers_it(
    stdout: Callable[..., Stream],
) -> None:
    stream = stdout(tty=True)
    terminal.Terminal().document({"x": HOSTILE, "tag": "\U000e0001"})
    text = stream.said().decode()
    assert json.loads(text) == {"x": HOSTILE, "tag": "\U000e0001"}
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "é😀" in text


def test_a_document_off_a_terminal_keeps_its_characters(stdout: Callable[..., Stream]) -> None:
    stream = stdout()
    terminal.Terminal().document("\u202e\udcff")
    assert stream.said() == '"\u202e\\udcff"\n'.encode()


def test_a_record_is_canonical_text_on_one_line(stdout: Callable[..., Stream]) -> None:
    stream = stdout()
    terminal.Terminal().record({"b": 1.0, "a": None})
    terminal.Terminal().flush()
    assert stream.said() == b'{"a":null,"b":1}\n'


def test_words_for_people_are_one_harmless_line(stdout: Callable[..., Stream]) -> None:
    stream = stdout()
    terminal.Terminal().line(HOSTILE)
    assert stream.said().decode() == "a\\x1b[31m\\x9b\\u202e\\u2028\\udcffé😀\\n\n"


def test_words_become_ascii_where_the_stream_cannot_encode(
    stdout: Callable[..., Stream], stderr: Callable[..., Stream]
) -> None:
    out, err = stdout(encoding="ascii"), stderr(encoding="ascii")
    terminal.Terminal().line("é")
    terminal.Terminal().note("é")
    assert (out.said(), err.said()) == (b"\\xe9\n", b"\\xe9\n")


def test_a_text_only_stream_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    terminal.Terminal().document([1])
    assert stream.getvalue() == "[\n  1\n]\n"


@pytest.mark.parametrize("method", ["document", "line", "text", "record"])
def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    _break_stdout(monkeypatch, OSError(28, "No space left on device"))
    with pytest.raises(terminal.OutputFailed, match=r"output\.unwritable: .*No space left"):
        _said_to_the_end(method)


@pytest.mark.parametrize("how", ["full", "absent", "closed"])
def test_a_failure_to_print_says_what_is_done_by_then(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    _break_stdout(monkeypatch, OSError(28, "No space left on device"))
    if how == "absent":
        monkeypatch.setattr(sys, "stdout", None)
    if how == "closed":
        stream = Stream()
        stream.close()
        monkeypatch.setattr(sys, "stdout", stream)
    said = terminal.Terminal()
    said.done("the entry is in the journal")
    with pytest.raises(terminal.OutputFailed) as caught:
        said.document("x")
    assert "; but the entry is in the journal: only printing failed" in caught.value.message
    assert "try again" not in caught.value.message


def test_a_reader_that_has_gone_is_no_error_message(monkeypatch: pytest.MonkeyPatch) -> None:
    _break_stdout(monkeypatch, BrokenPipeError(32, "Broken pipe"))
    with pytest.raises(terminal.OutputClosed):
        terminal.Terminal().document("x")


@pytest.mark.parametrize("how", ["absent", "closed"])
def test_a_closed_stdout_is_named(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    stream: Any = None if how == "absent" else Stream()
    if stream is not None:
        stream.close()
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(terminal.OutputFailed, match="it is closed"):
        terminal.Terminal().document("x")


@pytest.mark.parametrize("how", ["absent", "closed"])
def test_a_lost_stream_is_no_terminal(how: str) -> None:
    stream: Any = None if how == "absent" else io.TextIOWrapper(io.BytesIO())
    if stream is not None:
        stream.close()
    assert not terminal.styled(stream)


def test_flushing_without_a_stdout_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    terminal.Terminal().flush()


@pytest.mark.parametrize("how", ["absent", "closed", "broken"])
def test_a_lost_stderr_is_no_failure(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    stream: Any = None
    if how == "closed":
        stream = Stream()
        stream.close()
    if how == "broken":
        stream = io.TextIOWrapper(io.BufferedWriter(Broken(OSError(28, "full"))), write_through=True)
    monkeypatch.setattr(sys, "stderr", stream)
    terminal.Terminal().note("x")
    terminal.Terminal().error(EvalsError("a.b", "c"))
    if how == "broken":
        _forget(stream)


SUMMARY = Summary(
    "fail",
    False,
    "2 of 3 checks failed",
    facts=[("run", "r1"), ("artifacts", ".harness")],
    problems=["a.json: $.x: bad\x1b"],
    next_command="evals run suite.json",
)
PLAIN = """\
FAIL  2 of 3 checks failed
  - a.json: $.x: bad\\x1b
  run        r1
  artifacts  .harness
next: evals run suite.json
"""


def test_a_summary_off_a_terminal_is_plain(stdout: Callable[..., Stream]) -> None:
    stream = stdout()
    terminal.Terminal().summary(SUMMARY)
    assert stream.said().decode() == PLAIN


@pytest.mark.parametrize(
    ("variables", "tty", "coloured"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_colour_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    stdout: Callable[..., Stream],
    variables: dict[str, str],
    tty: bool,
    coloured: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = stdout(tty=tty)
    terminal.Terminal().summary(SUMMARY)
    assert (b"\x1b[" in stream.said()) is coloured


def test_a_summary_on_a_terminal_says_the_same_words(stdout: Callable[..., Stream]) -> None:
    stream = stdout(tty=True)
    terminal.Terminal().summary(SUMMARY)
    text = _without_colour(stream.said().decode())
    assert text.splitlines() == [
        "✗ FAIL  2 of 3 checks failed",
        "  - a.json: $.x: bad\\x1b",
        "  run        r1",
        "  artifacts  .harness",
        "→ evals run suite.json",
    ]


def test_a_good_summary_in_ascii_uses_ascii_signs(stdout: Callable[..., Stream]) -> None:
    stream = stdout(tty=True, encoding="ascii")
    terminal.Terminal().summary(Summary("pass", True, "all", next_command="evals state"))
    assert _without_colour(stream.said().decode()) == "+ PASS  all\n-> evals state\n"


@pytest.mark.parametrize("tty", [True, False])
def test_a_table_has_aligned_columns(stdout: Callable[..., Stream], tty: bool) -> None:
    stream = stdout(tty=tty)
    terminal.Terminal().table(("A", "B"), [("long cell", "x\x1b"), ("y", "[bold]z")])
    lines = [line.rstrip() for line in _without_colour(stream.said().decode()).splitlines()]
    assert [line.split() for line in lines] == [["A", "B"], ["long", "cell", "x\\x1b"], ["y", "[bold]z"]]
    assert lines[1].index("x") == lines[0].index("B") == lines[2].index("[")


def test_an_error_on_a_terminal_says_the_same_words(stderr: Callable[..., Stream]) -> None:
    stream = stderr(tty=True)
    terminal.Terminal().error(EvalsError("capsule.busy", f"{'long ' * 60}[red]"))
    said = stream.said().decode()
    assert "\x1b[" in said
    assert _without_colour(said) == f"evals: capsule.busy: {'long ' * 60}[red]\n"


def test_progress_is_shown_on_a_terminal_only(stderr: Callable[..., Stream]) -> None:
    silent = stderr()
    with terminal.Terminal().progress("cases", 2) as progress:
        progress.advance()
    assert silent.said() == b""
    stream = stderr(tty=True)
    with terminal.Terminal().progress("cases [x]", 2) as progress:
        progress.advance()
        progress.advance()
    assert "cases [x]" in _without_colour(stream.said().decode())


def test_an_empty_summary_is_one_line() -> None:
    assert plain_layout.plain_summary(Summary("pass", True, "fine")) == ["PASS  fine"]
    assert "fine" in terminal_rich.styled_summary(Summary("pass", True, "fine"), unicode=True)


def _said_to_the_end(method: str) -> None:
    getattr(terminal.Terminal(), method)("x")
    terminal.Terminal().flush()


def _break_stdout(monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    stream = io.TextIOWrapper(io.BufferedWriter(Broken(error)), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    _forget(stream)


_KEPT: list[Any] = []


def _forget(stream: Any) -> None:
    """Keep a broken stream alive: its end would try to flush what it still holds."""
    _KEPT.append(stream)


def _without_colour(text: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
