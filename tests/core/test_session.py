"""Writing sessions: one lock, one verification, and no append after a doubt."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import capsule, journal
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from pathlib import Path


def _code(call: Callable[[], object]) -> str:
    with pytest.raises(EvalsError) as caught:
        call()
    return caught.value.code


def _fail(*_: object, **__: object) -> Any:
    raise OSError(28, "No space left on device")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "capsule"


@pytest.fixture(name="made")
def _made(folder: Path) -> capsule.Capsule:
    made = capsule.Capsule.create(folder)
    made.append("plan", "before")
    return made


def test_entries_of_a_session_are_on_disk_when_append_returns(folder: Path, made: capsule.Capsule) -> None:
    with made.writer() as session:
        for seq in range(1, 4):
            entry = session.append("attempt", "step", {"hits": seq}, effect_class="SE1")
            assert entry["seq"] == seq
            assert capsule.verify(folder).root_hash == entry["entry_hash"]
    assert not (folder / ".append.lock").exists()
    assert made.append("plan", "after")["seq"] == 4


def test_others_are_busy_while_a_session_is_open(folder: Path, made: capsule.Capsule) -> None:
    with made.writer() as session:
        session.append("plan", "step")
        assert _code(lambda: capsule.append_entry(folder, "plan", "step")) == "capsule.busy"
        assert _code(lambda: made.append("plan", "step")) == "capsule.busy"
        assert _code(made.writer().__enter__) == "capsule.busy"
    assert capsule.verify(folder).entry_count == 2


def test_a_session_verifies_before_its_first_append_and_releases_where_that_fails(
    folder: Path, made: capsule.Capsule
) -> None:
    (folder / "journal.ndjson").write_bytes(b"{")
    assert _code(made.writer().__enter__) == "capsule.truncated_tail"
    assert not (folder / ".append.lock").exists()


def test_a_session_parses_nothing_per_append(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made.writer() as session:
        monkeypatch.setattr(journal, "check_line", _fail)
        monkeypatch.setattr(os, "read", _fail)
        session.append("plan", "step")
        session.append("plan", "step")
    monkeypatch.undo()
    assert capsule.verify(folder).entry_count == 3


def test_a_refused_entry_leaves_the_session_usable(folder: Path, made: capsule.Capsule) -> None:
    with made.writer() as session:
        assert _code(lambda: session.append("none", "step")) == "capsule.bad_lineage"
        assert _code(lambda: session.append("plan", "step", {"x": 1})) == "capsule.payload_denied"
        session.append("plan", "step", {"x": 1}, strict=False, allowlist=[])
    assert capsule.verify(folder).entry_count == 2


@pytest.mark.parametrize(("call", "count"), [("write", 1), ("fsync", 2), ("lstat", 1)])
def test_after_a_write_in_doubt_a_session_takes_no_more(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch, call: str, count: int
) -> None:
    with made.writer() as session:
        with monkeypatch.context() as patch:
            patch.setattr(os, call, _fail)
            assert _code(lambda: session.append("plan", "step")) == "capsule.write_failed"
        assert _code(lambda: session.append("plan", "step")) == "capsule.write_failed"
    assert capsule.verify(folder).entry_count == count
    assert made.append("plan", "step")["seq"] == count


def test_bytes_that_somebody_else_wrote_meanwhile_stop_the_session(
    folder: Path, made: capsule.Capsule
) -> None:
    with made.writer() as session:
        (folder / ".append.lock").rename(folder / "stolen")
        capsule.append_entry(folder, "plan", "theirs")
        (folder / "stolen").rename(folder / ".append.lock")
        assert _code(lambda: session.append("plan", "ours")) == "capsule.lock_lost"
    assert capsule.verify(folder).entry_count == 2


def _copied(path: Path) -> None:
    """What editors and checkouts do: the same bytes in another file."""
    path.with_name("copy").write_bytes(path.read_bytes())
    path.with_name("copy").replace(path)


def _linked(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def _folder_moved(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to("nowhere")


_REPLACEMENTS: dict[str, Callable[[Path], None]] = {
    "replaced by a copy": _copied,
    "removed": lambda path: path.unlink(),
    "replaced by a link to it": _linked,
    "folder in its place": lambda path: (path.unlink(), path.mkdir())[1],
    "cut short": lambda path: os.truncate(path, 0),
}


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("replace", _REPLACEMENTS.values(), ids=_REPLACEMENTS.keys())
def test_a_session_does_not_acknowledge_what_the_journal_in_place_would_not_hold(
    folder: Path, made: capsule.Capsule, replace: Callable[[Path], None]
) -> None:
    with made.writer() as session:
        session.append("plan", "ours")
        replace(folder / "journal.ndjson")
        before = _files(folder)
        assert _code(lambda: session.append("plan", "ours")) == "capsule.lock_lost"
        assert _code(lambda: session.append("plan", "ours")) == "capsule.write_failed"
        assert _files(folder) == before


@pytest.mark.parametrize("replace", _REPLACEMENTS.values(), ids=_REPLACEMENTS.keys())
def test_an_entry_whose_file_was_replaced_during_the_write_is_in_doubt(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch, replace: Callable[[Path], None]
) -> None:
    real = os.fsync

    def sync(descriptor: int) -> None:
        real(descriptor)
        replace(folder / "journal.ndjson")

    with made.writer() as session:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", sync)
            assert _code(lambda: session.append("plan", "ours")) == "capsule.lock_lost"
        assert _code(lambda: session.append("plan", "ours")) == "capsule.write_failed"


@pytest.mark.parametrize("way", ["append", "append_many", "append_entry"])
@pytest.mark.parametrize("replace", _REPLACEMENTS.values(), ids=_REPLACEMENTS.keys())
def test_no_append_writes_to_a_file_that_is_no_longer_the_journal(
    folder: Path, made: capsule.Capsule, way: str, replace: Callable[[Path], None]
) -> None:
    def clock() -> str:
        replace(folder / "journal.ndjson")
        before.update(_files(folder))
        return "2026-08-20T00:00:00.000Z"

    before: dict[str, bytes] = {}
    handle = capsule.Capsule.open(folder, clock=clock)
    ways: dict[str, Callable[[], object]] = {
        "append": lambda: handle.append("plan", "ours"),
        "append_many": lambda: handle.append_many([{"lineage": "plan", "kind": "ours"}]),
        "append_entry": lambda: capsule.append_entry(folder, "plan", "ours", clock=clock),
    }
    assert _code(ways[way]) == "capsule.lock_lost"
    before.pop(".append.lock")
    assert _files(folder) == before


def test_a_capsule_whose_folder_was_moved_takes_nothing_more(folder: Path, made: capsule.Capsule) -> None:
    session = made.writer().__enter__()
    _folder_moved(folder / "journal.ndjson")
    assert _code(lambda: session.append("plan", "ours")) == "capsule.lock_lost"
    assert _code(lambda: session.__exit__(None, None, None)) == "capsule.lock_lost"


def test_a_lock_lost_during_a_session_is_reported_on_leaving(folder: Path, made: capsule.Capsule) -> None:
    def lose() -> None:
        with made.writer() as session:
            session.append("plan", "step")
            (folder / ".append.lock").unlink()

    assert _code(lose) == "capsule.lock_lost"
    assert capsule.verify(folder).entry_count == 2


def test_a_journal_that_fails_to_close_is_ambiguous_and_the_lock_is_released(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.close

    def close(descriptor: int) -> None:
        is_journal = os.fstat(descriptor).st_size > 0
        real(descriptor)
        if is_journal:
            raise OSError(5, "Input/output error")

    def write() -> None:
        with made.writer() as session:
            session.append("plan", "step")
            monkeypatch.setattr(os, "close", close)

    assert _code(write) == "capsule.write_failed"
    monkeypatch.undo()
    assert not (folder / ".append.lock").exists()


def test_a_clock_that_appends_to_its_own_session_is_refused_and_breaks_nothing(
    folder: Path, made: capsule.Capsule
) -> None:
    refusals: list[str] = []

    def clock() -> str:
        refusals.append(_code(lambda: session.append("plan", "inner")))
        return "2026-08-20T00:00:00.000Z"

    with capsule.Capsule.open(folder, clock=clock).writer() as session:
        seqs = [session.append("plan", "outer")["seq"] for _ in range(2)]
    assert refusals == ["capsule.session_busy"] * 2
    assert seqs == [1, 2]
    assert capsule.verify(folder).entry_count == 3


def test_a_second_thread_is_refused_while_an_append_is_under_way(folder: Path, made: capsule.Capsule) -> None:
    started, go = threading.Event(), threading.Event()

    def clock() -> str:
        started.set()
        go.wait()
        return "2026-08-20T00:00:00.000Z"

    with capsule.Capsule.open(folder, clock=clock).writer() as session:
        other = threading.Thread(target=session.append, args=("plan", "theirs"))
        other.start()
        started.wait()
        code = _code(lambda: session.append("plan", "ours"))
        go.set()
        other.join()
        assert code == "capsule.session_busy"
        assert session.append("plan", "ours")["seq"] == 2
    assert capsule.verify(folder).entry_count == 3


def test_many_threads_that_try_until_they_succeed_leave_one_chain(
    folder: Path, made: capsule.Capsule
) -> None:
    acknowledged: list[int] = []

    def work() -> None:
        done = 0
        while done < 10:
            try:
                acknowledged.append(session.append("attempt", "step")["seq"])
            except EvalsError as error:
                assert error.code == "capsule.session_busy"
            else:
                done += 1

    with made.writer() as session:
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sorted(acknowledged) == list(range(1, 41))
    assert capsule.verify(folder).entry_count == 41


def test_leaving_lets_the_append_of_another_thread_end(folder: Path, made: capsule.Capsule) -> None:
    acknowledged: list[int] = []

    def clock() -> str:
        leaving.start()
        # A session that does not wait has left by then, and the append fails.
        leaving.join(0.05)
        return "2026-08-20T00:00:00.000Z"

    session = capsule.Capsule.open(folder, clock=clock).writer().__enter__()
    leaving = threading.Thread(target=session.__exit__, args=(None, None, None))
    acknowledged.append(session.append("plan", "last")["seq"])
    leaving.join()
    assert acknowledged == [1]
    assert capsule.verify(folder).entry_count == 2
    assert not (folder / ".append.lock").exists()


def test_leaving_from_within_an_append_leaves_nothing_of_it(folder: Path, made: capsule.Capsule) -> None:
    def clock() -> str:
        session.__exit__(None, None, None)
        return "2026-08-20T00:00:00.000Z"

    session = capsule.Capsule.open(folder, clock=clock).writer().__enter__()
    assert _code(lambda: session.append("plan", "step")) == "capsule.write_failed"
    assert capsule.verify(folder).entry_count == 1
    assert not (folder / ".append.lock").exists()


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_an_interrupt_after_an_entry_is_sealed_never_lets_the_chain_run_ahead_of_the_disk(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with made.writer() as session:
        with monkeypatch.context() as patch:
            patch.setattr(os, call, interrupt)
            with pytest.raises(KeyboardInterrupt):
                session.append("plan", "step")
        assert _code(lambda: session.append("plan", "step")) == "capsule.write_failed"
    assert made.append("plan", "step")["seq"] == (1 if call == "write" else 2)
    assert capsule.verify(folder).ok


def test_an_interrupt_while_an_entry_is_sealed_leaves_the_session_usable(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with made.writer() as session:
        with monkeypatch.context() as patch:
            patch.setattr("evals_cli.core.recording.Sealed", interrupt)
            with pytest.raises(KeyboardInterrupt):
                session.append("plan", "step")
        assert session.append("plan", "step")["seq"] == 1
    assert capsule.verify(folder).entry_count == 2


def test_a_session_that_is_entered_again_starts_afresh(
    folder: Path, made: capsule.Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = made.writer()
    with session, monkeypatch.context() as patch:
        patch.setattr(os, "write", _fail)
        assert _code(lambda: session.append("plan", "step")) == "capsule.write_failed"
    with session:
        assert session.append("plan", "step")["seq"] == 1


def test_leaving_twice_is_the_callers_mistake(made: capsule.Capsule) -> None:
    session = made.writer()
    with pytest.raises(ValueError, match="left once"):
        session.__exit__(None, None, None)
    session.__enter__()
    session.__exit__(None, None, None)
    with pytest.raises(ValueError, match="left once"):
        session.__exit__(None, None, None)


def test_appending_outside_the_block_is_the_callers_mistake(made: capsule.Capsule) -> None:
    session = made.writer()
    with pytest.raises(ValueError, match="inside"):
        session.append("plan", "step")
    with session:
        pass
    with pytest.raises(ValueError, match="inside"):
        session.append("plan", "step")
