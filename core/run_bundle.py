"""Every file of a run bundle, built in memory from a case, the simulation and the observed baseline.

Rules:
- Nothing is executed: the command is simulated, its exit code is 0, and its output is three lines (as text)
  or one JSON document that holds them.
- Artifacts are built in the order in which they refer to each other: command log, baseline, scorers, trace,
  report, result, manifest. Each digest is taken over the bytes that will be written.
- Status, verdict and failed assertions of the result follow from the scorer results.
- The built documents must be as small as a check asks for and fit their schemas, and the trace its timeline,
  before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .baseline import PROMOTION, Baseline, baseline_document, observe
from .bundle_layout import ARTIFACTS, artifact_root, pointers
from .canonical import pretty_json, sha256_hex
from .case import COMMAND, Case
from .latest import Producer, latest_document
from .limits import BUNDLE_DOCUMENT
from .report import report_text
from .scorers import Scored, score
from .scoring import failed_assertions, status_of, verdict_of
from .timestamps import parse_ms
from .trace import trace_problems, trace_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from .documents import Documents

EXIT_CODE = 0
RETENTION = "Bundles stay on this machine until someone removes them; commit those that a claim rests on."

_EVENT_KEYS = ("event_type", "occurred_at", "status", "artifact_path", "exit_code", "detail")

# The third line says what the simulation knows of baselines, whatever the observed one is.
BASELINE_LINE = (
    f"baseline missing: presence_status=missing comparison_status=not_compared promotion_status={PROMOTION}"
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run that has started: its identity, and what it is told from outside.

    `root` is the absolute path of the evaluated repository, `prefix` relative to it. `output_format` is
    `json` or `text`. `now` gives the time as text.
    """

    root: str
    prefix: str
    run_id: str
    started_at: str
    output_format: str
    producer: Producer
    now: Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The built bundle: the bytes of each file in the order of writing, and what readers of it need."""

    files: dict[str, bytes]
    manifest: dict[str, Any]
    latest: dict[str, Any]
    verdict: str
    results: list[dict[str, Any]]


def build_bundle(case: Case, run: Run) -> Bundle:
    """Simulate `case`, score it, and build its bundle. Reads at most the baseline artifact."""
    paths = pointers(run.prefix, run.run_id)
    stdout = simulated_output(case, run)
    finished_at = run.now()
    files = {"command-log.json": _json(_command_log(run, stdout, finished_at))}
    baseline = observe(run.root, case)
    files["baseline-result.json"] = _json(
        baseline_document(
            baseline,
            owner=case.document["promotion"]["baseline_owner"],
            log_path=paths["command_log_path"],
            log_sha256=sha256_hex(files["command-log.json"]),
        )
    )
    results = _scored(case, run, stdout, baseline)
    verdict = verdict_of(results)
    files["scorer-results.json"] = _json({"schema_version": 1, "results": results})
    events = _events(run, paths, baseline=baseline, verdict=verdict, finished_at=finished_at)
    files["trace-events.jsonl"] = trace_text(events, run_id=run.run_id, case_id=case.case_id).encode()
    files["report.md"] = _report(case, run, baseline=baseline, results=results, stdout=stdout)
    files["result.json"] = _json(_result(case, run, results=results, files=files))
    manifest = _manifest(case, run, files)
    files["manifest.json"] = _json(manifest)
    latest = latest_document(
        run_id=run.run_id,
        case_id=case.case_id,
        suite_id=case.suite_id,
        started_at=run.started_at,
        prefix=run.prefix,
        case_path=case.path,
        case_sha256=case.sha256,
        producer=run.producer,
    )
    return Bundle(files=files, manifest=manifest, latest=latest, verdict=verdict, results=results)


def size_problems(files: dict[str, bytes]) -> list[str]:
    """Which of the files to write are larger than a check reads; report and command log are only digested."""
    return [
        f"{name}: {len(content)} bytes; expected at most {BUNDLE_DOCUMENT}, what evals check reads"
        for name, content in files.items()
        if len(content) > BUNDLE_DOCUMENT and name not in ("report.md", "command-log.json")
    ]


def bundle_problems(bundle: Bundle, documents: Documents) -> list[str]:
    """What does not fit its schema in a built bundle, each finding with its file; empty means sound.

    The pointer to it is judged when it has been written, by `latest.publish`.
    """
    schemas = {
        "result.json": "eval-result",
        "manifest.json": "artifact-manifest",
        "scorer-results.json": "scorer-result",
        "baseline-result.json": "baseline-result",
    }
    found = [
        f"{name}: {problem}"
        for name, schema in schemas.items()
        for problem in documents.problems(schema, documents.parse(name, bundle.files[name]))
    ]
    timeline = trace_problems(
        bundle.files["trace-events.jsonl"],
        run_id=bundle.latest["run_id"],
        case_id=bundle.latest["case_id"],
        problems=documents.problems,
    )
    return found + [f"trace-events.jsonl: {problem}" for problem in timeline]


def simulated_output(case: Case, run: Run) -> str:
    """What the simulated command prints: three lines, or in JSON format a document that holds them."""
    lines = [
        f"case {case.case_id} wrote its artifact bundle",
        "all deterministic scorers completed",
        BASELINE_LINE,
    ]
    if run.output_format != "json":
        return "\n".join(lines)
    document = {
        "case_id": case.case_id,
        "suite_id": case.suite_id,
        "execution_mode": "synthetic",
        "artifact_root": artifact_root(run.prefix, run.run_id),
        "logs": lines,
    }
    return pretty_json(document).removesuffix("\n")


def _json(document: dict[str, Any]) -> bytes:
    return pretty_json(document).encode("utf-8")


def _command_log(run: Run, stdout: str, finished_at: str) -> dict[str, Any]:
    return {
        "command": run.producer.command,
        "input_command": COMMAND,
        "execution_mode": "synthetic",
        "output_format": run.output_format,
        "started_at": run.started_at,
        "finished_at": finished_at,
        # A clock that is set back between two looks must not give a negative duration.
        "duration_ms": max(0, (parse_ms(finished_at) or 0) - (parse_ms(run.started_at) or 0)),
        "exit_code": EXIT_CODE,
        "stdout": stdout,
        "stderr": "",
        "failure_class": None,
    }


def _scored(case: Case, run: Run, stdout: str, baseline: Baseline) -> list[dict[str, Any]]:
    return score(
        Scored(
            exit_code=EXIT_CODE,
            stdout=stdout,
            output_format=run.output_format,
            document=case.document,
            baseline=baseline,
            reproduce=run.producer.command,
        )
    )


def _events(
    run: Run, paths: dict[str, str], *, baseline: Baseline, verdict: str, finished_at: str
) -> list[dict[str, Any]]:
    scored_at = run.now()
    log, scores = paths["command_log_path"], paths["scorer_results_path"]
    manifest, result = paths["manifest_path"], paths["result_path"]
    outcome, code = status_of(verdict), int(verdict != "pass")
    said = f"The baseline is {baseline.presence}; comparison {baseline.comparison}."
    timeline: list[tuple[str, str, str, str | None, int | None, str]] = [
        ("run_started", run.started_at, "started", None, None, "The run started; it is synthetic."),
        ("command_result", finished_at, "passed", log, EXIT_CODE, "The simulated command completed."),
        ("scorer_result", scored_at, verdict, scores, None, f"The deterministic scorers gave {verdict}."),
        ("baseline_result", scored_at, baseline.comparison, paths["baseline_result_path"], None, said),
        ("artifact_manifest", scored_at, "written", manifest, None, "Every artifact is in the manifest."),
        ("validation_result", scored_at, "passed", result, None, "Every artifact fits its schema."),
        ("run_finished", scored_at, outcome, result, code, f"The run finished with the verdict {verdict}."),
    ]
    return [dict(zip(_EVENT_KEYS, event, strict=True)) for event in timeline]


def _report(case: Case, run: Run, *, baseline: Baseline, results: list[dict[str, Any]], stdout: str) -> bytes:
    return report_text(
        run_id=run.run_id,
        case_id=case.case_id,
        suite_id=case.suite_id,
        started_at=run.started_at,
        verdict=verdict_of(results),
        results=results,
        baseline=baseline,
        stdout=stdout,
        command=run.producer.command,
    )


def _result(
    case: Case, run: Run, *, results: list[dict[str, Any]], files: dict[str, bytes]
) -> dict[str, Any]:
    verdict = verdict_of(results)
    paths = pointers(run.prefix, run.run_id)
    return {
        "schema_version": 1,
        "run_id": run.run_id,
        "case_id": case.case_id,
        "suite_id": case.suite_id,
        "execution_mode": "synthetic",
        "status": status_of(verdict),
        "deterministic_verdict": verdict,
        "scorer_results_path": paths["scorer_results_path"],
        "baseline_result_path": paths["baseline_result_path"],
        "trace_events_path": paths["trace_events_path"],
        "failed_assertions": failed_assertions(results),
        "artifact_refs": [_ref(run, files, artifact) for artifact in ARTIFACTS if artifact.type != "result"],
        "errors": [],
    }


def _manifest(case: Case, run: Run, files: dict[str, bytes]) -> dict[str, Any]:
    privacy = case.document["privacy"]
    return {
        "schema_version": 1,
        "run_id": run.run_id,
        "case_id": case.case_id,
        "created_at": run.started_at,
        "retention": {"status": "retained_local", "policy": RETENTION},
        "privacy": {
            "class": privacy["class"],
            "redaction_status": case.document["fixture_source"]["redaction_status"],
            "contains_private_content": privacy["contains_private_content"],
            "contains_credentials": privacy["contains_credentials"],
        },
        "artifacts": [{**_ref(run, files, artifact), "required": True} for artifact in ARTIFACTS],
    }


def _ref(run: Run, files: dict[str, bytes], artifact: Any) -> dict[str, Any]:
    return {
        "type": artifact.type,
        "path": pointers(run.prefix, run.run_id)[artifact.pointer_key],
        "sha256": sha256_hex(files[artifact.file_name]),
    }
