"""Whether the documents of one bundle agree with each other and with latest.json.

Rules:
- run_id is one plain path segment. Every pointer of latest.json is the canonical path of its run, and
  artifact_root is the run's folder, under the folder in which latest.json was found.
- run_id, case_id, suite_id and execution_mode are the same wherever they are written; the result's pointers
  are those of latest.json.
- The manifest has each required type once, with the pointer's path and `required` true; the result refers to
  each of them but itself once, with the same path and the manifest's digest. Other types may come besides,
  but no type twice.
- The baseline's current artifact is the command log or a baseline artifact, stands inside the repository and
  has the stated digest.
- The result's status, verdict and failed assertions follow from the scorer results, which may not contradict
  themselves.
- In comparisons a backslash counts as a slash. A member of the wrong type is the schema's to report, not
  this module's.

Agreement shows that the documents tell one story. It does not show that the story is true.
"""

from __future__ import annotations

from .bundle_files import BundleFiles, same_path, value_shown
from .bundle_layout import ARTIFACTS, artifact_root, pointers
from .contained import relative_problem
from .scoring import contradictions, failed_assertions, status_of, verdict_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]

_RESULT_POINTERS = ("scorer_results_path", "baseline_result_path", "trace_events_path")


def run_id_problem(run_id: str) -> str | None:
    """Why `run_id` cannot be the name of a folder, or None."""
    if run_id in (".", "..") or "/" in run_id or "\\" in run_id or not run_id.isprintable():
        return f"$.run_id: {value_shown(run_id)}; expected one plain path segment"
    problem = relative_problem(run_id)
    return f"$.run_id: {problem}" if problem else None


def canonical_pointers(latest: Document, prefix: str) -> dict[str, str]:
    """The canonical pointers of the run that latest.json names; empty where it names no usable run."""
    run_id = latest.get("run_id")
    if not isinstance(run_id, str) or not run_id or run_id_problem(run_id):
        return {}
    return pointers(prefix, run_id)


def pointer_problems(latest: Document, prefix: str) -> list[str]:
    """What is wrong with the pointers of latest.json, found in the folder `prefix`."""
    run_id = latest.get("run_id")
    if not isinstance(run_id, str) or not run_id:
        return []
    problem = run_id_problem(run_id)
    if problem is not None:
        return [problem]
    expected = {"artifact_root": artifact_root(prefix, run_id), **pointers(prefix, run_id)}
    return [
        _differs(key, latest[key], path)
        for key, path in expected.items()
        if isinstance(latest.get(key), str) and latest[key] and not same_path(latest[key], path)
    ]


class Pointers:
    """What other documents may write as an artifact's path: the canonical pointer, or that of latest.json.

    Where those two differ, latest.json itself is at fault and reported once, not again in every document.
    """

    def __init__(self, latest: Document, prefix: str) -> None:
        self._latest = latest
        self._canonical = canonical_pointers(latest, prefix)

    def problem(self, where: str, path: object, key: str) -> list[str]:
        """A problem where `path`, found at the JSON path `where`, is not the pointer `key`."""
        allowed = [
            pointer
            for pointer in (self._canonical.get(key), self._latest.get(key))
            if isinstance(pointer, str) and pointer
        ]
        if not isinstance(path, str) or not allowed or any(same_path(path, pointer) for pointer in allowed):
            return []
        return [f"{where}: {value_shown(path)}; expected {value_shown(allowed[0])}, the path of this run"]


def _differs(key: str, found: object, expected: object) -> str:
    return f"$.{key}: {value_shown(found)}; expected {value_shown(expected)}"


def identity_problems(document: Document, latest: Document, keys: tuple[str, ...]) -> list[str]:
    """Which of `keys` a document writes otherwise than latest.json."""
    return [
        f"{_differs(key, document[key], latest[key])}, as in latest.json"
        for key in keys
        if isinstance(document.get(key), str)
        and isinstance(latest.get(key), str)
        and latest[key]
        and document[key] != latest[key]
    ]


def result_pointer_problems(result: Document, run: Pointers) -> list[str]:
    """Which pointers of the result are not those of the run."""
    return [problem for key in _RESULT_POINTERS for problem in run.problem(f"$.{key}", result.get(key), key)]


def entries(document: object, key: str) -> list[tuple[str, Document]]:
    """The objects of an array in a document, each with its JSON path."""
    items = document.get(key) if isinstance(document, dict) else None
    if not isinstance(items, list):
        return []
    return [(f"$.{key}[{index}]", item) for index, item in enumerate(items) if isinstance(item, dict)]


def _by_type(
    listed: list[tuple[str, Document]], key: str
) -> tuple[dict[str, tuple[str, Document]], list[str]]:
    """The first entry of each type, and a problem for every further one."""
    first: dict[str, tuple[str, Document]] = {}
    problems = []
    for where, entry in listed:
        kind = entry.get("type")
        if not isinstance(kind, str):
            continue
        earlier = first.setdefault(kind, (where, entry))
        if earlier[1] is not entry:
            problems.append(
                f"{where}.type: {value_shown(kind)} again, as in {earlier[0]}; expected it once in {key}"
            )
    return first, problems


def manifest_problems(manifest: Document, run: Pointers) -> list[str]:
    """What is wrong with the manifest's list of artifacts."""
    by_type, problems = _by_type(entries(manifest, "artifacts"), "artifacts")
    for artifact in ARTIFACTS:
        where, entry = by_type.get(artifact.type, ("", None))
        if entry is None:
            problems.append(f"$.artifacts: no entry of type {artifact.type}; expected exactly one")
            continue
        problems += run.problem(f"{where}.path", entry.get("path"), artifact.pointer_key)
        if entry.get("required") is False:
            problems.append(f"{where}.required: false; expected true for type {artifact.type}")
    return problems


def reference_problems(result: Document, manifest: object, run: Pointers) -> list[str]:
    """What is wrong with the result's references to the other artifacts."""
    by_type, problems = _by_type(entries(result, "artifact_refs"), "artifact_refs")
    listed, _ = _by_type(entries(manifest, "artifacts"), "artifacts")
    for artifact in ARTIFACTS[1:]:
        where, entry = by_type.get(artifact.type, ("", None))
        if entry is None:
            problems.append(f"$.artifact_refs: no entry of type {artifact.type}; expected exactly one")
            continue
        problems += run.problem(f"{where}.path", entry.get("path"), artifact.pointer_key)
        stated = listed.get(artifact.type, ("", {}))[1].get("sha256")
        digest = entry.get("sha256")
        if isinstance(digest, str) and isinstance(stated, str) and digest != stated:
            problems.append(
                f"{where}.sha256: {value_shown(digest)}; expected {value_shown(stated)}, as in the manifest"
            )
    return problems


def baseline_problems(baseline: Document, run: Pointers, files: BundleFiles) -> list[str]:
    """What is wrong with the artifact that the baseline result calls current."""
    where = "$.current_artifact_ref"
    reference = baseline.get("current_artifact_ref")
    if not isinstance(reference, dict):
        return []
    kind, path, digest = (reference.get(key) for key in ("type", "path", "sha256"))
    if not (isinstance(kind, str) and isinstance(path, str) and isinstance(digest, str)):
        return []
    if kind not in ("command-log", "baseline-artifact"):
        return [f"{where}.type: {value_shown(kind)}; expected command-log or baseline-artifact"]
    problems = run.problem(f"{where}.path", path, "command_log_path") if kind == "command-log" else []
    problem = files.digest_problem(path, digest)
    return problems + ([f"{where}: {problem}"] if problem else [])


def verdict_problems(result: Document, scorer_results: object) -> list[str]:
    """Where the result does not follow from the scorer results."""
    verdict = verdict_of(scorer_results)
    problems = []
    for key, expected in (("status", status_of(verdict)), ("deterministic_verdict", verdict)):
        if isinstance(result.get(key), str) and result[key] != expected:
            problems.append(
                f"{_differs(key, result[key], expected)}, which is what the scorer results add up to"
            )
    repeated = result.get("failed_assertions", [])
    if isinstance(repeated, list) and repeated != failed_assertions(scorer_results):
        problems.append(
            "$.failed_assertions: not the failed assertions of the scorer results, in their order"
        )
    return problems


def scorer_problems(scorer_results: object) -> list[str]:
    """Where the scorer results contradict themselves."""
    return contradictions(scorer_results)
