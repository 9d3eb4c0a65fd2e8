"""The runner of checks: it runs those asked for, goes on after a failure, and finds other Pythons."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HOUSE = Path(__file__).resolve().parent.parent.parent / "scripts" / "house"


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("house_checks", HOUSE / "checks.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = (
        module.Check("first", "fails", lambda: False),
        module.Check("second", "passes", lambda: True),
    )
    monkeypatch.setattr(module, "ALL_CHECKS", module.CHECKS, raising=False)
    monkeypatch.setattr(module, "CHECKS", rows)
    return module


def test_a_failed_check_does_not_keep_the_others_from_running(
    checks: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checks.main([]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("[FAILED] first")
    assert second.startswith("[ok] second")
    assert last == "scripts/test: failed: first"


def test_only_the_named_checks_run(checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert checks.main(["second"]) == 0
    assert "first" not in capsys.readouterr().out


def test_a_name_that_is_no_check_is_wrong_usage(checks: ModuleType) -> None:
    with pytest.raises(SystemExit) as stopped:
        checks.main(["third"])
    assert stopped.value.code == 2


def test_the_list_names_every_check(checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert checks.main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["first", "second"]


def test_every_promised_check_is_there(checks: ModuleType) -> None:
    names = [check.name for check in checks.ALL_CHECKS]
    assert names == ["format", "lint", "wheel", "types", "layers", "tests", "docs", "pythons"]


def test_paths_of_the_installed_package_are_shown_as_their_sources(checks: ModuleType) -> None:
    said = "evals_cli/core/files.py:1: error\nevals_cli/main.py:2: error\n"
    assert checks.as_checkout(said) == "core/files.py:1: error\nevals_cli/main.py:2: error\n"


def test_a_wheel_that_installs_anything_else_fails(
    checks: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(checks, "INSTALLED", tmp_path)
    for name in ("evals_cli", "evals_cli-0.1.0.dist-info", "bin"):
        (tmp_path / name).mkdir()
    assert checks.has_only_its_own_names()
    (tmp_path / "core").mkdir()
    assert not checks.has_only_its_own_names()


def test_a_python_that_is_not_installed_is_not_found(checks: ModuleType) -> None:
    assert checks.other_python("3.1") is None


def test_a_python_among_those_of_pyenv_is_found(
    checks: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "versions" / "3.1.4" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").write_text("#!/bin/sh\necho 3.1\n")
    (folder / "python").chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert checks.other_python("3.1") == (str(folder / "python") if sys.platform != "win32" else None)
