"""Case promotions: what makes one hold, on this project's own packet and on changed copies of it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.packets import PacketReport
from evals_cli.core.promotions import PROMOTION, validate_promotions

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def world(repository: Path, tmp_path: Path) -> Path:
    """A copy of the part of this checkout that its promotion needs."""
    for name in (PROMOTION.folder, ".harness/failures", "contracts", "fixtures/contracts"):
        shutil.copytree(repository / name, tmp_path / "root" / name)
    return tmp_path / "root"


def packet_of(world: Path) -> Path:
    (file,) = (world / PROMOTION.folder).glob("*.json")
    return file


def change(world: Path, path: str, value: Any) -> None:
    """Set the member at the dotted path of the world's one promotion."""
    document = json.loads(packet_of(world).read_text("utf-8"))
    *parents, last = path.split(".")
    target = document
    for name in parents:
        target = target[name]
    target[last] = value
    packet_of(world).write_text(json.dumps(document), encoding="utf-8")


def report(world: Path, installed: Path | None = None) -> PacketReport:
    return validate_promotions(str(world), documents(), lambda: str(installed or world))


def only_error(world: Path) -> str:
    result = report(world)
    assert not result.passed
    (error,) = result.errors
    assert error.startswith(f"{PROMOTION.folder}/{packet_of(world).name}: ")
    return error


def test_the_promotion_of_this_project_holds(repository: Path) -> None:
    result = report(repository)
    assert result.errors == ()
    assert len(result.checks) == 1


def test_without_a_promotion_the_failure_says_where_one_would_be(tmp_path: Path) -> None:
    result = report(tmp_path)
    (error,) = result.errors
    assert error.endswith("no case promotion found; write one as .harness/case-promotions/<name>.json")
    failed = result.document("again")
    assert (failed["status"], failed["requirement"]) == ("failed", "promotion validation")
    assert documents().problems("validate-promotions-output", failed) == []


def test_files_of_other_names_are_no_promotions(world: Path) -> None:
    (world / PROMOTION.folder / "README.md").write_text("words", encoding="utf-8")
    assert report(world).passed


def test_every_promotion_is_judged(world: Path) -> None:
    (world / PROMOTION.folder / "zz.json").write_text("{}", encoding="utf-8")
    result = report(world)
    assert [check["status"] for check in result.checks] == ["pass", "fail"]
    assert documents().problems("validation-result", result.document("again")) == []


@pytest.mark.parametrize("text", ["", '{"a":1,"a":2}', "[" * 100_000, "NaN", "\ufeff{}"])
def test_a_promotion_that_does_not_parse_is_named(world: Path, text: str) -> None:
    packet_of(world).write_text(text, encoding="utf-8")
    assert only_error(world)


def test_a_promotion_that_is_a_pipe_or_a_link_out_is_refused(world: Path, tmp_path: Path) -> None:
    folder = world / PROMOTION.folder
    moved = tmp_path / "moved.json"
    packet_of(world).rename(moved)
    (folder / "link.json").symlink_to(moved)
    os.mkfifo(folder / "pipe.json")
    assert list(report(world).errors) == [
        f"{PROMOTION.folder}/link.json: leads out of its root",
        f"{PROMOTION.folder}/pipe.json: not a regular file",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "source_failure.source_artifact_ref",
        "quality_evidence.labeled_examples.source_refs",
        "quality_evidence.improvement_loop.trace_evidence_refs",
    ],
)
def test_every_reference_exists(world: Path, path: str) -> None:
    change(world, path, ["gone.md"] if path.endswith("refs") else "gone.md")
    error = only_error(world)
    assert f"$.{path}" in error
    assert "gone.md does not exist" in error


@pytest.mark.parametrize("key", ["precision_target", "recall_target"])
def test_a_target_is_at_most_one(world: Path, key: str) -> None:
    change(world, f"quality_evidence.metric_policy.{key}", 1.01)
    assert f"{key}: found 1.01" in only_error(world)


def test_no_model_gates_a_case(world: Path) -> None:
    change(world, "quality_evidence.metric_policy.judge_gate_status", "advisory_until_calibrated")
    assert "judge_gate_status" in only_error(world)


def test_a_validated_promotion_lists_its_own_validator(world: Path) -> None:
    change(world, "validation.commands", ["evals validate-improvements"])
    assert "$.validation.commands" in only_error(world)


def test_a_validated_promotion_targets_a_bad_fixture_of_a_contract(world: Path) -> None:
    change(world, "deterministic_case.target_fixture_path", "fixtures/contracts/good/plain-list.json")
    assert "is no contract's bad fixture" in only_error(world)


def test_a_target_whose_text_does_not_fail_is_refused(world: Path) -> None:
    target = "fixtures/contracts/bad/local-pass-called-ready.md"
    (world / target).write_text("Everything is unknown.", encoding="utf-8")
    assert "passes evidence.local-pass-is-not-pr-done.v1" in only_error(world)


def test_a_target_that_cannot_be_read_is_refused(world: Path) -> None:
    (world / "fixtures/contracts/bad/local-pass-called-ready.md").write_bytes(b"\xff")
    assert "not valid UTF-8" in only_error(world)


@pytest.mark.parametrize("status", ["candidate", "fixture-added"])
def test_before_validation_the_target_need_not_fail(world: Path, status: str) -> None:
    change(world, "validation.status", status)
    change(world, "validation.commands", ["later"])
    change(world, "deterministic_case.target_fixture_path", "fixtures/contracts/good/plain-list.json")
    assert report(world).passed


def test_a_root_without_contracts_uses_the_installed_ones(world: Path, repository: Path) -> None:
    shutil.rmtree(world / "contracts")
    assert report(world, repository).passed


def test_the_text_that_must_fail_is_the_roots_own(world: Path, repository: Path) -> None:
    shutil.rmtree(world / "contracts")
    target = world / "fixtures/contracts/bad/local-pass-called-ready.md"
    target.write_text("Fine.", encoding="utf-8")
    assert "must fail the contract" in report(world, repository).errors[0]


def test_a_broken_catalog_confirms_nothing(world: Path) -> None:
    (world / "contracts/output/strict-json-when-requested.v1.json").write_text("{", encoding="utf-8")
    assert "no contract can confirm it: contracts/output/strict-json" in only_error(world)


def test_a_catalog_outside_the_root_confirms_nothing(world: Path, tmp_path: Path) -> None:
    (world / "contracts").rename(tmp_path / "elsewhere")
    (world / "contracts").symlink_to(tmp_path / "elsewhere")
    assert "no contract can confirm it: contracts: leads out of its root" in only_error(world)
