"""Recording: from what a caller wants to record to the sealed line of the next entry.

Rules (source document), in this order:
- lineage (`capsule.bad_lineage`), types of the payload (`capsule.payload_invalid`), canaries
  (`capsule.secret_canary`), keys that the format lacks (`capsule.payload_denied`; dropped instead where the
  caller is not strict), then the whole entry (`capsule.invalid_entry`) and its size
  (`capsule.entry_too_large`).
- Sealing changes nothing: an entry counts once it is accepted, which a session does when it is on disk.
- A payload of None is an empty one. The clock is read for each entry, under the lock.
- Messages name places, never values.
"""

from __future__ import annotations

from collections.abc import Mapping

from .envelope import LINEAGES, SCHEMA_VERSION, field_problems, is_lineage, redact_payload, sealed_text
from .errors import EvalsError
from .files import shown
from .journal import MAX_LINE_BYTES
from .timestamps import now_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .metadata import Metadata
    from .timestamps import Clock

_RECORD_KEYS = frozenset(("lineage", "kind", "payload", "effect_class"))


class Sealed:
    """A good entry, ready to be written: `entry` for the caller, `line` (bytes with LF) for the journal."""

    __slots__ = ("entry", "line")

    def __init__(self, entry: dict[str, Any], line: bytes) -> None:
        self.entry = entry
        self.line = line


class Recorder:
    """Builds the entries that follow a chain standing after `count` entries at `parent_hash`."""

    __slots__ = ("_clock", "_metadata", "count", "parent_hash")

    def __init__(self, metadata: Metadata, clock: Clock | None, count: int, parent_hash: str) -> None:
        self._metadata = metadata
        self._clock = clock
        self.count = count
        self.parent_hash = parent_hash

    def seal(
        self,
        lineage: object,
        kind: object,
        payload: object,
        effect_class: object,
        *,
        strict: bool,
        allowlist: Iterable[str] | None,
    ) -> Sealed:
        """The next entry; until it is accepted, the next one again. Raises EvalsError by the rules above."""
        if not is_lineage(lineage):
            raise EvalsError(
                "capsule.bad_lineage", f"the lineage is none of {', '.join(LINEAGES)}; use one of them"
            )
        kept = _kept(payload, strict, allowlist)
        # All other fields come from valid metadata, the chain and the clock, and have their form.
        problems = field_problems({"kind": kind, "effect_class": effect_class})
        if problems:
            raise EvalsError("capsule.invalid_entry", "; ".join(problems), {"problems": problems})
        entry: dict[str, Any] = {
            "schema": SCHEMA_VERSION,
            "run_id": self._metadata.run_id,
            "capsule_id": self._metadata.capsule_id,
            "seq": self.count,
            "ts": now_text(self._clock),
            "lineage": lineage,
            "kind": kind,
            "effect_class": effect_class,
            "harness_version": self._metadata.harness_version,
            "task_family": self._metadata.task_family,
            "parent_hash": self.parent_hash,
            "payload": kept,
        }
        text = sealed_text(entry)
        if len(text.line) > MAX_LINE_BYTES:
            raise EvalsError(
                "capsule.entry_too_large",
                f"the entry takes {len(text.line)} bytes, the limit is {MAX_LINE_BYTES}; record a digest or "
                "a path in the place of the long text",
            )
        entry["entry_hash"] = text.entry_hash
        return Sealed(entry, text.line + b"\n")

    def accept(self, sealed: Sealed) -> None:
        """Go on after `sealed`, which this recorder gave last."""
        self.count += 1
        self.parent_hash = sealed.entry["entry_hash"]

    def seal_record(
        self, index: int, record: object, *, strict: bool, allowlist: Iterable[str] | None
    ) -> Sealed:
        """The next entry from record number `index` of a batch, which the refusal then names."""
        fields = checked_record(index, record)
        try:
            return self.seal(
                fields.get("lineage"),
                fields.get("kind"),
                fields.get("payload"),
                fields.get("effect_class", "SE0"),
                strict=strict,
                allowlist=allowlist,
            )
        except EvalsError as error:
            details = {**error.details, "record": index}
            raise EvalsError(error.code, f"record {index}: {error.message}", details) from None


def checked_record(index: int, record: object) -> Mapping[str, object]:
    """A record of a batch; TypeError or ValueError where it is no mapping or has a key that records lack."""
    if not isinstance(record, Mapping):
        raise TypeError(
            f"record {index} is no mapping; records are mappings of {', '.join(sorted(_RECORD_KEYS))}"
        )
    unknown = [shown(key) for key in record if key not in _RECORD_KEYS]
    if unknown:
        raise ValueError(
            f"record {index} has the unknown key {unknown[0]}; known: {', '.join(sorted(_RECORD_KEYS))}"
        )
    return record


def _kept(payload: object, strict: bool, allowlist: Iterable[str] | None) -> dict[str, Any]:
    redaction = redact_payload({} if payload is None else payload, allowlist)
    if redaction.errors:
        raise EvalsError(
            "capsule.payload_invalid", "; ".join(redaction.errors), {"problems": redaction.errors}
        )
    if redaction.findings:
        places = ", ".join([f"{found['path']} ({found['canary']})" for found in redaction.findings])
        raise EvalsError(
            "capsule.secret_canary",
            f"the payload looks as if it held a secret at {places}; take it out, and revoke it if it is real",
            {"findings": redaction.findings},
        )
    if redaction.dropped and strict:
        names = ", ".join([shown(name[:40]) for name in redaction.dropped[:5]])
        raise EvalsError(
            "capsule.payload_denied",
            f"the payload has {len(redaction.dropped)} key(s) that are not allowed ({names}); leave them out",
            {"dropped": redaction.dropped},
        )
    return redaction.payload
