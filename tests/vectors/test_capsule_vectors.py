"""Capsules, good and tampered with: verdict, index, count, root and projection agree with the reference.

The rows in `data/capsule_rows.json` are always tested; the full table where the reference material is. Both
are judged line by line and with the certifier in front from the first byte.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from evals_cli.core import canonical, capsule, journal
from evals_cli.core.errors import EvalsError

_ROWS = json.loads((Path(__file__).parent / "data" / "capsule_rows.json").read_text("utf-8"))


def _check(row: dict, folder: Path) -> None:
    folder.mkdir()
    for name, data in row["files"].items():
        (folder / name).write_bytes(base64.b64decode(data))
    verdict = capsule.verify(folder).as_dict()
    reason = verdict.pop("reason")
    assert verdict == row["verify"], reason
    assert (reason is None) == verdict["ok"]
    assert reason is None or (len(reason.splitlines()) == 1 and reason.isprintable())
    if verdict["ok"]:
        projection = capsule.project(folder)
        assert canonical.canonical_json(projection) == row["projection"]
        return
    with pytest.raises(EvalsError) as caught:
        capsule.project(folder)
    assert caught.value.code == verdict["code"]


@pytest.fixture(name="way", params=["exact", "certified"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "EXACT_BYTES", 0 if request.param == "certified" else 1 << 40)


@pytest.mark.parametrize("row", _ROWS, ids=[f"{index}-{row['mutation']}" for index, row in enumerate(_ROWS)])
def test_kept_row_agrees(row: dict, tmp_path: Path) -> None:
    _check(row, tmp_path / "capsule")


def test_every_reference_row_agrees(shared: Path, tmp_path: Path) -> None:
    rows = json.loads((shared / "vectors" / "capsules" / "capsule.json").read_bytes())
    assert rows
    for index, row in enumerate(rows):
        try:
            _check(row, tmp_path / str(index))
        except AssertionError as error:
            raise AssertionError(f"row {index} ({row['mutation']}): {error}") from error
