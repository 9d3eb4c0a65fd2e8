"""Showing a capsule: how often its journal is read, and what is said where nothing is shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli import main
from evals_cli.core import capsule

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    made = capsule.Capsule.create(tmp_path / "c")
    made.append("plan", "step", {"note": "seen"})
    return tmp_path / "c"


@pytest.mark.parametrize("words", [[], ["--json"], ["--tail", "1"]])
def test_the_journal_is_read_to_verify_it_and_to_show_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    opened: list[str] = []
    real = os.open

    def note(path: Any, *rest: Any, **options: Any) -> int:
        opened.append(os.path.basename(path))
        return real(path, *rest, **options)

    monkeypatch.setattr(os, "open", note)
    assert main(["capsule", "show", str(folder), *words]) == 0
    assert opened.count("journal.ndjson") == 2
    assert opened.count("capsule.json") == 1


def test_to_show_none_of_the_entries_is_not_to_say_that_there_are_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capsule", "show", str(folder), "--tail", "0"]) == 0
    assert capsys.readouterr() == ("", "none of the entries is asked for\n")
