"""The contract catalog: where it stands, what makes a contract valid, and that fixtures prove it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core import contracts
from evals_cli.core.contract_assertions import ASSERTION_TYPES
from evals_cli.core.errors import FileError, RequirementError

CONTRACT = "contracts/output/x.v1.json"


def contract(**changes: Any) -> dict[str, Any]:
    document = {
        "schema_version": 1,
        "id": "output.x.v1",
        "version": 1,
        "scope": "shared-contract",
        "owner": "tests",
        "category": "output",
        "severity": "low",
        "summary": "JSON only.",
        "applies_to": ["tests"],
        "proves": ["p"],
        "does_not_prove": ["n"],
        "fixtures": {"good": ["good.json"], "bad": ["bad.md"]},
        "assertions": [{"type": "strict_json", "description": "JSON."}],
    }
    return {**document, **changes}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, CONTRACT, contract())
    put(tmp_path, "good.json", "[]")
    put(tmp_path, "bad.md", "no JSON")
    return tmp_path


def put(root: Path, name: str, value: object) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def problems(root: Path) -> list[str]:
    report = contracts.prove_catalog(str(root), documents())
    assert report.passed is (not report.problems)
    return list(report.problems)


def test_the_shipped_catalog_is_proved_by_its_fixtures(repository: Path) -> None:
    report = contracts.prove_catalog(str(repository), documents())
    assert report.problems == ()
    assert report.catalog.adopted == [
        "evidence.local-pass-is-not-pr-done.v1",
        "evidence.no-fake-ci-pass.v1",
        "output.strict-json-when-requested.v1",
    ]


def test_the_shipped_catalog_uses_every_assertion_and_every_shipped_fixture(repository: Path) -> None:
    catalog = contracts.load_catalog(str(repository), documents())
    assert {kind for item in catalog.contracts for kind in item.assertions} == set(ASSERTION_TYPES)
    named = {path for item in catalog.contracts for path in (*item.good, *item.bad)}
    files = {file.relative_to(repository).as_posix() for file in repository.glob("fixtures/contracts/*/*")}
    assert named == files


def test_categories_are_those_of_the_schema(repository: Path) -> None:
    schema = json.loads((repository / "schemas/contract.schema.json").read_text("utf-8"))
    assert sorted(schema["properties"]["category"]["enum"]) == list(contracts.CATEGORIES)
    types = schema["properties"]["assertions"]["items"]["properties"]["type"]["enum"]
    assert tuple(types) == ASSERTION_TYPES


def test_what_a_catalog_proves_is_the_union_in_order(root: Path) -> None:
    put(root, "contracts/docs/a.json", contract(id="docs.a", category="docs", proves=["q", "p"]))
    catalog = contracts.load_catalog(str(root), documents())
    assert (catalog.adopted, catalog.proves, catalog.does_not_prove) == (
        ["docs.a", "output.x.v1"],
        ["q", "p"],
        ["n"],
    )


def test_a_bad_fixture_is_found_under_any_spelling(root: Path) -> None:
    catalog = contracts.load_catalog(str(root), documents())
    assert [item.path for item in catalog.with_bad_fixture(".//bad.md")] == [CONTRACT]
    assert catalog.with_bad_fixture("good.json") == []


def test_a_good_fixture_that_fails_is_a_problem(root: Path) -> None:
    put(root, "good.json", "words")
    (problem,) = problems(root)
    assert problem.startswith(f"{CONTRACT}: $.fixtures.good[0]: good.json must pass but fails strict_json: ")


def test_a_bad_fixture_that_passes_is_a_problem(root: Path) -> None:
    put(root, "bad.md", "{}")
    assert problems(root) == [f"{CONTRACT}: $.fixtures.bad[0]: bad.md must fail but passes every assertion"]


def test_a_bad_fixture_needs_to_fail_one_assertion_only(root: Path) -> None:
    both = [{"type": kind, "description": "x"} for kind in ("strict_json", "readiness_boundary")]
    put(root, CONTRACT, contract(assertions=both))
    assert problems(root) == []


@pytest.mark.parametrize(
    "fixture", ["gone.md", "../outside.md", "/etc/hostname", "out.md", "pipe.md", "contracts", "a\ud800.md"]
)
def test_a_fixture_that_cannot_be_read_inside_the_root_is_a_problem(root: Path, fixture: str) -> None:
    put(root.parent, f"{root.name}-evil/x.md", "words")
    (root / "out.md").symlink_to(root.parent / f"{root.name}-evil" / "x.md")
    os.mkfifo(root / "pipe.md")
    put(root, CONTRACT, contract(fixtures={"good": ["good.json"], "bad": [fixture]}))
    (problem,) = problems(root)
    assert problem.startswith(f"{CONTRACT}: $.fixtures.bad[0]: ")
    assert problem.isprintable()


def test_a_fixture_that_is_no_text_is_a_problem(root: Path) -> None:
    (root / "bad.md").write_bytes(b"\xff")
    assert "not valid UTF-8" in problems(root)[0]


def test_the_id_is_the_path(root: Path) -> None:
    put(root, CONTRACT, contract(id="output.y.v1"))
    assert problems(root) == [f"{CONTRACT}: $.id: found 'output.y.v1'; at this path the id is 'output.x.v1'"]


def test_the_category_is_the_folder(root: Path) -> None:
    put(root, CONTRACT, contract(category="docs"))
    (problem,) = problems(root)
    assert problem.startswith(
        f"{CONTRACT}: $.category: found 'docs' in the folder 'output'; move the file to "
    )


@pytest.mark.parametrize("text", ["", "{", '{"a":1,"a":2}', "[" * 100_000, "NaN", "null", "[]", "{}"])
def test_a_contract_that_is_none_is_a_problem_and_loads_nothing(root: Path, text: str) -> None:
    put(root, CONTRACT, text)
    assert problems(root)[0].startswith(f"{CONTRACT}: ")
    with pytest.raises(RequirementError) as refused:
        contracts.load_catalog(str(root), documents())
    assert (refused.value.code, refused.value.requirement) == ("contract.validation", "contract validation")


def test_an_empty_root_has_no_catalog(tmp_path: Path) -> None:
    assert contracts.has_own_catalog(str(tmp_path)) is False
    assert contracts.catalog_root(str(tmp_path), lambda: "installed") == "installed"
    assert "no contract found" in problems(tmp_path)[0]
    with pytest.raises(RequirementError, match="no contract found"):
        contracts.load_catalog(str(tmp_path), documents())


def test_a_folder_of_other_contracts_is_no_catalog(tmp_path: Path) -> None:
    put(tmp_path, "contracts/abi/token.json", "{}")
    put(tmp_path, "contracts/token.json", "{}")
    put(tmp_path, "contracts/docs/readme.md", "")
    (tmp_path / "contracts" / "vendor").symlink_to("/usr")
    assert contracts.has_own_catalog(str(tmp_path)) is False


def test_a_root_with_a_contract_has_its_own_catalog(root: Path) -> None:
    assert contracts.catalog_root(str(root), lambda: "installed") == str(root)


def test_a_contract_in_an_unknown_category_is_a_problem(root: Path) -> None:
    put(root, "contracts/other/y.v1.json", contract(id="other.y.v1", category="other"))
    assert problems(root)[0].startswith("contracts/other/y.v1.json: $.category: ")


def test_a_category_that_leads_out_of_the_root_is_refused(root: Path, tmp_path: Path) -> None:
    put(tmp_path.parent, f"{tmp_path.name}-evil/x.json", contract())
    (root / "contracts" / "docs").symlink_to(tmp_path.parent / f"{tmp_path.name}-evil")
    with pytest.raises(FileError) as refused:
        contracts.has_own_catalog(str(root))
    assert refused.value.code == "path.outside_root"


def test_a_passing_result_says_what_is_proved_and_a_failing_one_does_not(root: Path) -> None:
    good = contracts.prove_catalog(str(root), documents()).document("again")
    assert (good["status"], good["adopted_contracts"], good["errors"]) == ("passed", ["output.x.v1"], [])
    put(root, "bad.md", "{}")
    bad = contracts.prove_catalog(str(root), documents()).document("again")
    assert (bad["status"], bad["requirement"], bad["recovery"]) == ("failed", "contract validation", "again")
    assert not {"adopted_contracts", "proves", "shared_contract_status"} & bad.keys()
    for result in (good, bad):
        assert documents().problems("validate-contracts-output", result) == []
        assert documents().problems("validation-result", result) == []
