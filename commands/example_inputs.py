"""What the story of `evals example` starts from: its entries, and the files that its commands name.

Rules of this module:
1. The command line of an entry is made from the entry itself, so what is shown is what is done.
2. Everything that a command of the story names is laid out in the story's folder, so a kept folder lacks
   nothing; the copies have the modes of new files, however the installed data is protected.
3. The one text that looks like a credential is put together here, so that this source is no finding.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from typing import Any

from ..core.files import write_whole

FAMILY = "slugify"
ENTRIES: tuple[dict[str, Any], ...] = (
    {"lineage": "plan", "kind": "plan.made", "payload": {"task_id": "t01", "summary": "fold accents"}},
    {"lineage": "environment", "kind": "session.started", "payload": {"model": "none", "stage": "local"}},
    {
        "lineage": "attempt",
        "kind": "tests.run",
        "effect_class": "SE1",
        "payload": {"task_id": "t01", "passed": 8, "failed": 1, "total": 9, "duration_ms": 12.5},
    },
    {"lineage": "interaction", "kind": "titles.read", "payload": {"tool": "read_titles", "exit_code": 0}},
    {"lineage": "strategy", "kind": "branch.kept", "payload": {"branch_id": "b1", "score": 0.9}},
)
SECRET: dict[str, Any] = {"note": "PASSWORD=" + "not-a-real-one"}
OTHER_ENTRY: dict[str, Any] = {"lineage": "plan", "kind": "plan.made", "payload": {"task_id": "t01"}}

# The entry whose payload comes from a file, to show that way too.
FROM_A_FILE = 2

REPLAY_SCRIPT = """\
from evals_cli import EvalsError, replay

called = []
tools = {
    "read_titles": {"effect_class": "SE0", "determinism": "deterministic", "impl": called.append},
    "publish": {"effect_class": "SE4", "determinism": "nondeterministic", "impl": called.append},
}
replayer = replay.create_replayer(tools, store=replay.FixtureStore("replay"))
titles = replayer.call("read_titles", {"site": "docs"})["titles"]
print(f"read_titles: {len(titles)} titles from a fixture")
try:
    replayer.call("publish", {"site": "docs"})
except EvalsError as error:
    print(f"publish: {error.code}")
print(f"tools called: {len(called)}")
"""


def lay_out(folder: str, data: str) -> None:
    """Put the example data from the folder `data` and the story's own files into `folder`.

    Raises OSError where the data cannot be copied, EvalsError `file.write_failed` for the other files.
    """
    _copy(data, folder)
    texts = {
        "entry.json": _json(ENTRIES[FROM_A_FILE]["payload"]) + "\n",
        "secret.json": _json(SECRET) + "\n",
        "replay_titles.py": REPLAY_SCRIPT,
    }
    for name, text in texts.items():
        write_whole(f"{folder}/{name}", text.encode())


def _copy(data: str, folder: str) -> None:
    for base, below, names in os.walk(data, onerror=_raise):
        below[:] = [name for name in below if name != "__pycache__"]
        place = os.path.join(folder, os.path.relpath(base, data))
        os.makedirs(place, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(base, name), os.path.join(place, name))


def _raise(error: OSError) -> None:
    raise error


def create_command(name: str, number: int) -> str:
    """Give the command line that creates the capsule number `number` in the folder `name`."""
    identity = f"--run-id run-{number} --capsule-id c-{number} --harness-version v{number}"
    return f"evals capsule create {name} {identity} --task-family {FAMILY}"


def append_commands() -> list[str]:
    """Give a command line for each entry."""
    return [
        append_command("run", entry, "@entry.json" if position == FROM_A_FILE else None)
        for position, entry in enumerate(ENTRIES)
    ]


def append_command(name: str, entry: dict[str, Any], payload: str | None = None) -> str:
    """Give the command line that appends `entry`; `payload` is what to write for it, else its JSON."""
    words = f"evals capsule append {name} --lineage {entry['lineage']} --kind {entry['kind']}"
    if "effect_class" in entry:
        words += f" --effect-class {entry['effect_class']}"
    return f"{words} --payload {payload or shlex.quote(_json(entry['payload']))}"


def _json(value: object) -> str:
    return json.dumps(value)
