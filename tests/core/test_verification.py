"""Verdicts on whole folders: the files, the metadata after the journal, and what a snapshot holds."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from evals_cli.core import canonical, capsule, envelope, projection
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from pathlib import Path


def _capsule(folder: Path, count: int = 3) -> Path:
    made = capsule.Capsule.create(folder, run_id="run-1", capsule_id="cap-1")
    made.append_many([{"lineage": "plan", "kind": "step", "payload": {"hits": i}} for i in range(count)])
    return folder


def _brief(folder: Path) -> tuple[object, ...]:
    verdict = capsule.verify(folder)
    return verdict.code, verdict.failed_at, verdict.entry_count, verdict.root_hash


def test_a_good_capsule_has_no_reason_and_a_root(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    verdict = capsule.verify(folder)
    last = list(capsule.Capsule.open(folder).entries())[-1]
    assert verdict.as_dict() == {
        "ok": True,
        "code": "ok",
        "reason": None,
        "failed_at": None,
        "entry_count": 3,
        "root_hash": last["entry_hash"],
    }
    assert verdict == capsule.verify(str(folder))
    assert verdict != capsule.verify(_capsule(tmp_path / "d", 1))
    assert "'code': 'ok'" in repr(verdict)


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_folder_that_is_none_has_no_journal(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    assert _brief(tmp_path / name) == ("capsule.missing_journal", None, 0, None)


def _put(folder: Path, kind: str) -> None:
    path = folder / "journal.ndjson"
    path.rename(folder.parent / "outside")
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    elif kind == "outward link":
        path.symlink_to(folder.parent / "outside")
    elif kind == "endless device":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to("journal.ndjson")


@pytest.mark.parametrize(
    "kind", ["folder", "fifo", "dangling link", "outward link", "endless device", "loop"]
)
def test_a_journal_that_is_no_file_of_its_own_is_unreadable_at_once(tmp_path: Path, kind: str) -> None:
    folder = _capsule(tmp_path / "c")
    _put(folder, kind)
    assert _brief(folder) == ("capsule.unreadable_journal", None, 0, None)
    for call in (capsule.project, capsule.Capsule.open, capsule.write_projection):
        with pytest.raises(EvalsError) as caught:
            call(folder)
        assert caught.value.code == "capsule.unreadable_journal"
    with pytest.raises(EvalsError) as caught:
        capsule.append_entry(folder, "plan", "step")
    assert caught.value.code == "capsule.unreadable_journal"
    assert not (folder / ".append.lock").exists()


def test_a_read_that_fails_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _capsule(tmp_path / "c")
    real = os.read

    def fail_on_long_reads(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        if b'"seq"' in data:
            raise OSError(5, "Input/output error")
        return data

    monkeypatch.setattr(os, "read", fail_on_long_reads)
    assert _brief(folder) == ("capsule.unreadable_journal", None, 0, None)
    for call in (capsule.Capsule.open, lambda path: capsule.append_entry(path, "plan", "step")):
        with pytest.raises(EvalsError) as caught:
            call(folder)
        assert caught.value.code == "capsule.unreadable_journal"


def test_bad_metadata_is_reported_after_the_journal_and_counts_all_entries(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    (folder / "capsule.json").write_text("{}")
    assert _brief(folder) == ("capsule.metadata_invalid", None, 3, None)
    with (folder / "journal.ndjson").open("ab") as out:
        out.write(b"\n")
    assert _brief(folder) == ("capsule.corrupt_entry", 3, 3, None)


def test_metadata_of_another_capsule_is_a_mismatch_at_the_first_entry(tmp_path: Path) -> None:
    folder, other = _capsule(tmp_path / "c"), tmp_path / "d"
    capsule.Capsule.create(other, run_id="run-2", capsule_id="cap-1")
    (folder / "capsule.json").write_bytes((other / "capsule.json").read_bytes())
    assert _brief(folder) == ("capsule.metadata_mismatch", 0, 3, None)


def test_reading_stops_early_once_invalid_utf8_decides(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    with (folder / "journal.ndjson").open("r+b") as out:
        out.write(b"\xff")
    assert _brief(folder) == ("capsule.non_canonical", None, 0, None)


def test_a_failed_verification_turns_into_a_refusal_with_its_index(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    (folder / "journal.ndjson").write_bytes(b"{}\n")
    with pytest.raises(EvalsError) as caught:
        capsule.project(folder)
    assert caught.value.code == "capsule.invalid_entry"
    assert caught.value.details == {"failed_at": 0, "entry_count": 0}
    assert "line 1" in caught.value.message


def test_a_snapshot_is_one_look_at_identity_projection_and_size(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    data = (folder / "journal.ndjson").read_bytes()
    snapshot = capsule.read_snapshot(folder, checkpoint=1)
    assert snapshot.verification.ok
    assert snapshot.metadata is not None
    assert snapshot.metadata.raw == (folder / "capsule.json").read_bytes()
    assert snapshot.projection == capsule.project(folder)
    assert snapshot.projection is not None
    assert snapshot.projection["journal_sha256"] == hashlib.sha256(data).hexdigest()
    assert snapshot.size == len(data)
    assert snapshot.checkpoint_root == next(capsule.Capsule.open(folder).entries())["entry_hash"]


def test_a_snapshot_of_a_bad_capsule_holds_the_verdict_only(tmp_path: Path) -> None:
    snapshot = capsule.read_snapshot(tmp_path)
    assert snapshot.verification.code == "capsule.missing_journal"
    assert (snapshot.metadata, snapshot.projection, snapshot.checkpoint_root) == (None, None, None)


def test_a_snapshot_tells_the_root_after_a_count_of_entries(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    roots = [capsule.read_snapshot(folder, checkpoint=count).checkpoint_root for count in (0, 3, 4)]
    assert roots == [envelope.GENESIS_HASH, capsule.verify(folder).root_hash, None]


def test_entries_are_read_after_one_verification_and_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _capsule(tmp_path / "c")
    opened: list[str] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: (opened.append(str(path)), real(path, *rest))[1])
    entries = capsule.read_entries(folder)
    capsule.append_entry(folder, "plan", "later")
    opened.clear()
    first = next(entries)
    assert (first["seq"], first["payload"]) == (0, {"hits": 0})
    data = (folder / "journal.ndjson").read_bytes()
    assert [entry["seq"] for entry in entries] == [1, 2]
    assert opened == [str(folder / "journal.ndjson")]
    (folder / "journal.ndjson").write_bytes(data.replace(b'"hits":2', b'"hits":3'))
    with pytest.raises(EvalsError, match="invalid_entry"):
        capsule.read_entries(folder)


def test_a_projection_is_the_same_bytes_each_time_and_replaced_whole(tmp_path: Path) -> None:
    folder = _capsule(tmp_path / "c")
    (folder / "projection.json").write_text("old")
    derived = capsule.write_projection(folder)
    written = (folder / "projection.json").read_bytes()
    assert written == canonical.canonical_bytes(derived) + b"\n" == projection.projection_bytes(derived)
    assert derived["projection_hash"] == projection.projection_hash(derived)
    capsule.write_projection(folder)
    assert (folder / "projection.json").read_bytes() == written
    assert sorted(path.name for path in folder.iterdir()) == [
        "capsule.json",
        "journal.ndjson",
        "projection.json",
    ]


def test_an_empty_journal_projects_to_zeros(tmp_path: Path) -> None:
    derived = capsule.project(_capsule(tmp_path / "c", 0))
    assert derived["entry_count"] == 0
    assert derived["last_seq"] is None
    assert derived["max_effect_class"] == "SE0"
    assert derived["root_hash"] == envelope.GENESIS_HASH


def test_the_public_face_has_no_other_names() -> None:
    with pytest.raises(AttributeError):
        _ = capsule.nothing  # type: ignore[attr-defined]  # the mistake under test
