"""Task sets for static inspection: what a family of tasks must look like before anyone may rely on it.

Rules:
- An object with a truthy `version` and `family` (as ECMAScript has it: not null, false, zero or the empty
  text) and a non-empty list `tasks`.
- Each task is an object with a non-empty text `id` that no other task has, an `input` and an `expected`
  (either may be null). Further fields are allowed.
- The digest is over the file's raw bytes. The file is opened as `gate_variant.open_same` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .canonical import loads, sha256_hex
from .errors import EvalsError
from .files import as_path, read_all, shown
from .gate_variant import open_same

if TYPE_CHECKING:
    import os

# JSON can take fifty times its size in memory.
MAX_TASKSET_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class TaskSet:
    """A checked task set: the document's own version, family and tasks, and its bytes' SHA-256."""

    version: object
    family: object
    tasks: list[dict[str, Any]]
    digest: str


def load_taskset(path: str | os.PathLike[str]) -> TaskSet:
    """The task set in the file `path`.

    Raises EvalsError `gate.taskset_invalid` (not JSON, or not a task set; details hold `json_path`) and
    FileError `file.*` where the file cannot be read or is larger than MAX_TASKSET_BYTES.
    """
    name = as_path(path)
    raw = read_all(open_same(name), name, MAX_TASKSET_BYTES)
    try:
        document = loads(raw)
    except EvalsError as error:
        raise _invalid(name, "$", error.message) from error
    if not isinstance(document, dict):
        raise _invalid(name, "$", "expected an object with version, family and tasks")
    for field in ("version", "family"):
        if not _truthy(document.get(field)):
            raise _invalid(name, f"$.{field}", "missing or empty")
    return TaskSet(
        version=document["version"],
        family=document["family"],
        tasks=_tasks(name, document.get("tasks")),
        digest=sha256_hex(raw),
    )


def _truthy(value: object) -> bool:
    # An empty list or object is truthy in ECMAScript; NaN cannot be read from JSON.
    return isinstance(value, (dict, list)) or bool(value)


def _invalid(name: str, path: str, reason: str) -> EvalsError:
    return EvalsError("gate.taskset_invalid", f"{shown(name)}: {path}: {reason}", {"json_path": path})


def _tasks(name: str, tasks: object) -> list[dict[str, Any]]:
    if not isinstance(tasks, list) or not tasks:
        raise _invalid(name, "$.tasks", "expected a list of at least one task")
    known: set[str] = set()
    for index, task in enumerate(tasks):
        path = f"$.tasks[{index}]"
        if not isinstance(task, dict):
            raise _invalid(name, path, "expected an object with id, input and expected")
        known.add(_new_id(name, path, task.get("id"), known))
        for field in ("input", "expected"):
            if field not in task:
                raise _invalid(name, f"{path}.{field}", "missing")
    return tasks


def _new_id(name: str, path: str, task_id: object, known: set[str]) -> str:
    if not isinstance(task_id, str) or not task_id:
        raise _invalid(name, f"{path}.id", "expected a non-empty text")
    if task_id in known:
        raise _invalid(name, f"{path}.id", "another task has the same id")
    return task_id
