"""One of everything that a command reads: a repository, its evidence, a capsule, a receipt, a variant.

- `make_world` puts all of it into a folder; every command of COMMANDS then comes to its good end there.
- `COMMANDS` names for each command the files that it reads, so that a lane can put anything else in their
  place, and says whether it may write.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals_cli.commands.ports import installed_folder
from evals_cli.core.bundle_layout import DEFAULT_PREFIX

from .bundle_sample import ARTIFACTS, CASE, EVIDENCE, LATEST, make_repository, run_case
from .capsule_sample import GATE, Sample
from .judging import copied
from .trying import tried

PROMOTION = ".harness/case-promotions/one.json"
IMPROVEMENT = ".harness/eval-improvements/one.json"
CONTRACT = "contracts/output/strict-json-when-requested.v1.json"
PROJECT = ".evals/project.json"
SUITE = ".evals/suite.json"
_CHECKED = (LATEST, PROJECT, EVIDENCE, CASE)
_CAPSULE = ("capsule/journal.ndjson", "capsule/capsule.json")


@dataclass(frozen=True)
class Use:
    """A command, the files that it reads in a world, and whether it may write."""

    name: str
    words: tuple[str, ...]
    reads: tuple[str, ...] = ()
    writes: bool = False


COMMANDS = (
    Use("run", ("run", CASE, "--json"), (CASE,), writes=True),
    Use("run of a suite", ("run", SUITE, "--json"), (SUITE, ".evals/one.case.json"), writes=True),
    Use("check", ("check", "--json"), _CHECKED),
    Use("state", ("state", "--json"), (LATEST, PROJECT, EVIDENCE)),
    Use("validate", ("validate", CASE, "--json"), (CASE,)),
    Use("validate of a suite", ("validate", SUITE, "--json"), (SUITE,)),
    Use("validate of latest", ("validate", LATEST, "--json"), (LATEST,)),
    Use(
        "validate-schema claim-registry",
        ("validate-schema", "claim-registry", "claims.json", "--json"),
        ("claims.json",),
    ),
    Use(
        "validate-schema score-vector",
        ("validate-schema", "score-vector", "vector.json", "--json"),
        ("vector.json",),
    ),
    Use(
        "validate-contracts",
        ("validate-contracts", "--json"),
        (
            CONTRACT,
            "fixtures/contracts/good/plain-object.json",
            "fixtures/contracts/bad/json-in-a-code-fence.md",
        ),
    ),
    Use("validate-promotions", ("validate-promotions", "--json"), (PROMOTION,)),
    Use("validate-improvements", ("validate-improvements", "--json"), (IMPROVEMENT, PROMOTION)),
    Use("capsule create", ("capsule", "create", "another/capsule"), writes=True),
    Use(
        "capsule append",
        (
            *("capsule", "append", "capsule", "--lineage", "plan", "--kind", "fire"),
            *("--payload", "@payload.json"),
        ),
        ("payload.json", *_CAPSULE),
        writes=True,
    ),
    Use("capsule verify", ("capsule", "verify", "capsule"), _CAPSULE),
    Use("capsule project", ("capsule", "project", "capsule"), _CAPSULE, writes=True),
    Use("capsule export", ("capsule", "export", "capsule", "exported"), _CAPSULE, writes=True),
    Use("capsule group", ("capsule", "group", "capsule"), _CAPSULE),
    Use("capsule show", ("capsule", "show", "capsule"), _CAPSULE),
    Use("capsule show --json", ("capsule", "show", "capsule", "--json"), _CAPSULE),
    Use(
        "receipt build",
        ("receipt", "build", "capsule", "--artifact", "artifact.bin", "--gate", "gate.json"),
        ("artifact.bin", "gate.json", *_CAPSULE),
        writes=True,
    ),
    Use(
        "receipt verify",
        ("receipt", "verify", "receipt.json", "capsule", "--artifact", "artifact.bin", "--gate", "gate.json"),
        ("receipt.json", "artifact.bin", "gate.json", "capsule/projection.json", *_CAPSULE),
    ),
    Use("gate run", ("gate", "run", "gate.json")),
    Use("gate inspect", ("gate", "inspect", "variant"), ("variant/variant.json", "variant/run.js")),
    Use("example", ("example", "--json")),
    Use("explain", ("explain", "capsule.busy")),
    Use("schema", ("schema", "eval-case")),
)
# These come to an end that is not 0, and are meant to.
REFUSING = ("gate run",)

_CLAIM: dict[str, Any] = {
    "claim_id": "fire:one",
    "source": {"artifact_path": "README.md", "span": {"start_line": 1, "end_line": 2}},
    "claim_type": "safety",
    "scenario_family": "nominal",
    "claim_text": "nothing is executed",
    "expected_inputs": ["one"],
    "expected_outputs": ["one"],
    "required_tools": ["one"],
    "limitations": ["one"],
    "evidence_required": ["one"],
    "grader_type": "deterministic",
    "criticality": "high",
    "status": "evaluable",
}
_CLAIMS: dict[str, Any] = {
    "schema_version": 1,
    "registry_id": "fire",
    "source_package": {"type": "other", "path": ".", "version": None, "commit": None},
    "claims": [_CLAIM],
}
_VECTOR: dict[str, Any] = {
    "schema_version": 1,
    "score_vector_id": "fire",
    "suite_id": "fire",
    "coverage": {"tested_claims": 1, "total_claims": 2, "coverage_status": "partial"},
    "dimensions": [{"dimension_id": "one", "score": 0.5, "weight": 1, "gate": False, "evidence_refs": ["a"]}],
    "gates": [{"gate_id": "one", "status": "pass", "severity": "critical", "evidence_refs": ["a"]}],
    "readiness": {
        "status": "strong",
        "raw_score": 0.9,
        "capped_by_gate": False,
        "cap_reason": None,
        "blocking_gates": [],
    },
}


def make_world(folder: Path) -> None:
    """Put one of everything into `folder`, which is made."""
    make_repository(folder)
    data = Path(installed_folder("fixtures"))
    shutil.copytree(data / "example" / "variants" / "candidate", folder / "variant")
    shutil.copytree(data / "contracts", folder / "fixtures" / "contracts")
    shutil.copytree(installed_folder("contracts"), folder / "contracts", ignore=_no_code)
    (folder / "gate.json").write_text(json.dumps(GATE), encoding="utf-8")
    (folder / "payload.json").write_text('{"note": "\u00e9", "hits": 1}', encoding="utf-8")
    (folder / "claims.json").write_text(json.dumps(_CLAIMS), encoding="utf-8")
    (folder / "vector.json").write_text(json.dumps(_VECTOR), encoding="utf-8")
    Sample(folder)
    run_case(folder)
    _make_packets(folder)


def _no_code(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.endswith((".py", "__pycache__"))]


def _make_packets(folder: Path) -> None:
    """The first packet of each kind of this repository, with what they refer to."""
    root = Path(__file__).resolve().parent.parent.parent
    originals = {
        target: min((root / Path(target).parent).glob("*.json")) for target in (PROMOTION, IMPROVEMENT)
    }
    shutil.copytree(root / ".harness" / "failures", folder / ".harness" / "failures")
    for target, original in originals.items():
        text = original.read_text(encoding="utf-8")
        for other, source in originals.items():
            text = text.replace(source.relative_to(root).as_posix(), other)
        (folder / target).parent.mkdir(parents=True)
        (folder / target).write_text(text, encoding="utf-8")


def bundle_files(folder: Path) -> list[str]:
    """The paths of the latest bundle's files in the world `folder`, the manifest included."""
    run_id = json.loads((folder / LATEST).read_bytes())["run_id"]
    return [f"{DEFAULT_PREFIX}/{run_id}/{name}" for name in (*ARTIFACTS, "manifest.json")]


def world_problems(folder: Path) -> list[str]:
    """Commands that do not come to their good end in the untouched world `folder`."""
    problems = []
    for use in COMMANDS:
        work = copied(folder, folder.with_name(f"{folder.name} of {use.name}"))
        trial = tried(use.words, work)
        if trial.status != int(use.name in REFUSING) or trial.problems:
            problems.append(f"{use.name}: {trial.status} {trial.problems}")
        shutil.rmtree(work)
    return problems
