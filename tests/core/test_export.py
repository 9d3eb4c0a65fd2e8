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


def _fails_with_eio(*_args: object, **_kwargs: object) -> Any:
    raise OSError(errno.EIO, "Input/output error")


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
    (out / "projection.json").unlink()
    (out / "projection.json").symlink_to(outside)
    capsule.export_bundle(source, out)
    assert outside.read_text() == "untouched"
    assert capsule.verify(out).ok


_STEP = {"lineage": "plan", "kind": "step"}


def _longer(out: Path) -> None:
    capsule.append_entry(out, "plan", "newer")


def _forked(out: Path) -> None:
    path = out / "journal.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    capsule.append_entry(out, "plan", "other")


def _add(path: Path, data: bytes) -> None:
    with path.open("ab") as journal:
        journal.write(data)


def _torn(out: Path) -> None:
    _add(out / "journal.ndjson", b'{"half')


def _in_its_place(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(out: Path) -> None:
        (out / "journal.ndjson").rename(out / "moved")
        make(out / "journal.ndjson")

    return replace


_PRECIOUS: dict[str, Callable[[Path], object]] = {
    "longer": _longer,
    "forked": _forked,
    "torn": _torn,
    "a link": _in_its_place(lambda path: path.symlink_to("moved")),
    "a dangling link": _in_its_place(lambda path: path.symlink_to("nowhere")),
    "a folder": _in_its_place(lambda path: path.mkdir()),
    "a FIFO": _in_its_place(os.mkfifo),
    "locked": lambda out: (out / ".append.lock").touch(),
    "locked by a dangling link": lambda out: (out / ".append.lock").symlink_to("nowhere"),
}


@pytest.mark.parametrize("change", _PRECIOUS.values(), ids=_PRECIOUS.keys())
def test_evidence_that_only_the_target_holds_is_left_alone_and_nothing_is_written(
    source: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    out = tmp_path / "out"
    capsule.export_bundle(source, out)
    (source / "projection.json").unlink()
    change(out)
    before = _tree(out)
    assert _code(lambda: capsule.export_bundle(source, out)) == "capsule.export_conflict"
    assert _tree(out) == before
    assert not (source / "projection.json").exists()


def test_an_older_capsule_is_not_exported_over_the_newer_one_it_comes_from(
    source: Path, tmp_path: Path
) -> None:
    capsule.export_bundle(source, tmp_path / "copy")
    capsule.append_entry(source, "plan", "newer")
    assert _code(lambda: capsule.export_bundle(tmp_path / "copy", source)) == "capsule.export_conflict"
    assert capsule.verify(source).entry_count == 4


def test_a_lock_alone_keeps_an_export_away(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".append.lock").touch()
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "capsule.export_conflict"


@pytest.mark.parametrize("size", [0, 1, 700, 300_000])
def test_a_target_that_holds_a_beginning_of_the_journal_is_brought_up_to_date(
    source: Path, tmp_path: Path, size: int
) -> None:
    capsule.Capsule.open(source).append_many([{**_STEP, "payload": {"note": "x" * 900}}] * 500)
    whole, out = (source / "journal.ndjson").read_bytes(), tmp_path / "out"
    capsule.export_bundle(source, out)
    (out / "journal.ndjson").write_bytes(whole[:size])
    capsule.export_bundle(source, out)
    assert (out / "journal.ndjson").read_bytes() == whole


@pytest.mark.parametrize("size", [0, 1000, 300_000])
def test_a_difference_is_found_wherever_it_is(source: Path, tmp_path: Path, size: int) -> None:
    capsule.Capsule.open(source).append_many([{**_STEP, "payload": {"note": "x" * 900}}] * 500)
    whole, out = (source / "journal.ndjson").read_bytes(), tmp_path / "out"
    capsule.export_bundle(source, out)
    (out / "journal.ndjson").write_bytes(whole[:size] + b"\0")
    assert _code(lambda: capsule.export_bundle(source, out)) == "capsule.export_conflict"


def test_a_target_that_fails_to_be_read_is_taken_for_precious(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capsule.export_bundle(source, tmp_path / "out")
    monkeypatch.setattr(export, "_begins", _fails_with_eio)
    assert _code(lambda: capsule.export_bundle(source, tmp_path / "out")) == "capsule.export_conflict"


@pytest.mark.parametrize("before", ["an export", "nothing"])
@pytest.mark.parametrize("act", ["lock", "append", "create"])
def test_a_writer_that_comes_to_the_target_meanwhile_is_left_alone(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, act: str
) -> None:
    out = tmp_path / "out"
    if before == "an export":
        capsule.export_bundle(source, out)
    acts: dict[str, Callable[[], object]] = {
        "lock": (out / ".append.lock").touch,
        "append": lambda: _add(out / "journal.ndjson", b"{}\n"),
        "create": lambda: (out / "journal.ndjson").write_bytes(b"theirs"),
    }
    _between(monkeypatch, acts[act])
    assert _code(lambda: capsule.export_bundle(source, out)) == "capsule.export_conflict"
    held = (out / "journal.ndjson").read_bytes() if (out / "journal.ndjson").exists() else b""
    assert held.endswith({"lock": held[-1:], "append": b"{}\n", "create": b"theirs"}[act])


def test_a_look_at_the_targets_journal_that_fails_is_no_permission(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    capsule.export_bundle(source, out)
    before = _tree(out)
    real = os.lstat

    def look(path: Any) -> os.stat_result:
        if str(path) == str(out / "journal.ndjson"):
            _fails_with_eio()
        return real(path)

    monkeypatch.setattr(os, "lstat", look)
    assert _code(lambda: capsule.export_bundle(source, out)) == "file.unreadable"
    assert _tree(out) == before


def test_nothing_stays_open_after_an_export_that_failed(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: set[int] = set()
    real_open, real_close = os.open, os.close
    monkeypatch.setattr(os, "open", lambda *args: (opened.add(found := real_open(*args)), found)[1])
    monkeypatch.setattr(os, "close", lambda found: (opened.discard(found), real_close(found))[1])
    capsule.export_bundle(source, tmp_path / "out")
    _between(monkeypatch, lambda: monkeypatch.setattr(os, "write", _fails_with_eio))
    with pytest.raises(EvalsError):
        capsule.export_bundle(source, tmp_path / "other")
    assert opened == set()


def _between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act after the capsule was verified and before its journal is copied."""
    real = export._verified_bytes

    def acting(*args: Any) -> Any:
        act()
        return real(*args)

    monkeypatch.setattr(export, "_verified_bytes", acting)


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
