"""How the validation of one document is told: one document for machines, a verdict block for people.

Rules of this module:
1. With `--json`, stdout is one validation-result document, on a pass and on a failure alike.
2. Without it, every finding names the file and the JSON path, and a failure is also one line on stderr
   with its code, for scripts and for `evals explain`.
"""

from __future__ import annotations

from ..core.errors import RequirementError
from .contract import Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.validation import Validation
    from .contract import Terminal


def tell_validation(
    terminal: Terminal,
    outcome: Validation,
    *,
    target: str,
    again: str,
    following: str | None,
    as_json: bool,
) -> int:
    """Print what became of `target`; give the exit code.

    `again` is the command line that validates once more; `following` the one that a valid document is for.
    """
    passed = outcome.requirement is None
    if as_json:
        terminal.document(_document(outcome, again))
        return 0 if passed else 1
    headline = _headline(outcome, target)
    terminal.summary(
        Summary(
            "pass" if passed else "fail",
            passed,
            headline,
            facts=[("checked", check["label"]) for check in outcome.checks],
            problems=outcome.errors,
            next_command=following if passed else again,
        )
    )
    if outcome.requirement is not None:
        terminal.error(RequirementError(outcome.requirement, [headline]))
    return 0 if passed else 1


def _headline(outcome: Validation, target: str) -> str:
    if outcome.requirement is None:
        return f"{target}: valid ({outcome.target_schema})"
    count = len(outcome.errors)
    return f"{target}: {count} {'problem' if count == 1 else 'problems'} ({outcome.target_schema})"


def _document(outcome: Validation, again: str) -> dict[str, object]:
    document: dict[str, object] = {
        "schema_version": 2,
        "status": "passed" if outcome.requirement is None else "failed",
    }
    if outcome.requirement is not None:
        document["requirement"] = outcome.requirement
    document |= {
        "target_schema": outcome.target_schema,
        "checks": outcome.checks,
        "errors": outcome.errors,
    }
    if outcome.requirement is not None:
        document["recovery"] = f"correct the fields that are named, then {again}"
    return document
