"""A repository with one finished run, as a consumer has it, that `evals check` passes.

Ids and times are fixed by a clock, so that the bytes are the same in every run.
"""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from evals_cli.commands.ports import documents, installed_folder
from evals_cli.core.bundle_check import BundleVerdict, check_bundle
from evals_cli.core.bundle_files import BundleFiles
from evals_cli.core.bundle_layout import DEFAULT_PREFIX
from evals_cli.core.documents import Documents
from evals_cli.core.run import Outcome, execute, plan_run
from evals_cli.version import VERSION

CASE = "smoke.case.json"
EVIDENCE = "evidence/writes.case.json"
LATEST = f"{DEFAULT_PREFIX}/latest.json"
_REMEMBERED = 1000
ARTIFACTS = (
    "result.json",
    "report.md",
    "command-log.json",
    "scorer-results.json",
    "baseline-result.json",
    "trace-events.jsonl",
)

PROJECT: dict[str, Any] = {
    "schema_version": 1,
    "manifest_version": "1",
    "project": {"project_id": "fire", "owner_repo": "example/fire"},
    "suite_roots": [".evals"],
    "authority": {"supported_modes": ["artifact_only"], "default_mode": "artifact_only"},
    "runtime_evidence_policy": {
        "required": True,
        "missing_status": "blocked",
        "evidence_paths": [EVIDENCE],
    },
    "privacy": {
        "privacy_class": "synthetic",
        "approval_status": "not_required",
        "scope": "made-up files",
        "data_classes": ["synthetic"],
    },
    "artifact_policy": {
        "artifact_roots": [DEFAULT_PREFIX],
        "allow_absolute_paths": False,
        "allow_parent_traversal": False,
    },
    "baseline_authority": {"owner": "target_project", "promotion_status": "not_configured"},
    "execution_policy": {"allow_target_execution": False, "black_box_execution_status": "blocked"},
    "unknown_field_policy": "reject",
}
SUITE: dict[str, Any] = {
    "schema_version": 1,
    "suite_id": "fire",
    "owner_repo": "example/fire",
    "domain": "faults",
    "purpose": "two made-up cases",
    "cases": ["one.case.json", "two.case.json"],
    "scorers": ["exit-code"],
    "baseline": None,
    "artifact_policy": {"write_bundle": True, "retain_locally": True, "allow_network": False},
}


def clock() -> str:
    """The time of everything in the bundle."""
    return "2026-08-20T10:20:30.400Z"


def make_repository(folder: Path) -> None:
    """Put a case, a suite of two cases, a project manifest and runtime evidence into `folder`."""
    fixtures = Path(installed_folder("fixtures"))
    smoke = fixtures / "smoke" / "pr-closeout.case.json"
    (folder / ".evals").mkdir(parents=True)
    (folder / "evidence").mkdir()
    (folder / CASE).write_bytes(smoke.read_bytes())
    shutil.copyfile(fixtures / "runtime-evidence" / "declared-writes-only.case.json", folder / EVIDENCE)
    (folder / ".evals" / "project.json").write_text(json.dumps(PROJECT), encoding="utf-8")
    (folder / ".evals" / "suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
    case = json.loads(smoke.read_bytes())
    for name in ("one", "two"):
        changed = {**case, "case_id": name, "suite_id": "fire"}
        (folder / ".evals" / f"{name}.case.json").write_text(json.dumps(changed), encoding="utf-8")


def run_case(folder: Path, target: str = CASE) -> Outcome:
    """Run `target` in the repository `folder` at the fixed time."""
    known = documents()
    plan = plan_run(target, cwd=str(folder), documents=known)
    return execute(plan, documents=known, version=VERSION, as_json=True, clock=clock)


def judged(folder: Path) -> BundleVerdict:
    """The verdict on the latest bundle of the repository `folder`."""
    return check_bundle(str(folder), DEFAULT_PREFIX, BundleFiles(str(folder)), _remembering(), home=False)


@cache
def _remembering() -> Documents:
    """The reader and judge of documents, asked once for each document: a schema's answer does not change."""
    known = documents()
    answers: dict[tuple[str, str], list[str]] = {}

    def problems(schema: str, document: object) -> list[str]:
        key = (schema, repr(document))
        if key not in answers:
            if len(answers) > _REMEMBERED:
                answers.clear()
            answers[key] = known.problems(schema, document)
        return answers[key]

    return Documents(parse=known.parse, problems=problems)
