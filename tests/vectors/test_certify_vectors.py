"""Every vector of capsules and entries, with the fast way on from the first line: outcomes stay the same."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from evals_cli.core import canonical, capsule, envelope, journal
from evals_cli.core.errors import EvalsError
from evals_cli.core.metadata import IDENTITY_FIELDS

_DATA = Path(__file__).parent / "data"
_CAPSULES = json.loads((_DATA / "capsule_rows.json").read_text("utf-8"))
_ENTRIES = json.loads((_DATA / "envelope_rows.json").read_text("utf-8"))["envelope"]


@pytest.fixture(name="fast", autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "EXACT_BYTES", 0)


def _check_capsule(row: dict[str, Any], folder: Path) -> None:
    folder.mkdir()
    for name, data in row["files"].items():
        (folder / name).write_bytes(base64.b64decode(data))
    verdict = capsule.verify(folder).as_dict()
    reason = verdict.pop("reason")
    assert verdict == row["verify"], reason
    if verdict["ok"]:
        assert canonical.canonical_json(capsule.project(folder)) == row["projection"]


@pytest.mark.parametrize(
    "row", _CAPSULES, ids=[f"{at}-{row['mutation']}" for at, row in enumerate(_CAPSULES)]
)
def test_kept_capsule_agrees_the_fast_way(row: dict[str, Any], tmp_path: Path) -> None:
    _check_capsule(row, tmp_path / "capsule")


def test_every_reference_capsule_agrees_the_fast_way(shared: Path, tmp_path: Path) -> None:
    for index, row in enumerate(json.loads((shared / "vectors" / "capsules" / "capsule.json").read_bytes())):
        _check_capsule(row, tmp_path / str(index))


def _outcome(identity: tuple[str, ...], line: bytes, exact_bytes: int) -> tuple[object, ...]:
    scan = journal.Scan(identity, exact_bytes=exact_bytes)
    scan.feed(line + b"\n")
    fault = scan.finish()
    return (fault and (fault.code, fault.reason), scan.chain.count, scan.chain.parent_hash, scan.mismatch_at)


def _check_entry(row: dict[str, Any]) -> None:
    """The entry as the first line of a journal: as it is written, and as canonical text."""
    text = row["entry_text"]
    lines = [text.encode("utf-8", "surrogatepass")]
    identity = ("capsule-envelope/v1", "r", "c", "h", "t")
    try:
        entry = canonical.loads(text)
        lines.append(canonical.canonical_bytes(entry))
    except EvalsError:
        entry = None
    if isinstance(entry, dict) and all(isinstance(entry.get(field), str) for field in IDENTITY_FIELDS):
        identity = tuple([entry[field] for field in IDENTITY_FIELDS])
    for line in lines:
        assert _outcome(identity, line, 0) == _outcome(identity, line, 1 << 40), text
    if isinstance(entry, dict) and not envelope.validate_envelope(entry):
        _check_sealed(identity, entry)


def _check_sealed(identity: tuple[str, ...], entry: dict[str, Any]) -> None:
    """A valid entry, moved to the start of a chain and sealed anew, is good both ways."""
    body = {**entry, "seq": 0, "parent_hash": envelope.GENESIS_HASH}
    line = envelope.sealed_text(body).line
    assert _outcome(identity, line, 0) == _outcome(identity, line, 1 << 40)
    assert _outcome(identity, line, 0)[0] is None


@pytest.mark.parametrize("row", _ENTRIES, ids=range(len(_ENTRIES)))
def test_kept_entry_has_one_outcome_both_ways(row: dict[str, Any]) -> None:
    _check_entry(row)


def test_every_reference_entry_has_one_outcome_both_ways(shared: Path) -> None:
    for row in json.loads((shared / "vectors" / "capsules" / "envelope.json").read_bytes()):
        _check_entry(row)


def test_every_reference_secret_is_found_the_fast_way(shared: Path) -> None:
    rows = json.loads((shared / "vectors" / "capsules" / "canaries.json").read_bytes())
    fixed = dict(zip(IDENTITY_FIELDS, ("capsule-envelope/v1", "r", "c", "h", "t"), strict=True))
    body = {**fixed, "lineage": "plan", "kind": "step", "effect_class": "SE0", "seq": 0}
    body |= {"ts": "2026-08-20T00:00:00.000Z", "parent_hash": envelope.GENESIS_HASH}
    for row in rows:
        line = envelope.sealed_text({**body, "payload": {"note": row["value"]}}).line
        fault, *_ = _outcome(tuple(fixed.values()), line, 0)
        assert (fault is None) == (not row["findings"]), row
