"""Trying a command with anything at all, in this process: what it said, and which promises it broke.

The promises: exit code 0, 1 or 2; an end within TIME_LIMIT_S; no traceback and no `internal.error`; stdout is
a whole document where documents are promised; a refusal has a code that can be looked up.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evals_cli.core.catalog import lookup
from evals_cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TIME_LIMIT_S = 20
_CODE = re.compile(r"(?m)^evals: ([a-z]+(?:\.[a-z_]+)+): ")
# Words for people on stdout, or one document a line.
_TEXTS = (["capsule", "show"], ["explain"], ["gate", "run"])


class Hang(BaseException):
    """The command did not end in time."""


@dataclass
class Trial:
    """How a command ended; `problems` are the promises that it broke."""

    status: int = -1
    out: bytes = b""
    err: bytes = b""
    problems: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        """Everything that it said."""
        return (self.out + self.err).decode("utf-8", "replace")

    @property
    def codes(self) -> list[str]:
        """The codes of the refusals on stderr."""
        return _CODE.findall(self.err.decode("utf-8", "replace"))


def tried(words: Sequence[str], folder: Path, stdin: bytes = b"") -> Trial:
    """Run `evals WORDS` in `folder`, with `stdin` to read."""
    trial = Trial()
    with _apart(folder, stdin) as (out, err):
        try:
            with _within(TIME_LIMIT_S):
                trial.status = main(list(words))
        except Hang:
            trial.problems.append(f"no end within {TIME_LIMIT_S} s")
        except BaseException as error:  # noqa: BLE001 - nothing at all may come through
            trial.problems.append(f"{type(error).__name__} came through: {error}")
    trial.out, trial.err = out.getvalue(), err.getvalue()
    trial.problems += [] if trial.problems else _broken_promises(list(words), trial)
    return trial


def _broken_promises(words: list[str], trial: Trial) -> Iterator[str]:
    if trial.status not in (0, 1, 2):
        yield f"exit code {trial.status}"
    if b"Traceback" in trial.err or "internal.error" in trial.said:
        yield f"no code for it: {trial.said.strip()[-400:]}"
    for code in trial.codes:
        if lookup(code) is None:
            yield f"{code} is not in the catalog"
    if "--json" in words and words[:2] not in _TEXTS and trial.out and not _is_document(trial.out):
        yield f"stdout is no whole document: {trial.out[:80]!r}"
    if trial.status == 1 and not trial.said.strip():
        yield "a refusal without a word"


def _is_document(out: bytes) -> bool:
    try:
        json.loads(out)
    except ValueError:
        return False
    return out.endswith(b"\n")


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise Hang after `seconds`, where this thread can be interrupted."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _apart(folder: Path, stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Standard streams of its own, `folder` as the working directory and for temporary files."""
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdout, sys.stderr, os.getcwd(), tempfile.tempdir
    spare = _take_stdin(stdin)
    sys.stdout, sys.stderr = io.TextIOWrapper(out, "utf-8"), io.TextIOWrapper(err, "utf-8")
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    try:
        yield out, err
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.detach()
        sys.stdout, sys.stderr, _, tempfile.tempdir = before
        os.chdir(before[2])
        os.dup2(spare, 0)
        os.close(spare)


def _take_stdin(content: bytes) -> int:
    """Put `content` (a few KB) where descriptor 0 is read; gives a copy of what was there."""
    spare = os.dup(0)
    reading, writing = os.pipe()
    os.write(writing, content[:4096])
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    return spare
