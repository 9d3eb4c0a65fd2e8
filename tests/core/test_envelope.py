"""Entries: the form of each field, the default-deny payload, and the hash that seals both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals_cli.core import canonical, envelope
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable


def _entry(**changes: object) -> dict:
    entry = {
        "schema": "capsule-envelope/v1",
        "run_id": "run-1",
        "capsule_id": "cap-1",
        "seq": 0,
        "ts": "2026-08-20T00:00:00.000Z",
        "lineage": "plan",
        "kind": "step.start",
        "effect_class": "SE0",
        "harness_version": "h/1 \ud83d",
        "task_family": "slugify",
        "parent_hash": envelope.GENESIS_HASH,
        "payload": {"note": "é\u2028\n", "exit_code": None, "score": 1.5, "tokens_in": 2.0, "passed": -3},
    }
    entry.update(changes)
    entry["entry_hash"] = changes.get("entry_hash", _hash_or_zeros(entry))
    return entry


def _hash_or_zeros(entry: dict) -> str:
    try:
        return envelope.compute_entry_hash(entry)
    except EvalsError:
        return envelope.GENESIS_HASH


def test_a_sealed_entry_has_no_problems() -> None:
    assert envelope.validate_envelope(_entry()) == []


def test_the_sealed_line_is_the_canonical_text_of_the_entry() -> None:
    entry = _entry()
    sealed = envelope.sealed_text(entry)
    assert sealed.line == canonical.canonical_bytes(entry)
    assert sealed.entry_hash == entry["entry_hash"] == envelope.compute_entry_hash(entry)


def test_the_hash_ignores_the_hash_that_an_entry_carries() -> None:
    assert envelope.compute_entry_hash(_entry(entry_hash="x")) == envelope.compute_entry_hash(_entry())


def test_hashing_something_else_than_a_dict_is_the_callers_mistake() -> None:
    with pytest.raises(TypeError):
        envelope.compute_entry_hash([])  # type: ignore[arg-type]  # the mistake under test


_LONG_ID = "a" * 129
_BAD_FIELDS: list[tuple[str, object]] = [
    ("schema", "capsule-envelope/v2"),
    ("schema", "capsule-envelope/v1\n"),
    ("schema", None),
    ("run_id", ""),
    ("run_id", "-a"),
    ("run_id", "a\n"),
    ("run_id", "a b"),
    ("run_id", "é"),
    ("run_id", _LONG_ID),
    ("run_id", 5),
    ("capsule_id", "a/b"),
    ("seq", -1),
    ("seq", 1.5),
    ("seq", True),
    ("seq", "0"),
    ("seq", float("inf")),
    ("ts", "2026-02-30T00:00:00Z"),
    ("ts", "foo 1"),
    ("ts", "2026-08-20T00:00:00Z\n"),
    ("ts", 5),
    ("lineage", "plan "),
    ("lineage", None),
    ("kind", "Bad"),
    ("kind", "9a"),
    ("kind", "a\n"),
    ("kind", "a" * 65),
    ("kind", ""),
    ("effect_class", "SE5"),
    ("effect_class", []),
    ("harness_version", ""),
    ("harness_version", 1),
    ("task_family", ""),
    ("parent_hash", "F" * 64),
    ("parent_hash", "0" * 63),
    ("parent_hash", "0" * 64 + "\n"),
    ("payload", None),
    ("payload", []),
    ("payload", {"x": 1}),
    ("payload", {1: "x"}),
    ("payload", {"note": "token = 12345678"}),
    ("payload", {"note": 5}),
    ("payload", {"note": ["a"]}),
    ("payload", {"note": {"a": 1}}),
    ("payload", {"note": object()}),
    ("payload", {"tokens_in": 1.5}),
    ("payload", {"tokens_in": True}),
    ("payload", {"tokens_in": None}),
    ("payload", {"tokens_in": 10**400}),
    ("payload", {"cost_usd": float("nan")}),
    ("payload", {"exit_code": "0"}),
    ("payload", {"exit_code": float("-inf")}),
    ("entry_hash", "0" * 64),
    ("entry_hash", "0"),
    ("entry_hash", None),
]


@pytest.mark.parametrize(("field", "value"), _BAD_FIELDS)
def test_a_field_of_the_wrong_form_is_named_and_its_value_is_not(field: str, value: object) -> None:
    problems = envelope.validate_envelope(_entry(**{field: value}))
    assert len(problems) == 1
    assert problems[0].startswith(f"$.{field}")
    assert "12345678" not in problems[0]
    assert "\n" not in problems[0]


@pytest.mark.parametrize("field", envelope.FIELDS)
def test_each_field_is_required(field: str) -> None:
    entry = _entry()
    del entry[field]
    problems = envelope.validate_envelope(entry)
    assert problems == [f"$.{field}: missing; every field of an entry is required"]


def test_all_problems_are_reported_and_unknown_fields_are_counted() -> None:
    problems = envelope.validate_envelope(_entry(seq=-1, kind="", extra=1, __proto__=2))
    assert [problem.split(":")[0] for problem in problems] == ["$", "$.seq", "$.kind"]
    assert "2 unknown" in problems[0]


@pytest.mark.parametrize("value", [None, 5, "text", [], True, 1.5, (), object()])
def test_what_is_no_object_is_one_problem(value: object) -> None:
    assert len(envelope.validate_envelope(value)) == 1


@pytest.mark.parametrize("value", [2, 2.0, 1e300, -7, 0, -0.0, 9007199254740993])
def test_any_finite_integral_number_is_an_integer(value: float) -> None:
    assert envelope.validate_envelope(_entry(payload={"hits": value})) == []


def test_the_longest_id_and_kind_are_accepted() -> None:
    entry = _entry(run_id="a" * 128, capsule_id="A.b:c_d-9", kind="k" * 64)
    assert envelope.validate_envelope(entry) == []


def test_redaction_keeps_what_the_format_has_and_sorts_what_it_drops() -> None:
    redaction = envelope.redact_payload({"z": 1, "note": "a", "\U0001f600": 2, "\ufb03": 3, "hits": 4})
    assert redaction.payload == {"note": "a", "hits": 4}
    assert redaction.dropped == ["z", "\U0001f600", "\ufb03"]
    assert redaction.findings == redaction.errors == []
    assert "dropped=['z'" in repr(redaction)


def test_an_allowlist_narrows_and_never_widens() -> None:
    redaction = envelope.redact_payload({"note": "a", "hits": "wrong", "x": 1}, ["note", "x"])
    assert redaction.payload == {"note": "a"}
    assert redaction.dropped == ["hits", "x"]
    assert redaction.errors == []


def test_a_wrong_type_stops_the_scan_for_secrets() -> None:
    redaction = envelope.redact_payload({"note": "token = 12345678", "hits": "x"})
    assert redaction.errors
    assert redaction.findings == []


def test_one_text_as_allowlist_is_the_callers_mistake() -> None:
    with pytest.raises(TypeError):
        envelope.redact_payload({}, "note")


_FORMS: list[tuple[Callable[[object], bool], object]] = [
    (envelope.is_id, "run-1"),
    (envelope.is_kind, "a.b"),
    (envelope.is_hash, "0" * 64),
    (envelope.is_lineage, "strategy"),
    (envelope.is_effect_class, "SE4"),
]


@pytest.mark.parametrize(("has_form", "good"), _FORMS)
def test_forms_of_single_values_take_text_only(has_form: Callable[[object], bool], good: object) -> None:
    assert has_form(good)
    assert not any(has_form(value) for value in (None, 5, [], good + "\n"))  # type: ignore[operator]  # str
