"""Creating and appending: what is validated first, what is remembered, and what stays after a failure."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import capsule, handle, journal, metadata, prefix, recording
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable


def _code(call: Callable[[], object]) -> EvalsError:
    with pytest.raises(EvalsError) as caught:
        call()
    return caught.value


def _journal(folder: Path) -> bytes:
    return (folder / "journal.ndjson").read_bytes()


def _fail(*_: object, **__: object) -> Any:
    raise OSError(28, "No space left on device")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "capsule"


@pytest.fixture(name="made")
def _made(folder: Path) -> capsule.Capsule:
    return capsule.Capsule.create(folder, run_id="run-1", capsule_id="cap-1")


def test_omitted_identity_is_random_or_neutral(tmp_path: Path) -> None:
    one, two = capsule.Capsule.create(tmp_path / "1"), capsule.Capsule.create(tmp_path / "2")
    assert one.path == str(tmp_path / "1")
    assert (one.metadata.harness_version, one.metadata.task_family) == ("unknown", "unspecified")
    for prefix_text, first, second in (
        ("run-", one.metadata.run_id, two.metadata.run_id),
        ("capsule-", one.metadata.capsule_id, two.metadata.capsule_id),
    ):
        assert first.startswith(prefix_text)
        assert len(first) == len(prefix_text) + 16
        assert first != second


@pytest.mark.parametrize("field", ["run_id", "capsule_id", "harness_version", "task_family"])
def test_an_explicit_null_is_invalid_and_nothing_is_made(folder: Path, field: str) -> None:
    identity: dict[str, Any] = {field: None}
    assert _code(lambda: capsule.Capsule.create(folder, **identity)).code == "capsule.metadata_invalid"
    assert not folder.exists()


@pytest.mark.parametrize("field", ["harness_version", "task_family"])
def test_an_identity_that_readers_would_refuse_for_its_size_is_not_made(folder: Path, field: str) -> None:
    long: dict[str, Any] = {field: "x" * metadata.MAX_BYTES}
    error = _code(lambda: capsule.Capsule.create(folder, **long))
    assert error.code == "capsule.metadata_invalid"
    assert len(error.message) < 200
    assert not folder.exists()


def test_the_largest_identity_that_is_made_can_be_read(folder: Path) -> None:
    capsule.Capsule.create(folder.with_name("empty"), run_id="r", capsule_id="c", task_family="x")
    rest = (folder.with_name("empty") / "capsule.json").stat().st_size - 1
    family = "x" * (metadata.MAX_BYTES - rest)
    capsule.Capsule.create(folder, run_id="r", capsule_id="c", task_family=family)
    assert capsule.verify(folder).ok


def test_a_character_that_was_given_in_halves_is_one_in_memory_as_on_disk(folder: Path) -> None:
    made = capsule.Capsule.create(folder, task_family="\ud83d\ude00", harness_version="\ud83d\ude00/1")
    assert (made.metadata.task_family, made.metadata.harness_version) == ("\U0001f600", "\U0001f600/1")
    assert made.append("plan", "step")["task_family"] == "\U0001f600"
    capsule.append_entry(folder, "plan", "step")
    assert made.append("plan", "step")["seq"] == 2
    assert capsule.verify(folder).ok


@pytest.mark.parametrize("name", ["capsule.json", "journal.ndjson"])
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_half_a_capsule_is_never_touched(folder: Path, name: str, kind: str) -> None:
    folder.mkdir()
    if kind == "file":
        (folder / name).write_text("orphan")
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).symlink_to("nowhere")
    assert _code(lambda: capsule.Capsule.create(folder)).code == "capsule.exists"
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize("appears", ["journal.ndjson", "capsule.json"])
def test_a_capsule_that_appears_between_two_looks_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, appears: str
) -> None:
    real = os.open

    def race(path: Any, flags: int, *rest: Any) -> int:
        if str(path).endswith("journal.ndjson"):
            (folder / appears).write_text("theirs")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", race)
    assert _code(lambda: capsule.Capsule.create(folder)).code == "capsule.exists"
    assert (folder / appears).read_text() == "theirs"


@pytest.mark.parametrize("call", ["fsync", "replace", "write"])
def test_a_creation_that_fails_leaves_no_half_a_capsule(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, call, _fail)
        error = _code(lambda: capsule.Capsule.create(folder))
    assert (error.code, error.details) == ("capsule.create_failed", {"errno": "ENOSPC"})
    assert [path.name for path in folder.iterdir() if path.name != "capsule.json"] == []


def test_a_creation_whose_last_step_fails_leaves_a_whole_capsule(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("evals_cli.core.files.fsync_folder", _fail)
        assert _code(lambda: capsule.Capsule.create(folder)).code == "capsule.create_failed"
    assert capsule.verify(folder).ok


def test_a_creation_whose_clean_up_fails_still_reports_the_first_failure(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _fail)
        patch.setattr(os, "unlink", _fail)
        assert _code(lambda: capsule.Capsule.create(folder)).code == "capsule.create_failed"


def test_a_folder_that_cannot_be_made_is_a_failed_creation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    error = _code(lambda: capsule.Capsule.create(tmp_path / "file" / "capsule"))
    assert error.code == "capsule.create_failed"


def test_a_journal_that_cannot_be_made_is_a_failed_creation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    monkeypatch.setattr(os, "open", _fail)
    assert _code(lambda: capsule.Capsule.create(folder)).code == "capsule.create_failed"


def test_the_clock_may_give_a_datetime_or_a_text(folder: Path) -> None:
    made = capsule.Capsule.create(folder, clock=lambda: datetime(2026, 8, 20, tzinfo=timezone.utc))
    assert made.metadata.created_at == "2026-08-20T00:00:00.000Z"
    entry = capsule.append_entry(folder, "plan", "step", clock=lambda: "2026-08-20T02:00:00+02:00")
    assert entry["ts"] == "2026-08-20T00:00:00.000Z"


def test_the_clock_is_read_while_the_lock_is_held(folder: Path, made: capsule.Capsule) -> None:
    def clock() -> str:
        assert (folder / ".append.lock").exists()
        return "2026-08-20T00:00:00.000Z"

    capsule.Capsule.open(folder, clock=clock).append("plan", "step")


def test_a_payload_of_none_is_an_empty_one(made: capsule.Capsule) -> None:
    assert made.append("plan", "step", None)["payload"] == made.append("plan", "step")["payload"] == {}


def test_the_entry_that_is_returned_does_not_share_the_callers_payload(made: capsule.Capsule) -> None:
    given = {"note": "a"}
    assert made.append("plan", "step", given)["payload"] is not given


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("other", "BAD", {"note": 1}), "capsule.bad_lineage"),
        ((None, "step", {}), "capsule.bad_lineage"),
        (("plan", "BAD", {"note": 1, "x": 1, "reason": "token = 12345678"}), "capsule.payload_invalid"),
        (("plan", "BAD", []), "capsule.payload_invalid"),
        (("plan", "BAD", {"note": "token = 12345678", "x": 1}), "capsule.secret_canary"),
        (("plan", "BAD", {"x": 1}), "capsule.payload_denied"),
        (("plan", "BAD", {}), "capsule.invalid_entry"),
        (("plan", None, {}), "capsule.invalid_entry"),
    ],
)
def test_checks_come_in_the_stated_order_and_nothing_is_written(
    folder: Path, made: capsule.Capsule, arguments: tuple, code: str
) -> None:
    made.append("plan", "step")
    before = _journal(folder)
    error = _code(lambda: made.append(*arguments))
    assert error.code == code
    assert "12345678" not in str(error)
    assert str(error).isprintable()
    assert _journal(folder) == before
    assert not (folder / ".append.lock").exists()


def test_a_refusal_tells_what_a_program_needs(made: capsule.Capsule) -> None:
    secret = _code(lambda: made.append("plan", "step", {"note": "AKIA" + "A" * 16}))
    assert secret.details == {"findings": [{"canary": "aws_access_key", "path": "$.note"}]}
    denied = _code(lambda: made.append("plan", "step", {"b\x1b[2J": 1, "a": 2}))
    assert denied.details == {"dropped": ["a", "b\x1b[2J"]}
    assert "\x1b" not in denied.message


def test_unknown_keys_are_dropped_where_the_caller_is_not_strict(made: capsule.Capsule) -> None:
    entry = made.append("plan", "step", {"x": 1, "note": "a"}, strict=False)
    assert entry["payload"] == {"note": "a"}
    assert made.append("plan", "step", {"note": "a", "hits": 1}, strict=False, allowlist=["hits"])[
        "payload"
    ] == {"hits": 1}


def test_an_entry_that_readers_would_refuse_for_its_size_is_not_written(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MAX_LINE_BYTES", 1000)
    assert _code(lambda: made.append("plan", "step", {"note": "x" * 1000})).code == "capsule.entry_too_large"
    assert _journal(folder) == b""


def test_the_longest_entry_that_is_written_can_be_read(folder: Path, made: capsule.Capsule) -> None:
    empty = (
        len(
            recording.Recorder(made.metadata, None, 0, "0" * 64)
            .seal("plan", "step", {"note": ""}, "SE0", strict=True, allowlist=None)
            .line
        )
        - 1
    )
    made.append("plan", "step", {"note": "x" * (journal.MAX_LINE_BYTES - empty)})
    assert capsule.verify(folder).ok


def test_two_handles_take_turns_on_what_is_on_disk(folder: Path, made: capsule.Capsule) -> None:
    other = capsule.Capsule.open(folder)
    for _ in range(3):
        made.append("plan", "step")
        other.append("attempt", "step")
    assert [entry["seq"] for entry in made.entries()] == [0, 1, 2, 3, 4, 5]


def test_a_handle_never_trusts_its_memory_over_the_disk(folder: Path, made: capsule.Capsule) -> None:
    made.append("plan", "step", {"hits": 1})
    good = _journal(folder)
    (folder / "journal.ndjson").write_bytes(good.replace(b'"hits":1', b'"hits":2'))
    assert _code(lambda: made.append("plan", "step")).code == "capsule.invalid_entry"
    (folder / "journal.ndjson").write_bytes(b"")
    assert made.append("plan", "step")["seq"] == 0
    (folder / "journal.ndjson").write_bytes(good)
    assert made.append("plan", "step")["seq"] == 1


def test_a_handle_reads_changed_metadata_again(folder: Path, made: capsule.Capsule) -> None:
    made.append("plan", "step")
    raw = (folder / "capsule.json").read_bytes()
    (folder / "capsule.json").write_bytes(raw.replace(b'"run-1"', b'"run-2"'))
    assert _code(lambda: made.append("plan", "step")).code == "capsule.metadata_mismatch"
    (folder / "capsule.json").write_bytes(raw + b" ")
    assert made.append("plan", "step")["seq"] == 1


@pytest.mark.parametrize("way", ["append", "append_entry"])
def test_entries_without_an_identity_beside_them_take_no_more(
    folder: Path, made: capsule.Capsule, way: str
) -> None:
    made.append("plan", "step")
    (folder / "capsule.json").unlink()
    before = _journal(folder)
    append = made.append if way == "append" else lambda *args: capsule.append_entry(folder, *args)
    assert _code(lambda: append("plan", "step")).code == "capsule.metadata_invalid"
    assert _journal(folder) == before


@pytest.mark.parametrize("limit", [0, 700, 1 << 20])
def test_memory_by_bytes_and_by_digest_hold_the_same(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(prefix, "COMPARE_LIMIT", limit)
    for number in range(5):
        made.append("plan", "step", {"hits": number})
    good = _journal(folder)
    (folder / "journal.ndjson").write_bytes(good.replace(b'"hits":4', b'"hits":3'))
    assert _code(lambda: made.append("plan", "step")).code == "capsule.invalid_entry"
    (folder / "journal.ndjson").write_bytes(good)
    assert made.append("plan", "step")["seq"] == 5
    lines = good.splitlines(keepends=True)
    (folder / "journal.ndjson").write_bytes(b"".join(lines[:2]))
    assert made.append("plan", "step")["seq"] == 2
    assert capsule.verify(folder).entry_count == 3


def test_only_what_is_new_is_parsed_again(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        made.append("plan", "step")
    monkeypatch.setattr(journal, "EXACT_BYTES", 1 << 20)
    checked: list[int] = []
    real = journal.check_line
    monkeypatch.setattr(
        journal,
        "check_line",
        lambda line, index, parent: (checked.append(index), real(line, index, parent))[1],
    )
    made.append("plan", "step")
    capsule.append_entry(folder, "plan", "step")
    assert checked == [0, 1, 2, 3]
    checked.clear()
    made.append("plan", "step")
    assert checked == [4]


@pytest.mark.parametrize(
    ("data", "code"), [(b"\xff\n", "capsule.non_canonical"), (b"{}\n", "capsule.invalid_entry")]
)
def test_a_bad_journal_is_neither_opened_nor_appended_to(
    folder: Path, made: capsule.Capsule, data: bytes, code: str
) -> None:
    (folder / "journal.ndjson").write_bytes(data)
    assert _code(lambda: capsule.Capsule.open(folder)).code == code
    assert _code(lambda: made.append("plan", "step")).code == code
    assert _journal(folder) == data


def test_a_refused_entry_costs_no_memory_of_what_was_verified(
    made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.append("plan", "step")
    monkeypatch.setattr(journal, "check_line", _fail)
    assert _code(lambda: made.append("none", "step")).code == "capsule.bad_lineage"
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _fail)
        assert _code(lambda: made.append("plan", "step")).code == "capsule.write_failed"
    assert made.append("plan", "step")["seq"] == 1


def test_a_torn_tail_is_refused_and_kept(folder: Path, made: capsule.Capsule) -> None:
    made.append("plan", "step")
    with (folder / "journal.ndjson").open("ab") as out:
        out.write(b'{"half')
    before = _journal(folder)
    assert _code(lambda: made.append("plan", "step")).code == "capsule.truncated_tail"
    assert _journal(folder) == before


def test_short_writes_are_continued(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:7])))
    made.append("plan", "step")
    assert capsule.verify(folder).entry_count == 1


def _no_progress(descriptor: int, data: bytes) -> int:
    return 0


@pytest.mark.parametrize(
    ("call", "stub", "written"),
    [("write", _no_progress, 0), ("write", _fail, 0), ("fsync", _fail, 1)],
    ids=["no progress", "failed write", "failed fsync"],
)
def test_a_failed_write_is_ambiguous_and_never_repaired(
    made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch, call: str, stub: Callable[..., Any], written: int
) -> None:
    folder = Path(made.path)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, stub)
        assert _code(lambda: made.append("plan", "step")).code == "capsule.write_failed"
    assert not (folder / ".append.lock").exists()
    assert capsule.verify(folder).entry_count == written
    assert made.append("plan", "step")["seq"] == written


def test_a_failed_close_of_the_journal_is_ambiguous(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, synced = os.close, []
    real_fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: (synced.append(descriptor), real_fsync(descriptor))[1]
    )

    def close(descriptor: int) -> None:
        real(descriptor)
        if descriptor in synced:
            synced.clear()
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "close", close)
    assert _code(lambda: made.append("plan", "step")).code == "capsule.write_failed"
    assert capsule.verify(folder).entry_count == 1


def test_a_failed_close_after_a_refusal_does_not_hide_the_refusal(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.close

    def close(descriptor: int) -> None:
        is_journal = os.fstat(descriptor).st_size > 0
        real(descriptor)
        if is_journal:
            raise OSError(5, "Input/output error")

    made.append("plan", "step")
    monkeypatch.setattr(os, "close", close)
    assert _code(lambda: made.append("none", "step")).code == "capsule.bad_lineage"


def test_a_journal_without_write_permission_is_a_failed_write(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def deny(path: Any, flags: int, *rest: Any) -> int:
        if str(path).endswith("journal.ndjson") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", deny)
    error = _code(lambda: made.append("plan", "step"))
    assert (error.code, error.details) == ("capsule.write_failed", {"errno": "EACCES"})


def test_a_journal_that_vanished_is_missing_and_the_lock_is_released(
    folder: Path, made: capsule.Capsule
) -> None:
    (folder / "journal.ndjson").unlink()
    assert _code(lambda: made.append("plan", "step")).code == "capsule.missing_journal"
    assert _code(lambda: capsule.Capsule.open(folder)).code == "capsule.missing_journal"
    assert not (folder / ".append.lock").exists()


def test_an_interrupt_during_verification_closes_and_releases(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evals_cli.core.appending.verify_from", interrupt)
    with pytest.raises(KeyboardInterrupt):
        made.append("plan", "step")
    assert not (folder / ".append.lock").exists()


def test_a_symlinked_journal_is_never_written_through(folder: Path, made: capsule.Capsule) -> None:
    outside = folder.parent / "outside"
    (folder / "journal.ndjson").rename(outside)
    (folder / "journal.ndjson").symlink_to(outside)
    assert _code(lambda: made.append("plan", "step")).code == "capsule.unreadable_journal"
    assert outside.read_bytes() == b""


_BATCH = [
    {"lineage": "plan", "kind": "a"},
    {"lineage": "attempt", "kind": "b", "payload": None, "effect_class": "SE2"},
    MappingProxyType({"lineage": "strategy", "kind": "c", "payload": {"note": "x"}}),
]


def test_a_batch_is_one_chain_one_write_and_one_fsync(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.append("plan", "step")
    calls: list[str] = []
    for name in ("write", "fsync"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *args, name=name, real=real: (calls.append(name), real(*args))[1]
        )
    entries = made.append_many(iter(_BATCH))
    assert calls == ["write", "fsync"]
    assert [entry["seq"] for entry in entries] == [1, 2, 3]
    assert [entry["effect_class"] for entry in entries] == ["SE0", "SE2", "SE0"]
    assert list(made.entries())[1:] == entries
    assert made.append("plan", "step")["seq"] == 4


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"lineage": "plan", "kind": "BAD"}, "capsule.invalid_entry"),
        ({"kind": "a"}, "capsule.bad_lineage"),
        ({"lineage": "plan"}, "capsule.invalid_entry"),
        ({"lineage": "plan", "kind": "a", "payload": {"x": 1}}, "capsule.payload_denied"),
    ],
)
def test_a_refused_record_writes_nothing_of_its_batch(
    folder: Path, made: capsule.Capsule, record: dict, code: str
) -> None:
    error = _code(lambda: made.append_many([*_BATCH, record]))
    assert error.code == code
    assert error.details["record"] == 3
    assert "record 3" in error.message
    assert _journal(folder) == b""
    assert made.append("plan", "step")["seq"] == 0


@pytest.mark.parametrize(
    ("record", "mistake"), [(5, TypeError), ({"lineage": "plan", "note": "x"}, ValueError)]
)
def test_a_record_of_another_shape_is_the_callers_mistake(
    made: capsule.Capsule, record: Any, mistake: type[Exception]
) -> None:
    with pytest.raises(mistake, match="record 1"):
        made.append_many([_BATCH[0], record])


def test_a_batch_takes_an_allowlist_that_can_be_read_once(made: capsule.Capsule) -> None:
    records = [{"lineage": "plan", "kind": "a", "payload": {"note": "x", "hits": 1}}] * 2
    entries = made.append_many(records, strict=False, allowlist=iter(["hits"]))
    assert [entry["payload"] for entry in entries] == [{"hits": 1}, {"hits": 1}]
    with pytest.raises(TypeError):
        made.append_many([], allowlist="hits")


def test_an_empty_batch_verifies_and_writes_nothing(folder: Path, made: capsule.Capsule) -> None:
    assert made.append_many([]) == []
    (folder / "journal.ndjson").write_bytes(b"{")
    assert _code(lambda: made.append_many([])).code == "capsule.truncated_tail"


def test_a_reader_that_comes_late_to_a_closed_handle_is_not_served_from_memory(
    folder: Path, made: capsule.Capsule
) -> None:
    (folder / "journal.ndjson").unlink()
    assert _code(made.entries).code == "capsule.missing_journal"


def test_appending_by_path_is_what_a_handle_does(folder: Path, made: capsule.Capsule) -> None:
    entry = handle.append_entry(str(folder), "plan", "step", {"note": "x", "z": 1}, strict=False)
    assert list(made.entries()) == [entry]
