"""Exports: exactly the verified files, and nobody else's files in their way."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import capsule, export
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NAMES = ["capsule.json", "journal.ndjson", "projection.json"]


def _code(call: Callable[[], object]) -> str:
    with pytest.raises(EvalsError) as caught:
        call()
    return caught.value.code


def _tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.fixture(name="source")
def _source(tmp_path: Path) -> Path:
    made = capsule.Capsule.create(tmp_path / "source", run_id="run-1", capsule_id="cap-1")
    made.append_many([{"lineage": "plan", "kind": "step", "payload": {"hits": i}} for i in range(3)])
    (tmp_path / "source" / "notes.txt").write_text("not evidence")
    return tmp_path / "source"


def test_an_export_holds_exactly_the_three_files(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert capsule.export_bundle(source, out) == {"dir": str(out), "files": _NAMES}
    assert _tree(out) == {name: (source / name).read_bytes() for name in _NAMES}
    assert capsule.verify(out).ok
    assert not (out / "notes.txt").exists()


def test_a_journal_of_many_reads_is_copied_whole(source: Path, tmp_path: Path) -> None:
    records = [{"lineage": "plan", "kind": "step", "payload": {"note": "x" * 900}}] * 500
    capsule.Capsule.open(source).append_many(records)
    capsule.export_bundle(source, tmp_path / "out")
    assert (tmp_path / "out" / "journal.ndjson").read_bytes() == (source / "journal.ndjson").read_bytes()


def test_an_earlier_export_of_the_same_capsule_is_replaced(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    capsule.export_bundle(source, out)
    (out / "mine.txt").write_text("kept")
    capsule.append_entry(source, "plan", "later")
    capsule.export_bundle(source, out)
    assert capsule.verify(out).entry_count == 4
    assert sorted(_tree(out)) == ["capsule.json", "journal.ndjson", "mine.txt", "projection.json"]


def _other_capsule(out: Path) -> None:
    capsule.Capsule.create(out, run_id="run-1", capsule_id="cap-2")


def _orphan(name: str) -> Callable[[Path], None]:
    def make(out: Path) -> None:
        out.mkdir()
        (out / name).write_text("whose?")

    return make


@pytest.mark.parametrize(
    "occupy",
    [_other_capsule, *(_orphan(name) for name in _NAMES)],
    ids=["another capsule", *(f"orphan {name}" for name in _NAMES)],
)
def test_files_of_others_are_left_alone_and_nothing_is_written(
    source: Path, tmp_path: Path, occupy: Callable[[Path], None]
) -> None:
    out = tmp_path / "out"
    occupy(out)
    before = _tree(out)
    assert _code(lambda: capsule.export_bundle(source, out)) == "capsule.export_conflict"
    assert _tree(out) == before
    assert not (source / "projection.json").exists()


@pytest.mark.parametrize("spelling", ["source", "source/../source", "link"])
def test_the_capsule_itself_is_no_target_under_any_name(source: Path, tmp_path: Path, spelling: str) -> None:
    (tmp_path / "link").symlink_to(source)
    assert _code(lambda: capsule.export_bundle(source, tmp_path / spelling)) == "capsule.export_conflict"


def test_a_bad_capsule_is_not_exported(source: Path, tmp_path: Path) -> None:
    (source / "journal.ndjson").write_bytes(b"{")
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "capsule.truncated_tail"
    assert not (tmp_path / "out").exists()


def test_a_link_in_an_earlier_export_is_replaced_and_not_written_through(
    source: Path, tmp_path: Path
) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    capsule.export_bundle(source, out)
    outside.write_text("untouched")
    for name in ("journal.ndjson", "projection.json"):
        (out / name).unlink()
        (out / name).symlink_to(outside)
    capsule.export_bundle(source, out)
    assert outside.read_text() == "untouched"
    assert capsule.verify(out).ok


def _between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act after the capsule was verified and before its journal is copied."""
    real = export._copy_journal

    def acting(*args: Any) -> None:
        act()
        real(*args)

    monkeypatch.setattr(export, "_copy_journal", acting)


def test_entries_appended_meanwhile_are_left_out(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _between(monkeypatch, lambda: capsule.append_entry(source, "plan", "later"))
    capsule.export_bundle(source, tmp_path / "out")
    assert capsule.verify(tmp_path / "out").entry_count == 3
    assert (tmp_path / "out" / "projection.json").read_bytes() == (source / "projection.json").read_bytes()


@pytest.mark.parametrize("change", [lambda data: b"", lambda data: data.replace(b'"hits":1', b'"hits":2')])
def test_a_journal_that_changes_meanwhile_is_not_exported(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[bytes], bytes]
) -> None:
    path = source / "journal.ndjson"
    _between(monkeypatch, lambda: path.write_bytes(change(path.read_bytes())))
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "capsule.changed"
    assert sorted(_tree(tmp_path / "out")) == ["capsule.json"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_an_export_that_fails_leaves_whole_files_only(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(28, "No space left on device")

    _between(monkeypatch, lambda: monkeypatch.setattr(os, call, fail))
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "file.write_failed"
    monkeypatch.undo()
    assert sorted(_tree(tmp_path / "out")) == ["capsule.json"]
    assert capsule.verify(source).ok


def test_a_failed_clean_up_does_not_hide_the_failure(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(5, "Input/output error")

    def break_both() -> None:
        monkeypatch.setattr(os, "write", fail)
        monkeypatch.setattr(os, "unlink", fail)

    _between(monkeypatch, break_both)
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "file.write_failed"


def test_a_target_that_is_a_file_is_a_failed_write(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "file.write_failed"


def _fails_with_eio(*_args: object, **_kwargs: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_a_target_that_cannot_be_looked_at_is_not_taken_for_another_folder(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _tree(source)
    monkeypatch.setattr(export.os.path, "samestat", _fails_with_eio)
    assert _code(lambda: capsule.export_bundle(source, source)) == "file.unreadable"
    assert _tree(source) == before


def test_a_look_that_fails_is_not_taken_for_an_empty_target(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "capsule.json").write_text("somebody else's")
    monkeypatch.setattr(export.os, "lstat", _fails_with_eio)
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "file.unreadable"
    assert (tmp_path / "out" / "capsule.json").read_text() == "somebody else's"
