"""What a receipt is compared with, one comparison for each check, in the order in which they are made.

Rules (`capsule-receipt/v1`):
- A claim is a receipt whose schema and hash hold, with the capsule that it is about, which verifies.
- Each comparison gives None, or one line that says what differs; none raises for content.
- Order: truncation, capsule_root, stale_checkpoint, journal_integrity (the journal's digest), metadata
  (identity), projection, artifact, gate_receipt.
- projection.json must be the one that the receipt names and that journal and metadata give.
- An artifact and a gate document are compared only where the caller supplies them; a receipt that names none
  then fails. A digest given beside a path wins.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import projection
from .canonical import canonical_bytes, hash_value, loads
from .errors import EvalsError, FileError
from .files import read_regular, sha256_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .capsule import Snapshot

# A projection repeats texts of the metadata, which are at most half of this.
MAX_PROJECTION_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A receipt whose schema holds, the capsule as it is, and what the caller wants compared."""

    receipt: Mapping[str, Any]
    folder: str
    snapshot: Snapshot
    derived: dict[str, Any]
    artifact_path: str | None
    artifact_digest: str | None
    gate_receipt: object


def _truncation(claim: Claim) -> str | None:
    found, named = claim.derived["entry_count"], claim.receipt["entry_count"]
    return f"the journal holds {found} entries, the receipt names {named}" if found < named else None


def _capsule_root(claim: Claim) -> str | None:
    if claim.snapshot.checkpoint_root == claim.receipt["capsule_root"]:
        return None
    return f"the root after {claim.receipt['entry_count']} entries is not the receipt's"


def _stale_checkpoint(claim: Claim) -> str | None:
    found, named = claim.derived["entry_count"], claim.receipt["entry_count"]
    return f"the journal has grown from {named} to {found} entries" if found > named else None


def _journal_digest(claim: Claim) -> str | None:
    if claim.derived["journal_sha256"] == claim.receipt["journal_sha256"]:
        return None
    return "the journal's SHA-256 is not the receipt's"


def _identity(claim: Claim) -> str | None:
    for field in ("run_id", "capsule_id"):
        if claim.derived[field] != claim.receipt[field]:
            return f"the capsule's {field} is not the receipt's"
    return None


def _projection(claim: Claim) -> str | None:
    name = projection.FILE_NAME
    try:
        stored = loads(
            read_regular(os.path.join(claim.folder, name), limit=MAX_PROJECTION_BYTES, follow_symlinks=False)
        )
    except EvalsError as error:
        return f"{name} cannot be used ({error.code})"
    if not isinstance(stored, dict):
        return f"{name} is not an object"
    own_hash = projection.projection_hash(stored)
    if own_hash != stored.get("projection_hash"):
        return f"the hash of {name} is not that of its fields"
    if own_hash != claim.receipt["projection_hash"]:
        return f"the hash of {name} is not the receipt's"
    if canonical_bytes(stored) != canonical_bytes(claim.derived):
        return f"{name} is not what the journal and the metadata give"
    return None


def _artifact(claim: Claim) -> str | None:
    digest = claim.artifact_digest
    if digest is None:
        if claim.artifact_path is None:
            return None
        try:
            digest = sha256_file(claim.artifact_path)
        except FileError as error:
            return f"the artifact cannot be read ({error.message})"
    named = claim.receipt["artifact_digest"]
    if named is None:
        return "the receipt names no artifact"
    return None if digest == named else "the artifact's SHA-256 is not the receipt's"


def _gate_receipt(claim: Claim) -> str | None:
    if claim.gate_receipt is None:
        return None
    named = claim.receipt["gate_receipt_digest"]
    if named is None:
        return "the receipt names no gate document"
    return (
        None if hash_value(claim.gate_receipt) == named else "the gate document's hash is not the receipt's"
    )


COMPARISONS: tuple[tuple[str, Callable[[Claim], str | None]], ...] = (
    ("truncation", _truncation),
    ("capsule_root", _capsule_root),
    ("stale_checkpoint", _stale_checkpoint),
    ("journal_integrity", _journal_digest),
    ("metadata", _identity),
    ("projection", _projection),
    ("artifact", _artifact),
    ("gate_receipt", _gate_receipt),
)
