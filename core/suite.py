"""A suite: the list of cases that a repository keeps under `.evals`, and what it may ask for.

Rules, each a finding of requirement `suite validation`:
- The file is `suite.json` or `suite.toml` (not both) inside a folder `.evals`; neither is a symlink. The
  suite's root is its own folder; the evaluated repository is the parent of the nearest `.evals`.
- It is a regular file of at most `limits.SUITE` bytes, parses without repeated keys, and fits the schema.
- Bundles are written and kept, and the network is not allowed.
- References stay inside the suite's folder; a backslash in them separates like a slash. Cases, a baseline,
  and scorers named `*.scorer.json` must exist there.
- A scorer reference must not look executable: a `bin`, `script` or `scripts` folder, the extension of a
  program, or a leading word that starts one.
- The artifact root names a folder below the repository that may hold bundles (`artifact_root_problem`), and
  is not the folder of the suite, where a latest.json could take the place of a case.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import limits
from .bundle_layout import DEFAULT_PREFIX, artifact_root_problem
from .canonical import sha256_hex
from .contained import inside_status, read_inside, relative_problem
from .errors import EvalsError, FileError, RequirementError
from .files import shown
from .targets import FIRST_STEPS, MAX_PROBLEMS, below, capped, in_order, plain, twin_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .documents import Documents

EVALS_FOLDER = ".evals"

_PROGRAM_FOLDERS = frozenset(("bin", "script", "scripts"))
_PROGRAM_EXTENSION = re.compile(r"\.(?:[cm]?[jt]s|sh|bash|zsh|py|rb|go|rs)\Z")
_PROGRAMS = frozenset(
    ("node", "pnpm", "npm", "yarn", "bun", "bash", "sh", "zsh", "python", "ruby", "go", "cargo")
)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite that may run.

    `root` is the absolute path of the evaluated repository; `folder` (the suite's own), `path` (the file)
    and `prefix` (where bundles go) are relative to it; `cases` are relative to `folder`.
    """

    root: str
    folder: str
    path: str
    sha256: str
    prefix: str
    cases: tuple[str, ...]
    document: dict[str, Any]


def load_suite(word: str, *, cwd: str, documents: Documents) -> Suite:
    """Read and check the suite that `word`, relative to `cwd`, names.

    Raises RequirementError `suite validation` with every finding, each naming the file and JSON path. The
    cases themselves are not read here.
    """
    root, folder, name = _place(word, cwd)
    path = f"{folder}/{name}"
    raw = _read(root, folder, name, word)
    document = _parse(path, raw, documents)
    problems = documents.problems("suite", document)
    if not problems:
        problems = in_order(_policy_problems(document, folder) + _reference_problems(document, root, folder))
    if problems:
        raise _refusal(capped([f"{shown(path)}: {problem}" for problem in problems]))
    prefix = document["artifact_policy"].get("artifact_root", DEFAULT_PREFIX)
    return Suite(
        root=root,
        folder=folder,
        path=path,
        sha256=sha256_hex(raw),
        prefix=plain(prefix),
        cases=tuple(plain(reference) or "." for reference in document["cases"]),
        document=document,
    )


def _refusal(problems: list[str], recovery: str | None = None) -> RequirementError:
    return RequirementError(
        "suite validation", problems, recovery=recovery or "correct the suite, then evals run again"
    )


def _place(word: str, cwd: str) -> tuple[str, str, str]:
    """The evaluated repository (absolute), the suite's folder relative to it, and the file's name."""
    named = os.path.normpath(os.path.join(cwd, word))
    parts = os.path.dirname(named).split(os.sep)
    if EVALS_FOLDER not in parts:
        problem = f"{shown(word)}: lies in no folder {EVALS_FOLDER}; a suite is kept in {EVALS_FOLDER}/"
        raise _refusal([problem], FIRST_STEPS)
    depth = len(parts) - parts[::-1].index(EVALS_FOLDER)
    evals = os.sep.join(parts[:depth])
    for path in (evals, named):
        if _is_link(path):
            problem = f"{shown(word)}: {os.path.basename(path)} is a symlink; suites are not reached by links"
            raise _refusal([problem])
    root = os.path.realpath(os.path.dirname(evals))
    folder = below(root, os.path.realpath(os.path.dirname(named)))
    if folder is None or folder.split("/")[0] != EVALS_FOLDER:
        raise _refusal([f"{shown(word)}: its folder leads out of {EVALS_FOLDER}; expected one inside it"])
    return root, folder, os.path.basename(named)


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _read(root: str, folder: str, name: str, word: str) -> bytes:
    both = twin_problem(root, f"{folder}/{name}")
    if both is not None:
        raise _refusal([both], "remove one of the two files")
    try:
        return read_inside(os.path.join(root, folder), name, limit=limits.SUITE, called=f"{folder}/{name}")
    except FileError as error:
        if error.code == "file.missing":
            raise _refusal([f"{shown(word)}: there is no such suite"], FIRST_STEPS) from error
        raise _refusal([error.message]) from error


def _parse(path: str, raw: bytes, documents: Documents) -> Any:
    try:
        return documents.parse(path, raw)
    except EvalsError as error:
        raise _refusal([f"{shown(path)}: {error.message}"]) from error


def _policy_problems(document: dict[str, Any], folder: str) -> list[str]:
    policy = document["artifact_policy"]
    wanted = {"write_bundle": True, "retain_locally": True, "allow_network": False}
    reasons = {
        "write_bundle": "a run without a bundle is no evidence",
        "retain_locally": "bundles stay on this machine",
        "allow_network": "runs are offline",
    }
    found = [
        f"$.artifact_policy.{key}: {str(policy[key]).lower()}; expected {str(value).lower()}, "
        f"since {reasons[key]}"
        for key, value in wanted.items()
        if policy[key] is not value
    ]
    root = policy.get("artifact_root", DEFAULT_PREFIX)
    problem = artifact_root_problem(root)
    if problem is None and plain(root) == folder:
        problem = "it is the folder of the suite"
    if problem is not None:
        found.append(f"$.artifact_policy.artifact_root: {shown(root)}: {problem}; expected a folder inside")
    return found


def _reference_problems(document: dict[str, Any], root: str, folder: str) -> list[str]:
    # One more than is told, so that a suite of many missing cases is refused without looking for each.
    return list(islice(_broken_references(document, os.path.join(root, folder)), MAX_PROBLEMS + 1))


def _broken_references(document: dict[str, Any], folder: str) -> Iterator[str]:
    for index, reference in enumerate(document["cases"]):
        yield from _missing(f"$.cases[{index}]", reference, folder)
    for index, reference in enumerate(document["scorers"]):
        yield from _scorer_problems(f"$.scorers[{index}]", reference, folder)
    baseline = document.get("baseline")
    if baseline is not None:
        yield from _missing("$.baseline", baseline, folder)


def _missing(path: str, reference: str, folder: str) -> list[str]:
    problem = relative_problem(reference)
    if problem is not None:
        return [f"{path}: {shown(reference)}: {problem}"]
    status = inside_status(folder, plain(reference) or ".")
    if status == "present":
        return []
    why = "leads out of the suite's folder" if status == "invalid" else "does not exist in the suite's folder"
    return [f"{path}: {shown(reference)}: {why}"]


def _scorer_problems(path: str, reference: str, folder: str) -> list[str]:
    problem = relative_problem(reference)
    if problem is not None:
        return [f"{path}: {shown(reference)}: {problem}"]
    if looks_executable(reference):
        return [f"{path}: {shown(reference)}: looks executable; scorers are names or data, never programs"]
    if reference.lower().endswith(".scorer.json"):
        return _missing(path, reference, folder)
    return []


def looks_executable(reference: str) -> bool:
    """Whether a scorer reference names, in any part of it, something that could be started."""
    words = reference.replace("\\", "/").lower().split()
    if words and words[0] in _PROGRAMS:
        return True
    return any(
        _PROGRAM_EXTENSION.search(word) or not _PROGRAM_FOLDERS.isdisjoint(word.split("/")[:-1])
        for word in words
    )
