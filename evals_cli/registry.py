"""The table of commands: what can be typed, which module answers, and one line that says why.

Rules of this module:
1. It is data; no command module is imported to list, to suggest or to describe commands.
2. `packet=True` marks a command whose failures, asked for with `--json`, are a validation-result document
   on stdout. The evidence commands never do that: their errors are lines on stderr.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Command:
    """One row of the table: the words, the module under `commands/`, the summary for `--help`."""

    __slots__ = ("module", "packet", "path", "summary")

    def __init__(self, path: tuple[str, ...], module: str, summary: str, *, packet: bool = False) -> None:
        self.path = path
        self.module = module
        self.summary = summary
        self.packet = packet

    @property
    def name(self) -> str:
        """The words as typed, joined by spaces."""
        return " ".join(self.path)

    @property
    def sentence(self) -> str:
        """The summary as a sentence, for the command's own help."""
        return f"{self.summary[0].upper()}{self.summary[1:]}."


COMMANDS: tuple[Command, ...] = (
    Command(("run",), "run", "run a case or a suite and write its artifact bundle", packet=True),
    Command(("check",), "check", "check the latest artifact bundle of a repository", packet=True),
    Command(("state",), "state", "say what the local evidence shows, and what to do next", packet=True),
    Command(("validate",), "validate", "validate a case or a latest.json", packet=True),
    Command(
        ("validate-schema",), "validate_schema", "validate a claim registry or a score vector", packet=True
    ),
    Command(
        ("validate-contracts",), "validate_contracts", "prove the contracts on their fixtures", packet=True
    ),
    Command(("validate-promotions",), "validate_promotions", "validate case-promotion packets", packet=True),
    Command(("validate-improvements",), "validate_improvements", "validate improvement packets", packet=True),
    Command(("capsule", "create"), "capsule_create", "start an empty capsule in a new directory"),
    Command(("capsule", "append"), "capsule_append", "append one entry to a capsule and print it"),
    Command(("capsule", "verify"), "capsule_verify", "check every byte and link of a capsule"),
    Command(
        ("capsule", "project"), "capsule_project", "derive a capsule's summary and write projection.json"
    ),
    Command(
        ("capsule", "export"), "capsule_export", "copy the three files of a capsule to another directory"
    ),
    Command(("capsule", "group"), "capsule_group", "report on 1 to 100 capsules of one task family"),
    Command(("capsule", "show"), "capsule_show", "list the entries of a capsule"),
    Command(("receipt", "build"), "receipt_build", "issue a receipt for a capsule as it stands"),
    Command(("receipt", "verify"), "receipt_verify", "check a receipt against a capsule"),
    Command(("gate", "run"), "gate_run", "refuse: no isolation backend exists, nothing is executed"),
    Command(("gate", "inspect"), "gate_inspect", "inspect a variant's files without running them"),
    Command(("example",), "example", "walk through the whole evidence story, offline"),
    Command(("explain",), "explain", "explain a code: what it establishes, and what to do next"),
    Command(("schema",), "schema", "print a JSON Schema, or the names of all of them"),
)


def find(words: Sequence[str]) -> Command | None:
    """Give the command whose path opens `words`; None when there is none."""
    for command in COMMANDS:
        if tuple(words[: len(command.path)]) == command.path:
            return command
    return None


def group(word: str) -> list[Command]:
    """Give the commands below a first word such as `capsule`; empty for anything else."""
    return [command for command in COMMANDS if len(command.path) > 1 and command.path[0] == word]


def nearest(words: Sequence[str]) -> str | None:
    """Give the command, or the first word of commands, that was probably meant; None when none is near."""
    if len(words) > 1 and (close := _close(" ".join(words[:2]), [command.name for command in COMMANDS])):
        return close
    if close := _close(words[0], sorted({command.path[0] for command in COMMANDS})):
        return close
    below = [command.name for command in COMMANDS if command.path[1:] == (words[0],)]
    return below[0] if below else None


def _close(word: str, names: list[str]) -> str | None:
    from difflib import get_close_matches

    close = get_close_matches(word, names, n=1, cutoff=0.6)
    return close[0] if close else None
