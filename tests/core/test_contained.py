"""Paths from documents stay inside their root, whatever links say and whoever swaps them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from evals_cli.core import contained
from evals_cli.core.errors import EvalsError


@pytest.fixture(params=["walk", "resolve"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of opening: part by part, and by resolving where a system lacks that."""
    if request.param == "resolve":
        monkeypatch.setattr(contained, "_WALKS", False)
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/file").write_bytes(b"inside")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil/file").write_bytes(b"outside")
    (tmp_path / "file").write_bytes(b"outside")
    return folder


def code_of(root: Path, path: str) -> str:
    with pytest.raises(EvalsError) as caught:
        contained.read_inside(str(root), path)
    return caught.value.code


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/hostname",
        "\\x",
        "C:/x",
        "c:x",
        "..",
        "a/../b",
        "a\\..\\b",
        "../x",
        "a/..",
        "x\0y",
        "\ud800",
        5,
        None,
    ],
)
def test_paths_of_the_wrong_form_are_refused(path: object, root: Path) -> None:
    assert contained.relative_problem(path)
    assert contained.inside_status(str(root), path) == "invalid"


def test_a_path_of_the_wrong_form_is_an_error_when_opened(root: Path) -> None:
    assert code_of(root, "../file") == "path.invalid"


@pytest.mark.parametrize("path", ["a", "a.b", "..a/b..", "ä/b", "ab:c", "a//b", "./a"])
def test_paths_of_the_right_form_are_accepted(path: str) -> None:
    assert contained.relative_problem(path) is None


@pytest.mark.parametrize("path", ["a/b/file", "./a//b/./file"])
def test_a_file_inside_is_read(path: str, root: Path, way: str) -> None:
    assert contained.read_inside(str(root), path) == b"inside"
    assert len(contained.sha256_inside(str(root), path)) == 64
    assert contained.inside_status(str(root), path) == "present"


def test_links_inside_the_root_are_followed(root: Path, way: str) -> None:
    (root / "to-file").symlink_to("a/b/file")
    (root / "a/up").symlink_to("../a/b")
    (root / "absolute").symlink_to(root / "a/b")
    (root / "itself").symlink_to(root)
    (root / "a/b/deep").symlink_to(root / "to-file")
    for path in ("to-file", "a/up/file", "absolute/file", "itself/a/b/file", "a/b/deep"):
        assert contained.read_inside(str(root), path) == b"inside"


def test_the_root_itself_may_be_reached_through_a_link(root: Path, tmp_path: Path, way: str) -> None:
    (tmp_path / "alias").symlink_to("root")
    (root / "absolute").symlink_to(tmp_path / "alias/a/b/file")
    assert contained.read_inside(str(tmp_path / "alias"), "absolute") == b"inside"


@pytest.mark.parametrize("target", ["../file", "../root-evil/file", "a/../../file", "/etc/hostname"])
def test_links_out_of_the_root_are_refused(target: str, root: Path, way: str) -> None:
    (root / "out").symlink_to(target)
    assert code_of(root, "out") == "path.outside_root"
    assert contained.inside_status(str(root), "out") == "invalid"


def test_a_sibling_whose_name_starts_with_the_roots_is_outside(root: Path, tmp_path: Path, way: str) -> None:
    (root / "out").symlink_to(tmp_path / "root-evil/file")
    (root / "folder").symlink_to(tmp_path / "root-evil")
    assert code_of(root, "out") == "path.outside_root"
    assert code_of(root, "folder/file") == "path.outside_root"


def test_what_is_not_a_regular_file_is_refused(root: Path, way: str) -> None:
    os.mkfifo(root / "fifo")
    (root / "up").symlink_to("a/..")
    for path in ("fifo", "a", "a/", ".", "up"):
        assert code_of(root, path) == "file.not_regular"
        assert contained.inside_status(str(root), path) == "present"


def test_what_is_not_there_is_missing(root: Path, way: str) -> None:
    (root / "dangling").symlink_to("nowhere")
    (root / "circle").symlink_to("circle")
    for path in ("absent", "absent/below", "dangling", "a/b/file/below"):
        assert code_of(root, path) == "file.missing"
        assert contained.inside_status(str(root), path) == "missing"
    assert contained.inside_status(str(root), "circle") == "missing"


def test_a_circle_of_links_is_not_a_file(root: Path) -> None:
    (root / "circle").symlink_to("circle")
    assert code_of(root, "circle") == "file.not_regular"


def test_a_path_that_resolves_to_the_root_itself_is_a_folder(root: Path) -> None:
    (root / "self").symlink_to(".")
    assert code_of(root, "self") == "file.not_regular"


def test_a_slash_at_the_end_asks_for_a_folder(root: Path) -> None:
    assert code_of(root, "a/b/file/") == "file.missing"


def test_a_name_that_no_file_can_have_is_invalid(root: Path) -> None:
    assert contained.inside_status(str(root), "x" * 5000) == "invalid"


def test_something_that_cannot_be_looked_at_counts_as_present(root: Path, monkeypatch) -> None:
    def refused(*_args: object, **_kwargs: object) -> int:
        raise OSError(errno.EACCES, "denied")

    monkeypatch.setattr(os, "open", refused)
    assert contained.inside_status(str(root), "a") == "present"


def test_a_link_swapped_in_after_the_look_is_not_followed(root: Path, tmp_path: Path, monkeypatch) -> None:
    real = os.stat
    target = root / "a/b/file"

    def swap(path, *args, **kwargs):
        result = real(path, *args, **kwargs)
        if path == "file":
            target.unlink()
            target.symlink_to(tmp_path / "file")
        return result

    monkeypatch.setattr(os, "stat", swap)
    assert code_of(root, "a/b/file") == "file.not_regular"


def test_a_folder_swapped_for_a_link_after_the_look_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch
) -> None:
    real = os.stat

    def swap(path, *args, **kwargs):
        result = real(path, *args, **kwargs)
        if path == "b":
            os.rename(root / "a/b", root / "a/moved")
            (root / "a/b").symlink_to(tmp_path / "root-evil")
        return result

    monkeypatch.setattr(os, "stat", swap)
    assert code_of(root, "a/b/file") in ("file.not_regular", "file.missing")


def test_without_a_walk_a_swap_is_seen_after_opening(root: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(contained, "_WALKS", False)
    monkeypatch.setattr(os.path, "samestat", lambda *_: False)
    assert code_of(root, "a/b/file") == "path.outside_root"


def test_without_a_walk_a_failing_look_is_an_error(root: Path, monkeypatch) -> None:
    monkeypatch.setattr(contained, "_WALKS", False)

    def failing(*_args: object) -> bool:
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(os.path, "samestat", failing)
    assert code_of(root, "a/b/file") == "file.unreadable"


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "out").symlink_to("../file")
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    for path in ("a/b/file", "out", "absent/x", "a"):
        contained.inside_status(str(root), path)
        if path != "a/b/file":
            with pytest.raises(EvalsError):
                contained.read_inside(str(root), path)
    after = os.listdir("/proc/self/fd") if before else []
    assert len(after) == len(before)
