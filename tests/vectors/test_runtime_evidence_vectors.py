"""Runtime-evidence cases with the outcome that a reference implementation gave; every row must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.policy_coverage import Coverage, assess
from evals_cli.core.runtime_evidence import judge_case
from evals_cli.core.strict_json import loads_unique

KEPT = json.loads((Path(__file__).parent / "data" / "runtime_evidence.json").read_text(encoding="utf-8"))


def _judged(row: dict[str, Any]) -> dict[str, Any]:
    outcome = judge_case(loads_unique(row["text"]), documents())
    families = outcome.coverage()["families"]
    return {
        "name": row["name"],
        "text": row["text"],
        "status": "pass" if outcome.passed else "fail",
        "scorers": [[r["scorer_id"], r["status"], r["failure_class"]] for r in outcome.scorer_results],
        "coverage": outcome.coverage()["status"],
        "families": [[record["family"], record["enforcement_status"]] for record in families],
        "codes": [record["error_code"] for record in families if "error_code" in record],
    }


def _assessed(row: dict[str, Any], root: Path) -> Coverage:
    (root / "x.case.json").write_text(row["text"], encoding="utf-8")
    return assess(str(root), ["x.case.json"], documents())


@pytest.mark.parametrize("row", KEPT, ids=lambda row: row["name"])
def test_a_kept_case_is_judged_as_the_reference_did(row: dict[str, Any]) -> None:
    assert _judged(row) == row


def test_every_reference_case_is_judged_the_same(shared: Path) -> None:
    rows = json.loads((shared / "vectors/runs/runtime_evidence.json").read_text(encoding="utf-8"))
    assert len(rows) == 351
    assert [row["name"] for row in rows if _judged(row) != row] == []


def test_every_reference_case_read_from_its_root_has_the_same_coverage(shared: Path, tmp_path: Path) -> None:
    rows = json.loads((shared / "vectors/runs/runtime_evidence.json").read_text(encoding="utf-8"))
    for row in rows:
        coverage = _assessed(row, tmp_path)
        assert (coverage.status, coverage.checks[0]["status"]) == (row["coverage"], row["status"]), row[
            "name"
        ]
        assert coverage.proved is (row["status"] == "pass"), row["name"]
