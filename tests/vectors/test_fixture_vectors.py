"""Recorded fixtures are byte for byte those of a reference implementation."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from evals_cli.core.canonical import canonical_json, loads
from evals_cli.core.replay import FixtureStore

DATA = Path(__file__).parent / "data"


def check(rows, tmp_path):
    assert rows
    for index, row in enumerate(rows):
        store = FixtureStore(tmp_path / str(index))
        args, response = loads(row["args_text"]), loads(row["response_text"])
        assert store.put(row["tool"], args, response) == row["key"], f"row {index}"
        path = store.path_for(row["tool"], args)
        assert os.path.basename(path) == f"{row['key']}.json"
        assert Path(path).read_bytes() == base64.b64decode(row["file"]), f"row {index}"
        assert canonical_json(store.get(row["tool"], args)) == canonical_json(response)


def test_a_share_of_the_fixtures(tmp_path):
    check(json.loads((DATA / "fixtures.json").read_bytes().decode()), tmp_path)


def test_every_fixture(shared, tmp_path):
    check(json.loads((shared / "vectors" / "capsules" / "fixtures.json").read_bytes().decode()), tmp_path)
