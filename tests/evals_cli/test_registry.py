"""The table of commands is complete and true, and listing it imports no command."""

from __future__ import annotations

import importlib
import inspect

import pytest

from evals_cli import help_text, registry
from evals_cli.commands.arguments import Parser

COMMANDS = registry.COMMANDS


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_a_module_with_configure_and_run(command: registry.Command) -> None:
    module = importlib.import_module(f"evals_cli.commands.{command.module}")
    assert len(inspect.signature(module.configure).parameters) == 1
    assert list(inspect.signature(module.run).parameters) == ["args", "terminal"]
    assert module.__doc__


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_its_arguments(command: registry.Command) -> None:
    parser = Parser(f"evals {command.name}", command.sentence)
    importlib.import_module(f"evals_cli.commands.{command.module}").configure(parser)
    text = parser.format_help()
    assert text.startswith(f"usage: evals {command.name}")
    sentence = text.split("\n\n")[1]
    assert sentence[0].isupper()
    assert sentence.lower() == f"{command.summary}.".lower()
    for action in parser._actions:
        assert action.help, f"{command.name} {action.dest} has no help"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_whose_refusals_are_documents_takes_json(command: registry.Command) -> None:
    parser = Parser(command.name, command.summary)
    importlib.import_module(f"evals_cli.commands.{command.module}").configure(parser)
    if command.packet:
        assert "--json" in parser._option_string_actions


def test_names_and_summaries_are_unique_and_short() -> None:
    assert len({command.path for command in COMMANDS}) == len(COMMANDS)
    assert len({command.summary for command in COMMANDS}) == len(COMMANDS)
    assert all(len(line) <= 98 for line in help_text.overview().splitlines())


def test_no_command_hides_behind_another() -> None:
    for command in COMMANDS:
        assert registry.find([*command.path, "x"]) is command


def test_help_lists_every_command_once() -> None:
    lines = help_text.overview().splitlines()
    for command in COMMANDS:
        assert sum(line.startswith(f"  {command.name} ") for line in lines) == 1, command.name


def test_unknown_words_find_nothing() -> None:
    assert registry.find(["capsule"]) is None
    assert registry.find(["nope", "x"]) is None
    assert registry.group("run") == []
    assert [command.path[1] for command in registry.group("receipt")] == ["build", "verify"]
