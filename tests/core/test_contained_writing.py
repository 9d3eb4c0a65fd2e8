"""What is written below a root stays below it, whatever links say and whoever swaps folders meanwhile."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from evals_cli.core import contained_writing
from evals_cli.core.contained_writing import Folder, is_git, make_folder_inside
from evals_cli.core.errors import FileError


@pytest.fixture(params=["descriptors", "paths"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of working: by descriptors, and by paths where a system lacks that."""
    if request.param == "paths":
        monkeypatch.setattr(contained_writing, "_WALKS", False)
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("root/a", "outside", "root-evil"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "root"


def _refused(root: Path, path: str) -> FileError:
    with pytest.raises(FileError) as caught:
        make_folder_inside(str(root), path)
    assert str(root) not in caught.value.message
    return caught.value


@pytest.mark.parametrize("path", ["a", "a/b/c", "./a//b/.", "new"])
def test_a_folder_is_opened_and_its_missing_parts_are_made(root: Path, path: str, way: str) -> None:
    with make_folder_inside(str(root), path) as folder:
        folder.put("file", b"content")
        folder.sync()
        assert folder.read("file", limit=7) == b"content"
        assert len(folder.sha256("file")) == 64
        assert (folder.holds("file"), folder.holds("other")) == (True, False)
        assert folder.stands_at(str(root), path)
    assert (root / path / "file").read_bytes() == b"content"
    assert [each.name for each in (root / path).iterdir()] == ["file"]


def test_a_folder_in_a_folder_is_made_once(root: Path, way: str) -> None:
    with make_folder_inside(str(root), "a") as folder:
        with folder.make("run") as run:
            run.put("file", b"1")
            assert run.called == "a/run"
            assert run.stands_at(str(root), "a/run")
        with pytest.raises(FileExistsError):
            folder.make("run")
    assert (root / "a/run/file").read_bytes() == b"1"


def test_links_inside_the_root_are_followed(root: Path, way: str) -> None:
    (root / "link").symlink_to("a")
    (root / "a/absolute").symlink_to(root / "a")
    with make_folder_inside(str(root), "link/absolute/new") as folder:
        folder.put("file", b"1")
        assert folder.stands_at(str(root), "a/new")
    assert (root / "a/new/file").is_file()


@pytest.mark.parametrize("target", ["../outside", "../root-evil", "a/../../outside", "/"])
@pytest.mark.parametrize("path", ["link", "link/new", "a/inner", "a/inner/new"])
def test_links_out_of_the_root_are_refused_and_nothing_is_made_there(
    root: Path, path: str, target: str, way: str
) -> None:
    link = path.removesuffix("/new")
    (root / link).symlink_to(os.path.join("/" if target == "/" else root, target))
    error = _refused(root, path)
    assert (error.code, error.message) == ("path.outside_root", f"{link}: leads out of its root")
    assert os.listdir(root.parent / "outside") == []
    assert os.listdir(root.parent / "root-evil") == []


def test_a_link_that_leads_nowhere_is_refused_and_its_target_not_made(root: Path, way: str) -> None:
    (root / "link").symlink_to("nowhere/deep")
    for path in ("link", "link/new"):
        error = _refused(root, path)
        assert (error.code, error.message) == ("path.invalid", "link: a link that leads nowhere")
    assert not (root / "nowhere").exists()


def test_what_is_no_folder_is_refused(root: Path, way: str) -> None:
    (root / "file").write_bytes(b"")
    (root / "to-file").symlink_to("file")
    (root / "circle").symlink_to("circle")
    for path in ("file", "file/new", "to-file", "circle"):
        error = _refused(root, path)
        part = path.removesuffix("/new")
        assert (error.code, error.message) == (
            "path.invalid",
            f"{part}: not a folder; bundles are written below it",
        )


@pytest.mark.parametrize("path", ["", "..", "a/../b", "/a", "C:/a", "a\0b"])
def test_a_path_of_the_wrong_form_is_refused(root: Path, path: str, way: str) -> None:
    assert _refused(root, path).code == "path.invalid"


@pytest.mark.parametrize("name", [".git", ".GIT", ".Git. ", "git~1", "GIT~1"])
def test_every_spelling_of_gits_folder_is_one(name: str) -> None:
    assert is_git(name)


@pytest.mark.parametrize("name", ["git", ".github", ".gitignore", "a.git", "git~2"])
def test_other_names_are_not_gits_folder(name: str) -> None:
    assert not is_git(name)


@pytest.mark.parametrize("path", [".git", ".git/refs/heads", "a/.Git/x", "link", "link/heads"])
def test_nothing_is_made_in_gits_own_folder(root: Path, path: str, way: str) -> None:
    (root / ".git/refs").mkdir(parents=True)
    (root / "link").symlink_to(".git/refs")
    assert "git's own folder" in _refused(root, path).message
    assert os.listdir(root / ".git") == ["refs"]
    assert os.listdir(root / ".git/refs") == []
    assert os.listdir(root / "a") == []


def test_a_folder_that_cannot_be_made_is_named(root: Path, way: str) -> None:
    error = _refused(root, f"a/{'n' * 300}/b")
    assert error.code == "file.write_failed"
    assert error.message.startswith("a/nnn")


def test_a_folder_that_someone_else_makes_meanwhile_is_used(
    root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    real = os.mkdir

    def slower(path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        real(path, mode, dir_fd=dir_fd)
        raise FileExistsError

    monkeypatch.setattr(os, "mkdir", slower)
    make_folder_inside(str(root), "new").close()
    assert (root / "new").is_dir()


def test_a_link_that_someone_else_makes_meanwhile_is_not_followed_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faster(path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        os.symlink(root.parent / "outside", path, dir_fd=dir_fd)
        raise FileExistsError

    monkeypatch.setattr(os, "mkdir", faster)
    assert _refused(root, "new/deep").code == "path.outside_root"


def test_a_folder_swapped_for_a_link_after_the_look_is_not_entered(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.stat

    def swap(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        result = real(path, *args, **kwargs)
        if path == "a" and not (root / "a").is_symlink():
            os.rename(root / "a", root / "moved")
            (root / "a").symlink_to(root.parent / "outside")
        return result

    monkeypatch.setattr(os, "stat", swap)
    for path in ("a", "a/b"):
        assert _refused(root, path).code in ("path.invalid", "path.outside_root")
    assert os.listdir(root.parent / "outside") == []


def test_a_made_folder_swapped_for_a_link_is_not_entered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.mkdir

    def swap(path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        real(path, mode, dir_fd=dir_fd)
        os.rename(path, "moved", src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        os.symlink(root.parent / "outside", path, dir_fd=dir_fd)

    with make_folder_inside(str(root), "a") as folder:
        monkeypatch.setattr(os, "mkdir", swap)
        with pytest.raises(OSError):
            folder.make("run")


def test_an_open_folder_that_is_swapped_for_a_link_still_gets_what_is_written(root: Path) -> None:
    outside = root.parent / "outside"
    (outside / "file").write_bytes(b"mine")
    with make_folder_inside(str(root), "a") as folder:
        os.rename(root / "a", root / "moved")
        (root / "a").symlink_to(outside)
        folder.put("file", b"1")
        with folder.make("run") as run:
            run.put("inner", b"2")
        folder.sync()
        assert folder.read("file", limit=1) == b"1"
        assert not folder.stands_at(str(root), "a")
    assert sorted(os.listdir(root / "moved")) == ["file", "run"]
    assert os.listdir(outside) == ["file"]
    assert (outside / "file").read_bytes() == b"mine"


def test_a_folder_that_has_gone_or_was_replaced_does_not_stand_there(root: Path) -> None:
    with make_folder_inside(str(root), "a") as folder:
        os.rename(root / "a", root / "moved")
        assert not folder.stands_at(str(root), "a")
        (root / "a").write_bytes(b"")
        (root / "b").mkdir()
        assert not folder.stands_at(str(root), "a")
        assert not folder.stands_at(str(root), "b")
        assert folder.stands_at(str(root), "moved")


def test_without_descriptors_a_link_in_its_place_is_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contained_writing, "_WALKS", False)
    with make_folder_inside(str(root), "a") as folder:
        os.rename(root / "a", root / "moved")
        (root / "a").symlink_to("moved")
        assert not folder.stands_at(str(root), "a")


def test_a_place_that_cannot_be_looked_at_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> os.stat_result:
        raise OSError(errno.EIO, "I/O error")

    with make_folder_inside(str(root), "a") as folder, monkeypatch.context() as patch:
        patch.setattr(os, "fstat", failing)
        try:
            folder.stands_at(str(root), "a")
        except FileError as error:
            code, message = error.code, error.message
    assert (code, message) == ("file.unreadable", "a: cannot be read (I/O error)")


def test_a_link_in_the_place_of_a_file_is_replaced_and_never_read(root: Path, way: str) -> None:
    outside = root.parent / "outside/file"
    outside.write_bytes(b"mine")
    (root / "a/file").symlink_to(outside)
    with make_folder_inside(str(root), "a") as folder:
        with pytest.raises(FileError) as caught:
            folder.read("file", limit=10)
        assert caught.value.code == "file.not_regular"
        folder.put("file", b"1")
    assert (outside.read_bytes(), (root / "a/file").read_bytes()) == (b"mine", b"1")


def test_what_is_no_file_is_not_replaced(root: Path, way: str) -> None:
    (root / "a/folder").mkdir()
    with make_folder_inside(str(root), "a") as folder, pytest.raises(FileError) as caught:
        folder.put("folder", b"1")
    assert caught.value.message == "a/folder: not a regular file, so it is not replaced"


def test_a_failed_write_leaves_the_old_file_and_no_part(
    root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (root / "a/file").write_bytes(b"old")
    with make_folder_inside(str(root), "a") as folder, monkeypatch.context() as patch:
        for name in ("fsync", "replace"):
            patch.setattr(os, name, failing)
            with pytest.raises(FileError, match="a/file: cannot be written"):
                folder.put("file", b"new")
        patch.setattr(os, "unlink", failing)
        with pytest.raises(FileError, match="a/file: cannot be written"):
            folder.put("file", b"new")
        with pytest.raises(FileError, match="a: cannot be written"):
            folder.sync()
    assert (root / "a/file").read_bytes() == b"old"
    assert len(os.listdir(root / "a")) == 2  # the part that could not be removed


def test_no_descriptor_is_left_open(root: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("the system does not list open descriptors")
    (root / "out").symlink_to("../outside")
    before = os.listdir("/proc/self/fd")
    for path in ("out", ".git", "a/x/y"):
        try:
            folder: Folder = make_folder_inside(str(root), path)
        except FileError:
            continue
        with folder, folder.make("run") as run:
            run.put("file", b"1")
            run.stands_at(str(root), path)
    assert len(os.listdir("/proc/self/fd")) == len(before)
