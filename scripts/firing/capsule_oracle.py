"""What verification must say of a mutated capsule, computed from the bytes and the original alone.

Nothing of the program under test is used: JSON is the standard library's, the forms are written out again.

- Journal: invalid UTF-8 anywhere; then no LF at the end; then the first line that differs from the original.
  Of that line: no JSON is `corrupt_entry`; the same value in other bytes is `non_canonical`; any other value
  is `invalid_entry`, since the entry_hash covers every other field and nothing covers two of them at once.
- A journal whose lines are all original, and a prefix of them, is good: what is missing only a receipt shows.
- Metadata: no JSON or another form is `metadata_invalid`, another identity `metadata_mismatch` at entry 0.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from .plain_json import is_json, parse, same

Outcome = tuple[Any, ...]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_HASH = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
_BLANK = re.compile(r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*")
_IDENTITY = ("schema", "run_id", "capsule_id", "harness_version", "task_family")


def is_utf8(raw: bytes) -> bool:
    """Whether `raw` is valid UTF-8."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class CapsuleOracle:
    """Expectations for mutants of one good capsule, given as its journal and its capsule.json."""

    def __init__(self, journal: bytes, metadata: bytes) -> None:
        self._lines = journal.split(b"\n")[:-1]
        self._values = [parse(line) for line in self._lines]
        self._identity = parse(metadata)

    def journal(self, mutant: bytes) -> Outcome:
        """The (code, failed_at, entry_count) of a mutated journal beside the original metadata."""
        if not is_utf8(mutant):
            return ("capsule.non_canonical", None, 0)
        if mutant and not mutant.endswith(b"\n"):
            return ("capsule.truncated_tail", mutant.count(b"\n"), 0)
        lines = mutant.split(b"\n")[:-1]
        for index, line in enumerate(lines):
            if index >= len(self._lines) or line != self._lines[index]:
                return (self._bad_line(index, line), index, index)
        return ("ok", None, len(lines))

    def _bad_line(self, index: int, line: bytes) -> str:
        if not is_json(line):
            return "capsule.corrupt_entry"
        if index < len(self._values) and same(parse(line), self._values[index]):
            return "capsule.non_canonical"
        return "capsule.invalid_entry"

    def metadata(self, mutant: bytes) -> Outcome:
        """The (code, failed_at, entry_count) of a mutated capsule.json beside the original journal."""
        count = len(self._lines)
        if not is_json(mutant) or not has_metadata_form(parse(mutant)):
            return ("capsule.metadata_invalid", None, count)
        found = parse(mutant)
        if any(found[field] != self._identity[field] for field in _IDENTITY):
            return ("capsule.metadata_mismatch", 0, count)
        return ("ok", None, count)


def has_metadata_form(value: Any) -> bool:
    """Whether a parsed capsule.json has the form of one."""
    if not isinstance(value, dict) or value.get("schema") != "capsule-envelope/v1":
        return False
    ids = [value.get("run_id"), value.get("capsule_id")]
    names = [value.get("harness_version"), value.get("task_family")]
    if not all(isinstance(text, str) for text in [*ids, *names, value.get("created_at")]):
        return False
    if not all(_ID.fullmatch(text) for text in ids) or any(_BLANK.fullmatch(text) for text in names):
        return False
    return is_written_time(value["created_at"])


def is_written_time(text: str) -> bool:
    """Whether `text` is a time as writers write it, on a day that there is (years from 1 on)."""
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    try:
        dt.datetime(*map(int, match.groups()[:6]), tzinfo=dt.timezone.utc)  # type: ignore[misc, arg-type]  # six ints
    except ValueError:
        return False
    return True


class ReceiptOracle:
    """Expectations for mutants of one signed receipt, its projection, artifact and gate document."""

    def __init__(self, receipt: bytes, projection: bytes) -> None:
        self._receipt = parse(receipt)
        self._projection = parse(projection)

    def receipt(self, mutant: bytes, *, with_verifier: bool) -> Outcome:
        """The failing check of a mutated receipt, `ok`, or `receipt.unreadable`."""
        if not is_json(mutant):
            return ("receipt.unreadable",)
        found = parse(mutant)
        if same(found, self._receipt):
            return ("ok",)
        if not has_receipt_form(found):
            return ("schema",)
        unsigned = {**self._receipt, "signature": found.get("signature")}
        if not same(found, unsigned):
            return ("receipt_hash",)
        return ("signature",) if with_verifier else ("ok",)

    def projection(self, mutant: bytes) -> Outcome:
        """The failing check where projection.json was mutated."""
        return ("ok",) if is_json(mutant) and same(parse(mutant), self._projection) else ("projection",)


def has_receipt_form(value: Any) -> bool:
    """Whether a parsed receipt has the form of one."""
    if not isinstance(value, dict) or value.get("schema") != "capsule-receipt/v1":
        return False
    if value.get("envelope_schema") != "capsule-envelope/v1" or not _is_count(value.get("entry_count")):
        return False
    ids = [value.get(name) for name in ("capsule_id", "run_id")]
    hashes = [
        value.get(name) for name in ("capsule_root", "journal_sha256", "projection_hash", "receipt_hash")
    ]
    if "artifact_digest" not in value or "gate_receipt_digest" not in value:
        return False
    hashes += [value[name] for name in ("artifact_digest", "gate_receipt_digest") if value[name] is not None]
    return all(isinstance(text, str) and _ID.fullmatch(text) for text in ids) and all(
        isinstance(text, str) and _HASH.fullmatch(text) for text in hashes
    )


def _is_count(value: object) -> bool:
    return isinstance(value, float) and 0 <= value <= 2**53 - 1 and value.is_integer()
