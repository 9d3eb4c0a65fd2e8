"""What a run writes passes the check of the latest bundle, in every form that a run can take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core import run_bundle
from evals_cli.core.bundle_check import check_bundle
from evals_cli.core.bundle_files import BundleFiles
from evals_cli.core.errors import RequirementError
from evals_cli.core.limits import CASE as LIMIT

if TYPE_CHECKING:
    from .conftest import Consumer

CASE = ".evals/cases/closeout.case.json"


def _problems(consumer: Consumer, prefix: str = ".harness/evals/runs") -> list[str]:
    root = str(consumer.root)
    return check_bundle(root, prefix, BundleFiles(root), documents(), home=False).problems


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("word", [".evals/suite.json", CASE])
def test_a_passing_run_passes_the_check(consumer: Consumer, word: str, as_json: bool) -> None:
    consumer.run(word, as_json=as_json)
    assert _problems(consumer) == []


def test_a_failing_run_passes_the_check_too(consumer: Consumer) -> None:
    expected = {"exit_code": 1, "required_output_contains": ["no"], "required_artifacts": ["no"]}
    consumer.write(CASE, consumer.changed(expected=expected))
    assert not consumer.run().passed
    assert _problems(consumer) == []


@pytest.mark.parametrize("expected", ["present", "missing"])
def test_a_run_with_a_baseline_passes_the_check(consumer: Consumer, expected: str) -> None:
    baseline = {"expected_presence": expected, "artifact_path": "suite.json"}
    consumer.write(CASE, consumer.changed(baseline=baseline))
    consumer.run()
    assert _problems(consumer) == []


def test_a_run_in_one_second_with_another_passes_the_check(consumer: Consumer) -> None:
    for _ in range(2):
        consumer.run(clock=lambda: "2026-01-31T09:00:00.000Z")
        assert _problems(consumer) == []


def test_a_run_elsewhere_passes_the_check(consumer: Consumer) -> None:
    policy = {**consumer.suite["artifact_policy"], "artifact_root": "out/runs"}
    consumer.write(".evals/suite.json", {**consumer.suite, "artifact_policy": policy})
    consumer.run()
    assert _problems(consumer, "out/runs") == []


def test_a_case_with_text_that_no_encoding_has_passes_the_check(consumer: Consumer) -> None:
    expected = {**consumer.case["expected"], "required_output_contains": ["\ud800", "\u0000", "é"]}
    consumer.write(CASE, consumer.changed(expected=expected))
    consumer.run()
    assert _problems(consumer) == []


def test_a_case_in_an_oddly_named_file_passes_the_check(consumer: Consumer) -> None:
    consumer.write("a 'b' é.json", consumer.case)
    consumer.run("a 'b' é.json")
    assert _problems(consumer) == []


def _case_text(consumer: Consumer, **expected: list[str]) -> bytes:
    filled = consumer.changed(expected={**consumer.case["expected"], **expected})
    return json.dumps(filled).encode()


def _toml_text(consumer: Consumer, strings: str) -> bytes:
    """The case in TOML, with `strings` (inside brackets) as required artifacts."""
    case = {key: value for key, value in consumer.case.items() if key not in ("input", "expected")}
    lines = [f"{key} = {_toml(value)}" for key, value in case.items()]
    lines.append('input = { command = "simulate-pr-closeout", payload = {} }')
    lines.append('[expected]\nexit_code = 0\nrequired_output_contains = ["closeout"]')
    return "\n".join([*lines, f"required_artifacts = [{strings}]"]).encode()


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{key} = {_toml(each)}" for key, each in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return '""' if value is None else json.dumps(value)


def _filled(consumer: Consumer, kind: str) -> tuple[str, bytes]:
    """The name and the bytes of a case as large as a case may be, of the kind that grows most."""
    if kind.startswith("TOML"):
        char = {"TOML quotes": '"', "TOML backslashes": "\\", "TOML line ends": "\n"}[kind]
        room = LIMIT - len(_toml_text(consumer, "''''''"))
        return "big.toml", _toml_text(consumer, f"'''{'x' + char * (room - 1)}'''")
    if kind == "one fragment":
        room = LIMIT - len(_case_text(consumer, required_output_contains=[""]))
        return "big.json", _case_text(consumer, required_output_contains=["n" * room])
    items = {"short artifacts": '"', "unpaired surrogates": "\ud800"}[kind]
    room = LIMIT - len(_case_text(consumer, required_artifacts=[items])) + len(json.dumps(items)) + 2
    return "big.json", _case_text(
        consumer, required_artifacts=[items] * (room // (len(json.dumps(items)) + 2))
    )


@pytest.mark.parametrize(
    "kind",
    [
        "TOML quotes",
        "TOML backslashes",
        "TOML line ends",
        "one fragment",
        "short artifacts",
        "unpaired surrogates",
    ],
)
def test_a_failing_run_of_the_largest_case_passes_the_check(consumer: Consumer, kind: str) -> None:
    name, raw = _filled(consumer, kind)
    assert LIMIT - 16 < len(raw) <= LIMIT
    consumer.write(name, raw)
    assert not consumer.run(name).passed
    assert _problems(consumer) == []


@pytest.mark.parametrize("part", ["suite_id", "promotion"])
def test_a_case_whose_bundle_no_check_would_read_is_refused_before_the_start(
    consumer: Consumer, part: str
) -> None:
    text = "a" * 9_000_000
    promotion = {**consumer.case["promotion"], "baseline_owner": text}
    consumer.write("big.json", consumer.changed(**{part: text if part == "suite_id" else promotion}))
    with pytest.raises(RequirementError) as caught:
        consumer.run("big.json")
    assert caught.value.problems == [f"big.json: larger than the limit of {LIMIT} bytes"]
    assert not (consumer.root / ".harness").exists()


def test_a_document_that_no_check_would_read_is_never_written(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_bundle, "BUNDLE_DOCUMENT", 900)
    with pytest.raises(RequirementError) as caught:
        consumer.run()
    assert caught.value.requirement == "artifact schema validation"
    names = [problem.partition(": ")[0] for problem in caught.value.problems[0].split("; ")[::2]]
    assert names == [
        "scorer-results.json",
        "trace-events.jsonl",
        "result.json",
        "manifest.json",
        "latest-candidate.json",
    ]
    (folder,) = consumer.run_folders()
    assert [each.name for each in folder.iterdir()] == ["failure.json"]
