"""A report counts what verified capsules declare, and one bad input refuses it with its place only."""

from __future__ import annotations

import json
import os
import re
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

from evals_cli.core import retrospective
from evals_cli.core.canonical import canonical_bytes, canonical_json, hash_value
from evals_cli.core.capsule import project
from evals_cli.core.envelope import GENESIS_HASH, compute_entry_hash
from evals_cli.core.errors import EvalsError
from evals_cli.core.retrospective import group_capsules

WHEN = "2026-08-20T00:00:00.000Z"


@pytest.fixture
def make(tmp_path):
    def build(name, count=2, **changes):
        """A capsule of `count` entries, written without the code under test."""
        folder = tmp_path / name
        folder.mkdir()
        own = {"schema": "capsule-envelope/v1", "run_id": "run-1", "capsule_id": name.replace("/", "-")}
        own.update(harness_version="h/1", task_family="slugify")
        own.update(changes)
        (folder / "capsule.json").write_bytes(canonical_bytes({**own, "created_at": WHEN}))
        lines, parent = [], GENESIS_HASH
        for index in range(count):
            entry = {**own, "seq": index, "ts": WHEN, "kind": "step", "payload": {}, "parent_hash": parent}
            entry.update(lineage=("plan", "strategy")[index % 2], effect_class=("SE0", "SE4")[index % 2])
            parent = entry["entry_hash"] = compute_entry_hash(entry)
            lines.append(canonical_bytes(entry) + b"\n")
        (folder / "journal.ndjson").write_bytes(b"".join(lines))
        return os.fspath(folder)

    return build


def refused(paths):
    with pytest.raises(EvalsError) as caught:
        group_capsules(paths)
    assert "\n" not in caught.value.message
    return caught.value


def place(paths):
    error = refused(paths)
    return error.code, error.details["input_index"]


def test_the_report_has_its_fields_in_order_and_its_own_hash(make):
    report = group_capsules([make("a")])
    assert list(report) == [
        "schema",
        "report_only",
        "task_family",
        "input_count",
        "capsule_count",
        "duplicate_count",
        "groups",
        "report_hash",
    ]
    assert report["report_only"] is True
    report_hash = report.pop("report_hash")
    assert report_hash == hash_value(report)


def test_a_group_sums_its_capsules_and_names_its_sources_by_digest(make):
    first, second = make("a", 3), make("b", 0)
    (group,) = group_capsules([first, second])["groups"]
    assert (group["harness_version"], group["capsule_count"], group["entry_count"]) == ("h/1", 2, 3)
    assert group["by_lineage"] == {"plan": 2, "attempt": 0, "interaction": 0, "environment": 0, "strategy": 1}
    assert group["by_effect_class"] == {"SE0": 2, "SE1": 0, "SE2": 0, "SE3": 0, "SE4": 1}
    projection = project(first)
    assert group["sources"][0] == {
        "identity_hash": hash_value(["run-1", "a"]),
        "entry_count": 3,
        "root_hash": projection["root_hash"],
        "journal_sha256": projection["journal_sha256"],
        "projection_hash": projection["projection_hash"],
    }


def test_groups_and_sources_are_sorted_and_the_order_of_inputs_changes_nothing(make):
    versions = ["\U0001f600", "\ufb03", "a", "10", "9"]
    paths = [make(f"v{at}", harness_version=version) for at, version in enumerate(versions)]
    paths += [make("z", run_id="b"), make("y", run_id="b"), make("x", run_id="c")]
    report = group_capsules(paths)
    assert [group["harness_version"] for group in report["groups"]] == [
        "10", "9", "a", "h/1", "\U0001f600", "\ufb03",
    ]  # fmt: skip
    sources = [source["identity_hash"] for source in report["groups"][3]["sources"]]
    assert sources == [hash_value(pair) for pair in (["b", "y"], ["b", "z"], ["c", "x"])]
    assert group_capsules(paths[::-1]) == report


def test_a_repeated_capsule_counts_once(make, tmp_path):
    path = make("a")
    os.symlink(path, tmp_path / "again")
    report = group_capsules([path, path, os.fspath(tmp_path / "again")])
    assert (report["input_count"], report["capsule_count"], report["duplicate_count"]) == (3, 1, 2)
    assert report["groups"] == group_capsules([path])["groups"]


def test_nothing_private_is_in_the_report(make, tmp_path):
    text = canonical_json(group_capsules([make("secret-name", run_id="secret-run")]))
    for private in ("secret", os.fspath(tmp_path), WHEN, "step"):
        assert private not in text


def test_paths_may_be_path_objects_and_a_tuple(make, tmp_path):
    make("a")
    assert group_capsules((tmp_path / "a",))["capsule_count"] == 1


def test_stored_projections_are_neither_used_nor_written(make):
    path = make("a")
    before = group_capsules([path])
    assert sorted(os.listdir(path)) == ["capsule.json", "journal.ndjson"]
    with open(os.path.join(path, "projection.json"), "w", encoding="utf-8") as stream:
        stream.write("broken")
    assert group_capsules([path]) == before


class _BytesPath:
    def __fspath__(self):
        return b"a"


class _Broken:
    def __fspath__(self):
        return 5


@pytest.mark.parametrize(
    "paths",
    [
        None,
        "folder",
        b"folder",
        5,
        {"a"},
        [],
        [""],
        [" \ufeff\n"],
        ["a\0b"],
        [5],
        [None],
        ["a"] * 101,
        [b"a"],
        ["half-\ud800"],
        [_BytesPath()],
        [_Broken()],
    ],
    ids=lambda paths: re.sub("0x[0-9a-f]+", "...", repr(paths)[:60]),
)
def test_anything_but_1_to_100_names_is_refused_before_a_capsule_is_read(paths, monkeypatch):
    def touched(*_args, **_named):
        raise AssertionError("a file was touched")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", touched)
        patch.setattr(os, "stat", touched)
        error = refused(paths)
    assert error.code == "retrospective.invalid_inputs"


def test_a_hundred_names_are_not_too_many(make):
    assert group_capsules([make("a", 0)] * 100)["duplicate_count"] == 99


@pytest.mark.parametrize("name", ["gone", "bad-utf8-\udcff"])
def test_an_input_that_is_no_capsule_is_named_by_its_place(make, tmp_path, name):
    good = make("a")
    assert place([good, os.fspath(tmp_path / name), good]) == ("retrospective.invalid_capsule", 1)


def test_the_refusal_keeps_nothing_of_the_cause(make):
    path = make("private-name")
    with open(os.path.join(path, "journal.ndjson"), "ab") as stream:
        stream.write(b"private-text\n")
    error = refused([path])
    told = "".join(traceback.format_exception(type(error), error, error.__traceback__, chain=True))
    assert "capsule.corrupt_entry" not in told
    assert (error.__cause__, error.__context__) == (None, None)
    assert error.details == {"input_index": 0}
    assert "private" not in str(error)


def test_every_capsule_is_projected_before_any_is_compared(make, tmp_path):
    first, other = make("a"), make("b", task_family="other")
    assert place([first, other, os.fspath(tmp_path / "gone")]) == ("retrospective.invalid_capsule", 2)


def test_the_first_input_of_another_family_is_named(make):
    paths = [make("a"), make("b"), make("c", task_family="other"), make("d", task_family="third")]
    assert place(paths) == ("retrospective.mixed_task_families", 2)


def test_a_conflicting_snapshot_is_named_and_none_is_chosen(make):
    first = make("a", capsule_id="same")
    later = make("b", 3, capsule_id="same")
    assert place([first, first, later]) == ("retrospective.conflicting_identity", 2)
    assert place([later, first]) == ("retrospective.conflicting_identity", 1)


def test_the_family_is_judged_before_the_identity_of_the_same_input(make):
    first = make("a", capsule_id="same")
    both = make("b", capsule_id="same", task_family="other")
    assert place([first, both]) == ("retrospective.mixed_task_families", 1)


def test_an_earlier_conflict_comes_before_a_later_family(make):
    paths = [make("a", capsule_id="same"), make("b", 3, capsule_id="same"), make("c", task_family="other")]
    assert place(paths) == ("retrospective.conflicting_identity", 1)


class TestThreads:
    @pytest.fixture
    def threads(self, monkeypatch):
        """How many threads each report used; they run at once on four cores, and every group is large."""
        used = []

        class Watched(ThreadPoolExecutor):
            def __init__(self, workers):
                used.append(workers)
                super().__init__(workers)

        monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor", Watched)
        monkeypatch.setattr(retrospective, "MIN_BYTES_FOR_THREADS", 0)
        monkeypatch.setattr(retrospective, "_cores", lambda: 4)
        monkeypatch.setattr(retrospective, "_has_interpreter_lock", lambda: False)
        return used

    def test_the_report_is_the_same(self, make, threads, monkeypatch):
        paths = [make(f"c{at}", at) for at in range(9)]
        report = group_capsules(paths)
        assert threads == [4]
        monkeypatch.setattr(retrospective, "_cores", lambda: 1)
        assert group_capsules(paths) == report
        monkeypatch.setattr(retrospective, "_cores", lambda: 4)
        monkeypatch.setattr(retrospective, "_has_interpreter_lock", lambda: True)
        assert group_capsules(paths) == report
        assert threads == [4]

    def test_the_first_bad_input_is_named_whichever_is_found_first(self, make, threads, tmp_path):
        large = make("a", 50)
        with open(os.path.join(large, "journal.ndjson"), "ab") as stream:
            stream.write(b"cut")
        gone = os.fspath(tmp_path / "gone")
        assert place([make("b"), large, gone, *[gone] * 20]) == ("retrospective.invalid_capsule", 1)
        assert threads == [4]

    def test_one_input_needs_no_thread(self, make, threads):
        group_capsules([make("a")])
        assert threads == []

    def test_small_groups_stay_in_one_thread(self, make, threads, monkeypatch):
        monkeypatch.setattr(retrospective, "MIN_BYTES_FOR_THREADS", 1024 * 1024)
        group_capsules([make("a"), make("b")])
        assert threads == []

    def test_a_journal_that_cannot_be_measured_is_left_to_its_projection(self, make, threads, tmp_path):
        assert place([make("a"), os.fspath(tmp_path / "gone")]) == ("retrospective.invalid_capsule", 1)


def test_the_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 3, 5}, raising=False)
    assert retrospective._cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert retrospective._cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert retrospective._cores() == 1


@pytest.mark.parametrize(("answer", "locked"), [(True, True), (False, False)])
def test_the_interpreter_is_asked_whether_threads_run_at_once(monkeypatch, answer, locked):
    monkeypatch.setattr("sys._is_gil_enabled", lambda: answer, raising=False)
    assert retrospective._has_interpreter_lock() is locked


def test_an_interpreter_that_cannot_be_asked_has_a_lock(monkeypatch):
    monkeypatch.delattr("sys._is_gil_enabled", raising=False)
    assert retrospective._has_interpreter_lock() is True


def test_the_report_is_json(make):
    report = group_capsules([make("a")])
    assert json.loads(canonical_json(report)) == report
