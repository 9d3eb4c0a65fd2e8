"""The append lock: exclusive at once, released only by its owner, and never guessed about."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from evals_cli.core import lock
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _code(call: Callable[[], object]) -> EvalsError:
    with pytest.raises(EvalsError) as caught:
        call()
    return caught.value


def _hold(folder: Path, inside: Callable[[], object] = lambda: None) -> None:
    with lock.AppendLock(str(folder)):
        inside()


def _fail(*_: object, **__: object) -> None:
    raise OSError(5, "Input/output error")


def test_the_lock_is_an_empty_file_of_its_owner_while_held_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / ".append.lock"

    def inside() -> None:
        assert path.read_bytes() == b""
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    _hold(tmp_path, inside)
    assert not path.exists()


def _leave_file(path: Path) -> None:
    path.write_text("999999\n")
    os.utime(path, (0, 0))


_KINDS: list[Callable[[Path], object]] = [
    _leave_file,
    lambda path: path.mkdir(),
    lambda path: path.symlink_to("nowhere"),
    os.mkfifo,
]


@pytest.mark.parametrize("leave", _KINDS, ids=["old file", "folder", "dangling link", "fifo"])
def test_whatever_stands_at_the_path_means_busy_and_stays(
    tmp_path: Path, leave: Callable[[Path], object]
) -> None:
    leave(tmp_path / ".append.lock")
    assert _code(lambda: _hold(tmp_path)).code == "capsule.busy"
    assert os.path.lexists(tmp_path / ".append.lock")


def test_a_held_lock_is_busy_for_a_second_holder(tmp_path: Path) -> None:
    _hold(tmp_path, lambda: _code(lambda: _hold(tmp_path)))
    assert not (tmp_path / ".append.lock").exists()


@pytest.mark.parametrize("name", ["gone", "file", "gone/deeper"])
def test_where_there_is_no_folder_there_is_no_capsule(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    error = _code(lambda: _hold(tmp_path / name))
    assert error.code == "capsule.missing_journal"
    assert "name the folder of a capsule" in error.message


def test_a_lock_that_the_system_refuses_is_a_failed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", _fail)
    error = _code(lambda: _hold(tmp_path))
    assert (error.code, error.details) == ("capsule.lock_failed", {"stage": "acquire", "errno": "EIO"})


def test_the_lock_is_released_when_the_work_is_refused(tmp_path: Path) -> None:
    def refuse() -> None:
        raise EvalsError("capsule.bad_lineage", "no")

    assert _code(lambda: _hold(tmp_path, refuse)).code == "capsule.bad_lineage"
    assert not (tmp_path / ".append.lock").exists()


def _replace(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.write_text("theirs")


def _replace_by_link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


@pytest.mark.parametrize(
    ("attack", "stays"),
    [(_replace, True), (_replace_by_link, True), (lambda path: path.unlink(), False)],
    ids=["replaced", "replaced by a link to it", "removed"],
)
def test_a_lock_that_is_no_longer_ours_is_lost_and_the_replacement_stays(
    tmp_path: Path, attack: Callable[[Path], object], stays: bool
) -> None:
    path = tmp_path / ".append.lock"
    assert _code(lambda: _hold(tmp_path, lambda: attack(path))).code == "capsule.lock_lost"
    assert os.path.lexists(path) == stays


def test_a_lost_lock_outranks_the_error_before_it_which_becomes_its_cause(tmp_path: Path) -> None:
    def fail_and_lose() -> None:
        (tmp_path / ".append.lock").unlink()
        raise EvalsError("capsule.write_failed", "first")

    error = _code(lambda: _hold(tmp_path, fail_and_lose))
    assert error.code == "capsule.lock_lost"
    assert isinstance(error.__cause__, EvalsError)
    assert error.__cause__.code == "capsule.write_failed"


@pytest.mark.parametrize(
    ("call", "stays"), [("fstat", True), ("lstat", True), ("unlink", True), ("close", False)]
)
def test_a_release_that_the_system_fails_is_reported_and_nothing_is_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, stays: bool
) -> None:
    with monkeypatch.context() as patch:
        error = _code(lambda: _hold(tmp_path, lambda: patch.setattr(os, call, _fail)))
    assert error.code == "capsule.lock_failed"
    assert error.details == {"stage": "release", "errno": "EIO"}
    assert (tmp_path / ".append.lock").exists() == stays


def test_where_open_files_cannot_be_removed_the_lock_is_closed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_UNLINKS_OPEN_FILES", False)
    order: list[str] = []
    for name in ("close", "unlink"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *args, name=name, real=real: (order.append(name), real(*args))[1]
        )
    _hold(tmp_path)
    assert order == ["close", "unlink"]
    assert not (tmp_path / ".append.lock").exists()
