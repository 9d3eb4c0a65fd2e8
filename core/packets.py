"""What promotion and improvement packets have in common: where they stand, how they are read and reported.

Rules:
- Packets of a kind are the `*.json` files directly in the folder of that kind. None at all is a failure
  that says where they would be.
- A packet is strict JSON that fits its schema; only then are its rules asked.
- A path that a packet references must exist inside the root. Origins outside are words, never paths, and
  nothing outside the root is read.
- A command line counts as the packet's own validator in any of its spellings, with arguments after it, but
  not when the shell would do something besides (a pipe, a list, a redirection, a substitution): such a line
  can succeed although the validator failed. Commands are compared and never run.
"""

from __future__ import annotations

from dataclasses import dataclass

from .authored import about, finding, list_names, read_document
from .check_record import check_record
from .contained import inside_status
from .errors import EvalsError
from .files import shown
from .next_commands import command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .documents import Documents

_SHELL = frozenset(";&|<>$`\n\r#")


@dataclass(frozen=True, kw_only=True)
class PacketKind:
    """One kind of packet: its folder and schema, what people call it, and its validator's spellings."""

    noun: str
    folder: str
    schema: str
    requirement: str
    validators: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class PacketReport:
    """What became of the packets of one kind: a check for each file, and every problem."""

    kind: PacketKind
    checks: tuple[dict[str, Any], ...]
    errors: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether there is a packet and every packet holds."""
        return not self.errors

    def document(self, again: str) -> dict[str, Any]:
        """The published result; `again` is the command line that judges once more after a failure.

        Where there is no packet yet, the recovery is to see how one is written.
        """
        recovery = again if self.checks else command_line("schema", self.kind.schema)
        head: dict[str, Any] = {"schema_version": 2, "status": "passed" if self.passed else "failed"}
        if not self.passed:
            head |= {"requirement": self.kind.requirement, "recovery": recovery}
        return {**head, "checks": list(self.checks), "errors": list(self.errors)}


def read_packet(root: str, path: str, kind: PacketKind, documents: Documents) -> tuple[Any, list[str]]:
    """The packet at `path` below `root`, and what is wrong with its form; None where it cannot be read."""
    try:
        document = read_document(root, path, documents)
    except EvalsError as error:
        return None, [finding(path, error)]
    return document, about(path, documents.problems(kind.schema, document))


def missing_references(root: str, references: Iterable[tuple[str, str | None]]) -> list[str]:
    """A problem for each (JSON path, path) that does not exist inside `root`; null references are skipped."""
    problems = []
    for where, path in references:
        status = "present" if path is None else inside_status(root, path)
        if status == "missing":
            problems.append(f"{where}: {shown(path)} does not exist; a packet names only files that are kept")
        elif status == "invalid":
            problems.append(f"{where}: {shown(path)} leads out of the root; name a file inside it")
    return problems


def each_of(where: str, paths: list[str]) -> list[tuple[str, str | None]]:
    """The references of an array, each with its JSON path."""
    return [(f"{where}[{index}]", path) for index, path in enumerate(paths)]


def own_validator_problem(commands: list[str], kind: PacketKind) -> str | None:
    """Why a validated packet's commands do not count: none of them is the validator of its kind."""
    if any(_is_validator(command, kind) for command in commands):
        return None
    spelled = " ".join(kind.validators[0])
    return f"$.validation.commands: the packet is validated without its own validator; list {spelled!r}"


def _is_validator(command: str, kind: PacketKind) -> bool:
    if not _SHELL.isdisjoint(command):
        return False
    words = tuple(command.split())
    return any(words[: len(spelling)] == spelling for spelling in kind.validators)


def validate_packets(root: str, kind: PacketKind, judge: Callable[[str], list[str]]) -> PacketReport:
    """Judge every packet of a kind below `root`; `judge` lists what is wrong with the one at a path.

    Raises FileError `path.outside_root` or `file.unreadable` for the folder itself.
    """
    names = [name for name in list_names(root, kind.folder) or [] if name.endswith(".json")]
    if not names:
        problem = f"{kind.folder}: no {kind.noun} found; write one as {kind.folder}/<name>.json"
        return PacketReport(kind=kind, checks=(), errors=(problem,))
    checks = tuple(_check(kind, f"{kind.folder}/{name}", judge) for name in names)
    errors = tuple(error for check in checks for error in check["errors"])
    return PacketReport(kind=kind, checks=checks, errors=errors)


def _check(kind: PacketKind, path: str, judge: Callable[[str], list[str]]) -> dict[str, Any]:
    return check_record(f"{kind.noun} {shown(path)}", path, judge(path), schema=kind.schema)
