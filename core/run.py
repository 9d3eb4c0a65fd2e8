"""Running a case or a suite: plan, then one bundle for each case, then the latest pointer.

Rules:
- A plan validates the suite and every case before the first bundle is written; an invalid one writes
  nothing. A case that changed between planning and running is refused.
- Of a case, its path and digest are kept, and of its run the ids and the verdict: under a kilobyte a case, so
  that a suite of 100,000 cases takes less than 100 MB. At most MAX_PROBLEMS failures are told. The output for
  machines is made piece by piece when it is printed.
- All cases of a suite run, in order, whatever the verdict of one is.

A pass says that the bundle is complete and its deterministic scorers passed. It does not say that the
evaluated project is right.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .bundle_layout import DEFAULT_PREFIX, LATEST_NAME
from .canonical import canonical_json, pretty_json
from .case import load_case, locate_case
from .errors import RequirementError
from .files import shown
from .latest import Producer
from .next_commands import command_line
from .roots import find_root
from .run_once import run_once, run_output
from .targets import MAX_PROBLEMS, capped, is_suite, plain
from .timestamps import now_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .case import Case
    from .documents import Documents
    from .run_once import Result
    from .suite import Suite
    from .timestamps import Clock

# How many cases are printed at a time.
PIECE = 500


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
    """What running `plan` gave: what came of each case, and up to MAX_PROBLEMS failures, each in a line."""

    plan: Plan
    results: list[Result]
    failures: list[str]

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return all(result.verdict == "pass" for result in self.results)

    @property
    def document(self) -> dict[str, Any]:
        """The whole output for machines; `pieces` has the same without holding all of it."""
        outputs = [run_output(result, self.plan.prefix) for result in self.results]
        if self.plan.suite is None:
            return outputs[0]
        return {**self._head(self.plan.suite), "case_results": outputs}

    def pieces(self) -> Iterator[str]:
        """The text of the output for machines, as `pretty_json` prints it, in pieces of up to PIECE cases."""
        if self.plan.suite is None or len(self.results) <= PIECE:
            yield pretty_json(self.document)
            return
        text = pretty_json({**self._head(self.plan.suite), "case_results": []})
        start, _, end = text.rpartition("]")
        for first in range(0, len(self.results), PIECE):
            outputs = [run_output(each, self.plan.prefix) for each in self.results[first : first + PIECE]]
            # As a member of a document, a list is printed one level deeper.
            lines = pretty_json(outputs)[1:-3].replace("\n", "\n  ")
            yield f"{',' if first else start}{lines}"
        yield f"\n  ]{end}"

    def _head(self, suite: Suite) -> dict[str, Any]:
        return {
            "status": "passed" if self.passed else "failed",
            "verdict": "pass" if self.passed else "fail",
            "suite_id": suite.document["suite_id"],
            "owner_repo": suite.document["owner_repo"],
            "domain": suite.document["domain"],
            "evaluated_repo_root": ".",
            "artifact_root_prefix": self.plan.prefix,
        }


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

    results: list[Result] = []
    failures: list[str] = []
    untold = 0
    for reference, sha256 in plan.cases:
        case = _planned_case(plan, reference, sha256, documents)
        result, failed = run_once(
            case,
            root=plan.root,
            prefix=plan.prefix,
            producer=producer,
            documents=documents,
            now=now,
            output_format="json" if as_json else "text",
        )
        results.append(result)
        told = failed[: MAX_PROBLEMS - len(failures)]
        failures += told
        untold += len(failed) - len(told)
        advance()
    if untold:
        failures.append(
            f"{untold} more failures; they stand in scorer-results.json and report.md of their runs"
        )
    return Outcome(plan=plan, results=results, failures=failures)


def _planned_case(plan: Plan, reference: str, sha256: str, documents: Documents) -> Case:
    folder = os.path.join(plan.root, plan.base)
    case = load_case(folder, reference, documents, base=plan.base, validated=sha256)
    if case.sha256 != sha256:
        problem = f"{shown(case.path)}: changed after it was validated; run again"
        raise RequirementError("case read", [problem], recovery=command_line("run", plan.path))
    return case


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
