"""What must hold for every value, not only for the examples: hashes, redaction, and tampering.

- Canonical text reads back to itself, and spelling (order, white space, escapes) never changes a hash.
- Redaction invents nothing and lets nothing through that the format lacks.
- An entry that validates is sealed by the same text as canonical JSON gives.
- No byte of a journal can change without being refused; of the metadata only created_at and extra keys can.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals_cli.core import canonical, capsule, envelope

if TYPE_CHECKING:
    from pathlib import Path

_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
_NUMBER = st.one_of(
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 1e21, 1e-7, 2**53, 5e-324]),
)
_SCALAR = st.one_of(st.none(), st.booleans(), _NUMBER, _TEXT)
_VALUE = st.recursive(
    _SCALAR, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXT, inner, max_size=4))
)

_BY_FORM = {
    "text": _TEXT,
    "an integer": st.integers(-(2**60), 2**60),
    "an integer or null": st.none() | st.integers(-5, 5),
    "a finite number": _NUMBER,
}
_PAYLOAD = st.fixed_dictionaries(
    {}, optional={key: _BY_FORM[form] for key, form in envelope.PAYLOAD_TYPES.items()}
).map(lambda payload: dict(list(payload.items())[:6]))


def _entry(payload: dict[str, Any], harness_version: str = "h/1") -> dict[str, Any]:
    entry = {
        "schema": envelope.SCHEMA_VERSION,
        "run_id": "run-1",
        "capsule_id": "cap-1",
        "seq": 0,
        "ts": "2026-08-20T00:00:00.000Z",
        "lineage": "plan",
        "kind": "step",
        "effect_class": "SE0",
        "harness_version": harness_version,
        "task_family": "slugify",
        "parent_hash": envelope.GENESIS_HASH,
        "payload": payload,
    }
    entry["entry_hash"] = envelope.compute_entry_hash(entry)
    return entry


@given(_VALUE)
def test_canonical_text_reads_back_to_itself(value: object) -> None:
    text = canonical.canonical_json(value)
    assert canonical.canonical_json(canonical.loads(text)) == text
    assert canonical.canonical_json(canonical.loads(canonical.canonical_bytes(value))) == text


def _respelled(value: object, draw: Any) -> str:
    """Another JSON text of the same value: order, white space and escapes as `draw` chooses."""
    space = draw(st.sampled_from(["", " ", "\n\t", "\r "]))
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        members = [f"{_respelled(key, draw)}{space}:{_respelled(value[key], draw)}" for key in keys]
        return f"{space}{{{space}{(',' + space).join(members)}}}{space}"
    if isinstance(value, list):
        return f"[{space}{','.join(_respelled(item, draw) for item in value)}]{space}"
    if isinstance(value, str):
        return space + json.dumps(value, ensure_ascii=draw(st.booleans()))
    return space + canonical.canonical_json(value)


@given(_VALUE, st.data())
def test_spelling_never_changes_a_hash(value: object, data: st.DataObject) -> None:
    plain = canonical.loads(canonical.canonical_json(value))
    text = _respelled(plain, data.draw)
    assert canonical.hash_value(canonical.loads(text)) == canonical.hash_value(value)


@given(st.dictionaries(st.sampled_from(sorted(envelope.PAYLOAD_TYPES)) | _TEXT, _SCALAR, max_size=6))
def test_redaction_never_invents_and_never_loses_track(payload: dict[str, Any]) -> None:
    redaction = envelope.redact_payload(payload)
    assert all(payload[key] is value for key, value in redaction.payload.items())
    assert redaction.payload.keys() <= envelope.PAYLOAD_TYPES.keys()
    assert set(redaction.dropped) == payload.keys() - envelope.PAYLOAD_TYPES.keys()
    assert len(redaction.payload) + len(redaction.dropped) + len(redaction.errors) == len(payload)
    assert not (redaction.errors and redaction.findings)


@given(_VALUE, st.none() | st.lists(_TEXT))
def test_redaction_takes_any_value(payload: object, allowlist: list[str] | None) -> None:
    redaction = envelope.redact_payload(payload, allowlist)
    assert isinstance(payload, dict) or redaction.errors


@given(_VALUE)
def test_validation_takes_any_value(value: object) -> None:
    assert all(problem.isprintable() for problem in envelope.validate_envelope(value))


@given(_PAYLOAD, _TEXT.filter(bool))
def test_a_valid_entry_is_sealed_by_its_canonical_text(payload: dict[str, Any], version: str) -> None:
    entry = _entry(payload, version)
    problems, sealed = envelope.judge(entry)
    if sealed is not None:
        assert sealed.line == canonical.canonical_bytes(entry)
        assert sealed.entry_hash == entry["entry_hash"]
    assert all("canary" in problem for problem in problems)


_RECORDS = [
    {"lineage": lineage, "kind": "step", "payload": payload, "effect_class": effect}
    for lineage, payload, effect in zip(
        envelope.LINEAGES,
        [
            {"note": 'é😀\u2028\n"', "exit_code": None},
            {"score": 0.1, "cost_usd": 1e-7},
            {},
            {"tokens_in": 1e21},
            {"status": ""},
        ],
        envelope.EFFECT_CLASSES,
        strict=True,
    )
]


def _fresh(folder: Path) -> tuple[bytes, bytes]:
    made = capsule.Capsule.create(
        folder, run_id="run-1", capsule_id="cap-1", clock=lambda: "2026-08-20T00:00:00.000Z"
    )
    made.append_many(_RECORDS)
    return (folder / "journal.ndjson").read_bytes(), (folder / "capsule.json").read_bytes()


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tampered") / "capsule"


@pytest.fixture(name="original", scope="module")
def _original(folder: Path) -> tuple[bytes, bytes]:
    return _fresh(folder)


_ONE_CHANGE = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_ONE_CHANGE
@given(data=st.data())
def test_no_byte_of_a_journal_changes_unnoticed(
    folder: Path, original: tuple[bytes, bytes], data: st.DataObject
) -> None:
    journal, _ = original
    position = data.draw(st.integers(0, len(journal) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != journal[position]))
    changed = journal[:position] + bytes([byte]) + journal[position + 1 :]
    (folder / "journal.ndjson").write_bytes(changed)
    verdict = capsule.verify(folder)
    line = journal.count(b"\n", 0, position)
    assert not verdict.ok
    assert verdict.root_hash is None
    assert verdict.failed_at in (None, line) or verdict.code == "capsule.truncated_tail"


@_ONE_CHANGE
@given(data=st.data())
def test_no_byte_is_added_to_or_taken_from_a_journal_unnoticed(
    folder: Path, original: tuple[bytes, bytes], data: st.DataObject
) -> None:
    journal, _ = original
    position = data.draw(st.integers(0, len(journal) - 1))
    added = data.draw(st.binary(max_size=1))
    changed = journal[:position] + added + journal[position + (0 if added else 1) :]
    (folder / "journal.ndjson").write_bytes(changed)
    assert capsule.verify(folder).ok == (changed == journal)


@_ONE_CHANGE
@given(data=st.data())
def test_a_byte_of_the_metadata_changes_unnoticed_only_outside_the_identity(
    folder: Path, original: tuple[bytes, bytes], data: st.DataObject
) -> None:
    journal, metadata = original
    position = data.draw(st.integers(0, len(metadata) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != metadata[position]))
    changed = metadata[:position] + bytes([byte]) + metadata[position + 1 :]
    (folder / "journal.ndjson").write_bytes(journal)
    (folder / "capsule.json").write_bytes(changed)
    verdict = capsule.verify(folder)
    if verdict.ok:
        before, after = canonical.loads(metadata), canonical.loads(changed)
        assert {**before, "created_at": ""} == {**after, "created_at": ""}
    else:
        assert verdict.code in ("capsule.metadata_invalid", "capsule.metadata_mismatch")
        assert verdict.entry_count == len(_RECORDS)


def test_what_the_chain_does_not_cover_is_known(folder: Path, original: tuple[bytes, bytes]) -> None:
    journal, metadata = original
    lines = journal.splitlines(keepends=True)
    changed = {**canonical.loads(metadata), "created_at": "1999-01-01T00:00:00.000Z", "extra": 1}
    (folder / "capsule.json").write_bytes(canonical.canonical_bytes(changed))
    (folder / "journal.ndjson").write_bytes(b"".join(lines[:2]))
    assert capsule.verify(folder).entry_count == 2
