"""Creating and appending: entries, refusals and the final bytes agree with the reference.

The rows in `data/append_rows.json` are always tested; the full table where the reference material is. Each
series is appended in three ways that must come to the same: one handle, a new handle each time, one session.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from evals_cli.core import canonical, capsule
from evals_cli.core.errors import EvalsError

_ROWS = json.loads((Path(__file__).parent / "data" / "append_rows.json").read_text("utf-8"))


def _outcome(call: Any, *args: Any, **options: Any) -> Any:
    """What a call returns, or the code that it is refused with."""
    try:
        return call(*args, **options)
    except EvalsError as error:
        return error.code


def _create(row: dict, folder: Path) -> bool:
    outcome = _outcome(capsule.Capsule.create, folder, **row["create"], clock=lambda: row["created_at"])
    if not row["created"]["ok"]:
        assert outcome == row["created"]["code"]
        assert not folder.exists()
        return False
    assert isinstance(outcome, capsule.Capsule)
    return True


class _Clock:
    def __init__(self) -> None:
        self.text = ""

    def __call__(self) -> str:
        return self.text


def _step(append: Any, clock: _Clock, step: dict) -> None:
    clock.text = step["at"]
    options = {key: step[key] for key in ("effect_class", "strict", "allowlist") if key in step}
    payload = canonical.loads(step["payload_text"])
    outcome = _outcome(append, step["lineage"], step["kind"], payload, **options)
    if "code" in step:
        assert outcome == step["code"]
        return
    assert canonical.canonical_json(outcome) == canonical.canonical_json(step["entry"])
    assert list(outcome) == list(step["entry"])


def _by_one_handle(folder: Path, steps: list[dict]) -> None:
    clock = _Clock()
    handle = capsule.Capsule.open(folder, clock=clock)
    for step in steps:
        _step(handle.append, clock, step)


def _by_new_handles(folder: Path, steps: list[dict]) -> None:
    for step in steps:
        clock = _Clock()
        _step(capsule.Capsule.open(folder, clock=clock).append, clock, step)


def _by_one_session(folder: Path, steps: list[dict]) -> None:
    clock = _Clock()
    with capsule.Capsule.open(folder, clock=clock).writer() as session:
        for step in steps:
            _step(session.append, clock, step)


def _by_path(folder: Path, steps: list[dict]) -> None:
    clock = _Clock()
    for step in steps:
        _step(
            lambda *args, **options: capsule.append_entry(folder, *args, clock=clock, **options), clock, step
        )


_WAYS = [_by_one_handle, _by_new_handles, _by_one_session, _by_path]


def _check(row: dict, folder: Path, way: Any) -> None:
    if _create(row, folder):
        way(folder, row["steps"])
    found = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
    assert found == {name: base64.b64decode(data) for name, data in row["files"].items()}


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("row", _ROWS, ids=range(len(_ROWS)))
def test_kept_row_agrees(row: dict, way: Any, tmp_path: Path) -> None:
    _check(row, tmp_path / "capsule", way)


@pytest.mark.parametrize("way", _WAYS)
def test_every_reference_row_agrees(way: Any, shared: Path, tmp_path: Path) -> None:
    rows = json.loads((shared / "vectors" / "capsules" / "append.json").read_bytes())
    assert rows
    for index, row in enumerate(rows):
        try:
            _check(row, tmp_path / str(index), way)
        except AssertionError as error:
            raise AssertionError(f"row {index}: {error}") from error
