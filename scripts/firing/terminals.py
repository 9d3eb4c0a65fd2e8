"""A command on a real terminal (a pty), in this process: the bytes that the terminal was sent."""

from __future__ import annotations

import os
import pty
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evals_cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PLAIN = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")


def on_terminal(words: Sequence[str], folder: Path, **environment: str) -> tuple[int, bytes]:
    """The exit code of `evals WORDS` in `folder`, and all that its terminal got on both streams."""
    master, slave = pty.openpty()
    got: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(master, got))
    reader.start()
    before = sys.stdout, sys.stderr, os.getcwd()
    stream = os.fdopen(slave, "w", encoding="utf-8")
    sys.stdout = sys.stderr = stream
    os.chdir(folder)
    try:
        with _environment({"TERM": "xterm-256color", **environment}):
            status = main(list(words))
    finally:
        sys.stdout, sys.stderr, _ = before
        os.chdir(before[2])
        stream.close()
        reader.join()
        os.close(master)
    return status, b"".join(got)


def _drain(master: int, got: list[bytes]) -> None:
    try:
        while chunk := os.read(master, 65536):
            got.append(chunk)
    except OSError:  # the other end is closed
        return


@contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.pop(name) for name in _PLAIN if name in os.environ}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            os.environ.pop(name, None)
        os.environ.update(before)
