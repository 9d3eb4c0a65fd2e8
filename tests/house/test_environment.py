"""The builder of environments: what it leaves in place, and what it says when it cannot go on."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

HOUSE = Path(__file__).resolve().parent.parent.parent / "scripts" / "house"


@pytest.fixture(scope="module")
def environment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house_environment", HOUSE / "environment.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(folder: Path, content: str, stamp: dict[str, bytes]) -> Path:
    (folder / "evals-setup").mkdir(parents=True)
    (folder / "content").write_text(content)
    for name, value in stamp.items():
        (folder / "evals-setup" / name).write_bytes(value)
    return folder


NEW, OLD = {"pyproject.toml": b"2"}, {"pyproject.toml": b"1"}


def test_the_first_environment_is_renamed_into_place(environment: ModuleType, tmp_path: Path) -> None:
    building = built(tmp_path / ".venv.tmp-1", "new", NEW)
    environment.put_in_place(building, tmp_path / ".venv", NEW)
    assert (tmp_path / ".venv/content").read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == [".venv"]


def test_an_outdated_environment_is_replaced_whole(environment: ModuleType, tmp_path: Path) -> None:
    folder = built(tmp_path / ".venv", "old", OLD)
    environment.put_in_place(built(tmp_path / ".venv.tmp-1", "new", NEW), folder, NEW)
    assert (folder / "content").read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == [".venv"]


def test_of_two_builds_at_once_the_first_one_stays(environment: ModuleType, tmp_path: Path) -> None:
    folder = built(tmp_path / ".venv", "first", NEW)
    environment.put_in_place(built(tmp_path / ".venv.tmp-2", "second", NEW), folder, NEW)
    assert (folder / "content").read_text() == "first"


def test_scripts_name_the_place_where_the_environment_stands(environment: ModuleType, tmp_path: Path) -> None:
    building = tmp_path / ".venv.tmp-1"
    (building / "bin").mkdir(parents=True)
    (building / "bin/tool").write_text(f"#!{building}/bin/python\n")
    (building / "bin/python").symlink_to(sys.executable)
    environment.settle(building, tmp_path / ".venv")
    assert (building / "bin/tool").read_text() == f"#!{tmp_path}/.venv/bin/python\n"


def test_a_python_without_ensurepip_is_told_what_to_install(
    environment: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert environment.main([str(tmp_path / ".venv"), "runtime"]) == 1
    progress, problem = capsys.readouterr().err.splitlines()
    assert progress.startswith("evals: making .venv with Python")
    assert f"apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv" in problem
    assert not list(tmp_path.iterdir())


def test_an_environment_with_the_tools_keeps_them(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[str] = []
    monkeypatch.setattr(environment, "make", lambda _folder, profile: made.append(profile))
    environment.main([str(built(tmp_path / ".venv", "", {"development.txt": b""})), "runtime"])
    assert made == ["development"]


def test_what_a_stopped_build_left_is_removed_after_some_hours(
    environment: ModuleType, tmp_path: Path
) -> None:
    recent, abandoned = tmp_path / ".venv.tmp-new", tmp_path / ".venv.tmp-old"
    recent.mkdir()
    abandoned.mkdir()
    os.utime(abandoned, (0, 0))
    environment.remove_abandoned(tmp_path / ".venv")
    assert [entry.name for entry in tmp_path.iterdir()] == [".venv.tmp-new"]


def test_the_link_finds_the_program_and_imports_nothing(environment: ModuleType, tmp_path: Path) -> None:
    names = ["evals_cli", "evals_cli.core"]
    link = environment.LINK.format(root=str(HOUSE.parent.parent), names=names)
    (tmp_path / "evals_checkout.py").write_text(link, encoding="utf-8")
    asked = (
        "import sys; sys.path[:0] = [sys.argv[1]]; before = set(sys.modules); import evals_checkout;"
        "print(sorted(set(sys.modules) - before));"
        "import evals_cli.core.errors as found; print(found.__file__)"
    )
    command = [sys.executable, "-I", "-S", "-c", asked, str(tmp_path)]
    loaded, where = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert loaded == "['evals_checkout']"
    assert Path(where) == HOUSE.parent.parent / "core" / "errors.py"
