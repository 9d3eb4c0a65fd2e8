"""Files: only regular ones are read, and what is written is written whole."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from evals_cli.core import files
from evals_cli.core.errors import EvalsError, FileError


def code_of(call, *args, **kwargs) -> str:
    with pytest.raises(EvalsError) as caught:
        call(*args, **kwargs)
    return caught.value.code


def failing(number: int):
    def call(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    return call


def test_a_regular_file_is_read_and_digested(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 300_000)
    assert files.read_regular(path) == b"x" * 300_000
    assert files.sha256_file(path) == hashlib.sha256(b"x" * 300_000).hexdigest()


def test_what_is_not_a_regular_file_is_refused_without_a_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    for name in ("fifo", "folder", "loop"):
        assert code_of(files.read_regular, tmp_path / name) == "file.not_regular"
    assert code_of(files.read_regular, "/dev/null") == "file.not_regular"


def test_missing_files_and_links_to_nothing_are_missing(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_bytes(b"")
    for name in ("absent", "dangling", "file/below"):
        assert code_of(files.read_regular, tmp_path / name) == "file.missing"


def test_links_are_followed_only_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to("file")
    assert files.read_regular(tmp_path / "link") == b"1"
    assert code_of(files.read_regular, tmp_path / "link", follow_symlinks=False) == "file.not_regular"


def test_the_limit_stops_the_reading(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert files.read_regular(tmp_path / "a", limit=5) == b"12345"
    assert code_of(files.read_regular, tmp_path / "a", limit=4) == "file.too_large"


@pytest.mark.parametrize("name", ["open", "fstat", "read"])
def test_a_failing_read_is_unreadable_and_names_the_errno(name: str, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a").write_bytes(b"1")
    with monkeypatch.context() as patch:
        patch.setattr(os, name, failing(errno.EIO))
        with pytest.raises(FileError) as caught:
            files.read_regular(tmp_path / "a")
    assert caught.value.code == "file.unreadable"
    assert caught.value.details["errno"] == "EIO"


def test_a_failing_digest_is_unreadable(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a").write_bytes(b"1")
    monkeypatch.setattr(os, "read", failing(errno.EIO))
    assert code_of(files.sha256_file, tmp_path / "a") == "file.unreadable"


def test_a_failing_close_after_reading_changes_nothing(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a").write_bytes(b"1")
    monkeypatch.setattr(os, "close", failing(errno.EIO))
    assert files.read_regular(tmp_path / "a") == b"1"


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "folder"):
        assert code_of(files.write_whole, tmp_path / name, b"1") == "file.not_regular"
    assert sorted(os.listdir(tmp_path)) == ["fifo", "folder"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("target")
    files.write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"kept"
    assert (tmp_path / "link").read_bytes() == b"new"


def test_a_place_that_cannot_be_looked_at_is_not_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "lstat", failing(errno.EIO))
    assert code_of(files.write_whole, tmp_path / "a", b"1") == "file.write_failed"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    files.write_whole(tmp_path / "a", b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_a_write_without_progress_is_a_failure(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "write", lambda *_: 0)
    assert code_of(files.write_whole, tmp_path / "a", b"1") == "file.write_failed"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["open", "write", "fsync", "close", "replace"])
def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    real_close = os.close

    def close_then_fail(descriptor: int) -> None:
        real_close(descriptor)
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(os, name, close_then_fail if name == "close" else failing(errno.ENOSPC))
    assert code_of(files.write_whole, path, b"new") == "file.write_failed"
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_temporary_file_that_cannot_be_removed_does_not_hide_the_failure(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(os, "replace", failing(errno.EIO))
    monkeypatch.setattr(os, "unlink", failing(errno.EIO))
    assert code_of(files.write_whole, tmp_path / "a", b"new") == "file.write_failed"


def test_folders_are_made_where_missing(tmp_path: Path, monkeypatch) -> None:
    files.make_folders(str(tmp_path / "a/b/c"))
    files.make_folders(str(tmp_path / "a/b/c"))
    monkeypatch.chdir(tmp_path)
    files.make_folders("x/y")
    files.make_folders("")
    assert (tmp_path / "a/b/c").is_dir()
    assert (tmp_path / "x/y").is_dir()


def test_a_file_in_the_way_of_a_folder_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert code_of(files.make_folders, str(tmp_path / "a")) == "file.write_failed"
    assert code_of(files.make_folders, str(tmp_path / "a/b")) == "file.write_failed"


def test_a_folder_that_cannot_be_made_is_a_failure(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "mkdir", failing(errno.ENOSPC))
    assert code_of(files.make_folders, str(tmp_path / "a")) == "file.write_failed"


def test_a_folder_made_meanwhile_by_another_is_fine(tmp_path: Path, monkeypatch) -> None:
    real = os.mkdir

    def late(path: str, *args: object) -> None:
        real(path)
        raise FileExistsError(errno.EEXIST, "exists")

    monkeypatch.setattr(os, "mkdir", late)
    files.make_folders(str(tmp_path / "a"))
    assert (tmp_path / "a").is_dir()


def test_folders_need_no_fsync_where_they_cannot_be_opened(monkeypatch) -> None:
    monkeypatch.setattr(files.os, "name", "nt")
    monkeypatch.setattr(os, "open", failing(errno.EACCES))
    files.fsync_folder("anywhere")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.json", "plain.json"),
        ("a\nb\x1b[31m", "a\\nb\\x1b[31m"),
        ("\u202etxt", "\\u202etxt"),
        ("ü", "ü"),
        (b"\xff", "\\udcff"),
        (7, "7"),
    ],
)
def test_names_are_shown_without_anything_that_could_steer_a_terminal(name: object, text: str) -> None:
    assert files.shown(name) == text


def test_whether_something_stands_at_a_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert [files.exists(tmp_path / name) for name in ("file", "dangling", "absent", "file/below")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_a_look_that_fails_is_no_proof_of_absence(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "lstat", failing(errno.EIO))
    assert code_of(files.exists, tmp_path / "a") == "file.unreadable"


def test_pieces_are_written_as_one_file(tmp_path: Path) -> None:
    files.write_whole_from(tmp_path / "a", iter([b"one", b"", b"two"]))
    assert (tmp_path / "a").read_bytes() == b"onetwo"


def test_pieces_that_break_off_leave_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def broken():
        yield b"one"
        raise EvalsError("some.code", "no more")

    assert code_of(files.write_whole_from, tmp_path / "a", broken()) == "some.code"
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_path_is_text_or_path_like(tmp_path: Path) -> None:
    assert files.as_path("a/b") == "a/b"
    assert files.as_path(tmp_path) == str(tmp_path)
    for wrong in (b"a", 5, None):
        with pytest.raises(TypeError):
            files.as_path(wrong)
    for unusable in ("a\0b", "\ud800"):
        with pytest.raises(ValueError, match=r"NUL|surrogates"):
            files.as_path(unusable)
