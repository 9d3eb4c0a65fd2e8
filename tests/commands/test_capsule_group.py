"""`capsule group`: how many directories it takes, and what is no name of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals_cli import main
from evals_cli.core.retrospective import MAX_INPUTS


@pytest.fixture
def capsule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(tmp_path)
    main(["capsule", "create", "c"])
    capsys.readouterr()
    return "c"


def test_as_many_directories_as_core_takes_can_be_grouped(
    capsule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capsule", "group", *[capsule] * MAX_INPUTS]) == 0
    assert json.loads(capsys.readouterr().out)["input_count"] == MAX_INPUTS == 100


@pytest.mark.parametrize(
    ("names", "problem"),
    [(["c"] * (MAX_INPUTS + 1), "at most 100 directories"), (["c", " \ufeff"], "is blank"), ([""], "")],
    ids=["101", "blank", "empty"],
)
def test_other_names_are_wrong_usage(
    capsule: str, names: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capsule", "group", *names]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert problem in err
