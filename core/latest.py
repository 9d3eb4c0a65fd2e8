"""`latest.json`: which bundle is the newest, built by a run, checked, and only then put in place.

Rules:
- Every pointer is the canonical path of its run id; the evaluated repository is always `.`, since evidence
  names no path of a machine.
- The candidate is written into the run's folder and read back: it must be the bytes that were meant, fit
  the schema, and every artifact of the manifest must have the digest that it states. The path that it names
  must still lead to the run's folder. Only then does it replace `latest.json`, by one rename.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .bundle_layout import CANDIDATE_NAME, LATEST_NAME, artifact_root, pointers
from .errors import EvalsError

if TYPE_CHECKING:
    from .documents import Documents
    from .run_folder import RunFolder

PACKAGE = "evals-cli"


@dataclass(frozen=True, kw_only=True)
class Producer:
    """What makes bundles: the version of the package, and the command line that repeats the run.

    `suite_path` and `suite_sha256` are None for a case that is run alone.
    """

    version: str
    command: str
    suite_path: str | None = None
    suite_sha256: str | None = None


def latest_document(
    *,
    run_id: str,
    case_id: str,
    suite_id: str,
    started_at: str,
    prefix: str,
    case_path: str,
    case_sha256: str,
    producer: Producer,
) -> dict[str, Any]:
    """The content of `latest.json` for a run."""
    return {
        "run_id": run_id,
        "case_id": case_id,
        "suite_id": suite_id,
        "execution_mode": "synthetic",
        "generated_at": started_at,
        "producer": {
            "package_name": PACKAGE,
            "package_version": producer.version,
            "command": producer.command,
            "generated_at": started_at,
            "evaluated_repo_root": ".",
            "artifact_root_prefix": prefix,
            "case_path": case_path,
            "case_sha256": case_sha256,
            "suite_path": producer.suite_path,
            "suite_sha256": producer.suite_sha256,
        },
        "artifact_root": artifact_root(prefix, run_id),
        **pointers(prefix, run_id),
    }


def publish(
    root: str, folder: RunFolder, candidate: bytes, manifest: dict[str, Any], documents: Documents
) -> None:
    """Make the run in `folder` the latest one of the repository `root`.

    `candidate` is what latest.json shall be; the run's folder holds it already. Raises EvalsError
    `run.failed` where the written bundle is not what was meant, and the errors of reading and writing;
    `latest.json` is then as it was, unless only the last step, making the rename durable, failed.
    """
    problems = _candidate_problems(folder, candidate, manifest, documents)
    if not folder.own.stands_at(root, folder.own.called):
        problems.append(f"{folder.own.called}: moved while the run was going on")
    if problems:
        raise EvalsError("run.failed", "; ".join(problems))
    # The run's folder must survive a power cut if the pointer to it does.
    folder.runs.sync()
    folder.runs.put(LATEST_NAME, candidate)
    folder.runs.sync()


def _candidate_problems(
    folder: RunFolder, candidate: bytes, manifest: dict[str, Any], documents: Documents
) -> list[str]:
    written = folder.own.read(CANDIDATE_NAME, limit=len(candidate))
    if written != candidate:
        return [f"{folder.own.called}/{CANDIDATE_NAME}: changed while the run was going on"]
    problems = documents.problems("latest-run", documents.parse(CANDIDATE_NAME, written))
    return [f"{CANDIDATE_NAME}: {problem}" for problem in problems] + [
        f"{entry['path']}: changed while the run was going on"
        for entry in manifest["artifacts"]
        if folder.own.sha256(entry["path"].rpartition("/")[2]) != entry["sha256"]
    ]
