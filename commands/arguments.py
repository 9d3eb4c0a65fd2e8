"""The parser that every command declares its arguments on.

Rules of this module:
1. A word that begins with two dashes is an option; any other word is a name, a single dash included.
   After a word of two dashes alone everything is a name. Only `-h`, where an option may stand, is `--help`:
   a file of that name is written `./-h`.
2. An option is written in full, as `--out FILE` or `--out=FILE`.
3. A value option without a value, with an empty one, or with another option in its value's place is a
   usage error, and so is an option given twice.
4. Usage is decided from the words alone: no file is touched before it is found good. A word that no file
   could be named by (empty, with a NUL, not encodable) is a usage error.
"""

from __future__ import annotations

import argparse
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


class UsageError(Exception):
    """The words cannot be understood; the command exits 2 and has touched nothing."""


class HelpWanted(Exception):
    """`--help` or `-h` stood where an option may stand."""


class Parser(argparse.ArgumentParser):
    """argparse with the rules above; a mistake raises UsageError instead of ending the process.

    `separator`: whether two dashes alone end the options; a command may set it to False.
    """

    separator = True

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            add_help=False,
            formatter_class=_HelpFormat,
        )
        self.color = False  # Python 3.14 would colour the help, and so change what the docs quote

    def error(self, message: str) -> NoReturn:
        """Called by argparse, and by a command for a mistake that only it can see."""
        raise UsageError(message)

    def parse_words(self, words: Sequence[str]) -> argparse.Namespace:
        """Read a command's words.

        Raises UsageError for words that break the rules, HelpWanted for `--help`.
        """
        options, names = self._split(words)
        args, left = self.parse_known_args([*options, "--", *names] if names else options)
        if left:
            raise UsageError(f"there is no use for the word {names[-1]}")
        return args

    def _split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        options: list[str] = []
        names: list[str] = []
        seen: set[str] = set()
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "--" and self.separator:
                names.extend(rest)
                break
            if word == "-h":
                raise HelpWanted
            if word.startswith("--"):
                options.append(self._option(word, rest, seen))
            else:
                names.append(word)
        for name in names:
            _refuse_unusable(name)
        return options, names

    def _option(self, word: str, rest: list[str], seen: set[str]) -> str:
        """Give one option as a single word, taking its value from `rest` where it stands apart."""
        name, equals, value = word.partition("=")
        if name == "--help":
            raise HelpWanted
        action = self._option_string_actions.get(name)
        if action is None:
            raise UsageError(self._unknown(name))
        if name in seen:
            raise UsageError(f"{name} is given twice")
        seen.add(name)
        if action.nargs == 0:
            if equals:
                raise UsageError(f"{name} takes no value")
            return name
        if not equals:
            value = _value_after(name, rest)
        if not value:
            raise UsageError(f"{name} needs a value")
        _refuse_unusable(value)
        return f"{name}={value}"

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        close = get_close_matches(name, list(self._option_string_actions), n=1)
        hint = f"; did you mean {close[0]}?" if close else f" (a name like that is written ./{name})"
        return f"there is no option {name}{hint}"


class _HelpFormat(argparse.RawDescriptionHelpFormatter):
    """Help of one width everywhere, so that it reads the same in a terminal, a pipe and the docs."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=98)


def as_text(name: str, word: str) -> str:
    """Give a word that is meant as text, not as a file's name; its bytes are UTF-8 whatever the locale.

    Raises UsageError for other bytes: they must not become evidence.
    """
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        raise UsageError(f"the value of {name} is not valid UTF-8") from None


def _value_after(name: str, rest: list[str]) -> str:
    if not rest or rest[0].startswith("--"):
        raise UsageError(f"{name} needs a value")
    return rest.pop(0)


def _refuse_unusable(word: str) -> None:
    if not word:
        raise UsageError("an empty word stands where a name is expected")
    if "\0" in word:
        raise UsageError("a name cannot hold a NUL character")
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        raise UsageError(f"the word {word} cannot be encoded, so no file or value can have it") from None
