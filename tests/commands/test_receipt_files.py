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


@pytest.mark.parametrize(
    "words", [["verify", "big", "c"], ["verify", "r", "c", "--gate", "big"], ["build", "c", "--gate", "big"]]
)
def test_a_document_just_larger_than_four_mebibytes_is_not_read(
    call: Call, tmp_path: Path, words: list[str]
) -> None:
    call("receipt", "build", "c", "--out", "r")
    (tmp_path / "big").write_bytes(b"{}" + b" " * (4 * 1024 * 1024 - 2))
    assert "receipt.unreadable" not in call("receipt", *words)[2]
    (tmp_path / "big").write_bytes(b"{}" + b" " * (4 * 1024 * 1024 - 1))
    code, out, err = call("receipt", *words)
    assert (code, out) == (1, "")
    assert err.startswith("evals: receipt.unreadable: ")
    assert "4194304 bytes" in err


def test_the_largest_receipt_that_is_built_can_be_verified(call: Call, tmp_path: Path) -> None:
    (tmp_path / "g").write_text('{"verdict": "%s"}' % ("x" * (4 * 1024 * 1024 - 1500)))
    assert call("receipt", "build", "c", "--gate", "g", "--out", "r")[0] == 0
    assert call("receipt", "verify", "r", "c", "--gate", "g")[0] == 0
    (tmp_path / "g").write_text('{"verdict": "%s"}' % ("x" * (4 * 1024 * 1024 - 500)))
    code, _, err = call("receipt", "build", "c", "--gate", "g", "--out", "r2")
    assert code == 1
    assert err.startswith("evals: json.too_large: ")
    assert not (tmp_path / "r2").exists()
