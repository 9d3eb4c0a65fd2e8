"""The streaming reader of journals: one pass, bounded memory, and the right fault whatever the chunks."""

from __future__ import annotations

import copy
import os
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import capsule, envelope, journal
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from pathlib import Path

_IDENTITY = ("capsule-envelope/v1", "run-1", "cap-1", "h/1", "slugify")


def _line(seq: int, parent_hash: str, **changes: Any) -> envelope.SealedText:
    entry = {
        "schema": "capsule-envelope/v1",
        "run_id": "run-1",
        "capsule_id": "cap-1",
        "seq": seq,
        "ts": "2026-08-20T00:00:00.000Z",
        "lineage": envelope.LINEAGES[seq % 5],
        "kind": "step",
        "effect_class": envelope.EFFECT_CLASSES[seq % 3],
        "harness_version": "h/1",
        "task_family": "slugify",
        "parent_hash": parent_hash,
        "payload": {"note": f"é😀 {seq}"},
        **changes,
    }
    return envelope.sealed_text(entry)


def _lines(count: int) -> list[envelope.SealedText]:
    lines: list[envelope.SealedText] = []
    for seq in range(count):
        lines.append(_line(seq, lines[-1].entry_hash if lines else envelope.GENESIS_HASH))
    return lines


def _journal(count: int) -> bytes:
    return b"".join(line.line + b"\n" for line in _lines(count))


def _scan(data: bytes, size: int = 1 << 17, **options: Any) -> tuple[journal.Scan, journal.Fault | None]:
    scan = journal.Scan(_IDENTITY, **options)
    for start in range(0, len(data), size):
        if not scan.feed(data[start : start + size]):
            break
    return scan, scan.finish()


def _outcome(fault: journal.Fault | None) -> tuple[object, ...]:
    return ("ok",) if fault is None else (fault.code, fault.failed_at, fault.entry_count)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000, 100_000])
def test_the_outcome_does_not_depend_on_where_reads_end(size: int) -> None:
    scan, fault = _scan(_journal(7), size)
    assert fault is None
    assert scan.chain.count == 7
    assert scan.chain.parent_hash == _lines(7)[-1].entry_hash
    assert scan.chain.by_lineage == {
        "plan": 2,
        "attempt": 2,
        "interaction": 1,
        "environment": 1,
        "strategy": 1,
    }
    assert scan.chain.by_effect_class == {"SE0": 3, "SE1": 2, "SE2": 2, "SE3": 0, "SE4": 0}


_BAD = b"{}\n"
_GOOD = _journal(3)
_FAULTS = {
    "bad line": (_GOOD + _BAD + _BAD, ("capsule.invalid_entry", 3, 3)),
    "bad line, then bad UTF-8": (_GOOD + _BAD + b"\xff\n", ("capsule.non_canonical", None, 0)),
    "bad line, then bad UTF-8 without LF": (_GOOD + _BAD + b"\xff", ("capsule.non_canonical", None, 0)),
    "bad line, then cut character": (_GOOD + _BAD + b"\xc3", ("capsule.non_canonical", None, 0)),
    "bad UTF-8 across the line end": (_GOOD + b"\xc3\n\xa9\n", ("capsule.non_canonical", None, 0)),
    "bad line, then torn line": (_GOOD + _BAD + b"{", ("capsule.truncated_tail", 4, 0)),
    "torn line": (_GOOD + b"{", ("capsule.truncated_tail", 3, 0)),
    "only a space": (b" ", ("capsule.truncated_tail", 0, 0)),
    "empty line": (b"\n" + _GOOD, ("capsule.corrupt_entry", 0, 0)),
    "brackets": (_GOOD + b"[" * 100_000 + b"\n", ("capsule.corrupt_entry", 3, 3)),
    "swapped": (_journal(3)[len(_journal(1)) :], ("capsule.reordered", 0, 0)),
    "unlinked": (_GOOD + _line(3, envelope.GENESIS_HASH).line + b"\n", ("capsule.broken_link", 3, 3)),
    "CR LF": (_GOOD.replace(b"\n", b"\r\n"), ("capsule.non_canonical", 0, 0)),
    "space": (_GOOD.replace(b'{"', b'{ "', 1), ("capsule.non_canonical", 0, 0)),
}


@pytest.mark.parametrize("size", [1, 50, 100_000])
@pytest.mark.parametrize(("data", "expected"), _FAULTS.values(), ids=_FAULTS.keys())
def test_the_first_fault_by_the_order_of_precedence(data: bytes, expected: tuple, size: int) -> None:
    assert _outcome(_scan(data, size)[1]) == expected


@pytest.mark.parametrize(("data", "expected"), _FAULTS.values(), ids=_FAULTS.keys())
def test_a_reason_is_one_printable_line_that_names_the_file(data: bytes, expected: tuple) -> None:
    fault = _scan(data)[1]
    assert fault is not None
    assert fault.reason.isprintable()
    assert "journal.ndjson" in fault.reason
    if expected[1] is not None:
        assert f"line {expected[1] + 1}" in fault.reason


def test_line_ends_that_a_checkout_converted_are_named_as_such() -> None:
    fault = _scan(_FAULTS["CR LF"][0])[1]
    assert fault is not None
    assert "CR LF" in fault.reason


@pytest.mark.parametrize("size", [1, 50, 100_000])
def test_a_line_beyond_the_limit_is_refused_by_index(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 600)
    long = b'"' + b"x" * 600 + b'"\n'
    assert _outcome(_scan(_GOOD + long, size)[1]) == ("capsule.entry_too_large", 3, 3)
    assert _outcome(_scan(_GOOD + long + _BAD, size)[1]) == ("capsule.entry_too_large", 3, 3)
    assert _outcome(_scan(_GOOD + _BAD + long, size)[1]) == ("capsule.invalid_entry", 3, 3)
    assert _outcome(_scan(_GOOD + long + b"{", size)[1]) == ("capsule.truncated_tail", 4, 0)
    assert _outcome(_scan(_GOOD + long[:-1], size)[1]) == ("capsule.truncated_tail", 3, 0)
    assert _outcome(_scan(_GOOD + long + b"\xff", size)[1]) == ("capsule.non_canonical", None, 0)
    assert _outcome(_scan(_GOOD + long[:-1] + b"\xff\n", size)[1]) == ("capsule.non_canonical", None, 0)


@pytest.mark.parametrize("size", [1, 50, 100_000])
def test_a_line_of_exactly_the_limit_is_read(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    line = _lines(1)[0].line
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", len(line))
    assert _scan(line + b"\n", size)[1] is None


def test_memory_does_not_grow_with_the_journal_or_with_one_endless_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 100_000)
    piece = b"x" * 50_000
    scan = journal.Scan(_IDENTITY)
    tracemalloc.start()
    for _ in range(400):
        scan.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600_000
    assert _outcome(scan.finish()) == ("capsule.truncated_tail", 0, 0)


def test_the_first_entry_of_another_identity_is_remembered_and_reading_goes_on() -> None:
    lines = _lines(2)
    lines.append(_line(2, lines[-1].entry_hash, run_id="run-2"))
    lines.append(_line(3, lines[-1].entry_hash, task_family="other"))
    scan, fault = _scan(b"".join(line.line + b"\n" for line in lines))
    assert fault is None
    assert scan.mismatch_at == 2
    assert scan.chain.count == 4


@pytest.mark.parametrize("count", range(6))
def test_a_checkpoint_gives_the_root_after_that_many_entries(count: int) -> None:
    roots = [envelope.GENESIS_HASH, *(line.entry_hash for line in _lines(4)), None]
    assert _scan(_journal(4), checkpoint=count)[0].checkpoint_root == roots[count]


def test_a_scan_goes_on_from_a_chain_that_was_verified_before() -> None:
    first, _ = _scan(_journal(2))
    whole = _journal(4)
    scan, fault = _scan(whole[len(_journal(2)) :], chain=copy.deepcopy(first.chain))
    assert fault is None
    assert (first.chain.count, scan.chain.count) == (2, 4)
    _, fault = _scan(whole[len(_journal(2)) : -1], chain=copy.deepcopy(first.chain))
    assert _outcome(fault) == ("capsule.truncated_tail", 3, 0)


class _EveryOther:
    """A certifier that proves the lines with even seq and leaves the others to the exact way."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def certify(self, block: bytes, start: int, chain: journal.Chain) -> int:
        self.asked.append(chain.count)
        if chain.count % 2:
            return start
        end = block.index(b"\n", start)
        entry = journal.check_line(block[start:end], chain.count, chain.parent_hash)
        chain.add(entry["lineage"], entry["effect_class"], entry["entry_hash"])
        return end + 1


@pytest.fixture(name="certifier")
def _certifier(monkeypatch: pytest.MonkeyPatch) -> _EveryOther:
    made = _EveryOther()
    monkeypatch.setattr(journal, "make_certifier", lambda identity: made)
    return made


@pytest.mark.parametrize("checkpoint", [1, 2, 3])
def test_a_certifier_and_the_exact_way_take_turns(certifier: _EveryOther, checkpoint: int) -> None:
    scan, fault = _scan(_journal(5), exact_bytes=0, checkpoint=checkpoint)
    assert fault is None
    assert scan.chain.count == 5
    assert scan.chain.parent_hash == _lines(5)[-1].entry_hash
    assert scan.checkpoint_root == _lines(checkpoint)[-1].entry_hash
    assert certifier.asked == [0, 2, 4]


def test_a_certifier_is_not_asked_about_blocks_that_may_hide_too_long_a_line(
    certifier: _EveryOther, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 600)
    assert _scan(_journal(5), exact_bytes=0)[1] is None
    assert certifier.asked == []


def test_a_certifier_is_asked_once_the_exact_way_had_its_share(certifier: _EveryOther) -> None:
    line = len(_lines(1)[0].line) + 1
    assert _scan(_journal(6), line, exact_bytes=line + 1)[1] is None
    assert certifier.asked[0] == 2
    certifier.asked.clear()
    assert _scan(_journal(6), exact_bytes=1 << 40)[1] is None
    assert certifier.asked == []


def test_without_a_valid_identity_every_line_goes_the_exact_way(certifier: _EveryOther) -> None:
    scan = journal.Scan(None, exact_bytes=0)
    scan.feed(_journal(3))
    assert scan.finish() is None
    assert scan.chain.count == 3
    assert certifier.asked == []


def test_a_long_journal_is_certified_to_the_same_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _journal(600)
    exact, _ = _scan(data, exact_bytes=1 << 40)
    monkeypatch.setattr(journal, "check_line", None)
    fast, fault = _scan(data, exact_bytes=0)
    assert fault is None
    assert fast.chain.parent_hash == exact.chain.parent_hash
    assert fast.chain.by_lineage == exact.chain.by_lineage
    assert fast.chain.by_effect_class == exact.chain.by_effect_class


def _capsule(folder: Path, count: int) -> capsule.Capsule:
    made = capsule.Capsule.create(folder)
    made.append_many([{"lineage": "plan", "kind": "step", "payload": {"hits": i}} for i in range(count)])
    return made


def test_entries_come_oldest_first_and_without_those_appended_later(tmp_path: Path) -> None:
    made = _capsule(tmp_path / "c", 3)
    reading = made.entries()
    made.append("plan", "later")
    assert [entry["payload"]["hits"] for entry in reading] == [0, 1, 2]


def test_entries_of_an_empty_capsule_are_none(tmp_path: Path) -> None:
    assert list(_capsule(tmp_path / "c", 0).entries()) == []


def test_entries_of_a_bad_journal_are_refused_before_the_first_is_given(tmp_path: Path) -> None:
    made = _capsule(tmp_path / "c", 2)
    with (tmp_path / "c" / "journal.ndjson").open("ab") as out:
        out.write(b"{}\n")
    with pytest.raises(EvalsError) as caught:
        made.entries()
    assert caught.value.code == "capsule.invalid_entry"
    assert caught.value.details == {"failed_at": 2, "entry_count": 2}


def test_entries_of_a_journal_that_changes_meanwhile_are_refused(tmp_path: Path) -> None:
    made = _capsule(tmp_path / "c", 2)
    path = tmp_path / "c" / "journal.ndjson"
    data = path.read_bytes()
    shorter, other = made.entries(), made.entries()
    path.write_bytes(data[: data.index(b"\n") + 1])
    with pytest.raises(EvalsError, match=r"capsule\.changed"):
        list(shorter)
    path.write_bytes(data.replace(b'"hits":1', b'"hits":7'))
    with pytest.raises(EvalsError, match=r"capsule\.invalid_entry"):
        list(other)


def test_entries_that_cannot_be_read_are_a_file_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = _capsule(tmp_path / "c", 2).entries()

    def fail(descriptor: int, size: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(EvalsError, match=r"file\.unreadable"):
        list(reading)
