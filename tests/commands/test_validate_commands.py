"""`evals validate` and `evals validate-schema`: exit codes, documents, and findings for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.main import main

CASE = "fixtures/smoke/pr-closeout.case.json"


@pytest.fixture
def world(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh repository with a case and a claim registry, as the working directory."""
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.json").write_bytes((repository / CASE).read_bytes())
    (tmp_path / "sub").mkdir()
    _write(tmp_path / "sub/claims.json", _registry())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(file: Path, document: object) -> None:
    file.write_text(json.dumps(document), encoding="utf-8")


def _registry(**span: int) -> dict[str, Any]:
    claim = {
        "claim_id": "c1",
        "source": {"artifact_path": "x", "span": {"start_line": 1, "end_line": 1, **span}},
        "claim_type": "safety",
        "scenario_family": "nominal",
        "claim_text": "It holds.",
        "expected_inputs": [],
        "expected_outputs": [],
        "required_tools": [],
        "limitations": [],
        "evidence_required": ["run"],
        "grader_type": "deterministic",
        "criticality": "high",
        "status": "evaluable",
    }
    source = {"type": "other", "path": ".", "version": None, "commit": None}
    return {"schema_version": 1, "registry_id": "r", "source_package": source, "claims": [claim]}


def _document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out, err = capsys.readouterr()
    assert err == ""
    value: dict[str, Any] = json.loads(out)
    return value


def test_a_sound_case_passes(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "a.json", "--json"]) == 0
    document = _document(capsys)
    assert (document["status"], document["errors"]) == ("passed", [])
    assert documents().problems("validate-output", document) == []
    assert main(["validate", "a.json"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "PASS  a.json: valid (eval-case)",
        "  checked  case",
        "next: evals run a.json",
    ]
    assert not (world / ".harness").exists()


def test_a_case_that_breaks_its_schema_is_told_where(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(world / "a.json", {**json.loads((world / "a.json").read_text(encoding="utf-8")), "case_id": 5})
    assert main(["validate", "a.json", "--json"]) == 1
    document = _document(capsys)
    assert document["requirement"] == "case validation"
    assert document["errors"] == ["a.json: $.case_id: 5; expected a string"]
    assert documents().problems("validate-output", document) == []
    assert documents().problems("validation-result", document) == []
    assert main(["validate", "a.json"]) == 1
    out, err = capsys.readouterr()
    assert "  - a.json: $.case_id: 5; expected a string" in out.splitlines()
    assert err == "evals: case.validation: a.json: 1 problem (eval-case)\n"


def test_the_latest_pointer_can_be_validated(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "a.json", "--json"]) == 0
    capsys.readouterr()
    assert main(["validate", ".harness/evals/runs/latest.json"]) == 0
    assert capsys.readouterr().out.startswith("PASS  .harness/evals/runs/latest.json: valid (latest-run)")


@pytest.mark.parametrize(
    ("word", "requirement"), [("gone.json", "validation target path"), ("sub", "validation target read")]
)
def test_a_target_that_cannot_be_judged_is_refused(
    world: Path, capsys: pytest.CaptureFixture[str], word: str, requirement: str
) -> None:
    assert main(["validate", word, "--json"]) == 1
    assert _document(capsys)["requirement"] == requirement


def test_a_registry_passes_relative_to_here_and_to_a_named_root(
    world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["validate-schema", "claim-registry", "sub/claims.json", "--json"]) == 0
    document = _document(capsys)
    assert [check["label"] for check in document["checks"]] == [
        "claim-registry schema",
        "claim-registry semantics",
    ]
    assert documents().problems("validate-schema-output", document) == []
    assert main(["validate-schema", "claim-registry", "claims.json", "--repo-root", "sub"]) == 0
    capsys.readouterr()
    monkeypatch.chdir(world / "sub")
    assert main(["validate-schema", "claim-registry", "claims.json"]) == 0


def test_a_registry_that_contradicts_itself_fails(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(world / "sub/claims.json", _registry(start_line=9))
    assert main(["validate-schema", "claim-registry", "sub/claims.json"]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "FAIL  sub/claims.json: 1 problem (claim-registry)"
    assert lines[1].startswith("  - sub/claims.json: $.claims[0].source.span.end_line: 1; expected")
    assert lines[-1] == "next: evals validate-schema claim-registry sub/claims.json"
    assert err.startswith("evals: schema.validation: ")


def test_a_named_root_and_an_awkward_name_are_repeated_so_that_they_can_be_pasted(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(world / "sub/--smoke.json", _registry(start_line=9))
    again = "evals validate-schema claim-registry ./--smoke.json --repo-root sub"
    command = ["validate-schema", "claim-registry", "--repo-root", "sub"]
    assert main([*command, "--json", "--", "--smoke.json"]) == 1
    assert _document(capsys)["recovery"].endswith(f"then {again}")
    assert main([*command, "--", "--smoke.json"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"next: {again}"


def test_a_file_outside_the_named_root_is_refused(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["validate-schema", "claim-registry", "../a.json", "--repo-root", "sub", "--json"]
    assert main(command) == 1
    assert _document(capsys)["requirement"] == "schema validation target path"


def test_a_root_that_is_none_is_refused(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate-schema", "claim-registry", "a.json", "--repo-root", "gone", "--json"]) == 1
    assert _document(capsys)["requirement"] == "repo root option"


def test_an_unknown_kind_exits_2_with_the_supported_ones(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate-schema", "claims", "sub/claims.json", "--json"]) == 2
    document = _document(capsys)
    assert document["supported_schemas"] == ["claim-registry", "score-vector"]
    assert documents().problems("validate-schema-output", document) == []
    assert main(["validate-schema", "claims", "sub/claims.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "there are claim-registry and score-vector" in err
