"""Prefix: what a handle remembers of the journal it verified, so that it parses only what is new.

Rules:
- Memory is never authority. Under the lock every byte is read from disk again and compared with the bytes
  remembered, or, past COMPARE_LIMIT, its SHA-256 with the digest remembered; only then does the chain go on
  from where it stood. On any difference everything is verified from the first byte.
- capsule.json is read again too; other bytes than before: everything is verified.
- A prefix ends with a whole line and belongs to a journal that verified.
"""

from __future__ import annotations

import hashlib
import os

from . import files, journal
from .verification import Identity, Verification, conclude

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from .metadata import Metadata

# Up to here comparing is cheaper than hashing and the memory is affordable; beyond, a digest is kept.
COMPARE_LIMIT: Final = 8 * 1024 * 1024
_READ: Final = 1024 * 1024


class Prefix:
    """A verified beginning of a journal: its `metadata`, where its `chain` stands, its `size` in bytes."""

    __slots__ = ("_digest", "_known", "chain", "metadata", "size")

    def __init__(self, metadata: Metadata, chain: journal.Chain, *, remember: bool = True) -> None:
        self.metadata = metadata
        self.chain = chain
        self.size = 0
        self._known: bytearray | None = bytearray() if remember else None
        self._digest: Any = None

    def take(self, data: bytes) -> None:
        """Remember the bytes that follow those remembered."""
        self.size += len(data)
        if self._known is None:
            if self._digest is not None:
                self._digest.update(data)
            return
        self._known += data
        if self.size > COMPARE_LIMIT:
            self._digest = hashlib.sha256(self._known)
            self._known = None

    def advance(self, entries: list[dict[str, Any]], data: bytes) -> None:
        """Go on over entries that were written after this prefix as `data`."""
        for entry in entries:
            self.chain.add(entry["lineage"], entry["effect_class"], entry["entry_hash"])
        self.take(data)

    def begins(self, descriptor: int) -> bool:
        """Whether the file at its first byte begins with this prefix; True leaves the position after it.

        May raise OSError.
        """
        if self._known is None:
            return self._begins_by_digest(descriptor)
        position = 0
        while position < self.size:
            chunk = os.read(descriptor, min(_READ, self.size - position))
            if not chunk or not self._known.startswith(chunk, position):
                return False
            position += len(chunk)
        return True

    def _begins_by_digest(self, descriptor: int) -> bool:
        digest = hashlib.sha256()
        missing = self.size
        while missing:
            chunk = os.read(descriptor, min(_READ, missing))
            if not chunk:
                return False
            digest.update(chunk)
            missing -= len(chunk)
        return bool(digest.digest() == self._digest.digest())


def verify_from(
    descriptor: int, folder: str, remembered: Prefix | None, *, remember: bool = True
) -> tuple[Verification, Prefix | None]:
    """Verify the capsule in `folder`, whose journal is open at its first byte, from what is `remembered` on.

    Returns the verdict and, where it is good, the prefix that is now the whole journal (`remembered` itself
    where it still held). Without `remember` its bytes are counted and not kept, so that it is never taken up
    again.
    May raise OSError.
    """
    identity = Identity(folder, remembered.metadata if remembered else None)
    prefix = _still_good(descriptor, identity, remembered)
    if prefix is None and identity.found is not None:
        prefix = Prefix(identity.found, journal.Chain(), remember=remember)
    scan = journal.Scan(identity.values, chain=prefix.chain if prefix else None)
    for chunk in files.read_chunks(descriptor):
        if prefix is not None:
            prefix.take(chunk)
        if not scan.feed(chunk):
            break
    verdict = conclude(scan, identity)
    return verdict, prefix if verdict.ok else None


def _still_good(descriptor: int, identity: Identity, remembered: Prefix | None) -> Prefix | None:
    if remembered is None:
        return None
    if identity.found is remembered.metadata and remembered.begins(descriptor):
        return remembered
    os.lseek(descriptor, 0, os.SEEK_SET)
    return None
