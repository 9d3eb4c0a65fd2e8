"""A case is read inside its root, in one form, and runs only when schema and policy allow it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.canonical import sha256_hex
from evals_cli.core.case import case_problems, load_case, locate_case, policy_problems
from evals_cli.core.errors import RequirementError
from evals_cli.core.limits import CASE

if TYPE_CHECKING:
    from .conftest import Consumer

PATH = "cases/one.case.json"


def _refused(consumer: Consumer, path: str = PATH) -> RequirementError:
    with pytest.raises(RequirementError) as caught:
        load_case(str(consumer.root), path, documents())
    assert caught.value.recovery
    assert all(problem.isprintable() for problem in caught.value.problems)
    return caught.value


def _in_two_forms(path: Path) -> None:
    for file in (path, path.with_suffix(".toml")):
        file.write_bytes(b"")


def test_a_sound_case_keeps_its_path_digest_and_document(consumer: Consumer) -> None:
    raw = consumer.write(PATH, consumer.case).read_bytes()
    case = load_case(str(consumer.root), PATH, documents())
    assert (case.path, case.base, case.sha256) == (PATH, ".", sha256_hex(raw))
    assert (case.case_id, case.suite_id) == ("closeout", "consumer-closeout")


def test_a_case_below_a_base_is_named_from_the_repository(consumer: Consumer) -> None:
    case = load_case(str(consumer.root / ".evals"), "cases/closeout.case.json", documents(), base=".evals")
    assert (case.path, case.base) == (".evals/cases/closeout.case.json", ".evals")


def test_a_case_in_toml_is_the_same_case(consumer: Consumer) -> None:
    text = """
schema_version = 1
case_id = "in-toml"
suite_id = "ab"
scorers = ["exit-code"]
owner = { type = "repo", name = "me" }
fixture_source = { type = "synthetic", provenance = "mine", redaction_status = "redacted" }
privacy = { class = "internal", contains_private_content = false, contains_credentials = false }
promotion = { status = "candidate", baseline_owner = "me" }
[input]
command = "simulate-pr-closeout"
payload = { since = 2026-01-31 }
[expected]
exit_code = 0
required_output_contains = ["artifact bundle"]
required_artifacts = ["result.json"]
[baseline]
expected_presence = "missing"
artifact_path = ""
"""
    consumer.write("one.case.toml", text)
    case = load_case(str(consumer.root), "one.case.toml", documents())
    assert case.sha256 == sha256_hex(text)
    assert case.document["input"]["payload"] == {"since": "2026-01-31"}


def test_both_forms_of_one_case_are_refused_by_both_names(consumer: Consumer) -> None:
    consumer.write(PATH, consumer.case)
    consumer.write("cases/one.case.toml", "")
    error = _refused(consumer)
    assert error.requirement == "case path"
    assert "cases/one.case.json: stands beside cases/one.case.toml" in error.problems[0]
    assert _refused(consumer, "cases/one.case.toml").requirement == "case path"


@pytest.mark.parametrize(
    ("content", "requirement", "words"),
    [
        (b"\xff{}", "case read", "not UTF-8 at byte 0"),
        (b"{", "case parse", "line 1, column 2"),
        (b"\xef\xbb\xbf{}", "case parse", "byte-order mark"),
        (b"[" * 1000, "case parse", "nested deeper"),
        (b'{"a": NaN}', "case parse", "NaN"),
        (b'{"owner": {"name": 1, "name": 2}}', "case validation", "$.owner.name: the key is written twice"),
        (b"[]", "case validation", "$: an array of 0 items; expected an object"),
        (b"5", "case validation", "$: 5; expected an object"),
    ],
)
def test_each_defect_of_a_case_file_has_its_requirement(
    consumer: Consumer, content: bytes, requirement: str, words: str
) -> None:
    consumer.write(PATH, content)
    error = _refused(consumer)
    assert error.requirement == requirement
    assert error.problems[0].startswith(f"{PATH}: ")
    assert words in error.problems[0]


def test_toml_that_does_not_parse_is_case_parse(consumer: Consumer) -> None:
    consumer.write("one.case.toml", "a = nan")
    assert _refused(consumer, "one.case.toml").requirement == "case parse"


def test_a_document_past_the_limit_is_refused_before_it_is_read(consumer: Consumer) -> None:
    with consumer.write(PATH, b"").open("r+b") as file:
        file.truncate(200 * 1024 * 1024)
    error = _refused(consumer)
    assert error.requirement == "case read"
    assert f"larger than the limit of {CASE} bytes" in error.problems[0]
    assert "evals check" in str(error.recovery)


@pytest.mark.parametrize(
    ("prepare", "problem"),
    [
        (lambda at: at.mkdir(), "not a regular file"),
        (lambda at: at.write_bytes(b" " * (CASE + 1)), f"larger than the limit of {CASE} bytes"),
        (lambda at: at.symlink_to("/etc"), "leads out of its root"),
        (_in_two_forms, "stands beside .evals/x.toml; keep one of the two forms of the document"),
    ],
    ids=["a folder", "too large", "a link out", "two forms"],
)
def test_a_case_of_a_suite_is_named_from_the_repository(
    consumer: Consumer, prepare: Callable[[Path], object], problem: str
) -> None:
    prepare(consumer.root / ".evals/x.json")
    with pytest.raises(RequirementError) as caught:
        load_case(str(consumer.root / ".evals"), "x.json", documents(), base=".evals")
    assert caught.value.problems == [f".evals/x.json: {problem}"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_is_refused_without_waiting(consumer: Consumer) -> None:
    os.mkfifo(consumer.root / "pipe.case.json")
    error = _refused(consumer, "pipe.case.json")
    assert (error.requirement, error.problems) == ("case read", ["pipe.case.json: not a regular file"])


def test_a_device_behind_a_link_is_refused(consumer: Consumer) -> None:
    (consumer.root / "zero.case.json").symlink_to("/dev/zero")
    error = _refused(consumer, "zero.case.json")
    assert (error.requirement, error.problems) == ("case path", ["zero.case.json: leads out of its root"])


def test_a_folder_is_no_case(consumer: Consumer) -> None:
    assert _refused(consumer, "cases").requirement == "case path"
    (consumer.root / "cases").mkdir()
    assert _refused(consumer, "cases").requirement == "case read"
    assert _refused(consumer, ".").requirement == "case read"


def test_a_missing_case_says_how_to_start(consumer: Consumer) -> None:
    error = _refused(consumer)
    assert error.problems == [f"{PATH}: there is no such case file"]
    assert "docs/guide.md" in str(error.recovery)


def test_a_link_inside_the_root_is_followed(consumer: Consumer) -> None:
    (consumer.root / "link.case.json").symlink_to(".evals/cases/closeout.case.json")
    assert load_case(str(consumer.root), "link.case.json", documents()).path == "link.case.json"


def test_a_name_with_a_backslash_is_one_name(consumer: Consumer) -> None:
    consumer.write("a\\b.case.json", consumer.case)
    consumer.write("a/b.case.json", consumer.changed(case_id="other"))
    case = load_case(str(consumer.root), "a\\b.case.json", documents())
    assert (case.path, case.case_id) == ("a\\b.case.json", "closeout")


def test_a_name_that_steers_terminals_is_shown_escaped(consumer: Consumer) -> None:
    assert _refused(consumer, "a\x1b[2J.json").problems == ["a\\x1b[2J.json: there is no such case file"]


@pytest.mark.parametrize("word", ["cases/one.case.json", "./cases/one.case.json", "x/../cases/one.case.json"])
def test_a_case_is_found_from_the_working_directory(consumer: Consumer, word: str) -> None:
    consumer.write(PATH, consumer.case)
    (consumer.root / "x").mkdir()
    root = str(consumer.root)
    assert locate_case(word, cwd=root, root=root) == PATH
    assert locate_case("one.case.json", cwd=f"{root}/cases", root=root) == PATH
    assert locate_case(f"{root}/{word}", cwd="/", root=root) == PATH


def test_a_case_outside_the_root_is_refused_even_beside_a_like_named_root(consumer: Consumer) -> None:
    evil = consumer.root.parent / "repo-evil"
    evil.mkdir()
    root = str(consumer.root)
    for word in (f"{evil}/x.case.json", "../repo-evil/x.case.json", "/etc/passwd", ".."):
        with pytest.raises(RequirementError) as caught:
            locate_case(word, cwd=root, root=root)
        assert caught.value.requirement == "case path"


def test_a_root_behind_a_link_contains_its_cases(consumer: Consumer, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(consumer.root)
    assert locate_case(f"{alias}/a.json", cwd="/", root=str(alias)) == "a.json"
    assert locate_case("a.json", cwd=str(alias), root=str(consumer.root)) == "a.json"


@pytest.mark.parametrize(
    ("part", "finding"),
    [
        ({"fixture_source": {"type": "real"}}, "$.fixture_source.type: real; expected synthetic, since"),
        (
            {"privacy": {"contains_private_content": True}},
            "$.privacy.contains_private_content: true; expected",
        ),
        ({"privacy": {"contains_credentials": True}}, "$.privacy.contains_credentials: true; expected false"),
        ({"input": {"command": "rm"}}, "$.input.command: rm; expected simulate-pr-closeout, since"),
        ({"scorers": ["baseline-presence"]}, "$.baseline: missing; expected an object, since"),
    ],
)
def test_the_policy_refuses_with_path_and_reason(part: dict[str, Any], finding: str) -> None:
    (found,) = policy_problems(part)
    assert found.startswith(finding)


def test_where_the_policy_asks_for_more_than_the_schema_the_policy_speaks(consumer: Consumer) -> None:
    private = {"type": "private", "provenance": "p", "redaction_status": "redacted"}
    document = consumer.changed(fixture_source=private)
    assert case_problems(document, documents()) == [
        "$.fixture_source.type: private; expected synthetic, since only synthetic material is run"
    ]


def test_findings_of_schema_and_policy_are_told_in_the_order_of_their_paths(consumer: Consumer) -> None:
    fragments = ["a"] * 12
    fragments[2] = fragments[10] = ""
    document = consumer.changed(
        suite_id="B",
        privacy={**consumer.case["privacy"], "contains_credentials": True},
        expected={**consumer.case["expected"], "required_output_contains": fragments},
        input={**consumer.case["input"], "command": "rm"},
    )
    del document["baseline"]
    assert [each.partition(": ")[0] for each in case_problems(document, documents())] == [
        "$.baseline",
        "$.expected.required_output_contains[2]",
        "$.expected.required_output_contains[10]",
        "$.input.command",
        "$.privacy.contains_credentials",
        "$.suite_id",
    ]


def test_that_there_are_more_problems_is_said_last(consumer: Consumer) -> None:
    expected = {**consumer.case["expected"], "required_artifacts": [""] * 200}
    problems = case_problems(consumer.changed(expected=expected, input={"command": "rm"}), documents())
    assert problems[-1].startswith("$: more than 100 problems")


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"privacy": 5, "scorers": 5}, {"scorers": ["baseline-presence"], "baseline": {}}],
)
def test_what_is_missing_is_left_to_the_schema(document: object) -> None:
    assert policy_problems(document) == []


def test_every_problem_is_told_once(consumer: Consumer) -> None:
    consumer.write(
        PATH,
        consumer.changed(
            case_id="Bad", input={"command": "rm", "payload": {}}, fixture_source={"type": "real"}
        ),
    )
    paths = [line.split(": ")[1] for line in _refused(consumer).problems]
    assert paths == [
        "$.case_id",
        "$.fixture_source.provenance",
        "$.fixture_source.redaction_status",
        "$.fixture_source.type",
        "$.input.command",
    ]


@pytest.mark.parametrize("case_id", ["closeout\n", "closeout\r", "a b", "../x", "A", ""])
def test_an_identifier_is_a_plain_name_to_its_last_character(consumer: Consumer, case_id: str) -> None:
    consumer.write(PATH, consumer.changed(case_id=case_id))
    assert _refused(consumer).requirement == "case validation"
