"""Words become arguments by strict rules, decided before any file is touched."""

from __future__ import annotations

import pytest

from evals_cli.commands.arguments import HelpWanted, Parser, UsageError


@pytest.fixture
def parser() -> Parser:
    made = Parser("evals try", "try things.")
    made.add_argument("first", metavar="FIRST")
    made.add_argument("rest", metavar="REST", nargs="*")
    made.add_argument("--out", metavar="F")
    made.add_argument("--other", metavar="F")
    made.add_argument("--flag", action="store_true")
    return made


@pytest.mark.parametrize(
    ("words", "first", "rest", "out"),
    [
        (["a"], "a", [], None),
        (["a", "b", "c"], "a", ["b", "c"], None),
        (["a", "--out", "f", "b"], "a", ["b"], "f"),
        (["--out=f", "a", "b"], "a", ["b"], "f"),
        (["a", "--out=--odd"], "a", [], "--odd"),
        (["a", "--out=x=y"], "a", [], "x=y"),
        (["-"], "-", [], None),
        (["-x", "-1"], "-x", ["-1"], None),
        (["a", "--out", "-"], "a", [], "-"),
        (["a", "--out", "-f"], "a", [], "-f"),
        (["--", "--a", "--out"], "--a", ["--out"], None),
        (["a b", "--out", "has space"], "a b", [], "has space"),
    ],
)
def test_words_are_names_unless_they_begin_with_two_dashes(
    parser: Parser, words: list[str], first: str, rest: list[str], out: str | None
) -> None:
    args = parser.parse_words(words)
    assert (args.first, args.rest, args.out) == (first, rest, out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "FIRST"),
        (["a", "--out"], "--out needs a value"),
        (["a", "--out="], "--out needs a value"),
        (["a", "--out", ""], "--out needs a value"),
        (["a", "--out", "--other", "f"], "--out needs a value"),
        (["a", "--out", "--"], "--out needs a value"),
        (["a", "--out", "f", "--out", "f"], "--out is given twice"),
        (["a", "--out=f", "--out", "g"], "--out is given twice"),
        (["a", "--flag", "--flag"], "--flag is given twice"),
        (["a", "--flag=1"], "--flag takes no value"),
        (["a", "--ou", "f"], "there is no option --ou; did you mean --out?"),
        (["a", "--zzzz"], "a name like that is written ./--zzzz"),
        (["a", "--zz zz"], "there is no option --zz zz"),
        ([""], "an empty word"),
        (["a\0b"], "NUL"),
        (["a\ud800"], "cannot be encoded"),
        (["a", "--out", "x\ud800"], "cannot be encoded"),
        (["a", "--out", "x\0"], "NUL"),
    ],
)
def test_words_that_break_the_rules_are_usage_errors(parser: Parser, words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?").replace(".", r"\.")):
        parser.parse_words(words)


def test_help_is_wanted_where_an_option_may_stand(parser: Parser) -> None:
    with pytest.raises(HelpWanted):
        parser.parse_words(["--help"])
    with pytest.raises(UsageError):
        parser.parse_words(["--out", "--help"])
    assert parser.parse_words(["--", "--help"]).first == "--help"


def test_a_single_dash_and_h_is_help_unless_it_can_only_be_a_name_or_a_value(parser: Parser) -> None:
    for words in (["-h"], ["a", "-h"], ["-h", "a"]):
        with pytest.raises(HelpWanted):
            parser.parse_words(words)
    assert parser.parse_words(["--", "-h"]).first == "-h"
    assert parser.parse_words(["./-h", "--out", "-h"]).out == "-h"


def test_a_word_too_many_is_named(parser: Parser) -> None:
    none = Parser("evals try", "try nothing.")
    with pytest.raises(UsageError, match=r"there is no use for the word x$"):
        none.parse_words(["x"])
    one = Parser("evals try", "try one thing.")
    one.add_argument("first", metavar="FIRST")
    with pytest.raises(UsageError, match=r"there is no use for the word c$"):
        one.parse_words(["a", "b", "c"])


def test_a_command_may_give_two_dashes_no_meaning(parser: Parser) -> None:
    parser.separator = False
    with pytest.raises(UsageError, match="there is no option --"):
        parser.parse_words(["a", "--", "b"])


def test_options_of_argument_groups_count_too(parser: Parser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--one", action="store_true")
    choice.add_argument("--two", action="store_true")
    assert parser.parse_words(["a", "--two"]).two
    with pytest.raises(UsageError, match="not allowed"):
        parser.parse_words(["a", "--two", "--one"])
