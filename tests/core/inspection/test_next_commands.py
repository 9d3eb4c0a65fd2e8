"""Recommended command lines can be pasted, whatever the folder is called."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from evals_cli.core.next_commands import (
    check_command,
    command_line,
    for_people,
    quoted,
    run_command,
    state_command,
)
from evals_cli.core.roots import Root, select_root

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    "plain",
    "with space",
    "quote'd",
    'double"quote',
    "$(touch marker)",
    "`touch marker`",
    "semi;colon",
    "new\nline",
    "bell\x07",
    "esc\x1b[31m'\\",
    "--smoke",
    "--a\nb",
    "ünï ☃",
    "line\u2028separator",
    "astral\U0001f600\U000e0001",
    "raw\udcff",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_shell_reads_a_quoted_word_back_as_it_was(name: str, tmp_path: Path) -> None:
    script = f"printf %s {quoted(name)}"
    assert script.isprintable()
    told = subprocess.run(
        ["bash", "-c", script], capture_output=True, check=True, cwd=tmp_path, env={"LC_ALL": "C.UTF-8"}
    ).stdout
    wanted = name if not name.startswith("-") else f"./{name}"
    assert told == wanted.encode("utf-8", "surrogateescape")
    assert not list(tmp_path.iterdir())


def test_nothing_else_quotes(repository: Path) -> None:
    quoting = {
        str(file.relative_to(repository))
        for folder in ("core", "commands", "schemas", "evals_cli")
        for file in (repository / folder).glob("*.py")
        if "shlex" in file.read_text(encoding="utf-8")
    }
    # The example quotes JSON of its own; no word from outside is in it.
    assert quoting - {"commands/example_inputs.py"} == {"core/next_commands.py"}


def test_every_word_from_outside_is_quoted() -> None:
    assert command_line("run", "a b.json", as_json=True) == "evals run 'a b.json' --json"
    assert command_line("validate", "--smoke") == "evals validate ./--smoke"
    assert (
        command_line("validate-schema", "claim-registry", "a;b\x1b", repo_root="../it's")
        == """evals validate-schema claim-registry $'a;b\\u001b' --repo-root '../it'"'"'s'"""
    )


def test_the_named_root_is_repeated(tmp_path: Path) -> None:
    (tmp_path / ".evals").mkdir()
    (tmp_path / ".evals/suite.json").write_text("{}")
    root = Root(path=str(tmp_path), shown="a b", home=False, way="a b")
    assert check_command(root) == "evals check --repo-root 'a b' --json"
    assert state_command(root) == "evals state --repo-root 'a b' --json"
    assert run_command(root) == "(cd 'a b' && evals run .evals/suite.json --json)"


def test_without_a_named_root_the_commands_work_from_here(tmp_path: Path) -> None:
    (tmp_path / ".evals").mkdir()
    (tmp_path / ".evals/suite.json").write_text("{}")
    root = select_root(None, str(tmp_path))
    assert check_command(root) == "evals check --json"
    assert run_command(root) == "evals run .evals/suite.json --json"


def test_from_a_folder_below_the_root_a_run_changes_there_first(tmp_path: Path) -> None:
    (tmp_path / ".evals").mkdir()
    (tmp_path / ".evals/suite.json").write_text("{}")
    (tmp_path / "a/b").mkdir(parents=True)
    root = select_root(None, str(tmp_path / "a/b"))
    assert run_command(root) == "(cd ../.. && evals run .evals/suite.json --json)"


def test_a_suite_in_toml_is_run_as_such(tmp_path: Path) -> None:
    (tmp_path / ".evals").mkdir()
    (tmp_path / ".evals/suite.toml").write_text("")
    assert run_command(select_root(None, str(tmp_path))) == "evals run .evals/suite.toml --json"


@pytest.mark.parametrize(
    ("producer", "command"),
    [
        ({"suite_path": ".evals/more/suite.json", "case_path": "c.json"}, "evals run .evals/more/suite.json"),
        ({"suite_path": None, "case_path": "a;b.json"}, "evals run 'a;b.json'"),
        ({"suite_path": ".evals/gone/suite.json", "case_path": "gone.json"}, "evals schema eval-case"),
        ({"case_path": "../c.json", "command": "evals run c.json"}, "evals schema eval-case"),
        (7, "evals schema eval-case"),
    ],
)
def test_without_a_suite_what_was_run_is_run_again_if_it_is_there(
    tmp_path: Path, producer: object, command: str
) -> None:
    (tmp_path / ".evals/more").mkdir(parents=True)
    for name in (".evals/more/suite.json", "c.json", "a;b.json"):
        (tmp_path / name).write_text("{}")
    root = select_root(None, str(tmp_path))
    assert for_people(run_command(root, {"producer": producer})) == command


def test_where_nothing_is_there_to_run_the_first_step_is_named(tmp_path: Path) -> None:
    root = select_root(str(tmp_path), "/")
    assert run_command(root) == run_command(root, []) == "evals schema eval-case"


def test_home_runs_its_smoke_case(tmp_path: Path) -> None:
    root = Root(path=str(tmp_path), shown=None, home=True, way=".")
    assert run_command(root) == "evals run fixtures/smoke/pr-closeout.case.json --json"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("evals check --json", "evals check"),
        ("(cd x && evals run y --json)", "(cd x && evals run y)"),
        ("evals schema external-project-manifest", "evals schema external-project-manifest"),
    ],
)
def test_people_get_the_command_that_answers_in_words(command: str, told: str) -> None:
    assert for_people(command) == told
