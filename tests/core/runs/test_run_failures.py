"""Whatever stops a run, the latest pointer is the old one or the new one, whole and true."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.core import latest as latest_module
from evals_cli.core import run_once as run_once_module
from evals_cli.core.canonical import sha256_hex
from evals_cli.core.errors import RequirementError
from evals_cli.schemas.validator import problems

if TYPE_CHECKING:
    from evals_cli.core.contained_writing import Folder

    from .conftest import Consumer

CALLS = ("open", "write", "fsync", "close", "replace", "mkdir", "read", "fstat")


class _Crash(BaseException):
    """The machine stops here: nothing after this call happens."""


class _Faults:
    """Replaces one function of `os`: the call number `at` does `what` instead."""

    def __init__(self, name: str, at: int, what: Callable[[], None], *, lasting: bool) -> None:
        self.real = getattr(os, name)
        self.at, self.what, self.lasting = at, what, lasting
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls == self.at or (self.lasting and self.calls > self.at):
            self.what()
        return self.real(*args, **kwargs)


def _no_space() -> None:
    raise OSError(28, "No space left on device")


def _crash() -> None:
    raise _Crash


def _assert_whole(consumer: Consumer, before: bytes) -> None:
    """latest.json is what it was, or points at a finished bundle whose digests hold."""
    raw = (consumer.root / ".harness/evals/runs/latest.json").read_bytes()
    if raw == before:
        return
    latest = json.loads(raw)
    assert problems("latest-run", latest) == []
    for entry in consumer.read(latest["manifest_path"])["artifacts"]:
        assert entry["sha256"] == sha256_hex((consumer.root / entry["path"]).read_bytes())


def _faulty_run(consumer: Consumer, monkeypatch: pytest.MonkeyPatch, name: str, faults: _Faults) -> str:
    """Run with `faults` in place of `os.NAME`; how the run ended."""
    with monkeypatch.context() as patch:
        patch.setattr(os, name, faults)
        try:
            consumer.run()
        except _Crash:
            return "crash"
        except RequirementError as error:
            return error.requirement
    return "finished"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("what", [_no_space, _crash], ids=["error", "crash"])
def test_a_fault_at_any_call_leaves_latest_whole(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch, name: str, what: Callable[[], None]
) -> None:
    consumer.run()
    before = (consumer.root / ".harness/evals/runs/latest.json").read_bytes()
    ends = set()
    for at in range(1, 200):
        faults = _Faults(name, at, what, lasting=what is _crash)
        ends.add(_faulty_run(consumer, monkeypatch, name, faults))
        _assert_whole(consumer, before)
        if faults.calls < at:
            break
    else:
        pytest.fail(f"os.{name} is called too often for this test")
    assert "finished" in ends
    assert ends <= {
        "finished",
        "crash",
        "run directory",
        "artifact schema validation",
        "case read",
        "case path",
        "suite validation",
    }


def _failed(consumer: Consumer) -> tuple[RequirementError, dict[str, Any]]:
    with pytest.raises(RequirementError) as caught:
        consumer.run()
    (folder,) = consumer.run_folders()
    failure = json.loads((folder / "failure.json").read_text(encoding="utf-8"))
    assert problems("run-failure", failure) == []
    assert not (consumer.root / ".harness/evals/runs/latest.json").exists()
    return caught.value, failure


def test_a_failure_after_the_start_is_recorded_in_the_runs_folder(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _Faults("replace", 3, _no_space, lasting=False))
        error, failure = _failed(consumer)
    run_id = consumer.run_folders()[0].name
    assert error.requirement == "artifact schema validation"
    assert error.problems == [
        f".harness/evals/runs/{run_id}/scorer-results.json: cannot be written (No space left on device)"
    ]
    assert failure == {
        "schema_version": 1,
        "run_id": run_id,
        "case_id": "closeout",
        "status": "failed",
        "failure_class": "post_start",
        "errors": error.problems,
        "recovery": "remove what stopped the run, then evals run .evals/suite.json --json",
        "partial_artifacts": [
            f".harness/evals/runs/{run_id}/command-log.json",
            f".harness/evals/runs/{run_id}/baseline-result.json",
        ],
    }


def test_a_bundle_that_breaks_a_schema_is_never_written(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_once_module, "bundle_problems", lambda *_: ["result.json: $.status: odd"])
    error, failure = _failed(consumer)
    assert error.problems == ["result.json: $.status: odd"]
    assert failure["partial_artifacts"] == []


@pytest.mark.parametrize("name", ["result.json", "latest-candidate.json"])
def test_a_bundle_that_changes_before_it_is_published_is_refused(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = run_once_module.write_artifacts

    def meddled(folder: Folder, files: dict[str, bytes]) -> None:
        real(
            folder,
            {**files, name: files[name].replace(b"passed", b"failed").replace(b"closeout", b"closeouT")},
        )

    monkeypatch.setattr(run_once_module, "write_artifacts", meddled)
    error, _ = _failed(consumer)
    assert error.problems[0].endswith(f"{name}: changed while the run was going on")


def test_a_candidate_that_breaks_its_schema_is_not_published(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = latest_module.pointers
    monkeypatch.setattr(
        latest_module, "pointers", lambda prefix, run_id: {**real(prefix, run_id), "report_path": ""}
    )
    error, _ = _failed(consumer)
    assert error.problems == ["latest-candidate.json: $.report_path: 0 characters; expected at least 1"]


@pytest.mark.parametrize("moment", ["open", "replace"])
def test_a_run_folder_that_is_swapped_for_a_link_gets_nothing_written_through_it(
    consumer: Consumer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "result.json").write_text("mine", encoding="utf-8")
    runs = consumer.root / ".harness/evals/runs"
    real = getattr(os, moment)

    def swapping(*args: Any, **kwargs: Any) -> Any:
        done = real(*args, **kwargs)
        folders = consumer.run_folders()
        if len(folders) == 1 and (moment == "replace" or str(args[0]).endswith(".tmp")):
            (run,) = folders
            run.rename(runs / "moved")
            run.symlink_to(outside)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(os, moment, swapping)
        with pytest.raises(RequirementError) as caught:
            consumer.run()
    assert caught.value.requirement == "artifact schema validation"
    assert caught.value.problems[0].endswith(": moved while the run was going on")
    assert [each.name for each in outside.iterdir()] == ["result.json"]
    assert (outside / "result.json").read_text(encoding="utf-8") == "mine"
    assert not (runs / "latest.json").exists()
    assert (runs / "moved/failure.json").is_file()


def test_a_latest_that_is_a_folder_stops_the_run_without_naming_the_machine(consumer: Consumer) -> None:
    (consumer.root / ".harness/evals/runs/latest.json/kept").mkdir(parents=True)
    with pytest.raises(RequirementError) as caught:
        consumer.run()
    assert caught.value.problems == [
        ".harness/evals/runs/latest.json: not a regular file, so it is not replaced"
    ]
    (folder,) = (each for each in consumer.run_folders() if each.name != "latest.json")
    assert str(consumer.root) not in (folder / "failure.json").read_text(encoding="utf-8")
    assert (consumer.root / ".harness/evals/runs/latest.json/kept").is_dir()


@pytest.mark.parametrize("what", [_no_space, _crash], ids=["error", "interrupt"])
def test_a_failure_after_the_pointer_was_set_leaves_the_bundle_as_it_passes_the_check(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch, what: Callable[[], None]
) -> None:
    counted = _Faults("fsync", 10_000, what, lasting=False)
    _faulty_run(consumer, monkeypatch, "fsync", counted)
    last = _Faults("fsync", counted.calls - 3, what, lasting=False)  # the first run made three folders
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", last)
        with pytest.raises((RequirementError, _Crash)) as caught:
            consumer.run()
    folder = consumer.run_folders()[-1]
    assert consumer.latest()["run_id"] == folder.name
    assert not (folder / "failure.json").exists()
    if isinstance(caught.value, RequirementError):
        assert "the bundle is whole and the latest" in str(caught.value.recovery)


def test_an_interrupt_is_recorded_and_passed_on(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_once_module, "write_artifacts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        consumer.run()
    (folder,) = consumer.run_folders()
    failure = json.loads((folder / "failure.json").read_text(encoding="utf-8"))
    assert failure["errors"] == ["the run was stopped by KeyboardInterrupt"]


def test_a_failure_that_cannot_be_recorded_is_still_told(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _Faults("replace", 1, _no_space, lasting=True))
        with pytest.raises(RequirementError) as caught:
            consumer.run()
    assert caught.value.requirement == "artifact schema validation"
    (folder,) = consumer.run_folders()
    assert list(folder.iterdir()) == []
