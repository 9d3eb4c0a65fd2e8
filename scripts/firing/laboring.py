"""Processes that work on evidence for the lane `many`: they append or run until they are done or killed.

Rules:
- A worker says `ready` when everything is imported, then waits for a line on stdin, so that many can begin at
  the same moment.
- Whatever was acknowledged to a worker it says at once, one line of JSON each, in one write: what a killed
  worker has said, it was told.
- A refusal that is `capsule.busy` is said and tried again at once; any other ends the worker.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals_cli.core import capsule
from evals_cli.core.errors import EvalsError
from evals_cli.core.run import execute, plan_run
from evals_cli.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SCRIPTS = Path(__file__).resolve().parent.parent
_START = "from firing.laboring import labor; labor()"
_BATCH = 3
_ENDLESS = 1_000_000


class Worker:
    """A process that does `task` in `folder`, `times` times, as worker number `number`."""

    def __init__(self, task: str, folder: Path, number: int = 0, times: int = _ENDLESS) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, task, str(folder), str(number), str(times)],
            env={**os.environ, "PYTHONPATH": str(_SCRIPTS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.said: list[dict[str, Any]] = []
        self.errors = ""

    def __enter__(self) -> Worker:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def hear(self) -> dict[str, Any] | None:
        """The next thing that the worker says; None at its end."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            return None
        word: dict[str, Any] = json.loads(line)
        self.said.append(word)
        return word

    def begin(self) -> None:
        """Let the worker begin."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"begin\n")
        self._process.stdin.flush()

    def finish(self) -> None:
        """Hear the worker out."""
        while self.hear() is not None:
            pass
        self._end()

    def kill(self) -> None:
        """End the worker by SIGKILL, wherever it is, and hear what it had said."""
        if self._process.poll() is None:
            self._process.kill()
        if self._process.stdout is not None and not self._process.stdout.closed:
            self.finish()

    def _end(self) -> None:
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        if self._process.stderr is not None and not self._process.stderr.closed:
            self.errors = self._process.stderr.read().decode(errors="replace")
            self._process.stderr.close()

    @property
    def acknowledged(self) -> list[Any]:
        """What the worker was told is done."""
        return [word["done"] for word in self.said if "done" in word]

    @property
    def problems(self) -> list[str]:
        """Why a worker that was not killed did not come to its end."""
        said = [word["refused"] for word in self.said if "refused" in word]
        return [*said, *([self.errors.strip().splitlines()[-1]] if self.errors.strip() else [])]


def labor() -> None:
    """What a worker process does."""
    task, folder, number, times = sys.argv[1:5]
    os.chdir(folder)
    _say({"ready": True})
    sys.stdin.readline()
    try:
        for done in _TASKS[task](int(number), int(times)):
            _say({"done": done})
    except EvalsError as error:
        _say({"refused": str(error)})


def _say(word: dict[str, Any]) -> None:
    os.write(1, json.dumps(word).encode() + b"\n")


def _stubbornly(act: Callable[[], Any]) -> Any:
    """What `act` gives once no other writer is at work."""
    said = False
    while True:
        try:
            return act()
        except EvalsError as error:
            if error.code != "capsule.busy":
                raise
            if not said:
                _say({"busy": True})
                said = True
            os.sched_yield()


def _append(number: int, times: int) -> Iterator[Any]:
    handle = _stubbornly(lambda: capsule.Capsule.open("capsule"))
    for turn in range(times):
        note = {"note": "x" * ((turn * 37 + number) % 700), "hits": turn, "variant": f"w{number}"}
        yield _stubbornly(partial(handle.append, "attempt", "fire", note))["entry_hash"]


def _append_many(number: int, times: int) -> Iterator[Any]:
    handle = capsule.Capsule.open("capsule")
    for turn in range(times):
        payload = {"note": "y" * ((turn * 91 + number) % 3000), "hits": turn}
        record = {"lineage": "plan", "kind": "batch", "payload": payload}
        for entry in _stubbornly(partial(handle.append_many, [record] * _BATCH)):
            yield entry["entry_hash"]


def _session(number: int, times: int) -> Iterator[Any]:
    with capsule.Capsule.open("capsule").writer() as session:
        for turn in range(times):
            note = {"note": "z" * ((turn * 53 + number) % 900), "hits": turn}
            yield session.append("strategy", "fire", note)["entry_hash"]


def _run(_: int, times: int) -> Iterator[Any]:
    from evals_cli.commands.ports import documents

    from .bundle_sample import CASE

    known = documents()
    for _turn in range(times):
        plan = plan_run(CASE, cwd=os.getcwd(), documents=known)
        yield execute(plan, documents=known, version=VERSION, as_json=True).document["run_id"]


_TASKS: dict[str, Callable[[int, int], Iterator[Any]]] = {
    "append": _append,
    "append_many": _append_many,
    "session": _session,
    "run": _run,
}
