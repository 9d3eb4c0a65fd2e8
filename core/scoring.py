"""What a list of scorer results adds up to: the verdict, the failed assertions, and contradictions.

Rules:
- The verdict is `pass` only when there is at least one result and every result has status `pass`.
- The failed assertions are those with status `fail`, in the order of the results.
- A passing scorer may not hold a failed assertion, and a failing one may not hold only passing ones.

These functions take results as they were read from `scorer-results.json`, valid or not, and never raise.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERDICT_STATUS = {"pass": "passed", "fail": "failed"}


def verdict_of(scorer_results: object) -> str:
    """`pass` or `fail` for the `results` of a scorer-results document."""
    results = _objects(scorer_results)
    if not results or not isinstance(scorer_results, list) or len(results) != len(scorer_results):
        return "fail"
    return "pass" if all(result.get("status") == "pass" for result in results) else "fail"


def status_of(verdict: str) -> str:
    """The result status that goes with a verdict: `passed` for `pass`, else `failed`."""
    return VERDICT_STATUS.get(verdict, "failed")


def failed_assertions(scorer_results: object) -> list[Any]:
    """Every assertion with status `fail`, in order, as the result document repeats them."""
    return [
        assertion
        for result in _objects(scorer_results)
        for assertion in _objects(result.get("assertions"))
        if assertion.get("status") == "fail"
    ]


def contradictions(scorer_results: object) -> list[str]:
    """Results whose status does not follow from their own assertions, each with its JSON path."""
    found = []
    for index, result in enumerate(_objects(scorer_results)):
        statuses = [assertion.get("status") for assertion in _objects(result.get("assertions"))]
        if result.get("status") == "pass" and "fail" in statuses:
            found.append(
                f"$.results[{index}].status: pass, while one of its assertions failed; expected fail"
            )
        if result.get("status") == "fail" and statuses and "fail" not in statuses:
            found.append(
                f"$.results[{index}].status: fail, while all of its assertions passed; expected pass"
            )
    return found


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
