"""Verification: one pass over a capsule's files, from which its verdict, projection and snapshot come.

Rules (source document; order of checks observed on a reference implementation):
- Order: the journal is there (`capsule.missing_journal`) and readable (`capsule.unreadable_journal`), then
  the journal itself (`core.journal`), then the metadata (`capsule.metadata_invalid`, failed_at null), then
  its identity in every entry (`capsule.metadata_mismatch`, failed_at the first that differs). The last two
  count all entries.
- root_hash is null on any failure. Content never raises.
- The files are the capsule's own regular files: symlinks are not followed, FIFOs and devices not waited for.
"""

from __future__ import annotations

import os

from . import files, journal, metadata, projection
from .digest import new_sha256
from .errors import EvalsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OK = "ok"


class Verification:
    """The verdict on a capsule: `ok`, a stable `code` ("ok" when good), and where it fails.

    `reason` is one line for people (None when ok), `failed_at` the index of the first bad entry or None,
    `entry_count` the number of good entries before it (see the rules of precedence), `root_hash` the hash of
    the last entry, None on failure.
    """

    __slots__ = ("code", "entry_count", "failed_at", "ok", "reason", "root_hash")

    def __init__(
        self, code: str, reason: str | None, failed_at: int | None, entry_count: int, root_hash: str | None
    ) -> None:
        self.ok = code == OK
        self.code = code
        self.reason = reason
        self.failed_at = failed_at
        self.entry_count = entry_count
        self.root_hash = root_hash

    def as_dict(self) -> dict[str, Any]:
        """The verdict as a JSON document, keys in the order in which commands print them."""
        return {
            "ok": self.ok,
            "code": self.code,
            "reason": self.reason,
            "failed_at": self.failed_at,
            "entry_count": self.entry_count,
            "root_hash": self.root_hash,
        }

    def __repr__(self) -> str:
        return f"Verification({self.as_dict()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verification) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not a key

    def error(self) -> EvalsError:
        """The refusal that a failed verification stands for; details failed_at and entry_count."""
        details = {"failed_at": self.failed_at, "entry_count": self.entry_count}
        return EvalsError(self.code, self.reason or "the capsule verifies", details)


class Snapshot:
    """A capsule as one pass found it.

    Where `verification` is not ok the rest is None. `size` counts the journal's verified bytes, `projection`
    is derived from them and from `metadata`, `checkpoint_root` is the root after the number of entries that
    was asked for (None where the chain is shorter or none was asked).
    """

    __slots__ = ("checkpoint_root", "metadata", "projection", "size", "verification")

    def __init__(
        self,
        verification: Verification,
        *,
        identity: metadata.Metadata | None = None,
        derived: dict[str, Any] | None = None,
        size: int = 0,
        checkpoint_root: str | None = None,
    ) -> None:
        self.verification = verification
        self.metadata = identity
        self.projection = derived
        self.size = size
        self.checkpoint_root = checkpoint_root


class Identity:
    """The metadata of a folder, or the refusal of it, to be reported only after the journal's own faults."""

    __slots__ = ("error", "found")

    def __init__(self, folder: str, known: metadata.Metadata | None = None) -> None:
        self.found: metadata.Metadata | None = None
        self.error: EvalsError | None = None
        try:
            self.found = metadata.read_metadata(folder, known)
        except EvalsError as error:
            self.error = error

    @property
    def values(self) -> tuple[str, ...] | None:
        """What every entry must repeat; None where the metadata is invalid."""
        return self.found.identity if self.found else None


def journal_path(folder: str) -> str:
    """Where the journal of the capsule in `folder` is."""
    return os.path.join(folder, journal.FILE_NAME)


def journal_fault(error: EvalsError) -> Verification:
    """The verdict where the journal cannot be opened or read (`error` is the FileError of that)."""
    if error.code == "file.missing":
        reason = f"{journal.FILE_NAME}: there is no such file; name the folder of a capsule"
        return Verification("capsule.missing_journal", reason, None, 0, None)
    problem = "not a regular file" if error.code == "file.not_regular" else "cannot be read"
    reason = f"{journal.FILE_NAME}: {problem}; make it a readable file of the capsule's own and try again"
    return Verification("capsule.unreadable_journal", reason, None, 0, None)


def conclude(scan: journal.Scan, identity: Identity) -> Verification:
    """The verdict once all bytes of the journal are fed to `scan`."""
    fault = scan.finish()
    if fault is not None:
        return Verification(fault.code, fault.reason, fault.failed_at, fault.entry_count, None)
    if identity.error is not None:
        return Verification(identity.error.code, identity.error.message, None, scan.chain.count, None)
    if scan.mismatch_at is not None:
        reason = (
            f"{journal.FILE_NAME} line {scan.mismatch_at + 1}: the entry is of another run, capsule, harness "
            f"version or task family than {metadata.FILE_NAME} says; restore the one of this journal"
        )
        return Verification("capsule.metadata_mismatch", reason, scan.mismatch_at, scan.chain.count, None)
    return Verification(OK, None, None, scan.chain.count, scan.chain.parent_hash)


def examine(folder: str, *, with_projection: bool, checkpoint: int | None = None) -> Snapshot:
    """Verify the capsule in `folder` in one pass; the projection costs one more hash over the journal."""
    path = journal_path(folder)
    try:
        descriptor = files.open_regular(path, follow_symlinks=False)
    except EvalsError as error:
        return Snapshot(journal_fault(error))
    try:
        identity = Identity(folder)
        scan = journal.Scan(identity.values, checkpoint=checkpoint)
        digest = new_sha256() if with_projection else None
        size = 0
        for chunk in files.read_chunks(descriptor):
            size += len(chunk)
            if digest is not None:
                digest.update(chunk)
            if not scan.feed(chunk):
                break
    except OSError as error:
        return Snapshot(journal_fault(files.system_error(error, path)))
    finally:
        files.close_quietly(descriptor)
    verdict = conclude(scan, identity)
    if not verdict.ok or identity.found is None:
        return Snapshot(verdict)
    return Snapshot(
        verdict,
        identity=identity.found,
        derived=_derived(identity.found, scan.chain, digest),
        size=size,
        checkpoint_root=scan.checkpoint_root,
    )


def _derived(found: metadata.Metadata, chain: journal.Chain, digest: Any) -> dict[str, Any] | None:
    return None if digest is None else projection.build_projection(found, chain, digest.hexdigest())
