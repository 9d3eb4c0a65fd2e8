"""The writer and every reader of bundles share one layout."""

from __future__ import annotations

import pytest

from evals_cli.core import bundle_layout as layout


def test_pointers_are_the_canonical_paths_of_a_run() -> None:
    found = layout.pointers("out/runs", "R")
    assert list(found) == [
        "manifest_path",
        "result_path",
        "report_path",
        "command_log_path",
        "baseline_result_path",
        "scorer_results_path",
        "trace_events_path",
    ]
    assert found["trace_events_path"] == "out/runs/R/trace-events.jsonl"
    assert layout.artifact_root("out/runs", "R") == "out/runs/R"


def test_every_artifact_stands_at_its_pointer() -> None:
    found = layout.pointers(layout.DEFAULT_PREFIX, "R")
    for artifact in layout.ARTIFACTS:
        assert found[artifact.pointer_key] == f".harness/evals/runs/R/{artifact.file_name}"


def test_the_planned_files_are_the_artifacts_and_the_manifest() -> None:
    assert set(layout.PLANNED_FILES) == {each.file_name for each in layout.ARTIFACTS} | {"manifest.json"}


@pytest.mark.parametrize(
    "path", ["out", "./out//runs/", ".github/runs", "out\\runs", "a" * layout.MAX_PREFIX]
)
def test_bundles_can_be_kept_in_a_folder_of_the_repository(path: str) -> None:
    assert layout.artifact_root_problem(path) is None


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("../out", "it must stay inside its root"),
        (".", "it names the repository itself"),
        (".git/refs/heads", "it lies in git's own folder"),
        ("a/.Git/b", "it lies in git's own folder"),
        (".git\\refs", "it lies in git's own folder"),
        ("a" * (layout.MAX_PREFIX + 1), "it has more than 1024 characters"),
    ],
)
def test_bundles_are_kept_nowhere_else(path: str, problem: str) -> None:
    assert str(layout.artifact_root_problem(path)).endswith(problem)
