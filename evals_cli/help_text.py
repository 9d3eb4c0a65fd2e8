"""The help of `evals` and of its command groups, made from the registry alone.

Rules of this module:
1. No command module is imported to describe commands.
2. The lines are plain text of at most 98 columns; the docs show them as they are printed.
"""

from __future__ import annotations

from .registry import COMMANDS, group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .registry import Command

_TOP = """\
usage: evals [--debug] COMMAND ...
       evals --version | --help

Local, offline evidence about evaluation runs. No network, no plugins, no execution of candidates.
"""

_BOTTOM = """
options:
  --version   print the version
  --help      print this text; after a command, what that command takes
  --debug     before a command: show the traceback of an internal error

exit codes: 0 verified or passed; 1 failed, refused or unavailable; 2 wrong usage; 130 interrupted
"""

_SECTIONS = (
    ("runs", lambda command: command.packet),
    ("evidence", lambda command: not command.packet and len(command.path) > 1),
    ("about", lambda command: not command.packet and len(command.path) == 1),
)


def overview() -> str:
    """Give the help of the whole program."""
    parts = [_TOP]
    for title, belongs in _SECTIONS:
        parts.append(f"\n{title}:\n")
        parts += _rows([command for command in COMMANDS if belongs(command)])
    parts.append(_BOTTOM)
    return "".join(parts)


def group_overview(word: str) -> str:
    """Give the help of a command group such as `capsule`."""
    usage = f"usage: evals {word} COMMAND ...\n\n"
    return usage + "".join(_rows(group(word))) + f"\nevals {word} COMMAND --help says what a command takes\n"


def _rows(commands: Sequence[Command]) -> list[str]:
    width = max(len(command.name) for command in COMMANDS)
    return [f"  {command.name:<{width}}  {command.summary}\n" for command in commands]
