"""Eval improvements: what makes one hold, on this project's own packet and on changed copies of it."""

from __future__ import annotations

import builtins
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.improvements import EXTERNAL_ORIGINS, IMPROVEMENT, validate_improvements
from evals_cli.core.packets import PacketKind, PacketReport
from evals_cli.core.promotions import PROMOTION


@pytest.fixture
def world(repository: Path, tmp_path: Path) -> Path:
    """A copy of the part of this checkout that its improvement needs."""
    folders = (PROMOTION.folder, IMPROVEMENT.folder, ".harness/failures", "contracts", "fixtures/contracts")
    for name in folders:
        shutil.copytree(repository / name, tmp_path / "root" / name)
    return tmp_path / "root"


def packet_of(world: Path, kind: PacketKind = IMPROVEMENT) -> Path:
    (file,) = (world / kind.folder).glob("*.json")
    return file


def change(world: Path, path: str, value: Any, kind: PacketKind = IMPROVEMENT) -> None:
    """Set the member at the dotted path of the world's one packet of a kind."""
    document = json.loads(packet_of(world, kind).read_text("utf-8"))
    *parents, last = path.split(".")
    target = document
    for name in parents:
        target = target[name]
    target[last] = value
    packet_of(world, kind).write_text(json.dumps(document), encoding="utf-8")


def report(world: Path) -> PacketReport:
    return validate_improvements(str(world), documents(), lambda: str(world))


def only_error(world: Path) -> str:
    (error,) = report(world).errors
    assert error.startswith(f"{IMPROVEMENT.folder}/{packet_of(world).name}: $.")
    return error


def test_the_improvement_of_this_project_holds(repository: Path) -> None:
    assert report(repository).errors == ()


def test_without_an_improvement_the_failure_says_where_one_would_be(tmp_path: Path) -> None:
    result = report(tmp_path)
    assert "write one as .harness/eval-improvements/<name>.json" in result.errors[0]
    assert documents().problems("validate-improvements-output", result.document("again")) == []


def test_an_improvement_that_does_not_parse_is_named(world: Path) -> None:
    packet_of(world).write_text("{", encoding="utf-8")
    assert "line 1" in report(world).errors[0]


@pytest.mark.parametrize("path", ["source_evidence.repo_evidence_refs", "feedback.feedback_refs"])
def test_every_reference_exists(world: Path, path: str) -> None:
    document = json.loads(packet_of(world).read_text("utf-8"))
    parent, member = path.split(".")
    change(world, path, [*document[parent][member], "gone.md"])
    assert f"$.{path}[2]: gone.md does not exist" in only_error(world)


@pytest.mark.parametrize("origin", EXTERNAL_ORIGINS)
def test_an_outside_origin_is_named_only(world: Path, origin: str) -> None:
    change(world, "source_evidence.origin", origin)
    assert "$.source_evidence.origin_path_policy" in only_error(world)
    change(world, "source_evidence.origin_path_policy", "external_origin_named_only")
    assert report(world).passed


def test_nothing_outside_the_root_and_the_package_is_opened(
    world: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(world)  # whatever Python itself loads on first use is loaded now
    change(world, "source_evidence.origin", "user-agents-sessions")
    change(world, "source_evidence.origin_path_policy", "external_origin_named_only")
    opened: list[str] = []
    real_open, real_listdir = os.open, os.listdir

    def seen_open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None:
            opened.append(os.fspath(path))
        return real_open(path, flags, mode, dir_fd=dir_fd)

    def seen_listdir(path: str) -> list[str]:
        opened.append(path)
        return real_listdir(path)

    monkeypatch.setattr(os, "open", seen_open)
    monkeypatch.setattr(os, "listdir", seen_listdir)
    monkeypatch.setenv("HOME", str(repository / "no-such-home"))
    assert builtins.open is io.open
    assert report(world).passed
    assert {path for path in opened if not path.startswith(str(world))} == set()


@pytest.mark.parametrize("status", ["human_labeled", "llm_advisory", "blocked"])
def test_a_promoted_improvement_is_deterministic(world: Path, status: str) -> None:
    change(world, "candidate_eval.evaluator_authority_status", status)
    assert "evaluator_authority_status" in only_error(world)
    change(world, "promotion_decision.status", "candidate")
    assert report(world).passed


def test_a_promoted_improvement_is_not_decided_by_a_model(world: Path) -> None:
    change(world, "candidate_eval.oracle_type", "llm_advisory")
    assert "oracle_type" in only_error(world)


@pytest.mark.parametrize("member", ["case_promotion_ref", "target_fixture_path"])
def test_a_promoted_improvement_names_its_promotion_and_target(world: Path, member: str) -> None:
    change(world, f"promotion_decision.{member}", None)
    assert f"$.promotion_decision.{member}: found null" in only_error(world)


def test_both_absent_are_both_named(world: Path) -> None:
    change(world, "promotion_decision.case_promotion_ref", None)
    change(world, "promotion_decision.target_fixture_path", None)
    assert len(report(world).errors) == 2


@pytest.mark.parametrize("name", ["case-promotions/sub/a.json", "elsewhere/a.json", "case-promotions/a.md"])
def test_a_promotion_stands_directly_in_its_folder(world: Path, name: str) -> None:
    place = world / ".harness" / name
    place.parent.mkdir(exist_ok=True)
    shutil.copy(packet_of(world, PROMOTION), place)
    change(world, "promotion_decision.case_promotion_ref", f".harness/{name}")
    assert "is no case promotion" in only_error(world)


def test_another_spelling_of_the_same_paths_is_the_same(world: Path) -> None:
    link = packet_of(world, PROMOTION).relative_to(world).as_posix()
    change(world, "promotion_decision.case_promotion_ref", f"./{link}")
    change(
        world, "promotion_decision.target_fixture_path", "fixtures//contracts/bad/local-pass-called-ready.md"
    )
    assert report(world).passed


def test_the_linked_promotion_must_itself_hold(world: Path) -> None:
    change(world, "quality_evidence.metric_policy.recall_target", 2, PROMOTION)
    assert "the promotion does not hold: .harness/case-promotions/" in only_error(world)


def test_the_linked_promotion_must_be_validated(world: Path) -> None:
    change(world, "validation.status", "candidate", PROMOTION)
    assert "the promotion is 'candidate'; expected 'validated'" in only_error(world)


def test_the_linked_promotion_has_the_same_target(world: Path) -> None:
    change(world, "promotion_decision.target_fixture_path", "fixtures/contracts/bad/every-check-passed.md")
    assert "the linked promotion targets" in only_error(world)


def test_the_evidence_includes_the_promotions_source(world: Path) -> None:
    change(world, "source_evidence.repo_evidence_refs", ["contracts"])
    assert "lacks .harness/failures/" in only_error(world)


def test_a_validated_improvement_lists_its_own_validator(world: Path) -> None:
    change(world, "validation.commands", ["scripts/validate-case-promotions"])
    assert "$.validation.commands" in only_error(world)
    change(world, "validation.status", "candidate")
    assert report(world).passed


def test_a_packet_folder_that_leads_out_of_the_root_is_refused(world: Path, tmp_path: Path) -> None:
    (world / IMPROVEMENT.folder).rename(tmp_path / "moved")
    (world / IMPROVEMENT.folder).symlink_to(tmp_path / "moved")
    with pytest.raises(Exception, match=r"leads out of its root"):
        report(world)
