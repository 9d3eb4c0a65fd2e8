"""A suite is data under `.evals`: contained, offline, and without anything to execute."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.errors import RequirementError
from evals_cli.core.suite import Suite, load_suite, looks_executable

if TYPE_CHECKING:
    from .conftest import Consumer

PATH = ".evals/suite.json"


def _load(consumer: Consumer, word: str = PATH, cwd: Path | None = None) -> Suite:
    return load_suite(word, cwd=str(cwd or consumer.root), documents=documents())


def _refused(consumer: Consumer, word: str = PATH, **parts: Any) -> list[str]:
    if parts:
        consumer.write(PATH, {**consumer.suite, **parts})
    with pytest.raises(RequirementError) as caught:
        _load(consumer, word)
    assert caught.value.requirement == "suite validation"
    assert caught.value.recovery
    assert not (consumer.root / ".harness").exists()
    return caught.value.problems


def test_a_sound_suite_knows_its_repository_and_folder(consumer: Consumer) -> None:
    suite = _load(consumer)
    assert (suite.root, suite.folder, suite.path) == (os.path.realpath(consumer.root), ".evals", PATH)
    assert (suite.prefix, suite.cases) == (".harness/evals/runs", ("cases/closeout.case.json",))


def test_the_nearest_evals_folder_decides_the_repository(consumer: Consumer) -> None:
    consumer.write(".evals/inner/.evals/deep/suite.json", consumer.suite)
    consumer.write(".evals/inner/.evals/deep/cases/closeout.case.json", consumer.case)
    suite = _load(consumer, "inner/.evals/deep/suite.json", consumer.root / ".evals")
    assert suite.root == os.path.realpath(consumer.root / ".evals/inner")
    assert (suite.folder, suite.path) == (".evals/deep", ".evals/deep/suite.json")


def test_a_suite_in_toml_is_the_same_suite(consumer: Consumer) -> None:
    (consumer.root / PATH).unlink()
    lines = [
        f"{key} = {json.dumps(value)}"
        for key, value in consumer.suite.items()
        if isinstance(value, str | int)
    ]
    lines += [f"{key} = {json.dumps(consumer.suite[key])}" for key in ("cases", "scorers")]
    policy = "artifact_policy = { write_bundle = true, retain_locally = true, allow_network = false }"
    consumer.write(".evals/suite.toml", "\n".join([*lines, policy]))
    assert _load(consumer, ".evals/suite.toml").cases == ("cases/closeout.case.json",)


def test_both_forms_of_a_suite_are_refused_by_both_names(consumer: Consumer) -> None:
    consumer.write(".evals/suite.toml", "")
    for word in (PATH, ".evals/suite.toml"):
        (problem,) = _refused(consumer, word)
        assert ".evals/suite.json" in problem
        assert ".evals/suite.toml" in problem


def test_a_suite_outside_evals_is_refused(consumer: Consumer) -> None:
    consumer.write("suite.json", consumer.suite)
    consumer.write("x.evals/suite.json", consumer.suite)
    for word in ("suite.json", "x.evals/suite.json"):
        assert "lies in no folder .evals" in _refused(consumer, word)[0]


def test_a_missing_suite_says_how_to_start(consumer: Consumer) -> None:
    with pytest.raises(RequirementError) as caught:
        _load(consumer, ".evals/other/suite.json")
    assert caught.value.problems == [".evals/other/suite.json: there is no such suite"]
    assert "docs/guide.md" in str(caught.value.recovery)


def test_a_suite_that_is_a_link_is_refused(consumer: Consumer) -> None:
    (consumer.root / PATH).rename(consumer.root / ".evals/real.json")
    (consumer.root / PATH).symlink_to("real.json")
    assert "suite.json is a symlink" in _refused(consumer)[0]


def test_an_evals_folder_that_is_a_link_is_refused(consumer: Consumer) -> None:
    (consumer.root / ".evals").rename(consumer.root / "elsewhere")
    (consumer.root / ".evals").symlink_to("elsewhere")
    assert ".evals is a symlink" in _refused(consumer)[0]


def test_a_link_between_evals_and_the_suite_may_not_lead_out(consumer: Consumer, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "suite.json").write_text(json.dumps(consumer.suite), encoding="utf-8")
    (consumer.root / ".evals/sub").symlink_to(outside)
    assert "leads out of .evals" in _refused(consumer, ".evals/sub/suite.json")[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_suite_that_is_a_fifo_is_refused_without_waiting(consumer: Consumer) -> None:
    (consumer.root / PATH).unlink()
    os.mkfifo(consumer.root / PATH)
    assert _refused(consumer) == [".evals/suite.json: not a regular file"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "line 1, column 2"),
        (b"\xff", "not valid UTF-8"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        (b'{"domain": 1, "domain": 2}', "$.domain: the key is written twice"),
        (b"null", "$: null; expected an object"),
    ],
)
def test_a_suite_that_does_not_parse_is_refused_where(consumer: Consumer, content: bytes, words: str) -> None:
    consumer.write(PATH, content)
    (problem,) = _refused(consumer)
    assert problem.startswith(f"{PATH}: ")
    assert words in problem


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        ({"allow_network": True}, "$.artifact_policy.allow_network"),
        ({"write_bundle": False}, "$.artifact_policy.write_bundle"),
        ({"retain_locally": False}, "$.artifact_policy.retain_locally"),
        ({"artifact_root": "../out"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "..\\out"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "/out"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "C:/out"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "./"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": ".git/refs/heads"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "out/.GIT"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": ".git\\x"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "./.evals/"}, "$.artifact_policy.artifact_root"),
        ({"artifact_root": "a/" * 513}, "$.artifact_policy.artifact_root"),
    ],
)
def test_the_policy_of_a_suite_is_offline_kept_and_contained(
    consumer: Consumer, policy: dict[str, Any], path: str
) -> None:
    (problem,) = _refused(consumer, artifact_policy={**consumer.suite["artifact_policy"], **policy})
    assert problem.startswith(f"{PATH}: {path}: ")


def test_policy_and_references_are_told_in_the_order_of_their_paths(consumer: Consumer) -> None:
    cases = [f"{number}.json" for number in range(12)]
    policy = {**consumer.suite["artifact_policy"], "allow_network": True}
    problems = _refused(consumer, cases=cases, scorers=["x.py"], artifact_policy=policy)
    paths = [f"$.cases[{number}]" for number in range(12)]
    assert [line.split(": ")[1] for line in problems] == [
        "$.artifact_policy.allow_network",
        *paths,
        "$.scorers[0]",
    ]


def test_a_reference_with_a_backslash_or_needless_parts_names_the_file(consumer: Consumer) -> None:
    names = ["cases\\closeout.case.json", "./cases//closeout.case.json", "./"]
    consumer.write(PATH, {**consumer.suite, "cases": names})
    assert _load(consumer).cases == ("cases/closeout.case.json", "cases/closeout.case.json", ".")


def test_an_artifact_root_is_taken_without_needless_parts(consumer: Consumer) -> None:
    policy = {**consumer.suite["artifact_policy"], "artifact_root": "./out//runs/"}
    consumer.write(PATH, {**consumer.suite, "artifact_policy": policy})
    assert _load(consumer).prefix == "out/runs"


def test_references_exist_inside_the_suites_folder(consumer: Consumer, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    (consumer.root / ".evals/out").symlink_to(tmp_path)
    cases = ["gone.json", "../x.json", "/etc/hostname", "out/secret.json", "cases/closeout.case.json"]
    problems = _refused(
        consumer, cases=cases, baseline="gone", scorers=["gone.scorer.json", "GONE.SCORER.JSON"]
    )
    assert [line.split(": ")[1] for line in problems] == [
        "$.baseline",
        "$.cases[0]",
        "$.cases[1]",
        "$.cases[2]",
        "$.cases[3]",
        "$.scorers[0]",
        "$.scorers[1]",
    ]
    assert "does not exist in the suite's folder" in problems[1]
    assert "leads out of the suite's folder" in problems[4]


def test_scorer_data_and_a_baseline_that_exist_are_fine(consumer: Consumer) -> None:
    consumer.write(".evals/a.scorer.json", {})
    suite = {**consumer.suite, "scorers": ["a.scorer.json", "b"], "baseline": "cases"}
    consumer.write(PATH, suite)
    assert _load(consumer).document["baseline"] == "cases"


@pytest.mark.parametrize(
    "reference",
    [
        "score.py",
        "SCORE.PY",
        "a/score.Sh",
        "a\\b.sh",
        "x.js",
        "x.cjs",
        "x.mjs",
        "x.ts",
        "x.cts",
        "x.MTS",
        "x.bash",
        "x.zsh",
        "x.rb",
        "x.go",
        "x.rs",
        "bin/x",
        "a/BIN/x",
        "script/x",
        "scripts\\x",
        "node x",
        "Node",
        " pnpm run score",
        "npm x",
        "yarn x",
        "bun x",
        "bash x",
        "sh x",
        "zsh x",
        "python score",
        "ruby x",
        "go x",
        "cargo x",
        "./score.py --fast",
    ],
)
def test_a_scorer_that_looks_executable_is_refused(consumer: Consumer, reference: str) -> None:
    assert looks_executable(reference)
    assert "looks executable" in _refused(consumer, scorers=[reference])[0]


@pytest.mark.parametrize(
    "reference", ["exit-code", "noderunner", "deno x", "bin", "a/script", "x.pyx", "x.json", "my go", " "]
)
def test_a_scorer_that_is_a_name_or_data_is_fine(reference: str) -> None:
    assert not looks_executable(reference)


@pytest.mark.parametrize("reference", ["../exit-code", "/bin/x", "a\0b"])
def test_a_scorer_reference_is_contained_like_any_other(consumer: Consumer, reference: str) -> None:
    (problem,) = _refused(consumer, scorers=[reference])
    assert "$.scorers[0]: " in problem
    assert problem.isprintable()


def test_a_hundred_thousand_missing_cases_are_told_in_a_hundred_lines(consumer: Consumer) -> None:
    problems = _refused(consumer, cases=[f"{number}.json" for number in range(100_000)])
    assert len(problems) == 101
    assert problems[-1] == "more than 100 problems; only 100 of them are listed"


@pytest.mark.parametrize("suite_id", ["ab\n", "a", ".a", "a.", "Ab"])
def test_a_suite_identifier_is_a_plain_name_to_its_last_character(consumer: Consumer, suite_id: str) -> None:
    assert "$.suite_id" in _refused(consumer, suite_id=suite_id)[0]
