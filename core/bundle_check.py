"""The verdict on the latest bundle of a repository: latest.json, and everything that it names.

Order of checks:
1. latest.json: stands inside the root, is read strictly (no repeated key, no NaN, UTF-8, bounded size), fits
   its schema. Where it does not parse or is no object, nothing further can be checked.
2. manifest, result, scorer results, baseline result: read through the pointers, literally; schema.
3. report: a regular file inside the root; command log: an object, read strictly.
4. the trace: seven events of this run, in order.
5. agreement of the documents (`bundle_agreement`), and that they do not contradict each other
   (`bundle_contradictions`).
6. the digest of every manifest entry, whatever its type.
7. the producer (`producer`).

Every problem is reported, not the first (up to MAX_PROBLEMS in a check), and names its file and JSON path.
Nothing is executed, written, or listed: the cost does not depend on how many runs there are.

A bundle that passes is complete, consistent and unchanged since its manifest was written. That says nothing
about who wrote it, or whether the run that it describes took place.
"""

from __future__ import annotations

import posixpath

from . import bundle_agreement as agreement
from . import bundle_contradictions as contradictions
from .authored import about
from .bundle_layout import DEFAULT_PREFIX, FAILURE_NAME, LATEST_NAME
from .check_record import check_record
from .contained import inside_status
from .errors import EvalsError, FileError
from .files import shown
from .producer import producer_problems
from .targets import MAX_PROBLEMS, capped, plain
from .trace import trace_problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle_files import BundleFiles
    from .documents import Documents

EXECUTION_MODES = ("synthetic", "real")
_IDENTITY = ("run_id", "case_id", "suite_id", "execution_mode")

# Pointer key -> label and schema of the documents that are parsed.
_DOCUMENTS = {
    "manifest_path": ("artifact manifest", "artifact-manifest"),
    "result_path": ("eval result", "eval-result"),
    "scorer_results_path": ("scorer results", "scorer-result"),
    "baseline_result_path": ("baseline result", "baseline-result"),
}


class Check:
    """One check of a bundle: label, checked file, the schema if one was applied, and every problem."""

    __slots__ = ("data_path", "label", "problems", "schema")

    def __init__(self, label: str, data_path: str, problems: list[str], *, schema: str | None = None) -> None:
        self.label = label
        self.data_path = data_path
        self.problems = capped(problems)
        self.schema = schema

    def document(self) -> dict[str, Any]:
        """The check as `validation-result` holds it."""
        return check_record(self.label, self.data_path, self.problems, schema=self.schema)


class BundleVerdict:
    """What was found about the latest bundle.

    `latest` is the parsed latest.json, whatever it holds, when `parsed`; `latest_valid` says that it fits its
    schema. `manifest` is the parsed manifest or None, `result` the parsed result where it is an object.
    """

    __slots__ = ("checks", "found", "latest", "latest_path", "latest_valid", "manifest", "parsed", "result")

    def __init__(self, latest_path: str) -> None:
        self.latest_path = latest_path
        self.found = True
        self.parsed = False
        self.latest_valid = False
        self.latest: Any = None
        self.manifest: Any = None
        self.result: dict[str, Any] = {}
        self.checks: list[Check] = []

    @property
    def status(self) -> str:
        """passed, failed, or not_run where there is no latest.json."""
        if not self.found:
            return "not_run"
        return "failed" if self.problems else "passed"

    @property
    def problems(self) -> list[str]:
        """Every problem, in the order of the checks."""
        return [problem for check in self.checks for problem in check.problems]

    @property
    def run_verdict(self) -> str | None:
        """The verdict of the run as its sound bundle states it (pass or fail), else None."""
        return self.result.get("deterministic_verdict") if self.status == "passed" else None

    def text(self, key: str) -> str | None:
        """A non-empty string member of latest.json, else None."""
        value = self.latest.get(key) if isinstance(self.latest, dict) else None
        return value if isinstance(value, str) and value else None


def run_words(run_verdict: str | None) -> str:
    """What a sound bundle says about its run, in a few words."""
    return "its run passed" if run_verdict == "pass" else "its run failed"


def latest_prefix(root: str, artifact_roots: list[str]) -> str:
    """The folder whose latest.json counts: the usual one, else the first of `artifact_roots` with one.

    The repository itself is no such folder, since no run writes there.
    """
    for prefix in (DEFAULT_PREFIX, *map(plain, artifact_roots)):
        if prefix and inside_status(root, f"{prefix}/{LATEST_NAME}") != "missing":
            return prefix
    return DEFAULT_PREFIX


def check_bundle(
    root: str, prefix: str, files: BundleFiles, documents: Documents, *, home: bool
) -> BundleVerdict:
    """The verdict on the bundle that `prefix`/latest.json below `root` names; content raises nothing."""
    verdict = BundleVerdict(f"{prefix}/{LATEST_NAME}")
    verdict.found = inside_status(root, verdict.latest_path) != "missing"
    if not verdict.found:
        missing = f"{shown(verdict.latest_path)}: there is no such file; no run has finished here yet"
        verdict.checks.append(_latest_check(verdict, [missing]))
        return verdict
    _read_latest(verdict, files, documents)
    if isinstance(verdict.latest, dict):
        _check_named(verdict, prefix, files, documents, home=home)
    return verdict


def _latest_check(verdict: BundleVerdict, problems: list[str]) -> Check:
    return Check("latest run", verdict.latest_path, problems, schema="latest-run")


def _read_latest(verdict: BundleVerdict, files: BundleFiles, documents: Documents) -> None:
    path = verdict.latest_path
    try:
        verdict.latest = files.parse(path, documents)
    except FileError as error:
        problems = [error.message]
    except EvalsError as error:
        problems = about(path, [error.message])
    else:
        verdict.parsed = True
        problems = about(path, documents.problems("latest-run", verdict.latest))
        verdict.latest_valid = not problems
    verdict.checks.append(_latest_check(verdict, problems))


def _check_named(
    verdict: BundleVerdict, prefix: str, files: BundleFiles, documents: Documents, *, home: bool
) -> None:
    parsed: dict[str, Any] = {}
    for key, (label, schema) in _DOCUMENTS.items():
        path = verdict.text(key)
        if path is not None:
            parsed[key], problems = _read_named(verdict, key, path, files, documents)
            problems = problems or about(path, documents.problems(schema, parsed[key]))
            verdict.checks.append(Check(label, path, problems, schema=schema))
    verdict.manifest = parsed.get("manifest_path")
    verdict.result = _object(parsed.get("result_path")) or {}
    verdict.checks += [
        *_report_check(verdict, files),
        *_log_check(verdict, parsed, files, documents),
        *_trace_check(verdict, parsed, files, documents),
        _agreement_check(verdict, prefix, parsed, files),
        *_digest_check(verdict, files),
        _producer_check(verdict, prefix, files, home=home),
    ]


def _read_named(
    verdict: BundleVerdict, key: str, path: str, files: BundleFiles, documents: Documents
) -> tuple[Any, list[str]]:
    try:
        return files.parse(path, documents), []
    except FileError as error:
        return None, [_unusable(verdict, key, error)]
    except EvalsError as error:
        return None, about(path, [error.message])


def _unusable(verdict: BundleVerdict, key: str, error: FileError) -> str:
    return f"{shown(verdict.latest_path)}: $.{key}: {error.message}"


def _report_check(verdict: BundleVerdict, files: BundleFiles) -> list[Check]:
    key = "report_path"
    path = verdict.text(key)
    if path is None:
        return []
    problems = []
    try:
        files.require_regular(path)
    except FileError as error:
        problems.append(_unusable(verdict, key, error))
    return [Check("report", path, problems)]


def _log_check(
    verdict: BundleVerdict, parsed: dict[str, Any], files: BundleFiles, documents: Documents
) -> list[Check]:
    key = "command_log_path"
    path = verdict.text(key)
    if path is None:
        return []
    parsed[key], problems = _read_named(verdict, key, path, files, documents)
    if not problems:
        problems = about(path, contradictions.log_problems(parsed[key], verdict.text("execution_mode")))
    return [Check("command log", path, problems)]


def _trace_check(
    verdict: BundleVerdict, parsed: dict[str, Any], files: BundleFiles, documents: Documents
) -> list[Check]:
    key = "trace_events_path"
    path, run_id, case_id = (verdict.text(name) for name in (key, "run_id", "case_id"))
    if path is None:
        return []
    try:
        raw = files.read(path)
    except FileError as error:
        problems = [_unusable(verdict, key, error)]
    else:
        # Without the run's own ids nothing can be said about whose events these are.
        known = run_id is not None and case_id is not None
        found = (
            trace_problems(raw, run_id=run_id, case_id=case_id, problems=documents.problems) if known else []
        )
        if known and not found:
            found = contradictions.trace_contradictions(raw, _story(parsed))
        problems = about(path, found)
    return [Check("trace events", path, problems, schema="trace-event")]


def _agreement_check(
    verdict: BundleVerdict, prefix: str, parsed: dict[str, Any], files: BundleFiles
) -> Check:
    latest = verdict.latest
    run = agreement.Pointers(latest, prefix)
    problems = about(verdict.latest_path, agreement.pointer_problems(latest, prefix))
    problems += _failure_problems(files, prefix, latest)
    manifest, result, scorers, baseline = (_object(parsed.get(key)) for key in _DOCUMENTS)
    if manifest is not None:
        found = agreement.identity_problems(manifest, latest, _IDENTITY[:2])
        found += agreement.manifest_problems(manifest, run)
        found += contradictions.privacy_contradictions(manifest)
        problems += about(latest["manifest_path"], found)
    if result is not None:
        found = agreement.identity_problems(result, latest, _IDENTITY)
        found += agreement.result_pointer_problems(result, run)
        found += agreement.reference_problems(result, manifest, run)
        found += contradictions.result_contradictions(result)
        if scorers is not None:
            found += agreement.verdict_problems(result, scorers.get("results"))
        problems += about(latest["result_path"], found)
    if scorers is not None:
        found = agreement.scorer_problems(scorers.get("results"))
        found += contradictions.scorer_contradictions(scorers.get("results"), _story(parsed))
        problems += about(latest["scorer_results_path"], found)
    if baseline is not None:
        problems += about(latest["baseline_result_path"], agreement.baseline_problems(baseline, run, files))
    return Check("agreement of the documents", verdict.latest_path, problems)


def _story(parsed: dict[str, Any]) -> contradictions.Story:
    return contradictions.Story(
        result=parsed.get("result_path"),
        baseline=parsed.get("baseline_result_path"),
        log=parsed.get("command_log_path"),
    )


def _failure_problems(files: BundleFiles, prefix: str, latest: dict[str, Any]) -> list[str]:
    manifest = agreement.canonical_pointers(latest, prefix).get("manifest_path")
    if manifest is None:
        return []
    path = f"{posixpath.dirname(manifest)}/{FAILURE_NAME}"
    if inside_status(files.root, path) == "missing":
        return []
    return [f"{shown(path)}: stands beside the bundle, so the run says that it failed; run the case again"]


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _digest_check(verdict: BundleVerdict, files: BundleFiles) -> list[Check]:
    if not isinstance(verdict.manifest, dict):
        return []
    path = verdict.latest["manifest_path"]
    problems = []
    for where, entry in agreement.entries(verdict.manifest, "artifacts"):
        target, digest = entry.get("path"), entry.get("sha256")
        if isinstance(target, str) and isinstance(digest, str):
            problem = files.digest_problem(target, digest)
            problems += [f"{where}: {problem}"] if problem else []
        if len(problems) > MAX_PROBLEMS:
            break
    return [Check("artifact digests", path, about(path, problems))]


def _producer_check(verdict: BundleVerdict, prefix: str, files: BundleFiles, *, home: bool) -> Check:
    problems = producer_problems(verdict.latest, prefix, files, home=home)
    return Check("producer", verdict.latest_path, about(verdict.latest_path, problems))
