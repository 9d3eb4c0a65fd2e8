"""One run of one case: folder, bundle, checks, and the latest pointer as the very last step.

Rules:
- A run starts when its folder is made. The bundle is built and checked in memory, written whole file by
  whole file, checked again from the disk, and only then becomes the latest.
- A failure after the start leaves `failure.json` in the run's folder and `latest.json` as it was;
  requirement `artifact schema validation`, whatever failed. The message says what it was.
- A crash at any point leaves `latest.json` as it was, or as the finished run put it.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from .bundle_layout import CANDIDATE_NAME, FAILURE_NAME, artifact_root, pointers
from .canonical import pretty_json
from .errors import EvalsError, RequirementError
from .files import write_whole
from .latest import publish
from .run_bundle import Bundle, Run, build_bundle, bundle_problems
from .run_folder import make_run_folder, run_name, write_artifacts
from .scoring import status_of
from .targets import capped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .case import Case
    from .documents import Documents
    from .latest import Producer


def run_once(
    case: Case,
    *,
    root: str,
    prefix: str,
    producer: Producer,
    documents: Documents,
    now: Callable[[], str],
    output_format: str,
) -> tuple[dict[str, Any], list[str]]:
    """Run `case` in the repository `root` (absolute): the output for machines, and each failure in a line.

    Raises RequirementError `run directory` or `artifact schema validation`.
    """
    started_at = now()
    run_id, folder = make_run_folder(root, prefix, run_name(started_at, case.case_id, case.sha256))
    run = Run(
        root=root,
        prefix=prefix,
        run_id=run_id,
        started_at=started_at,
        output_format=output_format,
        producer=producer,
        now=now,
    )
    try:
        bundle = build_bundle(case, run)
        _write_bundle(run, folder, bundle, documents)
    except EvalsError as error:
        recovery = f"see {artifact_root(prefix, run_id)}/{FAILURE_NAME}, then {producer.command}"
        _leave_failure(run, folder, case.case_id, error.message)
        raise RequirementError("artifact schema validation", [error.message], recovery=recovery) from error
    except BaseException as error:
        _leave_failure(run, folder, case.case_id, f"the run was stopped by {type(error).__name__}")
        raise
    return _output(run, case, bundle), _failure_lines(run, bundle)


def _write_bundle(run: Run, folder: str, bundle: Bundle, documents: Documents) -> None:
    problems = bundle_problems(bundle, documents)
    if problems:
        raise EvalsError("run.failed", "; ".join(capped(problems)))
    candidate = pretty_json(bundle.latest).encode("utf-8")
    write_artifacts(folder, {**bundle.files, CANDIDATE_NAME: candidate})
    publish(run.root, folder, candidate, bundle.manifest, documents)


def _leave_failure(run: Run, folder: str, case_id: str, reason: str) -> None:
    document = {
        "schema_version": 1,
        "run_id": run.run_id,
        "case_id": case_id,
        "status": "failed",
        "failure_class": "post_start",
        "errors": [reason],
        "recovery": f"remove what stopped the run, then {run.producer.command}",
        "partial_artifacts": [
            path
            for path in pointers(run.prefix, run.run_id).values()
            if os.path.lexists(os.path.join(folder, os.path.basename(path)))
        ],
    }
    # The failure that is being reported matters more than one in reporting it.
    with contextlib.suppress(EvalsError):
        write_whole(os.path.join(folder, FAILURE_NAME), pretty_json(document).encode("utf-8"))


def _output(run: Run, case: Case, bundle: Bundle) -> dict[str, Any]:
    paths = pointers(run.prefix, run.run_id)
    return {
        "verdict": bundle.verdict,
        "status": status_of(bundle.verdict),
        "run_id": run.run_id,
        "case_id": case.case_id,
        "suite_id": case.suite_id,
        "execution_mode": "synthetic",
        "artifact_root": artifact_root(run.prefix, run.run_id),
        "manifest_path": paths["manifest_path"],
        "result_path": paths["result_path"],
        "report_path": paths["report_path"],
        "command_log_path": paths["command_log_path"],
        "baseline_path": paths["baseline_result_path"],
        "baseline_result_path": paths["baseline_result_path"],
        "scorer_results_path": paths["scorer_results_path"],
        "trace_events_path": paths["trace_events_path"],
    }


def _failure_lines(run: Run, bundle: Bundle) -> list[str]:
    path = pointers(run.prefix, run.run_id)["scorer_results_path"]
    return [
        f"{path}: $.results[{index}]: {result['scorer_id']} failed: {result['failure_reason']}"
        for index, result in enumerate(bundle.results)
        if result["status"] != "pass"
    ]
