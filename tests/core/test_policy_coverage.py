"""Runtime-evidence coverage: which cases count, which families they cover, and what fails closed."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.policy_coverage import Coverage, assess
from evals_cli.core.policy_families import FAMILIES, declared_families
from evals_cli.core.roots import HOME_EVIDENCE
from evals_cli.core.runtime_scorers import SCORERS


@pytest.fixture
def full_case(repository: Path) -> dict[str, Any]:
    text = (repository / HOME_EVIDENCE / "every-policy-declared.case.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def put(root: Path, name: str, value: object) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def assessed(root: Path, *paths: str) -> Coverage:
    return assess(str(root), list(paths), documents())


def test_home_proves_all_seven_families(repository: Path) -> None:
    coverage = assessed(repository, HOME_EVIDENCE)
    assert (coverage.status, coverage.errors, coverage.proved) == ("pass", [], True)
    assert {record["family"] for record in coverage.families} == {family.name for family in FAMILIES}


def test_home_has_a_passing_and_a_failing_case_for_each_scorer(repository: Path) -> None:
    results = [r for check in assessed(repository, HOME_EVIDENCE).checks for r in check["scorer_results"]]
    wanted = {(scorer.scorer_id, status) for scorer in SCORERS for status in ("pass", "fail")}
    assert {(r["scorer_id"], r["status"]) for r in results} == wanted


def test_records_say_what_enforces_each_family(full_case: dict[str, Any]) -> None:
    records = {record["family"]: record for record in declared_families(full_case)}
    assert records["permissions"] == {
        "case_id": "every-policy-declared",
        "family": "permissions",
        "declaration_path": "$.declared_contract.permission_profile",
        "enforcement_status": "implemented_enforced",
        "scorer_id": "permission-drift",
    }
    assert records["goal"]["enforcement_status"] == "scaffolded_not_enforced"
    assert records["goal"]["scaffold_reason"]


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("permissions", "RTE_POLICY_PERMISSION_UNSCORED"),
        ("subagent_artifacts", "RTE_POLICY_SUBAGENT_ARTIFACT_UNSCORED"),
        ("plugin_attribution", "RTE_POLICY_PLUGIN_UNSCORED"),
        ("goal", "RTE_POLICY_GOAL_UNSCORED"),
        ("thread", "RTE_POLICY_THREAD_UNSCORED"),
        ("network", "RTE_POLICY_NETWORK_UNSCORED"),
        ("package_provenance", "RTE_POLICY_PACKAGE_PROVENANCE_UNSCORED"),
    ],
)
def test_a_family_that_nothing_answers_for_fails_with_its_code(
    full_case: dict[str, Any], tmp_path: Path, family: str, code: str
) -> None:
    scorer = {"permissions": 0, "subagent_artifacts": 1, "plugin_attribution": 2}.get(family)
    if scorer is None:
        del full_case["declared_contract"]["policy_scaffolds"][family]
    else:
        del full_case["scorers"][scorer]
    put(tmp_path, "a.case.json", full_case)
    coverage = assessed(tmp_path, "a.case.json")
    (record,) = [record for record in coverage.families if "error_code" in record]
    assert (record["family"], record["error_code"]) == (family, code)
    assert coverage.status == "fail"
    assert code in coverage.errors[0]
    assert coverage.document() == {
        "status": "fail",
        "families": coverage.families,
        "errors": coverage.errors,
    }


def test_a_scaffold_of_a_family_that_is_not_declared_counts_for_nothing(full_case: dict[str, Any]) -> None:
    del full_case["declared_contract"]["goal_policy"]
    assert "goal" not in [record["family"] for record in declared_families(full_case)]


def test_without_paths_nothing_is_configured(tmp_path: Path) -> None:
    coverage = assessed(tmp_path)
    assert (coverage.status, coverage.checks, coverage.proved) == ("not_configured", [], False)


def test_a_folder_stands_for_its_cases_in_both_forms(full_case: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path, "e/a.case.json", full_case)
    put(tmp_path, "e/note.json", "{}")
    put(tmp_path, "e/b.case.toml", "x = 1")
    checks = assessed(tmp_path, "./e/").checks
    assert [(check["data_path"], check["status"]) for check in checks] == [
        ("e/a.case.json", "pass"),
        ("e/b.case.toml", "fail"),
    ]


@pytest.mark.parametrize("folder", ["e", "e/", "."])
def test_a_folder_without_a_case_fails_and_says_so(tmp_path: Path, folder: str) -> None:
    (tmp_path / "e").mkdir()
    coverage = assessed(tmp_path, folder)
    assert coverage.status == "fail"
    assert "the folder holds no case" in coverage.errors[0]
    assert coverage.checks[0]["status"] == "fail"


def test_a_case_in_both_forms_is_an_error_that_names_both(full_case: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path, "a.case.json", full_case)
    put(tmp_path, "a.case.toml", "x = 1")
    for path in ("a.case.json", "a.case.toml"):
        coverage = assessed(tmp_path, path)
        assert coverage.status == "fail"
        assert "a.case.json" in coverage.errors[0]
        assert "a.case.toml" in coverage.errors[0]


def test_a_case_named_twice_counts_once(full_case: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path, "e/a.case.json", full_case)
    assert len(assessed(tmp_path, "e", "e", "e/a.case.json").checks) == 1


@pytest.mark.parametrize(
    "path",
    ["../x.case.json", "/etc/passwd", "gone.case.json", "link.case.json", "out", "pipe.case.json", "a\0b"],
)
def test_a_path_that_cannot_be_read_inside_the_root_fails_closed(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    put(tmp_path, "root-evil/x.case.json", "{}")
    (root / "link.case.json").symlink_to(tmp_path / "root-evil" / "x.case.json")
    (root / "out").symlink_to(tmp_path / "root-evil")
    os.mkfifo(root / "pipe.case.json")
    coverage = assessed(root, path)
    assert (coverage.status, coverage.proved) == ("fail", False)
    assert coverage.errors == coverage.checks[0]["errors"]
    assert coverage.errors[0].isprintable()


@pytest.mark.parametrize(
    "text", ["", "{", '{"a":1,"a":2}', "\ufeff{}", '{"a":NaN}', "[" * 100_000, '{"a":"\udcff"}']
)
def test_a_case_that_does_not_parse_fails_coverage(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.case.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    coverage = assessed(tmp_path, "a.case.json")
    assert coverage.status == "fail"
    assert coverage.errors[0].startswith("a.case.json: ")


def test_a_case_of_200_megabytes_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.case.json").open("wb") as file:
        file.truncate(200_000_000)
    assert "larger than the limit" in assessed(tmp_path, "a.case.json").errors[0]


@pytest.mark.parametrize("value", [None, [], "x", 1, {}])
def test_a_case_of_another_shape_covers_nothing_and_is_not_proved(tmp_path: Path, value: object) -> None:
    put(tmp_path, "a.case.json", value if value != "x" else '"x"')
    coverage = assessed(tmp_path, "a.case.json")
    assert (coverage.status, coverage.families, coverage.proved) == ("pass", [], False)
    assert coverage.checks[0]["status"] == "fail"
    assert coverage.checks[0]["scorer_results"] == []


@pytest.mark.parametrize(
    ("member", "value"), [("verdict", "fail"), ("verdict", "blocked"), ("classification", "permission_drift")]
)
def test_another_judgement_than_the_expected_fails_the_case(
    full_case: dict[str, Any], tmp_path: Path, member: str, value: str
) -> None:
    document = deepcopy(full_case)
    document["expected"][member] = value
    put(tmp_path, "a.case.json", document)
    coverage = assessed(tmp_path, "a.case.json")
    assert (coverage.status, coverage.proved) == ("pass", False)
    assert f"a.case.json: $.expected.{member}: found {value!r}" in coverage.checks[0]["errors"][0]


def test_every_check_fits_the_published_result(repository: Path, tmp_path: Path) -> None:
    put(tmp_path, "bad.case.json", "{}")
    for coverage in (assessed(repository, HOME_EVIDENCE), assessed(tmp_path, "bad.case.json", "gone")):
        result = {"status": "failed", "checks": coverage.checks, "errors": coverage.errors}
        packet = {**result, "runtime_evidence": {"policy_coverage": coverage.document()}}
        assert documents().problems("validation-result", packet) == []


def test_a_case_written_as_toml_is_judged_the_same(repository: Path, tmp_path: Path) -> None:
    source = json.loads((repository / HOME_EVIDENCE / "credential-store-read.case.json").read_text("utf-8"))
    put(tmp_path, "a.case.toml", "\n".join(f"{key} = {_toml(value)}" for key, value in source.items()))
    coverage = assessed(tmp_path, "a.case.toml")
    assert (coverage.proved, coverage.checks[0]["errors"]) == (True, [])


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
