"""What the tests of check and state share: a small consumer repository with one sound bundle.

`world` is that repository. Its files can be read, changed and sealed again: `seal` recomputes the digests
that follow from the artifacts, so that a change of content is not also one of bytes that were vouched for.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.bundle_check import BundleVerdict
from evals_cli.core.git_state import GitState
from evals_cli.core.inspection import Inspection, inspect_root
from evals_cli.core.roots import select_root
from evals_cli.core.state import state_packet

_DATA = Path(__file__).parents[2] / "vectors" / "data" / "bundles.json"
RUN = "20261130T175456Z-closeout-36c761f8"
RUNS = ".harness/evals/runs"
NOW = "2026-12-01T00:00:00.000Z"
PROJECT: dict[str, Any] = {
    "schema_version": 1,
    "manifest_version": "1",
    "project": {"project_id": "sample", "owner_repo": "example/sample"},
    "suite_roots": [".evals"],
    "authority": {"supported_modes": ["artifact_only"], "default_mode": "artifact_only"},
    "runtime_evidence_policy": {"required": False, "missing_status": "not_configured"},
    "privacy": {
        "privacy_class": "synthetic",
        "approval_status": "not_required",
        "scope": "everything",
        "data_classes": ["synthetic"],
    },
    "artifact_policy": {
        "artifact_roots": [RUNS],
        "allow_absolute_paths": False,
        "allow_parent_traversal": False,
    },
    "baseline_authority": {"owner": "target_project", "promotion_status": "not_configured"},
    "execution_policy": {"allow_target_execution": False, "black_box_execution_status": "blocked"},
    "unknown_field_policy": "reject",
}


class World:
    """A repository below `root`; names are relative, `bundle/x` stands for a file of the bundle."""

    latest = f"{RUNS}/latest.json"

    def __init__(self, root: Path, installed: Path) -> None:
        self.root = root
        self.installed = installed
        base = json.loads(_DATA.read_text(encoding="utf-8"))["base"]
        for name, content in base.items():
            self.write(name, base64.b64decode(content))

    def path(self, name: str) -> Path:
        """Where `name` is."""
        return self.root / name.replace("bundle/", f"{RUNS}/{RUN}/", 1)

    def write(self, name: str, content: str | bytes) -> None:
        """Put a file there."""
        file = self.path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def read(self, name: str) -> Any:
        """The JSON document there."""
        return json.loads(self.path(name).read_text(encoding="utf-8"))

    def change(self, name: str, *, seal: bool = True, **members: Any) -> None:
        """Replace members of the JSON object there; the value Ellipsis removes one."""
        value = {**self.read(name), **members}
        self.write(name, json.dumps({key: item for key, item in value.items() if item is not ...}))
        if seal:
            self.seal()

    def project(self, **members: Any) -> None:
        """Write a project manifest with these members."""
        self.write(".evals/project.json", json.dumps({**PROJECT, **members}))

    def scorer(self, index: int, **members: Any) -> None:
        """Replace members of one scorer result; `assertion` holds those of its first assertion."""
        document = self.read("bundle/scorer-results.json")
        result = document["results"][index]
        result["assertions"][0] |= members.pop("assertion", {})
        result |= members
        self.write("bundle/scorer-results.json", json.dumps(document))
        self.seal()

    def event(self, kind: str, **members: Any) -> None:
        """Replace members of the event of that type in the trace."""
        events = [
            json.loads(line) for line in self.path("bundle/trace-events.jsonl").read_text().splitlines()
        ]
        lines = [
            json.dumps({**event, **(members if event["event_type"] == kind else {})}) for event in events
        ]
        self.write("bundle/trace-events.jsonl", "\n".join(lines) + "\n")
        self.seal()

    def fail_run(self) -> None:
        """Make the bundle one of a run whose output lacked what the case requires."""
        self.scorer(
            1, status="fail", failure_reason="absent", assertion={"status": "fail", "actual": "absent"}
        )
        assertion = self.read("bundle/scorer-results.json")["results"][1]["assertions"][0]
        self.event("scorer_result", status="fail")
        self.event("run_finished", status="failed", exit_code=1)
        self.change(
            "bundle/result.json",
            status="failed",
            deterministic_verdict="fail",
            failed_assertions=[assertion],
        )

    def digest(self, name: str) -> str:
        """SHA-256 of the file there."""
        return hashlib.sha256(self.path(name).read_bytes()).hexdigest()

    def seal(self) -> None:
        """Recompute the digests that baseline result, result and manifest state."""
        baseline = self.read("bundle/baseline-result.json")
        reference = baseline.get("current_artifact_ref")
        if isinstance(reference, dict) and reference.get("type") == "command-log":
            log = self.path("bundle/command-log.json")
            if log.is_file() and reference.get("path", "").endswith("/command-log.json"):
                reference["sha256"] = hashlib.sha256(log.read_bytes()).hexdigest()
                self.write("bundle/baseline-result.json", json.dumps(baseline))
        for name, key in (("bundle/result.json", "artifact_refs"), ("bundle/manifest.json", "artifacts")):
            document = self.read(name)
            for entry in document.get(key) or ():
                file = self.root / entry["path"]
                if file.is_file():
                    entry["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
            self.write(name, json.dumps(document))

    def inspect(self) -> Inspection:
        """Look at the repository."""
        root = select_root(str(self.root), "/")
        return inspect_root(root, documents(), installed=str(self.installed))

    def verdict(self) -> BundleVerdict:
        """The verdict on its latest bundle."""
        return self.inspect().verdict

    def state(self) -> dict[str, Any]:
        """Its state packet, without asking git."""
        git = GitState(status="unavailable", reason="not asked")
        return state_packet(self.inspect(), git=lambda: git, clock=lambda: NOW)


@pytest.fixture
def world(tmp_path: Path, repository: Path) -> World:
    """A consumer with one sound bundle."""
    return World(tmp_path / "consumer", repository)


@pytest.fixture
def failing(world: World) -> World:
    """A consumer with one sound bundle of a run that failed."""
    world.fail_run()
    return world


@pytest.fixture
def home(tmp_path: Path, repository: Path) -> World:
    """A checkout of this project (its data folders) with one bundle that is not of the smoke case."""
    import shutil

    root = tmp_path / "home"
    for name in ("contracts", "fixtures"):
        shutil.copytree(repository / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "schemas").mkdir()
    return World(root, repository)
