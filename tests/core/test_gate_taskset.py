"""Task sets are taken whole or refused with the place that is wrong."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from evals_cli.core.errors import EvalsError
from evals_cli.core.gate import load_taskset

TASK = {"id": "a", "input": None, "expected": None}
GOOD = {"version": "1", "family": "slugify", "tasks": [TASK]}


def write(tmp_path, document):
    path = tmp_path / "tasks.json"
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return path


def refused(path):
    with pytest.raises(EvalsError) as caught:
        load_taskset(path)
    return caught.value


def test_a_task_set_keeps_its_fields_and_the_digest_of_its_bytes(tmp_path):
    raw = b' {"version": [], "family": {}, "tasks": [{"id":"a","input":1,"expected":2,"note":3}]}\n'
    taskset = load_taskset(write(tmp_path, raw))
    assert (taskset.version, taskset.family) == ([], {})
    assert taskset.tasks == [{"id": "a", "input": 1, "expected": 2, "note": 3}]
    assert taskset.digest == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (b"\xff", "$"),
        (b"", "$"),
        (b"[" * 5000, "$"),
        (b'{"version":NaN}', "$"),
        ([], "$"),
        ({**GOOD, "version": 0}, "$.version"),
        ({**GOOD, "version": False}, "$.version"),
        ({**GOOD, "family": None}, "$.family"),
        ({**GOOD, "family": ""}, "$.family"),
        ({**GOOD, "tasks": []}, "$.tasks"),
        ({**GOOD, "tasks": "a"}, "$.tasks"),
        ({**GOOD, "tasks": [[]]}, "$.tasks[0]"),
        ({**GOOD, "tasks": [{**TASK, "id": ""}]}, "$.tasks[0].id"),
        ({**GOOD, "tasks": [{**TASK, "id": 7}]}, "$.tasks[0].id"),
        ({**GOOD, "tasks": [TASK, TASK]}, "$.tasks[1].id"),
        ({**GOOD, "tasks": [{"id": "a", "expected": 1}]}, "$.tasks[0].input"),
        ({**GOOD, "tasks": [{"id": "a", "input": 1}]}, "$.tasks[0].expected"),
    ],
)
def test_a_bad_task_set_is_refused_with_its_place(tmp_path, document, path):
    error = refused(write(tmp_path, document))
    assert (error.code, error.details) == ("gate.taskset_invalid", {"json_path": path})
    assert "\n" not in error.message


def test_a_task_set_that_is_not_there_is_missing(tmp_path):
    assert refused(tmp_path / "gone.json").code == "file.missing"


def test_a_folder_a_link_and_a_fifo_are_no_task_set(tmp_path):
    write(tmp_path, GOOD)
    (tmp_path / "link.json").symlink_to("tasks.json")
    os.mkfifo(tmp_path / "pipe.json")
    for name in (".", "link.json", "pipe.json"):
        assert refused(tmp_path / name).code == "file.not_regular"


def test_a_task_set_just_larger_than_its_limit_is_refused(tmp_path):
    path = write(tmp_path, GOOD)
    raw = path.read_bytes()
    path.write_bytes(raw + b" " * (16 * 1024 * 1024 - len(raw)))
    assert load_taskset(path).tasks == [TASK]
    path.write_bytes(raw + b" " * (16 * 1024 * 1024 - len(raw) + 1))
    assert refused(path).code == "file.too_large"


@pytest.mark.parametrize("path", [b"tasks.json", 5, None, "a\0b", "\ud800"])
def test_what_is_no_path_is_the_callers_mistake(path):
    with pytest.raises((TypeError, ValueError)) as caught:
        load_taskset(path)
    assert not isinstance(caught.value, EvalsError)
