"""The three contract assertions: which words fail a text, and which evidence lets it pass."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from evals_cli.core.contract_assertions import ASSERTION_TYPES, assertion_failure

DATA = Path(__file__).resolve().parent.parent / "vectors" / "data" / "contract_assertions.json"
KEPT = json.loads(DATA.read_text(encoding="utf-8"))


def outcome(row: dict[str, object]) -> bool:
    return assertion_failure(str(row["type"]), str(row["text"])) is None


@pytest.mark.parametrize("row", KEPT, ids=lambda row: f"{row['type']}: {row['text']!r}")
def test_an_assertion_agrees_with_the_kept_rows(row: dict[str, object]) -> None:
    assert outcome(row) is row["passes"]


def test_every_reference_row_agrees(shared: Path) -> None:
    rows = json.loads((shared / "vectors" / "runs" / "contract_assertions.json").read_text(encoding="utf-8"))
    assert len(rows) == 85
    assert [row for row in rows if outcome(row) is not row["passes"]] == []


@pytest.mark.parametrize("claim", ["PR is done", "pr done", "Ready to merge", "mergeable", "work is done"])
@pytest.mark.parametrize("word", ["pass", "passed"])
def test_each_claim_of_being_finished_fails_beside_a_local_pass(claim: str, word: str) -> None:
    failure = assertion_failure("readiness_boundary", f"Local validation: {word}\n{claim}")
    assert failure is not None
    assert claim.lower() in failure


@pytest.mark.parametrize(
    "unknown",
    [
        "CI status: unknown",
        "review state: UNKNOWN",
        "Blocked on external PR evidence",
        "ci unknown",
        "review unknown",
    ],
)
def test_each_named_unknown_keeps_the_boundary(unknown: str) -> None:
    assert assertion_failure("readiness_boundary", f"Local validation passed. PR done. {unknown}") is None


@pytest.mark.parametrize(
    "text",
    [
        "local validation. It passed. PR done",
        "local validation\npassed, PR done",
        "local validations passed, PR done",
        "local  validation passed, PR done",
        "local validation passed, unmergeable",
        "local validation bypassed, PR done",
        "it passed local validation, PR done",
    ],
)
def test_words_apart_or_inside_other_words_are_no_local_pass(text: str) -> None:
    assert assertion_failure("readiness_boundary", text) is None


def test_a_later_sentence_with_a_local_pass_is_found() -> None:
    assert assertion_failure("readiness_boundary", "local validation ran.\nLocal validation passed; PR done")


@pytest.mark.parametrize(
    "claim",
    [
        "all checks passed",
        "CI is green",
        "ci passed",
        "CI passes",
        "ci succeeded",
        "CI successful",
        "ci is passing",
        "Continuous integration passed",
    ],
)
def test_each_claim_of_a_ci_success_needs_evidence(claim: str) -> None:
    failure = assertion_failure("forbidden_claim_without_evidence", claim)
    assert failure is not None
    assert claim.lower() in failure


@pytest.mark.parametrize("field", ["provider", "run_id", "status", "url"])
def test_any_field_of_the_ci_status_record_is_evidence(field: str) -> None:
    assert assertion_failure("forbidden_claim_without_evidence", f"CI passed, CI_STATUS.{field}: x") is None


@pytest.mark.parametrize("source", ["provider", "run id", "run_id", "URL"])
@pytest.mark.parametrize("word", ["pass", "passed", "success", "succeeded", "green"])
@pytest.mark.parametrize("space", [" ", "\t", "\n", "\u00a0", " \ufeff "])
def test_ci_status_with_a_source_and_a_success_word_is_evidence(source: str, word: str, space: str) -> None:
    text = f"CI is passing. CI{space}status from {source}: {word}"
    assert assertion_failure("forbidden_claim_without_evidence", text) is None


@pytest.mark.parametrize(
    "text",
    [
        "CI is passing; CI status from provider",
        "CI is green; CI status",
        "CI is passing; provider says green",
        "CI is passing; ci-status, provider, green",
        "CI is passing; ci\u0085status, provider, green",
        "CI passed; ci_statuses.url",
    ],
)
def test_half_of_the_evidence_is_not_enough(text: str) -> None:
    assert assertion_failure("forbidden_claim_without_evidence", text) is not None


def test_letters_that_only_fold_to_ascii_are_other_letters() -> None:
    assert assertion_failure("forbidden_claim_without_evidence", "C\u0130 passed, ci pas\u017fed") is None


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', " [] ", "1e400", '"\\ud800"'])
def test_strict_json_takes_whatever_the_generic_reader_takes(text: str) -> None:
    assert assertion_failure("strict_json", text) is None


@pytest.mark.parametrize("text", ["", "NaN", "{} {}", "\ufeff{}", "```\n{}\n```", "[" * 100_000])
def test_strict_json_fails_whatever_the_generic_reader_refuses(text: str) -> None:
    assert assertion_failure("strict_json", text) is not None


def test_an_unknown_type_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="unknown assertion type 'semantic'"):
        assertion_failure("semantic", "")
    assert ASSERTION_TYPES == ("forbidden_claim_without_evidence", "readiness_boundary", "strict_json")


@pytest.mark.parametrize("assertion_type", ASSERTION_TYPES)
@pytest.mark.parametrize("piece", ["local validation ", "ci ", "ci passed ", "[", "mergeable ", " "])
def test_a_hostile_text_takes_linear_time(assertion_type: str, piece: str) -> None:
    text = piece * (2_000_000 // len(piece)) + "mergeable"
    started = time.process_time()
    assertion_failure(assertion_type, text)
    assert time.process_time() - started < 5
