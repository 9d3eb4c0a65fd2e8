"""Where a run bundle keeps what: file names, manifest order, the pointers of latest.json, trace statuses.

Rules:
- A bundle is one folder `<prefix>/<run id>/`; the prefix is `.harness/evals/runs` unless a suite or a
  project manifest says otherwise. Paths in documents are POSIX-style and relative to the repository.
- A prefix names a folder below the repository, in at most MAX_PREFIX characters, and never one in git's own.
- The manifest lists six artifacts in the order of ARTIFACTS. The result refers to the five that are not
  the result itself. The manifest lists neither itself nor `latest-candidate.json`.
- `latest.json` lies beside the run folders and names every artifact by its canonical path.
- A trace has exactly the seven events of TRACE_STATUSES, in that order.
"""

from __future__ import annotations

from dataclasses import dataclass

from .contained import relative_problem
from .contained_writing import is_git
from .targets import plain

DEFAULT_PREFIX = ".harness/evals/runs"
MANIFEST_NAME = "manifest.json"
LATEST_NAME = "latest.json"
CANDIDATE_NAME = "latest-candidate.json"
FAILURE_NAME = "failure.json"

# A bundle repeats its prefix some thirty times.
MAX_PREFIX = 1024

LATEST_PATH = f"{DEFAULT_PREFIX}/{LATEST_NAME}"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One artifact: its type in manifest and result, its file name, and its key in latest.json."""

    type: str
    file_name: str
    pointer_key: str


ARTIFACTS = (
    Artifact(type="result", file_name="result.json", pointer_key="result_path"),
    Artifact(type="report", file_name="report.md", pointer_key="report_path"),
    Artifact(type="command-log", file_name="command-log.json", pointer_key="command_log_path"),
    Artifact(type="scorer-results", file_name="scorer-results.json", pointer_key="scorer_results_path"),
    Artifact(type="baseline-result", file_name="baseline-result.json", pointer_key="baseline_result_path"),
    Artifact(type="trace-events", file_name="trace-events.jsonl", pointer_key="trace_events_path"),
)

# The final file names that the artifact-completeness scorer compares a case's required artifacts with.
PLANNED_FILES = (
    "result.json",
    "report.md",
    "command-log.json",
    MANIFEST_NAME,
    "scorer-results.json",
    "baseline-result.json",
    "trace-events.jsonl",
)

# The order in which latest.json and the output of a run name the files of a bundle.
POINTER_FILES = {
    "manifest_path": MANIFEST_NAME,
    "result_path": "result.json",
    "report_path": "report.md",
    "command_log_path": "command-log.json",
    "baseline_result_path": "baseline-result.json",
    "scorer_results_path": "scorer-results.json",
    "trace_events_path": "trace-events.jsonl",
}

TRACE_STATUSES = {
    "run_started": ("started",),
    "command_result": ("passed", "failed"),
    "scorer_result": ("pass", "fail", "blocked"),
    "baseline_result": ("not_compared", "matched", "changed", "error"),
    "artifact_manifest": ("written",),
    "validation_result": ("passed", "failed"),
    "run_finished": ("passed", "failed", "blocked"),
}


def artifact_root_problem(path: str) -> str | None:
    """Why a document cannot have bundles kept below `path`, relative to the repository; None if it can."""
    problem = relative_problem(path)
    if problem is not None:
        return problem
    if not plain(path):
        return "it names the repository itself"
    if lies_in_git(path):
        return "it lies in git's own folder"
    return f"it has more than {MAX_PREFIX} characters" if len(path) > MAX_PREFIX else None


def lies_in_git(path: str) -> bool:
    """Whether a part of a document's path is git's own folder."""
    return any(map(is_git, plain(path).split("/")))


def artifact_root(prefix: str, run_id: str) -> str:
    """The folder of a run's bundle, relative to the repository."""
    return f"{prefix}/{run_id}"


def pointers(prefix: str, run_id: str) -> dict[str, str]:
    """The canonical path of every pointer of latest.json, in its order, for the run `run_id`."""
    folder = artifact_root(prefix, run_id)
    return {key: f"{folder}/{name}" for key, name in POINTER_FILES.items()}
