"""Claims, the evidence under them, and whether it suffices.

Rules:
- `runtime-state` is always observed: `fail` when the state is invalid, else `present`.
- `latest-validation` and its claim exist only when the bundle passed its check.
- A manifest that stands at its pointer is evidence `manifest:latest`, without a claim.
- Every other artifact that stands at its pointer is claimed to exist. Its evidence is `verified`, with digest
  and manifest, when the manifest parses, lists the same path, and the file has that digest in every such
  entry; else it is `present`.
- The scorer `missing-evidence` passes when every claim has all its evidence, and none of it is `fail` or, for
  an artifact, less than `verified`.
- Readiness passes when the state is ready, validation passed, missing-evidence passed and the runtime
  evidence is ready; otherwise the first of these four that does not hold is the one blocking field.
"""

from __future__ import annotations

from .bundle_agreement import entries
from .bundle_check import run_words
from .bundle_files import BundleFiles, same_path
from .errors import FileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle_check import BundleVerdict

SCORER_VERSION = "1.0.0"
_SUFFICIENT = ("pass", "verified")


class Artifact:
    """An artifact pointer of latest.json as it was found: key, type, path, status, reason."""

    __slots__ = ("key", "path", "reason", "status", "type")

    def __init__(self, key: str, kind: str, path: str | None, status: str, reason: str | None) -> None:
        self.key = key
        self.type = kind
        self.path = path
        self.status = status
        self.reason = reason

    def document(self) -> dict[str, Any]:
        """The artifact as a state packet lists it."""
        return {
            "key": self.key,
            "type": self.type,
            "path": self.path,
            "status": self.status,
            "reason": self.reason,
        }


class ClaimLedger:
    """Claims and evidence records (version 1), in packet order."""

    __slots__ = ("claims", "evidence", "observed_at")

    def __init__(self, observed_at: str) -> None:
        self.observed_at = observed_at
        self.claims: list[dict[str, Any]] = []
        self.evidence: list[dict[str, Any]] = []

    def claim(self, claim_id: str, kind: str, text: str, *required: str) -> None:
        """Add a claim that needs the evidence `required`."""
        self.claims.append(
            {
                "schema_version": 1,
                "claim_id": claim_id,
                "claim_type": kind,
                "claim_text": text,
                "required_evidence": list(required),
                "confidence": None,
            }
        )

    def observe(self, evidence_id: str, kind: str, status: str, **details: str | None) -> None:
        """Add evidence; `details` are among path, command, sha256, manifest_path and detail."""
        empty = dict.fromkeys(("path", "command", "sha256", "manifest_path", "detail"))
        self.evidence.append(
            {
                "schema_version": 1,
                "evidence_id": evidence_id,
                "evidence_type": kind,
                "status": status,
                "observed_at": self.observed_at,
                **empty,
                **details,
            }
        )


def build_ledger(
    *,
    status: str,
    verdict: BundleVerdict,
    artifacts: list[Artifact],
    files: BundleFiles,
    observed_at: str,
    commands: dict[str, str],
) -> ClaimLedger:
    """The claims that a state of `status` makes, and their evidence.

    `commands` gives the command lines that repeat the observations, under `state` and `check`.
    """
    ledger = ClaimLedger(observed_at)
    ledger.claim(
        "runtime-state-observed", "state-observed", f"The state was observed as {status}.", "runtime-state"
    )
    ledger.observe(
        "runtime-state",
        "runtime_state",
        "fail" if status == "invalid" else "present",
        path=verdict.latest_path,
        command=commands["state"],
        detail=f"The state is {status}.",
    )
    if verdict.status == "passed":
        ledger.claim(
            "latest-validation-passed",
            "validation-passed",
            "The latest bundle passed its check.",
            "latest-validation",
        )
        ledger.observe(
            "latest-validation",
            "validation_artifact",
            "pass",
            path=verdict.latest_path,
            command=commands["check"],
            detail=f"Schemas, agreement, digests and producer hold; {run_words(verdict.run_verdict)}.",
        )
    for artifact in artifacts:
        if artifact.status == "present" and artifact.path is not None:
            _add_artifact(ledger, artifact, artifact.path, verdict, files)
    return ledger


def _add_artifact(
    ledger: ClaimLedger, artifact: Artifact, path: str, verdict: BundleVerdict, files: BundleFiles
) -> None:
    if artifact.type == "manifest":
        ledger.observe("manifest:latest", "manifest", "present", path=path, detail="It stands there.")
        return
    name = artifact.key.replace("_", "-")
    text = f"The {artifact.type} of the latest run exists."
    ledger.claim(f"artifact-exists:{name}", "artifact-exists", text, f"artifact:{name}")
    digest = verified_digest(path, verdict.manifest, files)
    if digest is None:
        detail = "It stands there, but no manifest vouches for its bytes."
        ledger.observe(f"artifact:{name}", "artifact", "present", path=path, detail=detail)
        return
    ledger.observe(
        f"artifact:{name}",
        "artifact",
        "verified",
        path=path,
        sha256=digest,
        manifest_path=verdict.text("manifest_path"),
        detail="Its bytes have the digest of the manifest.",
    )


def verified_digest(path: str, manifest: object, files: BundleFiles) -> str | None:
    """The digest of the file at `path` where every manifest entry of that path states it, else None."""
    stated = [
        entry.get("sha256")
        for _, entry in entries(manifest, "artifacts")
        if isinstance(entry.get("path"), str) and same_path(entry["path"], path)
    ]
    if not stated:
        return None
    try:
        digest = files.digest(path)
    except FileError:
        return None
    return digest if all(value == digest for value in stated) else None


def score_missing_evidence(ledger: ClaimLedger) -> dict[str, Any]:
    """The result of the scorer `missing-evidence` over a ledger."""
    weak = [evidence_id for claim in ledger.claims for evidence_id in _unbacked(claim, ledger.evidence)]
    return {
        "scorer_id": "missing-evidence",
        "scorer_version": SCORER_VERSION,
        "status": "fail" if weak else "pass",
        "inputs_inspected": [record["evidence_id"] for record in ledger.evidence],
        "evidence": f"{len(ledger.claims)} claims against {len(ledger.evidence)} evidence records",
        "failure_reason": f"not backed: {', '.join(weak)}" if weak else None,
    }


def _unbacked(claim: dict[str, Any], evidence: list[dict[str, Any]]) -> list[str]:
    statuses = {record["evidence_id"]: record["status"] for record in evidence}
    # A state is observed by looking at it; everything else needs proof.
    enough = ("present", *_SUFFICIENT) if claim["claim_type"] == "state-observed" else _SUFFICIENT
    return [name for name in claim["required_evidence"] if statuses.get(name) not in enough]


def readiness(
    *,
    status: str,
    validation: str,
    missing_evidence: str,
    runtime_evidence: str,
    run_verdict: str | None,
) -> dict[str, Any]:
    """The readiness verdict over the four fields that decide it, in order.

    What the run came to decides nothing here; the reason for a pass tells it.
    """
    fields = (
        ("runtime_state.status", status, "ready"),
        ("validation_evidence.status", validation, "passed"),
        ("missing_evidence_scorer.status", missing_evidence, "pass"),
        ("runtime_evidence_contract_health.status", runtime_evidence, "ready"),
    )
    for name, found, wanted in fields:
        if found != wanted:
            reason = f"{name} is {found}; readiness needs {wanted}"
            return {"status": "fail", "reason": reason, "blocking_fields": [name]}
    return {
        "status": "pass",
        "reason": f"the latest bundle is verified and its runtime evidence holds; {run_words(run_verdict)}",
        "blocking_fields": [],
    }
