"""Static inspection agrees with the outcomes of a reference implementation, row by row."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from evals_cli.core import gate
from evals_cli.core.errors import EvalsError
from evals_cli.core.gate_collation import ASCII_ORDER

DATA = Path(__file__).parent / "data"


def load(path):
    return json.loads(path.read_bytes().decode())


def build(root, files):
    root.mkdir()
    for name, content in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(base64.b64decode(content))


def variant_outcome(root):
    outcome = {"digest": gate.digest_dir(root)}
    try:
        variant = gate.load_variant(root)
    except EvalsError as error:
        return {**outcome, "error_code": error.code}
    fields = ("name", "effect_class", "entry", "digest")
    outcome["variant"] = {field: getattr(variant, field) for field in fields}
    outcome["hits"] = gate.scan_tripwires(variant)
    outcome["hits_se4"] = gate.scan_tripwires(variant, max_effect_class="SE4")
    return outcome


def check_variants(rows, tmp_path):
    assert rows
    for index, row in enumerate(rows):
        root = tmp_path / str(index)
        build(root, row["files"])
        expected = {key: value for key, value in row.items() if key != "files"}
        assert variant_outcome(root) == expected, f"row {index}"


def check_tasksets(rows, tmp_path):
    assert rows
    path = tmp_path / "tasks.json"
    for index, row in enumerate(rows):
        path.write_bytes(row["text"].encode())
        try:
            outcome = {"ok": True, "digest": gate.load_taskset(path).digest}
        except EvalsError as error:
            outcome = {"ok": False, "error_code": error.code}
        assert outcome == {key: value for key, value in row.items() if key != "text"}, f"row {index}"


def account(child):
    # A row that is too large to be written out says in words what its output is.
    if child is None or "stdout_note" not in child:
        return child
    results = [{"id": "a", "output": "x" * 1_100_000}, {"id": "b", "output": 1}]
    return {"status": child["status"], "stdout": json.dumps({"results": results})}


def check_children(document):
    tasks, rows = document["tasks"], document["cases"]
    assert rows
    for index, row in enumerate(rows):
        result = gate.parse_child_result(account(row["child"]), tasks)
        run = {"fatal": result.fatal, "exit_code": 0, "marker_intact": True, "fence_events": []}
        run["outputs"] = result.outputs
        outcome = {
            "fatal": result.fatal is not None,
            "outputs": sorted(result.outputs),
            "baseline_ok": gate.baseline_failure(run, tasks) is None,
        }
        assert outcome == {key: row[key] for key in outcome}, f"row {index}"


def test_a_share_of_the_variants(tmp_path):
    check_variants(load(DATA / "gate_variants.json"), tmp_path)


def test_every_variant(shared, tmp_path):
    check_variants(load(shared / "vectors" / "capsules" / "gate_variants.json"), tmp_path)


def test_every_task_set(shared, tmp_path):
    check_tasksets(load(shared / "vectors" / "capsules" / "gate_tasksets.json"), tmp_path)


def test_a_share_of_the_child_accounts():
    check_children(load(DATA / "gate_child.json"))


def test_every_child_account(shared):
    check_children(load(shared / "vectors" / "capsules" / "gate_child.json"))


def test_the_order_of_ascii(shared):
    assert load(shared / "vectors" / "capsules" / "ascii_collation.json") == {"order": ASCII_ORDER}


@pytest.mark.parametrize("row", [{"version": "1", "family": "f", "tasks": []}, []])
def test_a_share_of_the_task_sets(tmp_path, row):
    check_tasksets([{"text": json.dumps(row), "ok": False, "error_code": "gate.taskset_invalid"}], tmp_path)
