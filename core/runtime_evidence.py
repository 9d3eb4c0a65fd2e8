"""Whether one runtime-evidence case is valid, covered, and judged as its author expected.

Order of decisions:
1. The document fits the schema `runtime-evidence-case`; otherwise nothing is scored and nothing is covered.
2. The selected scorers judge the observed events (`runtime_scorers`).
3. Every declared policy family is scored or openly scaffolded (`policy_families`).
4. The scored verdict and classification are the ones under `expected`.

A case that passes says that its events, as recorded, were judged as expected. It does not say that they
happened. Cases are synthetic: nothing is executed and nothing beside the document is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from .policy_families import coverage_errors, declared_families
from .runtime_scorers import classify, score_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Documents
    from .policy_families import FamilyRecord

SCHEMA = "runtime-evidence-case"


@dataclass(frozen=True, kw_only=True)
class CaseOutcome:
    """What one case came to; `problems` holds everything, `coverage_problems` only the families' part."""

    scorer_results: tuple[dict[str, Any], ...] = ()
    families: tuple[FamilyRecord, ...] = ()
    coverage_problems: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the case is valid, covered and judged as expected."""
        return not self.problems

    def coverage(self) -> dict[str, Any]:
        """The policy coverage of this case alone: status, families, errors."""
        return {
            "status": "fail" if self.coverage_problems else "pass",
            "families": list(self.families),
            "errors": list(self.coverage_problems),
        }


def _expectation_problems(expected: dict[str, Any], results: list[dict[str, Any]]) -> list[str]:
    scored = dict(zip(("verdict", "classification"), classify(results), strict=True))
    return [
        f"$.expected.{key}: found {expected[key]!r}; the scorers come to {value!r}"
        for key, value in scored.items()
        if expected[key] != value
    ]


def judge_case(document: Any, documents: Documents) -> CaseOutcome:
    """Judge a parsed case; every problem is reported, each with its JSON path, and none is raised."""
    schema_problems = documents.problems(SCHEMA, document)
    if schema_problems:
        return CaseOutcome(problems=tuple(schema_problems))
    results = score_case(document)
    families = declared_families(document)
    uncovered = coverage_errors(families)
    return CaseOutcome(
        scorer_results=tuple(results),
        families=tuple(families),
        coverage_problems=tuple(uncovered),
        problems=(*_expectation_problems(document["expected"], results), *uncovered),
    )
