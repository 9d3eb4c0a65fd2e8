"""report.md opens with the verdict and what failed, and no case can forge a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evals_cli.core.report import CELL

if TYPE_CHECKING:
    from .conftest import Consumer


def _report(consumer: Consumer, **expected: Any) -> str:
    consumer.write(
        ".evals/cases/closeout.case.json",
        consumer.changed(expected={**consumer.case["expected"], **expected}),
    )
    (result,) = consumer.run().document["case_results"]
    return (consumer.root / result["report_path"]).read_text(encoding="utf-8")


def test_a_pass_is_the_first_thing_to_read(consumer: Consumer) -> None:
    lines = _report(consumer).splitlines()
    assert lines[0] == "# Case closeout: passed"
    assert lines[2] == "**pass**: 4 of 4 scorers passed."
    assert "## What failed" not in lines


def test_a_failure_says_what_was_expected_and_found_before_anything_else(consumer: Consumer) -> None:
    text = _report(consumer, exit_code=3)
    lines = text.splitlines()
    assert lines[0] == "# Case closeout: failed"
    assert lines[4] == "## What failed"
    assert lines[6] == "- **exit-code**: exit code 0, expected 3"
    assert "  - expected: 3" in lines
    assert text.index("## What failed") < text.index("## The run")


def test_the_three_baseline_facts_are_told_apart(consumer: Consumer) -> None:
    assert (
        "| Baseline | presence `missing`, comparison `not_compared`, promotion `not_requested` |"
        in _report(consumer).splitlines()
    )


def test_the_artifacts_and_the_command_are_there_to_follow(consumer: Consumer) -> None:
    lines = _report(consumer).splitlines()
    assert "- [manifest.json](manifest.json)" in lines
    assert "evals run .evals/suite.json --json" in lines


def test_text_of_a_case_cannot_forge_markdown(consumer: Consumer) -> None:
    evil = "x\n# Forged\n| pass | [go](http://x) `code` <b>"
    text = _report(consumer, required_artifacts=[evil], required_output_contains=["\ud800", "\x1b[2J"])
    lines = text.splitlines()
    assert not [line for line in lines if line.startswith("# ") and "Forged" in line]
    assert "[go](http://x)" not in text
    assert "\x1b" not in text
    assert [line.count(" | ") for line in lines if line.startswith("| fail |")] == [4, 4]


def test_a_long_text_is_cut(consumer: Consumer) -> None:
    lines = _report(consumer, required_artifacts=["n" * 100_000]).splitlines()
    assert max(map(len, lines)) < 3 * CELL


def test_neither_a_name_nor_a_folder_can_forge_markdown_or_steer_a_terminal(consumer: Consumer) -> None:
    name = "x\n~~~\n\n# Case forged: passed\n\n~~~sh\x1b[2J\u202e.case.json"
    consumer.write(f".evals/{name}", consumer.case)
    policy = {**consumer.suite["artifact_policy"], "artifact_root": "out/\u202e\n~~~~~~~~\n# Forged"}
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": [name], "artifact_policy": policy})
    reports = [consumer.run().document["case_results"][0]["report_path"]]
    reports.append(consumer.run(f".evals/{name}").document["report_path"])
    for path in reports:
        text = (consumer.root / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        assert [line for line in lines if line.startswith("# ")] == ["# Case closeout: passed"]
        assert [line for line in lines if not line.isprintable()] == []
        fences = [line for line in lines if line.startswith("~~~")]
        assert [line.strip("~") for line in fences] == ["text", "", "sh", ""]


def test_a_fence_is_longer_than_any_in_what_it_holds(consumer: Consumer) -> None:
    consumer.write("~~~~~.json", consumer.case)
    path = consumer.run("~~~~~.json").document["report_path"]
    assert "~~~~~~sh\nevals run '~~~~~.json' --json\n~~~~~~\n" in (consumer.root / path).read_text()
