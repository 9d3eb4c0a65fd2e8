"""Validating one document on its own: a case, a suite, a latest pointer, or a proof contract.

Rules:
- The target lies inside its root; otherwise requirement `validation target path` (for a proof contract
  `schema validation target path`). Nothing outside the root is opened, links included.
- It is a regular file of at most `limits.TARGET` bytes that parses without repeated keys; otherwise
  `validation target read`.
- `latest.json` and `latest-candidate.json` are latest pointers, `suite.json` and `suite.toml` suites,
  `.evals/project.json` and `.evals/project.toml` project manifests. Of the others, a document with
  `observed_events` is a runtime-evidence case, and every other one a case. A proof contract is what the
  caller says it is.
- A suite is validated with its cases, and a runtime-evidence case with what its scorers come to.
- Schema first; what the schema cannot say is looked at only in a document that fits it.

A passed validation says that the document keeps its own rules. Of the files that it names, only the cases of
a suite are looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import limits
from .authored import about
from .bundle_layout import CANDIDATE_NAME, LATEST_NAME
from .case import case_problems, load_case
from .check_record import check_record
from .contained import read_inside
from .errors import EvalsError, FileError, RequirementError
from .files import shown
from .project_manifest import JSON_PATH, TOML_PATH, manifest_problems
from .project_manifest import SCHEMA as MANIFEST
from .proof_contracts import SEMANTICS
from .suite import load_suite
from .targets import MAX_PROBLEMS, capped, is_suite, locate

if TYPE_CHECKING:
    from .documents import Documents
    from .suite import Suite

TARGET_PATH = "validation target path"
TARGET_READ = "validation target read"
SCHEMA_TARGET_PATH = "schema validation target path"


@dataclass(frozen=True, kw_only=True)
class Validation:
    """The outcome: what kind of document it is, and its checks in order, each with its errors.

    `requirement` names what is not met; None when every check passed.
    """

    target_schema: str
    checks: list[dict[str, Any]]
    requirement: str | None

    @property
    def errors(self) -> list[str]:
        """Every finding, in order."""
        return [error for check in self.checks for error in check["errors"]]


def validate_target(word: str, *, cwd: str, root: str, documents: Documents) -> Validation:
    """Validate the document that `word`, relative to `cwd`, names below `root`, as the kind that it is.

    Raises RequirementError `validation target path`, `validation target read`, or `suite validation`.
    """
    path = _located(word, cwd, root, TARGET_PATH)
    name = path.rpartition("/")[2]
    if is_suite(path):
        return _suite(load_suite(word, cwd=cwd, documents=documents), documents)
    document, size = _document(root, path, TARGET_PATH, documents)
    if name in (LATEST_NAME, CANDIDATE_NAME):
        problems = documents.problems("latest-run", document)
        check = _check("latest pointer", "latest-run", path, problems)
        return _validation("latest-run", [check], "latest validation")
    if path in (JSON_PATH, TOML_PATH):
        check = _check("project manifest", MANIFEST, path, manifest_problems(root, document, documents))
        return _validation(MANIFEST, [check], "project manifest")
    if isinstance(document, dict) and "observed_events" in document:
        return _runtime_evidence(path, document, documents)
    problems = _size_problems(size) + case_problems(document, documents)
    check = _check("case", "eval-case", path, problems)
    return _validation("eval-case", [check], "case validation")


def _size_problems(size: int) -> list[str]:
    """What keeps a run from reading a case of `size` bytes, which may be validated all the same."""
    return [f"$: larger than the limit of {limits.CASE} bytes"] if size > limits.CASE else []


def _suite(suite: Suite, documents: Documents) -> Validation:
    """The suite, which is sound, and its cases, each judged as a run would judge it."""
    folder = os.path.join(suite.root, suite.folder)
    requirement = "case validation"
    problems: list[str] = []
    for reference in suite.cases:
        try:
            load_case(folder, reference, documents, base=suite.folder)
        except RequirementError as error:
            requirement = requirement if problems else error.requirement
            problems += error.problems
            if len(problems) > MAX_PROBLEMS:
                break
    checks = [
        _check("suite", "suite", suite.path, []),
        check_record("cases of the suite", suite.path, capped(problems), schema="eval-case"),
    ]
    return _validation("suite", checks, requirement)


def _runtime_evidence(path: str, document: dict[str, Any], documents: Documents) -> Validation:
    from .runtime_evidence import SCHEMA, judge_case

    problems = list(judge_case(document, documents).problems)
    check = _check("runtime evidence", SCHEMA, path, problems)
    return _validation(SCHEMA, [check], "runtime evidence")


def validate_proof_contract(
    schema: str, word: str, *, cwd: str, root: str, documents: Documents
) -> Validation:
    """Validate the claim registry or score vector that `word`, relative to `cwd`, names below `root`.

    `schema` is a key of `proof_contracts.SEMANTICS`. Raises RequirementError `schema validation target path`
    or `validation target read`.
    """
    path = _located(word, cwd, root, SCHEMA_TARGET_PATH)
    document, _ = _document(root, path, SCHEMA_TARGET_PATH, documents)
    checks = [_check(f"{schema} schema", schema, path, documents.problems(schema, document))]
    if not checks[0]["errors"]:
        checks.append(_check(f"{schema} semantics", schema, path, SEMANTICS[schema](document)))
    return _validation(schema, checks, "schema validation")


def _located(word: str, cwd: str, root: str, requirement: str) -> str:
    path = locate(word, cwd=cwd, root=root)
    if path is None:
        raise RequirementError(
            requirement,
            [f"{shown(word)}: lies outside the project root; name a file inside it"],
            recovery="name a file inside the project root, or another root with --repo-root",
        )
    return path


def _document(root: str, path: str, requirement: str, documents: Documents) -> tuple[Any, int]:
    """The document at `path`, and the number of bytes that it was read from."""
    try:
        raw = read_inside(root, path, limit=limits.TARGET)
        return documents.parse(path, raw), len(raw)
    except FileError as error:
        outside = error.code in ("file.missing", "path.invalid", "path.outside_root")
        raise RequirementError(
            requirement if outside else TARGET_READ,
            [error.message],
            recovery="name a regular file inside the project root",
        ) from error
    except EvalsError as error:
        raise RequirementError(
            TARGET_READ,
            [f"{shown(path)}: {error.message}"],
            recovery="correct the file at the place that is named",
        ) from error


def _check(label: str, schema: str, path: str, problems: list[str]) -> dict[str, Any]:
    return check_record(label, path, about(path, problems), schema=schema)


def _validation(target_schema: str, checks: list[dict[str, Any]], requirement: str) -> Validation:
    failed = any(check["errors"] for check in checks)
    return Validation(target_schema=target_schema, checks=checks, requirement=requirement if failed else None)
