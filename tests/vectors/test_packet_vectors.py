"""Promotion and improvement packets with the verdict that a reference implementation gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.improvements import validate_improvements
from evals_cli.core.promotions import validate_promotions

KEPT = json.loads((Path(__file__).parent / "data" / "packets.json").read_text(encoding="utf-8"))


def _verdicts(row: dict[str, Any], root: Path, installed: Path) -> tuple[str, str]:
    for name, text in row["files"].items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    promotions = validate_promotions(str(root), documents(), lambda: str(installed))
    improvements = validate_improvements(str(root), documents(), lambda: str(installed))
    return promotions.document("again")["status"], improvements.document("again")["status"]


@pytest.mark.parametrize("row", KEPT, ids=lambda row: row["name"])
def test_a_kept_root_gets_the_reference_verdicts(
    row: dict[str, Any], tmp_path: Path, repository: Path
) -> None:
    assert _verdicts(row, tmp_path, repository) == (row["promotions"], row["improvements"])


def test_every_reference_root_gets_the_same_verdicts(shared: Path, tmp_path: Path, repository: Path) -> None:
    rows = json.loads((shared / "vectors/runs/packets.json").read_text(encoding="utf-8"))
    assert len(rows) == 33
    for index, row in enumerate(rows):
        root = tmp_path / str(index)
        root.mkdir()
        assert _verdicts(row, root, repository) == (row["promotions"], row["improvements"]), row["name"]
