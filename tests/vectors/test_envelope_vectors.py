"""Entries, payloads and secrets: every row agrees with what a reference implementation gave.

The rows in `data/envelope_rows.json` are always tested; the full tables where the reference material is.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals_cli.core import canonical, envelope
from evals_cli.core.timestamps import parse_ms

_DATA = json.loads((Path(__file__).parent / "data" / "envelope_rows.json").read_text("utf-8"))
_TABLES = ("envelope", "redact", "canaries")


def _is_refused_here_on_purpose(entry: object) -> bool:
    # Deliberate exception 4: times that the reference's engine parses although the standard format or the
    # calendar does not have them (`2026-02-30` rolls over there). All else about such an entry must be good.
    return isinstance(entry, dict) and isinstance(entry.get("ts"), str) and parse_ms(entry["ts"]) is None


def _check_envelope(row: dict) -> None:
    entry = canonical.loads(row["entry_text"])
    problems = envelope.validate_envelope(entry)
    if row["valid"] and _is_refused_here_on_purpose(entry):
        assert [problem[:5] for problem in problems] == ["$.ts:"]
        return
    assert (not problems) == row["valid"], problems


def _check_redact(row: dict) -> None:
    redaction = envelope.redact_payload(canonical.loads(row["payload_text"]), row["allowlist"])
    assert canonical.canonical_json(redaction.payload) == canonical.canonical_json(row["kept"])
    assert redaction.dropped == row["dropped"]
    assert redaction.findings == row["findings"]
    assert bool(redaction.errors) == row["invalid"]


def _check_canaries(row: dict) -> None:
    assert envelope.scan_for_canaries({"note": row["value"]}) == row["findings"]


_CHECKS = {"envelope": _check_envelope, "redact": _check_redact, "canaries": _check_canaries}


@pytest.mark.parametrize(
    ("table", "row"),
    [(table, row) for table in _TABLES for row in _DATA[table]],
    ids=[f"{table}-{index}" for table in _TABLES for index in range(len(_DATA[table]))],
)
def test_kept_row_agrees(table: str, row: dict) -> None:
    _CHECKS[table](row)


@pytest.mark.parametrize("table", _TABLES)
def test_every_reference_row_agrees(table: str, shared: Path) -> None:
    rows = json.loads((shared / "vectors" / "capsules" / f"{table}.json").read_bytes())
    assert rows
    for index, row in enumerate(rows):
        try:
            _CHECKS[table](row)
        except AssertionError as error:
            raise AssertionError(f"{table} row {index}: {error}") from error
