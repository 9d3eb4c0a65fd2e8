"""Receipts: a small document by which anyone can check a capsule, and what it vouches for, without its maker.

Rules (`capsule-receipt/v1`):
- receipt_hash is over all other fields with signature null, fields of others included; a signer signs it.
- Building derives everything from one pass over the capsule, and persists that pass's projection.json last,
  so that a refusal for any other reason has written nothing. A bad artifact_digest is refused first of all.
- Verifying writes nothing and reports the first check that fails, in this order: schema, receipt_hash,
  signature, journal_present, journal_integrity (metadata where the capsule's own is at fault), truncation,
  capsule_root, stale_checkpoint, journal_integrity (the journal's digest), metadata (identity), projection,
  artifact, gate_receipt.
- A signature is looked at only with a verifier, artifact and gate document only where the caller supplies
  them; a receipt that names none then fails. A digest given beside a path wins.
- Artifacts are digested by streaming, whatever their size.
- A receipt says what was there and who vouches for it; it proves neither that a run was right nor that a
  gate ever ran. created_at is hashed, but only a signature says who claims it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import projection
from .canonical import canonical_bytes, hash_value
from .capsule import read_snapshot
from .ecmascript import MAX_SAFE_INTEGER
from .envelope import SCHEMA_VERSION, is_hash, is_id
from .errors import EvalsError, FileError
from .export import FILE_NAMES
from .files import as_path, make_folders, sha256_file, shown, system_error, write_whole
from .lock import FILE_NAME as LOCK_NAME
from .receipt_comparisons import COMPARISONS, Claim
from .timestamps import now_text

if TYPE_CHECKING:
    from .timestamps import Clock

RECEIPT_VERSION = "capsule-receipt/v1"
CHECKS = (
    "schema",
    "receipt_hash",
    "signature",
    "journal_present",
    "journal_integrity",
    "truncation",
    "capsule_root",
    "stale_checkpoint",
    "metadata",
    "projection",
    "artifact",
    "gate_receipt",
)
# Large enough for any signature or verdict; JSON can take fifty times its size in memory.
MAX_RECEIPT_BYTES = 4 * 1024 * 1024

Path = str | os.PathLike[str]
Signer = Callable[[str], object]
Verifier = Callable[[str, Any], bool]

# A capsule's own names; some file systems take other cases, dots and spaces at the end for the same.
_OWN_NAMES = (*FILE_NAMES, LOCK_NAME)


@dataclass(frozen=True)
class ReceiptVerdict:
    """`ok`, or the first failing `check` (one of CHECKS) and a `reason` of one line."""

    ok: bool
    check: str | None = None
    reason: str | None = None


def build_receipt(
    path: Path,
    *,
    artifact_path: Path | None = None,
    artifact_digest: str | None = None,
    gate_receipt: object = None,
    signer: Signer | None = None,
    clock: Clock | None = None,
) -> dict[str, Any]:
    """A receipt for the capsule in the folder `path` as it stands; its projection.json is written.

    `signer(receipt_hash)` returns a JSON value. Raises EvalsError `receipt.schema_invalid` (artifact_digest
    is no SHA-256), `receipt.artifact_unreadable`, the codes of `capsule.verify`, `json.unsupported_value`,
    `json.too_large` (signature or verdict make it larger than MAX_RECEIPT_BYTES) and FileError
    `file.write_failed`; TypeError or ValueError for what is no path.
    """
    folder, artifact = as_path(path), _optional_path(artifact_path)
    if artifact_digest is not None and not is_hash(artifact_digest):
        raise EvalsError("receipt.schema_invalid", "artifact_digest: expected 64 lower-case hex digits")
    if artifact_digest is None and artifact is not None:
        artifact_digest = _artifact_digest(artifact)
    snapshot = read_snapshot(folder)
    derived = snapshot.projection
    if derived is None:
        raise snapshot.verification.error()
    receipt: dict[str, Any] = {
        "schema": RECEIPT_VERSION,
        "envelope_schema": SCHEMA_VERSION,
        "capsule_id": derived["capsule_id"],
        "run_id": derived["run_id"],
        "capsule_root": derived["root_hash"],
        "entry_count": derived["entry_count"],
        "journal_sha256": derived["journal_sha256"],
        "projection_hash": derived["projection_hash"],
        "artifact_digest": artifact_digest,
        "gate_receipt_digest": None if gate_receipt is None else hash_value(gate_receipt),
        "gate_verdict": gate_receipt.get("verdict") if isinstance(gate_receipt, Mapping) else None,
        "created_at": now_text(clock),
        "signature": None,
    }
    receipt["receipt_hash"] = receipt_hash(receipt)
    if signer is not None:
        receipt["signature"] = signer(receipt["receipt_hash"])
    if len(canonical_bytes(receipt)) >= MAX_RECEIPT_BYTES:
        raise EvalsError("json.too_large", f"the receipt is larger than {MAX_RECEIPT_BYTES} bytes")
    write_whole(os.path.join(folder, projection.FILE_NAME), projection.projection_bytes(derived))
    return receipt


def receipt_hash(receipt: Mapping[str, Any]) -> str:
    """The hash of a receipt's fields without receipt_hash and with signature null, lower-case hex."""
    covered = {**receipt, "signature": None}
    covered.pop("receipt_hash", None)
    return hash_value(covered)


def write_receipt(receipt: Mapping[str, Any], path: Path) -> None:
    """Put `receipt` at `path` as canonical JSON and a line feed, whole; folders are made.

    Raises EvalsError `receipt.target_refused` where `path` has the name of a capsule's own file or of its
    lock, is one of them under another name, or is there and no regular file; `json.unsupported_value`; and
    FileError `file.write_failed`.
    """
    target = as_path(path)
    raw = canonical_bytes(dict(receipt)) + b"\n"
    refuse_target(target)
    make_folders(os.path.dirname(target))
    write_whole(target, raw)


def refuse_target(path: Path) -> None:
    """Refuse `path` as the place of a receipt, as `write_receipt` does; nothing is written or made."""
    target = as_path(path)
    folder, name = os.path.split(target)
    if name.rstrip(". ").casefold() in _OWN_NAMES:
        raise _target_refused(target, "a capsule's own file has this name")
    found = _status(target)
    if found is None:
        return
    if not stat.S_ISREG(found.st_mode):
        raise _target_refused(target, "not a regular file")
    for own_name in _OWN_NAMES:
        own = _status(os.path.join(folder, own_name))
        if own is not None and os.path.samestat(found, own):
            raise _target_refused(target, f"it is the capsule's own {own_name}")


def _target_refused(target: str, reason: str) -> EvalsError:
    return EvalsError("receipt.target_refused", f"{shown(target)}: {reason}; write the receipt elsewhere")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise system_error(error, path, "write") from error


def _optional_path(path: Path | None) -> str | None:
    return None if path is None else as_path(path)


def _artifact_digest(artifact_path: str) -> str:
    try:
        return sha256_file(artifact_path)
    except FileError as error:
        raise EvalsError("receipt.artifact_unreadable", error.message, error.details) from error


def verify_receipt(
    receipt: object,
    path: Path,
    *,
    artifact_path: Path | None = None,
    artifact_digest: str | None = None,
    gate_receipt: object = None,
    verifier: Verifier | None = None,
) -> ReceiptVerdict:
    """Whether `receipt` holds for the capsule in the folder `path`; never raises for content.

    `verifier(receipt_hash, signature)` must return True. What it raises comes through, and so do
    `json.unsupported_value` for a `gate_receipt` that is not JSON, and TypeError or ValueError for what is
    no path.
    """
    folder, artifact = as_path(path), _optional_path(artifact_path)
    problem = _schema_problem(receipt)
    if problem is not None or not isinstance(receipt, Mapping):
        return _failed("schema", problem or "")
    own_hash = _own_hash(receipt)
    if own_hash != receipt["receipt_hash"]:
        return _failed("receipt_hash", "the receipt's hash is not that of its fields")
    if verifier is not None and not _is_signed(receipt, verifier):
        return _failed("signature", "the signature is missing or the verifier does not accept it")
    snapshot = read_snapshot(folder, checkpoint=int(receipt["entry_count"]))
    if snapshot.projection is None:
        verdict = snapshot.verification
        return _failed(_capsule_check(verdict.code), f"{verdict.code}: {verdict.reason}")
    claim = Claim(
        receipt=receipt,
        folder=folder,
        snapshot=snapshot,
        derived=snapshot.projection,
        artifact_path=artifact,
        artifact_digest=artifact_digest,
        gate_receipt=gate_receipt,
    )
    for check, judge in COMPARISONS:
        problem = judge(claim)
        if problem is not None:
            return _failed(check, problem)
    return ReceiptVerdict(ok=True)


def _failed(check: str, reason: str) -> ReceiptVerdict:
    return ReceiptVerdict(ok=False, check=check, reason=reason)


def _schema_problem(receipt: object) -> str | None:
    if not isinstance(receipt, Mapping):
        return "a receipt is an object"
    for field, holds in _FORM.items():
        if field not in receipt:
            return f"$.{field}: missing"
        if not holds(receipt[field]):
            return f"$.{field}: not of the form that {RECEIPT_VERSION} asks for"
    return None


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= MAX_SAFE_INTEGER and value == int(value)


def _is_hash_or_none(value: object) -> bool:
    return value is None or is_hash(value)


_FORM: dict[str, Callable[[object], bool]] = {
    "schema": lambda value: value == RECEIPT_VERSION,
    "envelope_schema": lambda value: value == SCHEMA_VERSION,
    "entry_count": _is_count,
    "capsule_id": is_id,
    "run_id": is_id,
    "capsule_root": is_hash,
    "journal_sha256": is_hash,
    "projection_hash": is_hash,
    "receipt_hash": is_hash,
    "artifact_digest": _is_hash_or_none,
    "gate_receipt_digest": _is_hash_or_none,
}


def _own_hash(receipt: Mapping[str, Any]) -> str | None:
    try:
        return receipt_hash(receipt)
    except EvalsError:
        return None


def _is_signed(receipt: Mapping[str, Any], verifier: Verifier) -> bool:
    signature = receipt.get("signature")
    # Only True counts: an answer that is merely truthy, as a coroutine is, vouches for nothing.
    return signature is not None and verifier(receipt["receipt_hash"], signature) is True


def _capsule_check(code: str) -> str:
    if code == "capsule.missing_journal":
        return "journal_present"
    return "metadata" if code.startswith("capsule.metadata_") else "journal_integrity"
