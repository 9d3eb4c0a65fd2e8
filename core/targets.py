"""What the word on the command line names: a case or a suite, and where it lies below its root.

Rules:
- A word is taken relative to the working directory; an absolute one inside the root is fine. The folders
  on its way are resolved, so the recorded path is the real one; the last part may itself be a link, which
  is then resolved when the file is opened, inside the root.
- A root contains what lies below it, not what merely begins with its name (`/a/root-evil`).
- A document has one form: where both `x.json` and `x.toml` stand, neither is chosen.
- A path from a command line is taken as it is; in a document's reference a backslash separates like a slash.
- Findings of a document are told in the order of their JSON paths.
- `suite.json` and `suite.toml` are suites; every other name is a case.
"""

from __future__ import annotations

import os
import re

from .contained import inside_status
from .files import shown

SUITE_NAMES = ("suite.json", "suite.toml")

# Whatever a document holds, its refusal stays readable.
MAX_PROBLEMS = 100

_STEP = re.compile(r"\[([0-9]+)\]|(.[^.\[]*)")

# How to begin, for a reader who has nothing yet.
FIRST_STEPS = (
    "evals schema eval-case shows the fields of a case; docs/guide.md writes a first case and suite with you"
)


def is_suite(path: str) -> bool:
    """Whether the file name of `path` is a suite's."""
    return os.path.basename(path) in SUITE_NAMES


def below(root: str, path: str) -> str | None:
    """The POSIX-style path of `path` (absolute) relative to `root` (absolute), None where it lies outside."""
    prefix = root.rstrip(os.sep) + os.sep
    return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else None


def locate(word: str, *, cwd: str, root: str) -> str | None:
    """The path below `root` that `word`, relative to `cwd`, names; None where it lies outside."""
    folder, name = os.path.split(os.path.join(cwd, word))
    if name in ("", ".", ".."):
        folder, name = os.path.join(folder, name), ""
    base, named = os.path.realpath(root), os.path.join(os.path.realpath(folder), name)
    return "." if named.rstrip(os.sep) == base else below(base, named)


def twin(path: str) -> str | None:
    """The name of the same document in its other form, for `*.json` and `*.toml`."""
    stem, ending = os.path.splitext(path)
    return {".json": stem + ".toml", ".toml": stem + ".json"}.get(ending)


def twin_problem(root: str, path: str, base: str = ".") -> str | None:
    """Why a document that also stands in its other form cannot be used, naming both; None if it does not.

    `path` is relative to `root`; people know `root` as the folder `base`.
    """
    other = twin(path)
    if other is None or not inside_status(root, other) == inside_status(root, path) == "present":
        return None
    here, there = shown(joined(base, path)), shown(joined(base, other))
    return f"{here}: stands beside {there}; keep one of the two forms of the document"


def plain(reference: str) -> str:
    """A reference of a document with slashes only, without empty and `.` parts."""
    parts = reference.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "."))


def joined(folder: str, path: str) -> str:
    """`path` below `folder`, both relative; the folder `.` is the root itself."""
    return path if folder == "." else f"{folder}/{path}"


def in_order(problems: list[str]) -> list[str]:
    """Findings that each begin with a JSON path, in the order of these paths.

    An array's tenth item comes after its second, and the line that says that there are more is the last.
    """
    return sorted(problems, key=_order)


def _order(problem: str) -> tuple[bool, list[tuple[int, int, str]]]:
    path = problem.partition(": ")[0]
    steps = [(0, int(index), "") if index else (1, 0, name) for index, name in _STEP.findall(path)]
    return problem.startswith("$: more than "), steps


def capped(problems: list[str], limit: int = MAX_PROBLEMS) -> list[str]:
    """At most `limit` problems, and a line that says so where there are more."""
    if len(problems) <= limit:
        return problems
    return [*problems[:limit], f"more than {limit} problems; only {limit} of them are listed"]
