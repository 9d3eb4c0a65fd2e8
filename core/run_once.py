"""One run of one case: folder, bundle, checks, and the latest pointer as the very last step.

Rules:
- A run starts when its folder is made. The bundle is built and checked in memory, written whole file by
  whole file, checked again from the disk, and only then becomes the latest.
- A failure after the start leaves `failure.json` in the run's folder and `latest.json` as it was;
  requirement `artifact schema validation`, whatever failed. The message says what it was.
- Where only the last step failed, making the new `latest.json` durable, the run is the latest already. The
  failure is told, but leaves no failure.json: it would contradict a bundle that is whole.
- A crash at any point leaves `latest.json` as it was, or as the finished run put it.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .bundle_layout import CANDIDATE_NAME, FAILURE_NAME, LATEST_NAME, artifact_root, pointers
from .canonical import pretty_json
from .errors import EvalsError, RequirementError
from .latest import publish
from .limits import BUNDLE_DOCUMENT
from .run_bundle import Bundle, Run, build_bundle, bundle_problems, size_problems
from .run_folder import RunFolder, make_run_folder, run_name, write_artifacts
from .scoring import status_of
from .targets import capped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .case import Case
    from .documents import Documents
    from .latest import Producer


@dataclass(frozen=True, kw_only=True)
class Result:
    """What is kept of a run that is over: a few hundred bytes, since a suite may have many thousand."""

    __slots__ = ("case_id", "run_id", "suite_id", "verdict")

    run_id: str
    case_id: str
    suite_id: str
    verdict: str


def run_once(
    case: Case,
    *,
    root: str,
    prefix: str,
    producer: Producer,
    documents: Documents,
    now: Callable[[], str],
    output_format: str,
) -> tuple[Result, list[str]]:
    """Run `case` in the repository `root` (absolute): what came of it, and each failure in a line.

    Raises RequirementError `run directory` or `artifact schema validation`.
    """
    started_at = now()
    folder = make_run_folder(root, prefix, run_name(started_at, case.case_id, case.sha256))
    run = Run(
        root=root,
        prefix=prefix,
        run_id=folder.run_id,
        started_at=started_at,
        output_format=output_format,
        producer=producer,
        now=now,
    )
    try:
        bundle = _run_in(folder, case, run, documents)
    finally:
        folder.close()
    result = Result(
        run_id=run.run_id,
        case_id=case.case_id,
        suite_id=sys.intern(case.suite_id),
        verdict=bundle.verdict,
    )
    return result, _failure_lines(run, bundle)


def _run_in(folder: RunFolder, case: Case, run: Run, documents: Documents) -> Bundle:
    try:
        bundle = build_bundle(case, run)
        _write_bundle(run, folder, bundle, documents)
    except EvalsError as error:
        if _is_latest(folder):
            recovery = (
                f"the bundle is whole and the latest, but may not survive a power cut: {run.producer.command}"
            )
        else:
            recovery = f"see {folder.own.called}/{FAILURE_NAME}, then {run.producer.command}"
            _leave_failure(run, folder, case.case_id, error.message)
        raise RequirementError("artifact schema validation", [error.message], recovery=recovery) from error
    except BaseException as error:
        if not _is_latest(folder):
            _leave_failure(run, folder, case.case_id, f"the run was stopped by {type(error).__name__}")
        raise
    return bundle


def _is_latest(folder: RunFolder) -> bool:
    """Whether latest.json names this run by now, as far as that can be seen."""
    try:
        candidate = folder.own.read(CANDIDATE_NAME, limit=BUNDLE_DOCUMENT)
        return folder.runs.read(LATEST_NAME, limit=BUNDLE_DOCUMENT) == candidate
    except EvalsError:
        return False


def _write_bundle(run: Run, folder: RunFolder, bundle: Bundle, documents: Documents) -> None:
    candidate = pretty_json(bundle.latest).encode("utf-8")
    files = {**bundle.files, CANDIDATE_NAME: candidate}
    problems = size_problems(files) or bundle_problems(bundle, documents)
    if problems:
        raise EvalsError("run.failed", "; ".join(capped(problems)))
    write_artifacts(folder.own, files)
    publish(run.root, folder, candidate, bundle.manifest, documents)


def _leave_failure(run: Run, folder: RunFolder, case_id: str, reason: str) -> None:
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
            if folder.own.holds(path.rpartition("/")[2])
        ],
    }
    # The failure that is being reported matters more than one in reporting it.
    with contextlib.suppress(EvalsError):
        folder.own.put(FAILURE_NAME, pretty_json(document).encode("utf-8"))
        folder.own.sync()


def run_output(result: Result, prefix: str) -> dict[str, Any]:
    """The output for machines of a run whose bundle lies below `prefix`."""
    paths = pointers(prefix, result.run_id)
    return {
        "verdict": result.verdict,
        "status": status_of(result.verdict),
        "run_id": result.run_id,
        "case_id": result.case_id,
        "suite_id": result.suite_id,
        "execution_mode": "synthetic",
        "artifact_root": artifact_root(prefix, result.run_id),
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
