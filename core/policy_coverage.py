"""Runtime-evidence policy coverage of a root: which cases count, and what they establish together.

Rules:
- A path names one case file, or a folder, which stands for its `*.case.json` and `*.case.toml` files by
  name; a folder without any fails coverage and says so. A path given twice counts once.
- A case in both forms (`x.case.json` beside `x.case.toml`) is an error that names both.
- A path outside the root, a missing or unreadable file and a file that does not parse fail coverage: where a
  case cannot be read, nothing is known about its families.
- A case that breaks its schema adds no family and fails its own check. Coverage then stays what the other
  cases make it, so readers ask `Coverage.proved`, not the status alone.
- Without any path nothing is configured.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from .authored import about, finding, list_names, read_document
from .check_record import check_record
from .contained import inside_status
from .errors import EvalsError
from .files import shown
from .runtime_evidence import SCHEMA, CaseOutcome, judge_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Documents
    from .policy_families import FamilyRecord

_FORMS = (".case.json", ".case.toml")


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The coverage of a set of cases: status (`pass`, `fail`, `not_configured`), families, errors, checks.

    A check has label, schema_path, data_path, status, errors, and for a valid case scorer_results and
    policy_coverage; it fits `validation-result`.
    """

    status: str
    families: list[FamilyRecord]
    errors: list[str]
    checks: list[dict[str, Any]]

    @property
    def proved(self) -> bool:
        """Whether coverage passes and every case does: valid, covered, and judged as expected."""
        return self.status == "pass" and all(check["status"] == "pass" for check in self.checks)

    def document(self) -> dict[str, Any]:
        """The published part: status, families, errors."""
        return {"status": self.status, "families": list(self.families), "errors": list(self.errors)}


def _check(path: str, errors: list[str], outcome: CaseOutcome | None = None) -> dict[str, Any]:
    check = check_record(f"runtime evidence {shown(path)}", path, errors, schema=SCHEMA)
    if outcome is not None:
        check["scorer_results"] = list(outcome.scorer_results)
        check["policy_coverage"] = outcome.coverage()
    return check


def _expand(root: str, path: str) -> tuple[list[str], list[str]]:
    """The case files that `path` stands for, and why it stands for none."""
    try:
        names = list_names(root, path)
    except EvalsError as error:
        return [], [finding(path, error)]
    if names is None:
        return [path], []
    cases = [f"{posixpath.normpath(path)}/{name}" for name in names if name.endswith(_FORMS)]
    return cases, [] if cases else [_no_case(path)]


def _no_case(path: str) -> str:
    return f"{shown(path)}: the folder holds no case; write one as <name>.case.json or <name>.case.toml"


def _twin_problem(root: str, path: str) -> str | None:
    for form, other in (_FORMS, reversed(_FORMS)):
        twin = path.removesuffix(form) + other
        if path.endswith(form) and inside_status(root, twin) == "present":
            return f"{shown(path)} and {shown(twin)} are two forms of one case; keep one of them"
    return None


def _assess_file(root: str, path: str, documents: Documents) -> tuple[dict[str, Any], CaseOutcome | None]:
    """The check of one case file, and its outcome where it could be read."""
    twins = _twin_problem(root, path)
    if twins is not None:
        return _check(path, [twins]), None
    try:
        document = read_document(root, path, documents)
    except EvalsError as error:
        return _check(path, [finding(path, error)]), None
    outcome = judge_case(document, documents)
    return _check(path, about(path, list(outcome.problems)), outcome), outcome


def assess(root: str, paths: list[str], documents: Documents) -> Coverage:
    """Validate, score and cover the cases that `paths` (relative to `root`) name; nothing is raised for them.

    The source of the rules is the runtime-evidence policy of a project manifest (`evidence_paths`); at home
    the one path is `roots.HOME_EVIDENCE`.
    """
    families: list[FamilyRecord] = []
    errors: list[str] = []
    checks: list[dict[str, Any]] = []
    files: list[str] = []
    for path in dict.fromkeys(paths):
        found, unusable = _expand(root, path)
        files += found
        errors += unusable
        checks += [_check(path, unusable)] if unusable else []
    for file in dict.fromkeys(files):
        check, outcome = _assess_file(root, file, documents)
        checks.append(check)
        families += outcome.families if outcome else ()
        errors += about(file, list(outcome.coverage_problems)) if outcome else check["errors"]
    status = ("fail" if errors else "pass") if checks else "not_configured"
    return Coverage(status=status, families=families, errors=errors, checks=checks)
