"""What failure looks like: every refusal carries a stable code, one sentence, and optional details.

Rules:
- Bad data, bad files and refused requests raise EvalsError; a caller's own mistake (a wrong type) is a
  TypeError or ValueError.
- A code is lower-case words joined by dots, never changes its meaning, and is listed in `core.catalog`.
- A message is one line for people: what, where, and what to do. Programs read `code` and `details`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class EvalsError(Exception):
    """A refusal with a stable `code`, a one-line `message` and a `details` mapping (possibly empty)."""

    def __init__(self, code: str, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.details: dict[str, object] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class UnsupportedValue(EvalsError, ValueError):
    """A Python value that JSON cannot hold (code `json.unsupported_value`)."""

    def __init__(self, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__("json.unsupported_value", message, details)


class FileError(EvalsError):
    """A file that cannot be used as asked: codes `file.*` and `path.*`; details hold `path` and `errno`."""


class RequirementError(EvalsError):
    """A named requirement of the run spine that a document or an option does not meet.

    `requirement` is the published name ("case path"); the code is the same name with its first space as a
    dot and the others as underscores ("case.path", "repo.root_option"). `problems` lists every finding.
    """

    def __init__(
        self,
        requirement: str,
        problems: Sequence[str],
        *,
        recovery: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        code = requirement.replace(" ", ".", 1).replace(" ", "_")
        super().__init__(code, "; ".join(problems), details)
        self.requirement = requirement
        self.problems = list(problems)
        self.recovery = recovery
