"""How an act under fault ended: one shape for a library call and for a whole command in this process."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evals_cli.core.errors import EvalsError
from evals_cli.main import main

from .shim import Death

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass
class Ending:
    """`code` is None for success, else the code of the refusal; `died` where the process ended first.

    `hampered`: whatever went wrong may have kept the failure itself from being written down.
    `late`: a call had its effect and reported an error, so a file may be there that nobody knows of.
    `acknowledged` holds the entries that the caller was told are written. `problems` are what is wrong with
    the ending itself: an exception that is no refusal, or a torn document on stdout.
    """

    code: str | None = None
    died: bool = False
    hampered: bool = False
    late: bool = False
    acknowledged: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, object] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def call(act: Callable[[Ending], object]) -> Ending:
    """Call `act`, which notes what it was told in the ending."""
    ending = Ending()
    try:
        act(ending)
    except EvalsError as error:
        ending.code, ending.details = error.code, error.details
    except Death:
        ending.died = True
    except Exception as error:  # noqa: BLE001 - whatever is not a refusal is what is looked for
        ending.code = "none"
        ending.problems.append(f"{type(error).__name__} came through: {error}")
    return ending


def command(words: list[str], folder: Path) -> Ending:
    """Run `evals WORDS` in this process, in `folder`."""
    ending = Ending()
    with _streams() as (out, err), _inside(folder):
        try:
            status = main(words)
        except Death:
            ending.died = True
            status = 1
        except Exception as error:  # noqa: BLE001 - nothing may come through
            ending.problems.append(f"{type(error).__name__} came through main: {error}")
            status = 1
    judge_output(ending, status, out.getvalue(), err.getvalue())
    return ending


def judge_output(ending: Ending, status: int, out: bytes, err: bytes) -> None:
    """Note the code of a command's ending, and what is wrong with its output."""
    document = _document(ending, out)
    if status == 0:
        if out == b"":
            ending.problems.append("it succeeded without a word")
        return
    ending.code = "died" if ending.died else _code(document, err)
    if not ending.died and status != 1:
        ending.problems.append(f"exit code {status}")
    if ending.code == "internal.error" or b"Traceback" in err:
        ending.problems.append(f"no code for it: {err.decode(errors='replace').strip()}")


def _document(ending: Ending, out: bytes) -> Any:
    if not out:
        return None
    try:
        return json.loads(out)
    except ValueError:
        ending.problems.append(f"stdout is no whole document: {out[:80]!r}")
        return None


def _code(document: Any, err: bytes) -> str:
    """The code of a refusal: in the document that reports it, else on stderr."""
    if isinstance(document, dict) and "requirement" in document:
        return str(document["requirement"]).replace(" ", ".", 1).replace(" ", "_")
    if isinstance(document, dict) and document.get("ok") is False:
        return str(document["code"]) if "code" in document else f"receipt.check.{document['check']}"
    if isinstance(document, dict) and document.get("status") == "failed" and document.get("errors"):
        return "check.failed"
    for line in err.decode(errors="replace").splitlines():
        if line.startswith("evals: ") and ": " in line[7:]:
            return line[7:].partition(":")[0]
    return "none"


@contextmanager
def _streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.TextIOWrapper(out, "utf-8"), io.TextIOWrapper(err, "utf-8")
    try:
        yield out, err
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.detach()
        sys.stdout, sys.stderr = before


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
