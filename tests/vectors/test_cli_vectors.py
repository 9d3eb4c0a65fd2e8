"""The command line of the evidence half gives the recorded exit codes, documents, codes and files."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from evals_cli import main

_OWN = json.loads((Path(__file__).parent / "data" / "cli.json").read_text(encoding="utf-8"))
_CODE_LINE = re.compile(r"evals: ([a-z]+\.[a-z_]+): .+\n")

Row = dict[str, Any]


def _label(row: Row) -> str:
    return " ".join(row["argv"][:6]) or "nothing"


@pytest.mark.parametrize("row", _OWN["cases"], ids=_label)
def test_a_recorded_call_comes_out_as_recorded(
    row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _check(_OWN["world"], row, tmp_path, capsys)


def test_every_recorded_call_of_the_reference_comes_out_as_recorded(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = json.loads((shared / "vectors/capsules/cli.json").read_text(encoding="utf-8"))
    for number, row in enumerate(recorded["cases"]):
        root = tmp_path / str(number)
        root.mkdir()
        monkeypatch.chdir(root)
        _check(recorded["world"], row, root, capsys)


def _check(world: dict[str, str], row: Row, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in world.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(base64.b64decode(content))
    code = main(row["argv"])
    out, err = capsys.readouterr()
    label = _label(row)
    assert code == row["exit_code"], f"{label}: {err}"
    _check_document(row["stdout_json"], out, label)
    if row["stderr_code"] is not None:
        match = _CODE_LINE.fullmatch(err)
        assert match, f"{label}: {err}"
        assert match[1] == row["stderr_code"], label
    assert sorted(_files(root) - set(world)) == sorted(row["created_files"]), label
    for name, content in world.items():
        assert (root / name).read_bytes() == base64.b64decode(content), f"{label} changed {name}"


def _check_document(expected: dict[str, Any] | None, out: str, label: str) -> None:
    if expected is None:
        assert out == "", label
        return
    document = json.loads(out)
    for key, value in expected.items():
        assert key in document, f"{label}: {key}"
        if not (isinstance(value, str) and value.startswith("<")):
            assert document[key] == value, f"{label}: {key}"
    order = [key for key in document if key in expected]
    assert order == list(expected), f"{label}: order of members"


def _files(root: Path) -> set[str]:
    return {
        Path(folder, name).relative_to(root).as_posix()
        for folder, _, names in os.walk(root)
        for name in names
    }
