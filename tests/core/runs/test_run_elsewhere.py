"""Bundles go where the suite says, and people hear when check and state will not look there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.run import unseen_note

if TYPE_CHECKING:
    from .conftest import Consumer

PREFIX = ".harness/evals/runs"


def _elsewhere(consumer: Consumer, prefix: str = "out/runs") -> None:
    policy = {**consumer.suite["artifact_policy"], "artifact_root": prefix}
    consumer.write(".evals/suite.json", {**consumer.suite, "artifact_policy": policy})


def _manifest(*roots: str) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "manifest_version": "1",
        "project": {"project_id": "sample", "owner_repo": "example/sample"},
        "suite_roots": [".evals"],
        "authority": {"supported_modes": ["artifact_only"], "default_mode": "artifact_only"},
        "runtime_evidence_policy": {"required": False, "missing_status": "not_configured"},
        "privacy": {
            "privacy_class": "synthetic",
            "approval_status": "not_required",
            "scope": "everything",
            "data_classes": ["synthetic"],
        },
        "artifact_policy": {
            "artifact_roots": list(roots),
            "allow_absolute_paths": False,
            "allow_parent_traversal": False,
        },
        "baseline_authority": {"owner": "target_project", "promotion_status": "not_configured"},
        "execution_policy": {"allow_target_execution": False, "black_box_execution_status": "blocked"},
        "unknown_field_policy": "reject",
    }


def test_bundles_go_where_the_suite_says_and_latest_lies_beside_them(consumer: Consumer) -> None:
    _elsewhere(consumer)
    document = consumer.run().document
    assert document["artifact_root_prefix"] == "out/runs"
    latest = consumer.read("out/runs/latest.json")
    assert latest["producer"]["artifact_root_prefix"] == "out/runs"
    assert latest["artifact_root"] == document["case_results"][0]["artifact_root"]
    assert not (consumer.root / ".harness").exists()


def _note(consumer: Consumer) -> str | None:
    consumer.run()
    return unseen_note(consumer.plan(), documents())


def test_a_run_in_the_usual_place_is_seen(consumer: Consumer) -> None:
    assert _note(consumer) is None


def test_a_run_elsewhere_says_which_line_is_missing(consumer: Consumer) -> None:
    _elsewhere(consumer)
    assert _note(consumer) == (
        "check and state do not look under out/runs; "
        'add to artifact_policy in .evals/project.json: "artifact_roots": ["out/runs"]'
    )
    consumer.write(".evals/project.toml", "")
    note = _note(consumer)
    assert note is not None
    assert note.endswith('in .evals/project.toml: artifact_roots = ["out/runs"]')


def test_a_run_elsewhere_that_the_manifest_names_says_nothing(consumer: Consumer) -> None:
    consumer.write(".evals/project.json", _manifest("./out/runs/"))
    _elsewhere(consumer)
    assert _note(consumer) is None


@pytest.mark.parametrize("other", [PREFIX, "first"])
def test_a_run_that_an_older_pointer_hides_says_which(consumer: Consumer, other: str) -> None:
    consumer.write(".evals/project.json", _manifest("first", "out/runs"))
    consumer.write(f"{other}/latest.json", "{}")
    _elsewhere(consumer)
    assert _note(consumer) == (
        f"check and state do not look under out/runs; they look at {other}/latest.json first: remove it"
    )


def test_a_run_that_is_hidden_and_not_listed_says_both(consumer: Consumer) -> None:
    consumer.write(f"{PREFIX}/latest.json", "{}")
    _elsewhere(consumer)
    note = _note(consumer)
    assert note is not None
    assert f"{PREFIX}/latest.json first: remove it; add to artifact_policy" in note
