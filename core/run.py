"""Running a case or a suite: plan, then one bundle for each case, then the latest pointer.

Rules:
- A plan validates the suite and every case before the first bundle is written; an invalid one writes
  nothing. Only paths and digests are kept, so that a suite of many cases stays small in memory; a case
  that changed between planning and running is refused.
- All cases of a suite run, in order, whatever the verdict of one is.

A pass says that the bundle is complete and its deterministic scorers passed. It does not say that the
evaluated project is right.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .bundle_layout import DEFAULT_PREFIX, LATEST_NAME
from .canonical import canonical_json
from .case import load_case, locate_case
from .errors import RequirementError
from .files import shown
from .latest import Producer
from .next_commands import command_line
from .roots import find_root
from .run_once import run_once
from .targets import MAX_PROBLEMS, capped, is_suite, plain
from .timestamps import now_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from .case import Case
    from .documents import Documents
    from .suite import Suite
    from .timestamps import Clock


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What will run: every case has been found valid.

    `root` is the absolute path of the evaluated repository. `path` (the named file), `base` (the folder of
    the cases) and `prefix` are relative to it. `cases` holds pairs of a reference below `base` and the
    digest of its bytes. `suite` is None for a case that is run alone.
    """

    root: str
    path: str
    base: str
    prefix: str
    cases: tuple[tuple[str, str], ...]
    suite: Suite | None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gave: the document for machines, whether all passed, and every failure in a line."""

    document: dict[str, Any]
    passed: bool
    failures: list[str]


def plan_run(word: str, *, cwd: str, documents: Documents) -> Plan:
    """Find and validate what `word`, relative to `cwd`, names.

    Raises RequirementError `suite validation`, `case path`, `case read`, `case parse` or `case validation`.
    """
    if is_suite(word):
        from .suite import load_suite

        return _plan_suite(load_suite(word, cwd=cwd, documents=documents), documents)
    root = find_root(cwd)
    path = locate_case(word, cwd=cwd, root=root)
    case = load_case(root, path, documents)
    return Plan(
        root=root, path=path, base=".", prefix=DEFAULT_PREFIX, cases=((path, case.sha256),), suite=None
    )


def _plan_suite(suite: Suite, documents: Documents) -> Plan:
    folder = os.path.join(suite.root, suite.folder)
    cases: list[tuple[str, str]] = []
    refused: list[RequirementError] = []
    for reference in suite.cases:
        try:
            case = load_case(folder, reference, documents, base=suite.folder)
        except RequirementError as error:
            refused.append(error)
            if len(refused) >= MAX_PROBLEMS:
                break
        else:
            cases.append((reference, case.sha256))
    if refused:
        problems = [problem for error in refused for problem in error.problems]
        raise RequirementError(refused[0].requirement, capped(problems), recovery=refused[0].recovery)
    return Plan(
        root=suite.root,
        path=suite.path,
        base=suite.folder,
        prefix=suite.prefix,
        cases=tuple(cases),
        suite=suite,
    )


def execute(
    plan: Plan,
    *,
    documents: Documents,
    version: str,
    as_json: bool,
    clock: Clock | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run every case of `plan` and publish each bundle.

    `version` is the version of the package that produces the bundles; `advance` is called after each case.
    Raises RequirementError `case read` (and the others of `load_case`) for a case that is no longer what was
    planned, `run directory` and `artifact schema validation`.
    """
    producer = Producer(
        version=version,
        command=command_line("run", plan.path, as_json=as_json),
        suite_path=plan.suite.path if plan.suite else None,
        suite_sha256=plan.suite.sha256 if plan.suite else None,
    )

    def now() -> str:
        return now_text(clock)

    outputs: list[dict[str, Any]] = []
    failures: list[str] = []
    for reference, sha256 in plan.cases:
        case = _planned_case(plan, reference, sha256, documents)
        output, failed = run_once(
            case,
            root=plan.root,
            prefix=plan.prefix,
            producer=producer,
            documents=documents,
            now=now,
            output_format="json" if as_json else "text",
        )
        outputs.append(output)
        failures.extend(failed)
        advance()
    passed = all(output["verdict"] == "pass" for output in outputs)
    document = outputs[0] if plan.suite is None else _suite_output(plan, plan.suite, outputs, passed)
    return Outcome(document=document, passed=passed, failures=failures)


def _planned_case(plan: Plan, reference: str, sha256: str, documents: Documents) -> Case:
    folder = os.path.join(plan.root, plan.base)
    case = load_case(folder, reference, documents, base=plan.base, validated=sha256)
    if case.sha256 != sha256:
        problem = f"{shown(case.path)}: changed after it was validated; run again"
        raise RequirementError("case read", [problem], recovery=command_line("run", plan.path))
    return case


def _suite_output(plan: Plan, suite: Suite, outputs: list[dict[str, Any]], passed: bool) -> dict[str, Any]:
    return {
        "status": "passed" if passed else "failed",
        "verdict": "pass" if passed else "fail",
        "suite_id": suite.document["suite_id"],
        "owner_repo": suite.document["owner_repo"],
        "domain": suite.document["domain"],
        "evaluated_repo_root": ".",
        "artifact_root_prefix": plan.prefix,
        "case_results": outputs,
    }


def unseen_note(plan: Plan, documents: Documents) -> str | None:
    """What to tell people when check and state do not look at what `plan` has just written; None if they do.

    They look at one latest.json: under the default prefix, else under the first of the artifact_roots of a
    valid project manifest that has one.
    """
    if plan.prefix == DEFAULT_PREFIX:
        return None
    from .bundle_check import latest_prefix
    from .project_manifest import load_project_manifest

    manifest = load_project_manifest(plan.root, documents)
    known = manifest.artifact_roots
    if latest_prefix(plan.root, known) == plan.prefix:
        return None
    advice = []
    if plan.prefix not in map(plain, known):
        known = [*known, plan.prefix]
        key = "artifact_roots =" if manifest.path.endswith(".toml") else '"artifact_roots":'
        advice.append(f"add to artifact_policy in {manifest.path}: {key} {canonical_json(known)}")
    first = latest_prefix(plan.root, known)
    if first != plan.prefix:
        advice.insert(0, f"they look at {shown(first)}/{LATEST_NAME} first: remove it")
    return f"check and state do not look under {shown(plan.prefix)}; {'; '.join(advice)}"
