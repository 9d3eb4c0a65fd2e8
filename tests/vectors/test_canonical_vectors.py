"""Canonical text and hashes agree with another implementation's, row by row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals_cli.core.canonical import canonical_json, loads, sha256_hex
from evals_cli.core.errors import EvalsError

OWN = json.loads((Path(__file__).parent / "data/canonical.json").read_text("utf-8"))


def outcome(text: str) -> tuple[str | None, str | None]:
    try:
        canonical = canonical_json(loads(text))
    except EvalsError:
        return None, None
    return canonical, sha256_hex(canonical)


def expected(row: dict[str, str]) -> tuple[str | None, str | None]:
    return row.get("canonical"), row.get("sha256")


@pytest.mark.parametrize("row", OWN, ids=lambda row: row["text"][:30].encode("unicode_escape").decode())
def test_a_kept_row_agrees(row: dict[str, str]) -> None:
    assert outcome(row["text"]) == expected(row)


def test_every_row_agrees(shared: Path) -> None:
    rows = json.loads((shared / "vectors/capsules/canonical.json").read_text("utf-8"))
    assert len(rows) > 500
    wrong = [row["text"] for row in rows if outcome(row["text"]) != expected(row)]
    assert wrong == []
