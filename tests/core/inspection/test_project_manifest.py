"""What a project manifest may say, and what each refusal is called."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.project_manifest import ProjectManifest, load_project_manifest
from evals_cli.core.timestamps import parse_ms


def _load(world: Any) -> ProjectManifest:
    return load_project_manifest(str(world.root), documents())


def _at(text: str) -> int:
    moment = parse_ms(text)
    assert moment is not None
    return moment


def test_without_a_file_the_manifest_is_missing(world: Any) -> None:
    manifest = _load(world)
    assert (manifest.status, manifest.path, manifest.problems) == ("missing", ".evals/project.json", [])
    assert manifest.approval(0) is None
    assert (manifest.artifact_roots, manifest.evidence_paths) == ([], [])


def test_a_manifest_may_be_written_in_toml(world: Any) -> None:
    world.write(
        ".evals/project.toml",
        """
        schema_version = 1
        manifest_version = "1"
        suite_roots = [".evals"]
        unknown_field_policy = "reject"
        [project]
        project_id = "sample"
        owner_repo = "example/sample"
        [authority]
        supported_modes = ["artifact_only", "black_box_execution"]
        default_mode = "artifact_only"
        [runtime_evidence_policy]
        required = true
        missing_status = "blocked"
        evidence_paths = ["evidence"]
        [privacy]
        privacy_class = "synthetic"
        approval_status = "approved"
        scope = "everything"
        data_classes = ["synthetic"]
        expires_at = 2026-12-31T00:00:00Z
        [artifact_policy]
        artifact_roots = ["evidence/runs"]
        allow_absolute_paths = false
        allow_parent_traversal = false
        [baseline_authority]
        owner = "target_project"
        promotion_status = "not_configured"
        [execution_policy]
        allow_target_execution = false
        black_box_execution_status = "blocked"
        """,
    )
    manifest = _load(world)
    assert (manifest.status, manifest.problems) == ("valid", [])
    assert manifest.artifact_roots == ["evidence/runs"]
    assert manifest.evidence_paths == ["evidence"]
    assert manifest.evidence_required
    assert manifest.missing_evidence_blocks
    assert manifest.approval(_at("2027-01-01")) == "expired"


def test_both_forms_at_once_are_an_error_that_names_both(world: Any) -> None:
    world.project()
    world.write(".evals/project.toml", "")
    (problem,) = _load(world).problems
    assert ".evals/project.json" in problem
    assert ".evals/project.toml" in problem


@pytest.mark.parametrize(
    "content",
    ["{", '{"a": 1, "a": 2}', "NaN", "\ufeff{}", "[]", "null"],
    ids=["cut", "repeated key", "NaN", "byte-order mark", "array", "null"],
)
def test_a_manifest_that_cannot_be_read_is_invalid_and_named(world: Any, content: str) -> None:
    world.write(".evals/project.json", content)
    manifest = _load(world)
    assert (manifest.status, manifest.document) == ("invalid", {})
    assert manifest.problems
    assert all(problem.startswith(".evals/project.json: ") for problem in manifest.problems)


def test_a_manifest_that_is_no_regular_file_is_invalid(world: Any) -> None:
    os.mkfifo(world.path(".evals/project.json"))
    assert _load(world).problems == [".evals/project.json: not a regular file"]


def test_a_manifest_outside_the_repository_is_not_followed(world: Any, tmp_path: Any) -> None:
    world.project()
    file = world.path(".evals/project.json")
    file.rename(tmp_path / "project.json")
    file.symlink_to(tmp_path / "project.json")
    assert _load(world).problems == [".evals/project.json: leads out of its root"]


@pytest.mark.parametrize("path", ["/abs", "../up", "a/../../b", "C:\\x", "a\\..\\b", ""])
@pytest.mark.parametrize(
    ("section", "field"),
    [
        (None, "suite_roots"),
        ("artifact_policy", "artifact_roots"),
        ("runtime_evidence_policy", "evidence_paths"),
        ("baseline_authority", "baseline_paths"),
    ],
)
def test_a_path_field_must_stay_inside(world: Any, path: str, section: str | None, field: str) -> None:
    world.project()
    document = world.read(".evals/project.json")
    (document if section is None else document[section])[field] = ["good", path]
    world.write(".evals/project.json", json.dumps(document))
    (problem,) = _load(world).problems
    where = field if section is None else f"{section}.{field}"
    assert problem.startswith(f".evals/project.json: $.{where}[1]: ")


@pytest.mark.parametrize("path", [".git/refs/heads", "./.GIT", "a\\.git\\b"])
def test_an_artifact_root_in_gits_own_folder_is_refused(world: Any, path: str) -> None:
    world.project()
    document = world.read(".evals/project.json")
    document["artifact_policy"]["artifact_roots"] = [path]
    world.write(".evals/project.json", json.dumps(document))
    (problem,) = _load(world).problems
    assert "$.artifact_policy.artifact_roots[0]: " in problem
    assert problem.endswith("it lies in git's own folder; no bundles are kept there")


def test_a_folder_that_leads_out_of_the_repository_is_called_that(world: Any, tmp_path: Any) -> None:
    (tmp_path / "elsewhere").mkdir()
    world.root.joinpath(".evals").rename(world.root / "moved")
    world.root.joinpath(".evals").symlink_to(tmp_path / "elsewhere")
    manifest = _load(world)
    assert manifest.status == "invalid"
    assert manifest.problems == [".evals/project.json: leads out of its root"]


def test_a_path_field_that_links_out_of_the_repository_is_refused(world: Any, tmp_path: Any) -> None:
    (world.root / "out").symlink_to(tmp_path)
    world.project(suite_roots=["out"])
    (problem,) = _load(world).problems
    assert problem == ".evals/project.json: $.suite_roots[0]: out: leads out of the repository"


def test_only_inspection_of_artifacts_may_be_the_default(world: Any) -> None:
    modes = ["artifact_only", "black_box_execution"]
    world.project(authority={"supported_modes": modes, "default_mode": "black_box_execution"})
    (problem,) = _load(world).problems
    assert problem.startswith(".evals/project.json: $.authority.default_mode: black_box_execution; expected ")


@pytest.mark.parametrize(
    ("ends", "now", "status"),
    [
        ("2026-12-01T00:00:00Z", "2026-11-30T23:59:59.999Z", "approved"),
        ("2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", "expired"),
        ("2026-12-01T00:00:00+01:00", "2026-11-30T23:30:00Z", "expired"),
        ("2026-12-01t00:00:00z", "2026-11-30T00:00:00Z", "approved"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:00:00Z", "approved"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z", "expired"),
        ("2026-12-01T00:00:00.123456789Z", "2026-11-30T00:00:00Z", "approved"),
    ],
)
def test_an_approval_ends_when_it_says(ends: str, now: str, status: str) -> None:
    manifest = ProjectManifest(
        "valid", "p", document={"privacy": {"approval_status": "approved", "expires_at": ends}}
    )
    assert manifest.approval(_at(now)) == status


def test_an_end_that_cannot_be_told_counts_as_passed() -> None:
    privacy = {"approval_status": "approved", "expires_at": "sometime"}
    assert ProjectManifest("valid", "p", document={"privacy": privacy}).approval(0) == "expired"


def test_the_fields_of_suite_quality_that_are_missing_are_named_in_order() -> None:
    manifest = ProjectManifest("valid", "p", document={"suite_quality": {"decision_metric": "x"}})
    missing = manifest.missing_quality()
    assert missing[:2] == ["suite_quality.steady_state_hypothesis", "suite_quality.guardrail_metrics"]
    assert len(missing) == 7
