"""The baseline of a case: whether the artifact is there, whether that is as expected, and on what it rests.

Rules:
- Presence, comparison and promotion are three facts. This phase observes presence, compares nothing, and
  promotes nothing (`not_requested`, always).
- The artifact's path is relative to the case's base and read inside it; null or empty means there is none.
- Comparison is `error` when presence is not as the case expects, or the path cannot be used (it leaves the
  base, or names something that is not a readable regular file); otherwise `not_compared`.
- The statement rests on the artifact itself where it was read, else on the command log.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .contained import relative_problem, sha256_inside
from .errors import FileError
from .files import shown
from .targets import joined, plain

if TYPE_CHECKING:
    from .case import Case

PROMOTION = "not_requested"


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What was observed; `path` (relative to the repository) and `sha256` only when the artifact was read."""

    presence: str
    comparison: str
    evidence: str
    path: str | None = None
    sha256: str | None = None


def observe(root: str, case: Case) -> Baseline:
    """Look for the baseline artifact of `case` in the repository `root` (an absolute path)."""
    contract = case.document.get("baseline")
    expected = contract["expected_presence"] if contract else None
    named = (contract or {}).get("artifact_path")
    if not named:
        return _judged("missing", expected, "the case names no baseline artifact")
    problem = relative_problem(named)
    if problem is not None:
        return _unusable(f"{shown(named)}: {problem}")
    try:
        digest = sha256_inside(os.path.join(root, case.base), plain(named))
    except FileError as error:
        if error.code == "file.missing":
            return _judged("missing", expected, f"there is no file {shown(named)}")
        return _unusable(error.message)
    path = joined(case.base, plain(named))
    return _judged("present", expected, f"{shown(path)} is there", path, digest)


def _unusable(problem: str) -> Baseline:
    evidence = f"the baseline artifact cannot be used: {problem}"
    return Baseline(presence="missing", comparison="error", evidence=evidence)


def _judged(
    presence: str, expected: str | None, evidence: str, path: str | None = None, digest: str | None = None
) -> Baseline:
    as_expected = expected is None or presence == expected
    if not as_expected:
        evidence = f"{evidence}, while the case expects it to be {expected}"
    return Baseline(
        presence=presence,
        comparison="not_compared" if as_expected else "error",
        evidence=evidence,
        path=path,
        sha256=digest,
    )


def baseline_document(
    baseline: Baseline, *, owner: str | None, log_path: str, log_sha256: str
) -> dict[str, Any]:
    """The content of `baseline-result.json`; `log_path` and `log_sha256` are those of the command log."""
    if baseline.path is not None:
        ref = {"type": "baseline-artifact", "path": baseline.path, "sha256": baseline.sha256}
    else:
        ref = {"type": "command-log", "path": log_path, "sha256": log_sha256}
    return {
        "schema_version": 1,
        "presence_status": baseline.presence,
        "comparison_status": baseline.comparison,
        "promotion_status": PROMOTION,
        "baseline_owner": owner,
        "comparison_evidence": baseline.evidence,
        "current_artifact_ref": ref,
    }
