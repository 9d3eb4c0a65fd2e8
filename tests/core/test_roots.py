"""Which root a command works on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from evals_cli.core.errors import RequirementError
from evals_cli.core.roots import find_root, is_home, select_root, working_directory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("marker", [".evals", ".harness", ".git"])
def test_the_nearest_ancestor_with_a_marker_is_the_root(tmp_path: Path, marker: str) -> None:
    (tmp_path / marker).mkdir()
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find_root(str(deep)) == os.path.realpath(tmp_path)


def test_a_nearer_marker_wins(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "inner"
    (inner / ".evals").mkdir(parents=True)
    assert find_root(str(inner)) == os.path.realpath(inner)


def test_a_file_counts_as_a_marker_since_worktrees_have_a_git_file(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert find_root(str(tmp_path)) == os.path.realpath(tmp_path)


def test_without_a_marker_the_working_directory_is_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "lexists", lambda _path: False)
    assert find_root(str(tmp_path)) == os.path.realpath(tmp_path)


def test_a_named_root_keeps_the_name_that_the_user_gave(tmp_path: Path) -> None:
    (tmp_path / "consumer").mkdir()
    root = select_root("consumer", str(tmp_path))
    assert (root.path, root.shown, root.home) == (os.path.realpath(tmp_path / "consumer"), "consumer", False)


def test_without_the_option_the_root_is_around_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / ".evals").mkdir()
    root = select_root(None, str(tmp_path))
    assert (root.path, root.shown) == (os.path.realpath(tmp_path), None)


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere", "no such folder"), ("file", "not a folder"), ("file/below", "no such folder")],
)
def test_a_named_root_that_is_no_folder_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RequirementError, match=said) as caught:
        select_root(name, str(tmp_path))
    assert (caught.value.requirement, caught.value.code) == ("repo root option", "repo.root_option")


def test_a_named_root_that_cannot_be_looked_at_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_path: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", denied)
    with pytest.raises(RequirementError, match="cannot be looked at"):
        select_root("x", str(tmp_path))


def test_a_name_with_control_characters_is_shown_escaped(tmp_path: Path) -> None:
    with pytest.raises(RequirementError) as caught:
        select_root("a\nb\x1b[31m", str(tmp_path))
    assert "a\\nb\\x1b[31m" in caught.value.message


def test_home_is_a_folder_with_schemas_contracts_and_runtime_evidence(tmp_path: Path) -> None:
    for name in ("schemas", "contracts", "fixtures/runtime-evidence"):
        assert not is_home(str(tmp_path))
        (tmp_path / name).mkdir(parents=True)
    assert is_home(str(tmp_path))
    assert select_root(str(tmp_path), "/").home


def test_links_do_not_make_a_home(tmp_path: Path) -> None:
    for name in ("contracts", "fixtures/runtime-evidence", "real"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "schemas").symlink_to("real")
    assert not is_home(str(tmp_path))


def test_this_checkout_is_home(repository: Path) -> None:
    assert is_home(str(repository))


def test_a_working_directory_that_is_gone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    assert working_directory() == os.getcwd()
    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(RequirementError, match="working directory is gone"):
        working_directory()
