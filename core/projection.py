"""Projection: the summary of a verified journal, the same bytes for the same journal and metadata.

Rules (source document):
- It counts declarations: entries by lineage and by effect class, all five of each, zeros included.
- last_seq is null and max_effect_class SE0 where the journal is empty; root_hash is the last entry_hash, or
  sixty-four zeros.
- journal_sha256 is over the raw bytes of the journal; projection_hash over all the other fields.
- Its schema is the envelope's.
"""

from __future__ import annotations

from .canonical import canonical_bytes, hash_value
from .envelope import EFFECT_CLASSES, SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from .journal import Chain
    from .metadata import Metadata

FILE_NAME: Final = "projection.json"


def build_projection(metadata: Metadata, chain: Chain, journal_sha256: str) -> dict[str, Any]:
    """The projection of a whole verified chain; `journal_sha256` is that of the bytes it was read from."""
    declared = [name for name in EFFECT_CLASSES if chain.by_effect_class[name]]
    projection: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "run_id": metadata.run_id,
        "capsule_id": metadata.capsule_id,
        "harness_version": metadata.harness_version,
        "task_family": metadata.task_family,
        "entry_count": chain.count,
        "last_seq": chain.count - 1 if chain.count else None,
        "root_hash": chain.parent_hash,
        "journal_sha256": journal_sha256,
        "by_lineage": dict(chain.by_lineage),
        "by_effect_class": dict(chain.by_effect_class),
        "max_effect_class": declared[-1] if declared else EFFECT_CLASSES[0],
    }
    projection["projection_hash"] = projection_hash(projection)
    return projection


def projection_hash(projection: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a projection without its projection_hash, lower-case hex."""
    return hash_value({key: value for key, value in projection.items() if key != "projection_hash"})


def projection_bytes(projection: dict[str, Any]) -> bytes:
    """The bytes of a projection.json: canonical text and LF."""
    return canonical_bytes(projection) + b"\n"
