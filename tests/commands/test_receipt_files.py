"""Where a receipt may go, and what the receipt commands read: judged before a capsule is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals_cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command line in a folder with one capsule `c`; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    main(["capsule", "create", "c"])
    main(["capsule", "append", "c", "--lineage", "plan", "--kind", "a"])
    capsys.readouterr()

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.mark.parametrize("name", [".append.lock", "journal.ndjson", "Projection.JSON", "link", "folder"])
def test_a_place_that_a_receipt_must_not_take_is_refused_before_the_capsule_is_touched(
    call: Call, tmp_path: Path, name: str
) -> None:
    (tmp_path / "c/folder").mkdir()
    os.link(tmp_path / "c/capsule.json", tmp_path / "c/link")
    before = sorted((path.name, path.lstat().st_mtime_ns) for path in (tmp_path / "c").iterdir())
    code, out, err = call("receipt", "build", "c", "--out", f"c/{name}")
    assert (code, out) == (1, "")
    assert err.startswith("evals: receipt.target_refused: ")
    assert sorted((path.name, path.lstat().st_mtime_ns) for path in (tmp_path / "c").iterdir()) == before
    assert call("capsule", "append", "c", "--lineage", "plan", "--kind", "b")[0] == 0
