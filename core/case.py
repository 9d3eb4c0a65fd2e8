"""A case: reading it inside its root, its schema, and the policy that decides whether it may run.

Rules, in the order of the checks:
1. The path lies inside the root and something is there: requirement `case path`. It stands in one form only
   (JSON or TOML), else `case path` too.
2. It is a regular file of at most `limits.CASE` bytes of UTF-8: requirement `case read`.
3. It parses (JSON without a byte-order mark, or TOML): requirement `case parse`. A repeated key is
   `case validation`.
4. It fits the schema `eval-case` and the policy: requirement `case validation`. The policy: synthetic
   material, no private content, no credentials, the one simulation there is, and a baseline object where
   baseline-presence is among the scorers.

The digest of a case is taken over its raw bytes, whatever its form. Findings are told in the order of their
paths, and where schema and policy both have one about a path, the policy's is told: it asks for more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import limits
from .canonical import sha256_hex
from .contained import read_inside
from .errors import EvalsError, FileError, RequirementError
from .files import shown
from .targets import FIRST_STEPS, capped, in_order, joined, locate, twin_problem

if TYPE_CHECKING:
    from .documents import Documents

COMMAND = "simulate-pr-closeout"

_PATH_CODES = ("file.missing", "path.invalid", "path.outside_root")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case that may run.

    `path` and `base` are relative to the evaluated repository: the case file, and the folder that its
    baseline is relative to (`.` for the repository itself). `sha256` is the digest of the file's bytes.
    """

    path: str
    base: str
    sha256: str
    document: dict[str, Any]

    @property
    def case_id(self) -> str:
        """The identifier of the case."""
        return str(self.document["case_id"])

    @property
    def suite_id(self) -> str:
        """The suite that the case says it belongs to."""
        return str(self.document["suite_id"])


def locate_case(word: str, *, cwd: str, root: str) -> str:
    """The path below `root` of the case that `word` names (RequirementError `case path` if outside)."""
    path = locate(word, cwd=cwd, root=root)
    if path is None:
        raise RequirementError(
            "case path",
            [f"{shown(word)}: lies outside the project root; a case is run from inside its own project"],
            recovery="change to the case's project, then evals run PATH",
        )
    return path


def load_case(
    folder: str, reference: str, documents: Documents, *, base: str = ".", validated: str | None = None
) -> Case:
    """Read, check and return the case `reference` below `folder` (an absolute path); a literal path.

    `base` is `folder` relative to the evaluated repository. `validated` is the SHA-256 of bytes known to be
    valid, if any: they are not validated again. Raises RequirementError `case path`, `case read`,
    `case parse` or `case validation`, each problem naming the file and, where there is one, the JSON path.
    """
    path = joined(base, reference)
    raw = _read(folder, reference, base)
    sha256 = sha256_hex(raw)
    document = _parse(path, raw, documents)
    problems = [] if sha256 == validated else case_problems(document, documents)
    if problems:
        raise RequirementError(
            "case validation",
            capped([f"{shown(path)}: {problem}" for problem in problems]),
            recovery="correct the fields that are named, then evals run again",
        )
    return Case(path=path, base=base, sha256=sha256, document=document)


def _read(folder: str, reference: str, base: str) -> bytes:
    path = joined(base, reference)
    both = twin_problem(folder, reference, base)
    if both is not None:
        raise RequirementError("case path", [both], recovery="remove one of the two files")
    try:
        raw = read_inside(folder, reference, limit=limits.CASE, called=path)
    except FileError as error:
        raise _refused(error, path) from error
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"{shown(path)}: not UTF-8 at byte {error.start}; save the case as UTF-8"
        raise RequirementError("case read", [problem], recovery="save the file as UTF-8") from None
    return raw


def _refused(error: FileError, path: str) -> RequirementError:
    if error.code == "file.missing":
        return RequirementError(
            "case path", [f"{shown(path)}: there is no such case file"], recovery=FIRST_STEPS
        )
    if error.code == "file.too_large":
        recovery = "keep in the case what the run needs; the limit keeps its bundle readable for evals check"
        return RequirementError("case read", [error.message], recovery=recovery)
    requirement = "case path" if error.code in _PATH_CODES else "case read"
    return RequirementError(
        requirement, [error.message], recovery="name a case file inside the project, then evals run again"
    )


def _parse(path: str, raw: bytes, documents: Documents) -> Any:
    try:
        return documents.parse(path, raw)
    except EvalsError as error:
        requirement = "case validation" if error.code == "json.repeated_key" else "case parse"
        raise RequirementError(
            requirement,
            [f"{shown(path)}: {error.message}"],
            recovery="correct the file at the place that is named, then evals run again",
        ) from error


def case_problems(document: object, documents: Documents) -> list[str]:
    """What keeps a parsed document from being a case that may run, each finding with its JSON path."""
    policy = policy_problems(document)
    told = {problem.partition(": ")[0] for problem in policy}
    schema = documents.problems("eval-case", document)
    return in_order(policy + [each for each in schema if each.partition(": ")[0] not in told])


def policy_problems(document: object) -> list[str]:
    """What the policy refuses in a document, valid or not; a part that is missing is the schema's matter."""
    return [
        *_must_be(document, "fixture_source", "type", "synthetic", "only synthetic material is run"),
        *_must_be(document, "privacy", "contains_private_content", False, "private content is never run"),
        *_must_be(document, "privacy", "contains_credentials", False, "credentials are never run"),
        *_must_be(document, "input", "command", COMMAND, "there is no other simulation"),
        *_baseline_problems(document),
    ]


def _must_be(document: object, part: str, key: str, wanted: object, why: str) -> list[str]:
    value = document.get(part) if isinstance(document, dict) else None
    if not isinstance(value, dict) or key not in value or value[key] == wanted:
        return []
    found, expected = (str(each).lower() if isinstance(each, bool) else each for each in (value[key], wanted))
    return [f"$.{part}.{key}: {shown(found)[:80]}; expected {expected}, since {why}"]


def _baseline_problems(document: object) -> list[str]:
    if not isinstance(document, dict):
        return []
    scorers = document.get("scorers")
    if not isinstance(scorers, list) or "baseline-presence" not in scorers or "baseline" in document:
        return []
    return ["$.baseline: missing; expected an object, since baseline-presence is among the scorers"]
