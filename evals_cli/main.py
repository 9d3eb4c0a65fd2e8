"""From words to an exit code: choose one command, run it, and name what went wrong.

Rules of this module:
1. Exit codes: 0 verified or passed; 1 failed, refused or unavailable; 2 wrong usage; 130 interrupted.
2. Only the chosen command's module is imported; `--version` and `--help` import none.
3. A refusal is one line `evals: CODE: message` on stderr; a run command asked for `--json` gives a
   validation-result document on stdout instead.
4. An unexpected exception is `internal.error`; its traceback is shown only with `--debug`.
5. A reader that closed the pipe is met with silence and exit 1: what it wanted was not delivered.
"""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from .commands.arguments import Parser
    from .core.errors import EvalsError
    from .registry import Command
    from .terminal import Terminal

    class CommandModule(Protocol):
        """What every module under `commands/` that the registry names must have."""

        def configure(self, parser: argparse.ArgumentParser) -> None:
            """Declare the arguments."""

        def run(self, args: argparse.Namespace, terminal: Terminal) -> int:
            """Do the work; give 0, 1 or 2."""


# A short life makes few cycles; collecting as seldom as this saves a tenth of the time to start.
_FEW_COLLECTIONS = (100_000, 50, 50)

PASSED, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

# What other programs call our two options.
_AS_OPTIONS = {"help": "--help", "-?": "--help", "version": "--version", "-v": "--version", "-V": "--version"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: sys.argv without the program) and give its exit code.

    Never raises for what the words, the files or the streams hold. TypeError where argv is one text or holds
    anything but str.
    """
    words = list(sys.argv[1:] if argv is None else _checked(argv))
    debug = words[:1] == ["--debug"]
    if debug:
        del words[0]
    if words == ["--version"]:
        return _answered(_version_text)
    if not words or words[0] in ("--help", "-h"):
        return _help(words)
    return _command(words, debug)


def _checked(argv: Sequence[str]) -> Sequence[str]:
    if isinstance(argv, str) or not all(isinstance(word, str) for word in argv):
        raise TypeError("argv is a sequence of str, one for each word")
    return argv


def run() -> int:
    """Console entry: `main` for a process that does nothing else, from its first breath to a quiet end."""
    gc.set_threshold(*_FEW_COLLECTIONS)
    _occupy_standard_streams()
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _settle_streams()
    gc.freeze()  # the process ends: looking for cycles among all that was imported would be wasted
    return code


def _version_text() -> str:
    from .version import VERSION

    return f"evals {VERSION}\n"


def _help(words: list[str]) -> int:
    from .help_text import overview

    if words:
        return _answered(overview)
    _complain(overview())
    return USAGE


def _answered(text: Callable[[], str]) -> int:
    """Print a text that needs no command on stdout."""
    try:
        if sys.stdout is None:
            raise OSError
        sys.stdout.write(text())
        sys.stdout.flush()
    except BrokenPipeError:
        return FAILED
    except (OSError, ValueError):
        from .terminal import OutputFailed, Terminal

        Terminal().error(OutputFailed("it is closed or full"))
        return FAILED
    return PASSED


def _command(words: list[str], debug: bool) -> int:
    from .registry import find, group

    command = find(words)
    if command is not None:
        return _run_command(command, words[len(command.path) :], debug)
    if group(words[0]) and words[1:2] in (["--help"], ["-h"]):
        from .help_text import group_overview

        return _answered(lambda: group_overview(words[0]))
    _complain(_unknown(words))
    return USAGE


def _unknown(words: list[str]) -> str:
    """Say what is wrong with words that name no command, and what may have been meant."""
    from .help_text import group_overview
    from .registry import group, nearest
    from .terminal import printable

    if group(words[0]) and len(words) == 1:
        return f"evals: {words[0]} needs a command\n{group_overview(words[0])}"
    typed = printable(" ".join(words[:2]) if group(words[0]) else words[0])
    near = _AS_OPTIONS.get(words[0]) or nearest(words)
    hint = f"; did you mean `evals {near}`?" if near else ""
    return f"evals: there is no command {typed}{hint}\nevals --help lists the commands\n"


def _run_command(command: Command, words: list[str], debug: bool) -> int:
    from .commands.arguments import HelpWanted, Parser, UsageError
    from .core.errors import EvalsError
    from .terminal import OutputClosed, OutputFailed, Terminal

    terminal = Terminal()
    parser = Parser(f"evals {command.name}", command.sentence)
    packet = command.packet and "--json" in words
    try:
        return _finished(command, parser, words, terminal)
    except HelpWanted:
        return _answered(parser.format_help)
    except UsageError as error:
        terminal.note(f"evals: {error}")
        _complain(parser.format_usage())
        return USAGE
    except OutputClosed:
        return FAILED
    except OutputFailed as error:
        terminal.error(error)
        return FAILED
    except EvalsError as error:
        return _refused(error, terminal, packet)
    except KeyboardInterrupt:
        terminal.note("evals: interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last line of defence: never a traceback for users
        return _broken(error, terminal, packet, debug)


def _finished(command: Command, parser: Parser, words: list[str], terminal: Terminal) -> int:
    module = _load(command)
    module.configure(parser)
    code = module.run(parser.parse_words(words), terminal)
    terminal.flush()
    return code


def _load(command: Command) -> CommandModule:
    from importlib import import_module

    package = __package__ or "evals_cli"
    module: CommandModule = import_module(f"{package}.commands.{command.module}")
    return module


def _refused(error: EvalsError, terminal: Terminal, packet: bool) -> int:
    if not packet:
        terminal.error(error)
        return FAILED
    from .refusal import refusal_packet
    from .terminal import OutputClosed, OutputFailed

    try:
        terminal.document(refusal_packet(error))
    except OutputFailed as failed:
        terminal.error(error)
        terminal.error(failed)
    except OutputClosed:
        return FAILED
    return FAILED


def _broken(error: Exception, terminal: Terminal, packet: bool, debug: bool) -> int:
    from .core.errors import EvalsError

    if debug:
        import traceback

        _complain("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    message = f"an unexpected {type(error).__name__} stopped the command; `evals --debug ...` shows where"
    return _refused(EvalsError("internal.error", message), terminal, packet)


def _complain(text: str) -> None:
    """Write a block of this program's own words to stderr; a closed stderr is no reason to fail."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
    except (OSError, ValueError):
        return


def _occupy_standard_streams() -> None:
    """Keep descriptors 0, 1 and 2 taken, so that no evidence file opened later is mistaken for a stream."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        import os

        descriptor = os.open(os.devnull, os.O_RDWR)
        while descriptor <= 2:
            descriptor = os.dup(descriptor)
        os.close(descriptor)


def _settle_streams() -> None:
    """Drop what a broken stream still holds, or the interpreter would complain about it at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            import os

            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _CallableModule(type(sys)):  # type: ignore[misc]  # type(sys) is the class of modules, without `types`
    """This module, callable: `evals_cli.main` names both the module and the promised function."""

    def __call__(self, argv: Sequence[str] | None = None) -> int:
        return main(argv)


sys.modules[__name__].__class__ = _CallableModule
