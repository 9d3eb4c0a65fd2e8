"""Reads the bundle that the closure evidence cites; compares it with its manifest and with a run made now.

Rules:
- A bundle is judged by its bytes: every digest that the evidence shows is computed here from the file itself,
  and none is ever masked.
- A run made now may differ from the cited one in its times, in the time within its id, and in the digests of
  files that differ by nothing else. Each such digest is exchanged for that of the cited file of the same
  name, never for any other; whatever differs beyond that is drift.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

RUNS = Path(".harness") / "evals" / "runs"
MANIFEST = "manifest.json"
CANDIDATE = "latest-candidate.json"
TRACE = "trace-events.jsonl"
BASELINE_FIELDS = ("presence_status", "comparison_status", "promotion_status")
# Which schema decides about a document of a bundle; report and command log have none.
SCHEMAS = {
    "result.json": "eval-result",
    "scorer-results.json": "scorer-result",
    "baseline-result.json": "baseline-result",
    TRACE: "trace-event",
    MANIFEST: "artifact-manifest",
    CANDIDATE: "latest-run",
}

STAMP = re.compile(r"\d{8}T\d{6}Z")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|(?<=\"duration_ms\": )\d+")


class Bundle(NamedTuple):
    """The folder of a run; its name is the run's id."""

    folder: Path

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.folder.name

    def read(self, name: str) -> Any:
        """One JSON document of the bundle."""
        return json.loads((self.folder / name).read_bytes())

    def digest(self, name: str) -> str:
        """SHA-256 of a file of the bundle, by its bytes."""
        return sha256((self.folder / name).read_bytes())

    def names(self) -> list[str]:
        """The names of its files, sorted."""
        return sorted(path.name for path in self.folder.iterdir())

    def path_of(self, name: str) -> str:
        """Where a file of the bundle lies, relative to the checkout."""
        return (RUNS / self.run_id / name).as_posix()


def sha256(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def artifact_rows(bundle: Bundle) -> list[tuple[str, str, str]]:
    """Type, path and digest of every file of the bundle, those of the manifest in its order."""
    listed = [(str(entry["type"]), Path(entry["path"]).name) for entry in bundle.read(MANIFEST)["artifacts"]]
    every = [*listed, ("manifest", MANIFEST), ("candidate for `latest.json`", CANDIDATE)]
    return [(kind, bundle.path_of(name), bundle.digest(name)) for kind, name in every]


def manifest_problems(bundle: Bundle) -> list[str]:
    """Where the files of the bundle are not those that its manifest lists, byte for byte."""
    entries = bundle.read(MANIFEST)["artifacts"]
    listed = {str(entry["path"]): entry["sha256"] for entry in entries}
    present = {bundle.path_of(name): bundle.digest(name) for name in bundle.names()}
    own = {bundle.path_of(MANIFEST), bundle.path_of(CANDIDATE)}
    problems = [f"{path} is listed in the manifest and missing" for path in listed if path not in present]
    problems += [
        f"{path} is in the bundle and not in its manifest"
        for path in present
        if path not in listed and path not in own
    ]
    problems += [
        f"{path} is not what the manifest lists: sha256 {present[path]}, listed {digest}"
        for path, digest in listed.items()
        if path in present and present[path] != digest
    ]
    return problems


def verdict_problems(bundle: Bundle) -> list[str]:
    """Where the bundle does not say of itself that it passed."""
    result = bundle.read("result.json")
    scorers = bundle.read("scorer-results.json")["results"]
    problems = [f"scorer {scorer['scorer_id']}: {scorer['status']}" for scorer in scorers if failed(scorer)]
    if not scorers:
        problems.append("no scorer has judged the run")
    if (result["status"], result["deterministic_verdict"]) != ("passed", "pass"):
        problems.append(f"result.json: {result['status']}, {result['deterministic_verdict']}")
    return problems


def failed(scorer: dict[str, Any]) -> bool:
    """Whether a scorer, or one of its assertions, says anything but pass."""
    return any(judged["status"] != "pass" for judged in (scorer, *scorer["assertions"]))


def schema_problems(bundle: Bundle) -> dict[str, list[str]]:
    """What the validator says about each document of the bundle that has a schema."""
    from evals_cli.schemas.validator import problems

    found = {}
    for name, schema in SCHEMAS.items():
        text = (bundle.folder / name).read_text(encoding="utf-8")
        documents = [json.loads(line) for line in (text.splitlines() if name == TRACE else [text])]
        found[name] = [problem for document in documents for problem in problems(schema, document)]
    return found


def drift(cited: Bundle, fresh: Bundle) -> list[str]:
    """The files in which a run made now differs from the cited one by more than its time."""
    names = sorted({*cited.names(), *fresh.names()})
    digests = {
        fresh.digest(name): cited.digest(name)
        for name in names
        if name in cited.names() and name in fresh.names()
    }
    return [name for name in names if settled(cited, name, {}) != settled(fresh, name, digests)]


def settled(bundle: Bundle, name: str, digests: dict[str, str]) -> str | None:
    """A file without its times, its digests exchanged as DIGESTS says; None where it is missing."""
    if name not in bundle.names():
        return None
    text = (bundle.folder / name).read_bytes().decode("utf-8")
    text = text.replace(bundle.run_id, STAMP.sub("<time>", bundle.run_id, count=1))
    for own, other in digests.items():
        text = text.replace(own, other)
    return TIME.sub("<time>", text)
