"""The check of the latest bundle, as a validation result (version 2).

Rules:
- passed needs a bundle that passes, runtime evidence whose health is ready, and in smoke mode a latest.json
  that is bound to the smoke case. Every problem is listed.
- Home compares latest.json with the smoke case in either mode; only `--smoke` makes a difference a failure.
  A consumer has no expected context.
- `--smoke` belongs to this project's own checkout and goes without `--repo-root`; otherwise requirement
  `check mode`.
- The first difference of the contexts is named: the ids in the order case, suite, mode.

- A passed check says that the bundle is sound, not that its run passed: run_verdict says that, as the
  result of the bundle states it; it is null where the bundle fails its check.

A passed check does not certify behaviour, CI, review or readiness to merge.
"""

from __future__ import annotations

from .bundle_check import EXECUTION_MODES, BundleVerdict, Check
from .bundle_files import BundleFiles, value_shown
from .check_record import check_record
from .errors import EvalsError, RequirementError
from .inspection import Inspection, contract_fields
from .next_commands import SMOKE_CASE, SMOKE_CHECK, run_command
from .roots import HOME_EVIDENCE
from .timestamps import now_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Documents
    from .roots import Root
    from .timestamps import Clock

REQUIREMENT = "check mode"
_CONTEXT = ("case_id", "suite_id", "execution_mode")


def require_check_mode(root: Root, *, smoke: bool) -> None:
    """Raise RequirementError `check mode` where the smoke check does not apply to `root`."""
    if not smoke:
        return
    if root.shown is not None:
        raise RequirementError(
            REQUIREMENT,
            ["--smoke binds this project's own smoke case; it cannot be combined with --repo-root"],
            recovery="evals check --repo-root PATH --json",
        )
    if not root.home:
        raise RequirementError(
            REQUIREMENT,
            ["--smoke works only in a checkout of this project, where its smoke case is; leave it out here"],
            recovery="evals check --json",
        )


def check_packet(
    inspection: Inspection, documents: Documents, *, smoke: bool, clock: Clock | None = None
) -> dict[str, Any]:
    """The validation result (schema `validation-result`, version 2) of an inspected root."""
    root, verdict, health = inspection.root, inspection.verdict, inspection.health
    expected = _expected_context(inspection.files, documents) if root.home else None
    observed = _observed_context(verdict)
    mismatch = _mismatch(expected, observed) if root.home else None
    checks = [check.document() for check in verdict.checks]
    if smoke:
        checks.append(_smoke_check(verdict, expected, mismatch).document())
    checks += health.checks
    checks.append(_coverage_check(inspection))
    errors = list(dict.fromkeys(error for check in checks for error in check["errors"]))
    failed = any(check["status"] == "fail" for check in checks)
    packet: dict[str, Any] = {
        "schema_version": 2,
        "status": "failed" if failed else "passed",
        **contract_fields(inspection.catalog),
        "check_mode": "smoke-context" if smoke else "observed-latest",
        "artifact_repo_root": None if root.home else (root.shown or "."),
        "latest_path": verdict.latest_path,
    }
    run_id = verdict.text("run_id")
    if run_id is not None:
        packet["run_id"] = run_id
    packet |= {
        "run_verdict": verdict.run_verdict,
        "expected_context": expected,
        "observed_latest_context": observed,
        "context_match": mismatch is None if root.home else None,
        "context_mismatch_reason": mismatch,
        "recovery_command": run_command(root, verdict.latest) if verdict.problems or mismatch else None,
        "strict_smoke_command": SMOKE_CHECK if root.home else None,
        "runtime_evidence": {"policy_coverage": health.coverage},
    }
    if not root.home:
        from .authority import classify_consumer

        packet["authority_classification"] = classify_consumer(inspection, now_text(clock))
    packet["checks"] = checks
    packet["errors"] = errors
    return packet


def _context(values: dict[str, Any]) -> dict[str, Any] | None:
    context = {key: values.get(key) for key in _CONTEXT}
    whole = all(isinstance(value, str) and value for value in context.values())
    return context if whole and context["execution_mode"] in EXECUTION_MODES else None


def _observed_context(verdict: BundleVerdict) -> dict[str, Any] | None:
    return _context(verdict.latest) if isinstance(verdict.latest, dict) else None


def _expected_context(files: BundleFiles, documents: Documents) -> dict[str, Any] | None:
    try:
        case = files.parse(SMOKE_CASE, documents)
    except EvalsError:
        return None
    return _context({**case, "execution_mode": "synthetic"}) if isinstance(case, dict) else None


def _mismatch(expected: dict[str, Any] | None, observed: dict[str, Any] | None) -> str | None:
    if expected is None:
        return "expected_context_unavailable"
    if observed is None:
        return "observed_latest_context_missing"
    return next((f"{key}_mismatch" for key in _CONTEXT if expected[key] != observed[key]), None)


def _smoke_check(verdict: BundleVerdict, expected: dict[str, Any] | None, mismatch: str | None) -> Check:
    problems = [] if mismatch is None else [_mismatch_problem(verdict, expected, mismatch)]
    problems += _other_case(verdict)
    return Check("smoke context", verdict.latest_path, problems)


def _mismatch_problem(verdict: BundleVerdict, expected: dict[str, Any] | None, mismatch: str) -> str:
    if expected is None:
        return f"{SMOKE_CASE}: {mismatch}: the smoke case cannot be read or lacks its ids"
    key = mismatch.removesuffix("_mismatch")
    if key not in expected:
        return f"{verdict.latest_path}: {mismatch}: it names no context to compare with {SMOKE_CASE}"
    found = value_shown(verdict.latest[key])
    return f"{verdict.latest_path}: $.{key}: {mismatch}: {found}; expected {expected[key]} of {SMOKE_CASE}"


def _other_case(verdict: BundleVerdict) -> list[str]:
    # The ids alone could be those of any case; a producer says which file was run.
    producer = verdict.latest.get("producer") if isinstance(verdict.latest, dict) else None
    path = producer.get("case_path") if isinstance(producer, dict) else None
    if not isinstance(path, str) or path == SMOKE_CASE:
        return []
    return [f"{verdict.latest_path}: $.producer.case_path: {value_shown(path)}; expected {SMOKE_CASE}"]


def _coverage_check(inspection: Inspection) -> dict[str, Any]:
    health = inspection.health
    path = HOME_EVIDENCE if inspection.root.home else inspection.manifest.path
    return {
        **check_record("runtime evidence policy coverage", path, health.errors),
        "status": "pass" if health.status == "ready" else "fail",
    }
