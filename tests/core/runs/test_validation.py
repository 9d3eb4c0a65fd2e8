"""One document is validated on its own, inside its root, and every finding names where it stands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core import limits
from evals_cli.core.errors import RequirementError
from evals_cli.core.validation import Validation, validate_proof_contract, validate_target

if TYPE_CHECKING:
    from .conftest import Consumer

CASE = ".evals/cases/closeout.case.json"
EVIDENCE = "fixtures/runtime-evidence/credential-store-read.case.json"
LATEST = ".harness/evals/runs/latest.json"


def _validated(consumer: Consumer, word: str) -> Validation:
    root = str(consumer.root)
    return validate_target(word, cwd=root, root=root, documents=documents())


def _refused(consumer: Consumer, word: str) -> RequirementError:
    with pytest.raises(RequirementError) as caught:
        _validated(consumer, word)
    assert caught.value.recovery
    return caught.value


def test_a_sound_case_passes_one_check(consumer: Consumer) -> None:
    found = _validated(consumer, CASE)
    assert (found.target_schema, found.requirement, found.errors) == ("eval-case", None, [])
    assert found.checks == [
        {
            "label": "case",
            "schema_path": "schemas/eval-case.schema.json",
            "data_path": CASE,
            "status": "pass",
            "errors": [],
        }
    ]


def test_a_case_is_held_to_its_policy_too(consumer: Consumer) -> None:
    privacy = {**consumer.case["privacy"], "contains_credentials": True}
    consumer.write(CASE, consumer.changed(privacy=privacy))
    found = _validated(consumer, CASE)
    assert found.requirement == "case validation"
    assert found.errors[0].startswith(f"{CASE}: $.privacy.contains_credentials: true; expected false")


def test_a_case_that_is_too_large_to_run_is_not_valid(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CASE", 100)
    found = _validated(consumer, CASE)
    assert found.requirement == "case validation"
    assert found.errors == [f"{CASE}: $: larger than the limit of 100 bytes"]


@pytest.mark.parametrize("name", ["latest.json", "latest-candidate.json"])
def test_a_pointer_is_known_by_its_name(consumer: Consumer, name: str) -> None:
    consumer.run()
    consumer.write(f"x/{name}", consumer.latest())
    assert _validated(consumer, f"x/{name}").target_schema == "latest-run"
    consumer.write(f"x/{name}", {**consumer.latest(), "run_id": ""})
    found = _validated(consumer, f"x/{name}")
    assert found.requirement == "latest validation"
    assert found.errors == [f"x/{name}: $.run_id: 0 characters; expected at least 1"]


def test_the_pointer_that_a_run_wrote_is_valid(consumer: Consumer) -> None:
    consumer.run()
    assert _validated(consumer, LATEST).requirement is None


def test_a_suite_is_validated_with_its_references(consumer: Consumer) -> None:
    assert _validated(consumer, ".evals/suite.json").target_schema == "suite"
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": ["gone.json"]})
    error = _refused(consumer, ".evals/suite.json")
    assert error.requirement == "suite validation"
    assert "$.cases[0]" in error.problems[0]


def test_a_suite_is_validated_with_its_cases(consumer: Consumer) -> None:
    found = _validated(consumer, ".evals/suite.json")
    assert [check["label"] for check in found.checks] == ["suite", "cases of the suite"]
    assert (found.requirement, found.errors) == (None, [])
    consumer.write(".evals/cases/broken.case.json", b"{")
    consumer.write(".evals/cases/other.case.json", consumer.changed(case_id=7))
    names = ["cases/broken.case.json", "cases/closeout.case.json", "cases/other.case.json"]
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": names})
    found = _validated(consumer, ".evals/suite.json")
    assert (found.target_schema, found.requirement) == ("suite", "case parse")
    assert [check["status"] for check in found.checks] == ["pass", "fail"]
    assert [error.partition(": ")[0] for error in found.errors] == [
        ".evals/cases/broken.case.json",
        ".evals/cases/other.case.json",
    ]


def test_a_suite_of_many_broken_cases_is_refused_without_reading_all(consumer: Consumer) -> None:
    names = [f"cases/{index}.case.json" for index in range(150)]
    for name in names:
        consumer.write(f".evals/{name}", b"{")
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": names})
    assert len(_validated(consumer, ".evals/suite.json").errors) == 101


@pytest.mark.parametrize("name", [".evals/project.json", ".evals/project.toml"])
def test_a_project_manifest_is_known_by_its_path(consumer: Consumer, name: str) -> None:
    consumer.write(name, b"{}" if name.endswith("json") else b"")
    found = _validated(consumer, name)
    assert (found.target_schema, found.requirement) == ("external-project-manifest", "project manifest")
    assert all(error.startswith(f"{name}: $") for error in found.errors)
    assert found.errors


def test_runtime_evidence_is_known_by_its_events_and_judged(consumer: Consumer, repository: Path) -> None:
    sample = json.loads((repository / EVIDENCE).read_text(encoding="utf-8"))
    consumer.write("evidence/one.case.json", sample)
    found = _validated(consumer, "evidence/one.case.json")
    assert (found.target_schema, found.requirement, found.errors) == ("runtime-evidence-case", None, [])
    expected = {**sample["expected"], "classification": "ok"}
    consumer.write("evidence/one.case.json", {**sample, "expected": expected})
    found = _validated(consumer, "evidence/one.case.json")
    assert found.requirement == "runtime evidence"
    assert found.errors[0].startswith("evidence/one.case.json: $.expected.classification: found 'ok'; ")


@pytest.mark.parametrize("word", ["../x.json", "/etc/passwd", "gone.json", "out/x.json"])
def test_a_target_outside_the_root_or_missing_is_refused(
    consumer: Consumer, tmp_path: Path, word: str
) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    (consumer.root / "out").symlink_to(tmp_path)
    assert _refused(consumer, word).requirement == "validation target path"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "line 1, column 2"),
        (b"\xff", "UTF-8"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        (b'{"a":1,"a":1}', "$.a: the key is written twice"),
    ],
)
def test_a_target_that_does_not_parse_is_refused(consumer: Consumer, content: bytes, words: str) -> None:
    consumer.write("a.json", content)
    error = _refused(consumer, "a.json")
    assert error.requirement == "validation target read"
    assert words in error.problems[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_or_a_folder_is_refused_without_waiting(consumer: Consumer) -> None:
    os.mkfifo(consumer.root / "latest.json")
    for word in ("latest.json", ".", ".evals"):
        assert _refused(consumer, word).requirement == "validation target read"


def test_a_target_of_200_megabytes_is_refused(consumer: Consumer) -> None:
    with consumer.write("a.json", b"").open("r+b") as file:
        file.truncate(200 * 1024 * 1024)
    assert "larger than the limit" in _refused(consumer, "a.json").problems[0]


def _vector(**coverage: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "score_vector_id": "s",
        "suite_id": "s",
        "coverage": {"tested_claims": 1, "total_claims": 2, "coverage_status": "partial", **coverage},
        "dimensions": [{"dimension_id": "d", "score": 1, "weight": 1, "gate": False, "evidence_refs": ["e"]}],
        "gates": [{"gate_id": "g", "status": "pass", "severity": "high", "evidence_refs": ["e"]}],
        "readiness": {
            "status": "strong",
            "raw_score": 1,
            "capped_by_gate": False,
            "cap_reason": None,
            "blocking_gates": [],
        },
    }


def _proof(consumer: Consumer, word: str = "v.json") -> Validation:
    root = str(consumer.root)
    return validate_proof_contract("score-vector", word, cwd=root, root=root, documents=documents())


def test_a_proof_contract_passes_schema_and_semantics(consumer: Consumer) -> None:
    consumer.write("v.json", _vector())
    found = _proof(consumer)
    assert [check["label"] for check in found.checks] == ["score-vector schema", "score-vector semantics"]
    assert found.requirement is None


def test_semantics_are_judged_only_where_the_schema_holds(consumer: Consumer) -> None:
    consumer.write("v.json", _vector(tested_claims=3))
    assert [check["status"] for check in _proof(consumer).checks] == ["pass", "fail"]
    consumer.write("v.json", _vector(tested_claims=-3))
    found = _proof(consumer)
    assert [check["status"] for check in found.checks] == ["fail"]
    assert found.requirement == "schema validation"


def test_a_proof_contract_stays_inside_its_root(consumer: Consumer) -> None:
    for word in ("../v.json", "gone.json"):
        with pytest.raises(RequirementError) as caught:
            _proof(consumer, word)
        assert caught.value.requirement == "schema validation target path"
