"""Retrospective reports and refusals agree with a reference implementation, row by row."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from evals_cli.core.canonical import pretty_json
from evals_cli.core.errors import EvalsError
from evals_cli.core.retrospective import group_capsules

DATA = Path(__file__).parent / "data"


def lay(folder, files):
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(base64.b64decode(content))
    return folder


def outcome(folders):
    try:
        return {"report": pretty_json(group_capsules(folders))}
    except EvalsError as error:
        return {"code": error.code, **error.details}


def check(rows, tmp_path):
    assert rows
    for index, row in enumerate(rows):
        folders = [lay(tmp_path / f"{index}/{at}", files) for at, files in enumerate(row["capsules"])]
        expected = {key: value for key, value in row.items() if key != "capsules"}
        if "report" in expected:
            expected["report"] = pretty_json(expected["report"])
        assert outcome([str(folder) for folder in folders]) == expected, f"row {index}"


def test_a_share_of_the_groups(tmp_path):
    check(json.loads((DATA / "group.json").read_bytes().decode()), tmp_path)


def test_every_group(shared, tmp_path):
    check(json.loads((shared / "vectors" / "capsules" / "group.json").read_bytes().decode()), tmp_path)
