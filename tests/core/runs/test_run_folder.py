"""A run's folder is its own, inside the repository, under a name that says when and what."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from evals_cli.core import run_folder
from evals_cli.core.contained_writing import make_folder_inside
from evals_cli.core.errors import FileError, RequirementError
from evals_cli.core.run_folder import make_run_folder, run_name, write_artifacts


def _made(root: Path, prefix: str, name: str = "R") -> str:
    """Make the folder of a run and give it back at once; its run id."""
    folder = make_run_folder(str(root), prefix, name)
    folder.close()
    return folder.run_id


def _refused(root: Path, prefix: str, name: str = "R") -> str:
    with pytest.raises(RequirementError) as caught:
        make_run_folder(str(root), prefix, name)
    assert caught.value.requirement == "run directory"
    (problem,) = caught.value.problems
    assert str(root) not in problem
    return problem


def test_a_run_is_named_by_time_case_and_digest() -> None:
    name = run_name("2026-06-03T20:57:25.778Z", "pr-closeout", "a0c7036a" + "0" * 56)
    assert name == "20260603T205725Z-pr-closeout-a0c7036a"


def test_a_clock_beyond_four_digit_years_names_no_run() -> None:
    with pytest.raises(ValueError, match="four digits"):
        run_name("+010000-01-01T00:00:00.000Z", "c", "0" * 64)


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    assert [_made(tmp_path, "a/b") for _ in range(3)] == ["R", "R-01", "R-02"]
    assert sorted(os.listdir(tmp_path / "a/b")) == ["R", "R-01", "R-02"]


def test_a_name_that_is_taken_by_a_file_or_a_dangling_link_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/R").write_text("", encoding="utf-8")
    (tmp_path / "a/R-01").symlink_to("nowhere")
    assert _made(tmp_path, "a") == "R-02"


def test_threads_never_share_a_folder(tmp_path: Path) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(_made(tmp_path, "x/y"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8


def test_names_run_out_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "MAX_NAMES", 2)
    _made(tmp_path, "a")
    _made(tmp_path, "a")
    assert "2 runs have this name already" in _refused(tmp_path, "a")


@pytest.mark.parametrize("link", [".harness", ".harness/evals", ".harness/evals/runs"])
def test_a_link_out_of_the_repository_is_refused_and_nothing_is_made_there(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "root-evil"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    assert _refused(root, ".harness/evals/runs") == f"{link}: leads out of its root"
    assert list(outside.iterdir()) == []


def test_a_link_to_a_folder_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert _made(tmp_path, "link/runs") == "R"
    assert (tmp_path / "real/runs/R").is_dir()


@pytest.mark.parametrize(
    ("target", "why"),
    [("nowhere", "a link that leads nowhere"), ("loop", "not a folder; bundles are written below it")],
)
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, target: str, why: str) -> None:
    (tmp_path / "loop").symlink_to(target)
    assert _refused(tmp_path, "loop/runs") == f"loop: {why}"
    assert os.listdir(tmp_path) == ["loop"]


def test_a_file_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")
    assert _refused(tmp_path, "a/b") == "a: not a folder; bundles are written below it"


def test_a_name_that_is_too_long_is_refused_before_the_start(tmp_path: Path) -> None:
    assert "cannot be written" in _refused(tmp_path, "a", "n" * 300)


def test_a_folder_that_another_run_makes_meanwhile_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.mkdir

    def slower(path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        real(path, mode, dir_fd=dir_fd)
        if path.endswith("a"):
            raise FileExistsError

    monkeypatch.setattr(os, "mkdir", slower)
    assert _made(tmp_path, "a") == "R"


@pytest.mark.parametrize(
    ("prepare", "advice"),
    [
        (lambda root: (root / "a").symlink_to("/"), "in the place of the link"),
        (lambda root: (root / "a").write_bytes(b""), "choose another artifact_root"),
        (lambda root: (root / "a").mkdir(), "make the folder for run bundles writable"),
    ],
    ids=["a link out", "a file", "a folder"],
)
def test_the_advice_is_about_what_stands_there(
    tmp_path: Path, prepare: Callable[[Path], object], advice: str
) -> None:
    prepare(tmp_path)
    with pytest.raises(RequirementError) as caught:
        make_run_folder(str(tmp_path), "a", "n" * 300)
    assert advice in str(caught.value.recovery)


def test_artifacts_are_written_whole_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = os.replace

    def replace(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        seen.append(target)
        (temporary,) = (tmp_path / "runs").glob(".*.tmp")
        assert temporary.read_bytes() == f"content of {target}".encode()
        real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "replace", replace)
    with make_folder_inside(str(tmp_path), "runs") as folder:
        write_artifacts(folder, {"b": b"content of b", "a": b"content of a"})
    assert seen == ["b", "a"]
    assert sorted(os.listdir(tmp_path / "runs")) == ["a", "b"]


def test_a_failed_write_leaves_no_part_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    calls: list[int] = []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(descriptor)

    with make_folder_inside(str(tmp_path), "runs") as folder:
        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(FileError, match=re.escape("runs/b: cannot be written (No space left on device)")):
            write_artifacts(folder, {"a": b"x", "b": b"y", "c": b"z"})
    assert os.listdir(tmp_path / "runs") == ["a"]
