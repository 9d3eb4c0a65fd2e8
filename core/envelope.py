"""Envelope: what one journal entry is, and the hash that seals it (`capsule-envelope/v1`).

Rules (source document; schema of the format):
- An entry has exactly the thirteen FIELDS, each of a fixed form; the payload is judged by `core.payload`.
- Lineages and effect classes are declarations of the recorder, in the order of the two tables.
- entry_hash is SHA-256 over the canonical JSON of the entry without entry_hash.
- Problems name the place and what is expected, never the value: it might be a secret.
- Checking compiles no pattern for an entry in order: a short journal is verified while tools start up.
"""

from __future__ import annotations

from .canaries import scan_for_canaries
from .canonical import hash_value, quote
from .digest import sha256_of
from .ecmascript import as_float, number_text
from .payload import (
    PAYLOAD_TYPES,
    Redaction,
    is_integer,
    kind_of,
    payload_problems,
    redact_payload,
    unexpected,
)
from .timestamps import parse_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

__all__ = [
    "EFFECT_CLASSES",
    "FIELDS",
    "GENESIS_HASH",
    "ID_FORM",
    "LINEAGES",
    "PAYLOAD_TYPES",
    "SCHEMA_VERSION",
    "Redaction",
    "SealedText",
    "compute_entry_hash",
    "field_problems",
    "is_effect_class",
    "is_hash",
    "is_id",
    "is_kind",
    "is_lineage",
    "is_schema",
    "judge",
    "redact_payload",
    "scan_for_canaries",
    "sealed_text",
    "validate_envelope",
]

SCHEMA_VERSION: Final = "capsule-envelope/v1"
LINEAGES: Final = ("plan", "attempt", "interaction", "environment", "strategy")
EFFECT_CLASSES: Final = ("SE0", "SE1", "SE2", "SE3", "SE4")
GENESIS_HASH: Final = "0" * 64
ID_FORM: Final = "1 to 128 of the characters A-Z a-z 0-9 . _ : -, the first a letter or digit"

FIELDS: Final = (
    "schema",
    "run_id",
    "capsule_id",
    "seq",
    "ts",
    "lineage",
    "kind",
    "effect_class",
    "harness_version",
    "task_family",
    "parent_hash",
    "payload",
    "entry_hash",
)
_FIELD_SET: Final = frozenset(FIELDS)

_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_ALPHANUMERIC = frozenset(_DIGITS + _LOWER + _LOWER.upper())
_ID_REST = _DIGITS + _LOWER + _LOWER.upper() + "._:-"
_KIND_FIRST = frozenset(_LOWER)
_KIND_REST = _LOWER + _DIGITS + "_.-"
_HEX = _DIGITS + "abcdef"


# The forms of single values. `strip` leaves nothing exactly where every character is a member.


def is_id(value: object) -> bool:
    """Whether `value` matches [A-Za-z0-9][A-Za-z0-9._:-]{0,127} as a whole."""
    return (
        isinstance(value, str)
        and 1 <= len(value) <= 128
        and value[0] in _ALPHANUMERIC
        and not value.strip(_ID_REST)
    )


def is_kind(value: object) -> bool:
    """Whether `value` matches [a-z][a-z0-9_.-]{0,63} as a whole."""
    return (
        isinstance(value, str)
        and 1 <= len(value) <= 64
        and value[0] in _KIND_FIRST
        and not value.strip(_KIND_REST)
    )


def is_hash(value: object) -> bool:
    """Whether `value` is a SHA-256 in 64 lower-case hex digits."""
    return isinstance(value, str) and len(value) == 64 and not value.strip(_HEX)


def is_lineage(value: object) -> bool:
    """Whether `value` names one of the five lineages."""
    return isinstance(value, str) and value in LINEAGES


def is_effect_class(value: object) -> bool:
    """Whether `value` names one of the five effect classes."""
    return isinstance(value, str) and value in EFFECT_CLASSES


def is_schema(value: object) -> bool:
    """Whether `value` is SCHEMA_VERSION."""
    return isinstance(value, str) and value == SCHEMA_VERSION


def _is_sequence_number(value: object) -> bool:
    return is_integer(value) and as_float(value) >= 0


def _is_time(value: object) -> bool:
    return isinstance(value, str) and parse_ms(value) is not None


def _is_non_empty(value: object) -> bool:
    return isinstance(value, str) and value != ""


# Field, its form, the form in words. payload and entry_hash are judged apart.
_FIELD_CHECKS: tuple[tuple[str, Callable[[object], bool], str], ...] = (
    ("schema", is_schema, f'"{SCHEMA_VERSION}"'),
    ("run_id", is_id, ID_FORM),
    ("capsule_id", is_id, ID_FORM),
    ("seq", _is_sequence_number, "an integer of 0 or more"),
    ("ts", _is_time, "a date-time such as 2026-01-31T09:30:00.000Z"),
    ("lineage", is_lineage, "one of " + ", ".join(LINEAGES)),
    ("kind", is_kind, "1 to 64 of the characters a-z 0-9 _ . -, the first a letter"),
    ("effect_class", is_effect_class, "one of " + ", ".join(EFFECT_CLASSES)),
    ("harness_version", _is_non_empty, "text that is not empty"),
    ("task_family", _is_non_empty, "text that is not empty"),
    ("parent_hash", is_hash, "64 lower-case hex digits"),
)


def validate_envelope(entry: object) -> list[str]:
    """Every reason why `entry` (a parsed JSON value) is not a valid, sealed envelope; empty where it is one.

    Each problem is "$.place: what was found; what is expected". Never raises, whatever the value.
    """
    return judge(entry)[0]


def judge(entry: object) -> tuple[list[str], SealedText | None]:
    """The problems of `entry`, as `validate_envelope`, and its sealed text where there are none."""
    if not isinstance(entry, dict):
        return [f"$: found {kind_of(entry)}; expected an object"], None
    problems = _membership_problems(entry) + field_problems(entry)
    if "payload" in entry:
        problems += payload_problems(entry["payload"])
    if "entry_hash" in entry and not is_hash(entry["entry_hash"]):
        problems.append(unexpected("entry_hash", entry["entry_hash"], "64 lower-case hex digits"))
    if problems:
        return problems, None
    sealed = sealed_text(entry)
    if sealed.entry_hash != entry["entry_hash"]:
        return ["$.entry_hash: found another hash; expected the one of the entry's content"], None
    return [], sealed


def _membership_problems(entry: dict[Any, Any]) -> list[str]:
    if entry.keys() == _FIELD_SET:
        return []
    problems = [
        f"$.{name}: missing; every field of an entry is required" for name in FIELDS if name not in entry
    ]
    unknown = len(entry.keys() - _FIELD_SET)
    if unknown:
        problems.append(f"$: found {unknown} unknown field(s); expected only {', '.join(FIELDS)}")
    return problems


def field_problems(entry: dict[Any, Any]) -> list[str]:
    """The problems of all fields but payload and entry_hash, for those that are there."""
    return [
        unexpected(name, entry[name], words)
        for name, has_form, words in _FIELD_CHECKS
        if name in entry and not has_form(entry[name])
    ]


def compute_entry_hash(entry: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of `entry` without its entry_hash, in lower-case hex.

    Judges nothing. Raises UnsupportedValue (`json.unsupported_value`) for what JSON cannot hold.
    """
    if not isinstance(entry, dict):
        raise TypeError("an entry is a dict")
    return hash_value({key: value for key, value in entry.items() if key != "entry_hash"})


class SealedText:
    """The canonical text of an entry: `line` (bytes, without LF) and the `entry_hash` that is in it."""

    __slots__ = ("entry_hash", "line")

    def __init__(self, line: bytes, entry_hash: str) -> None:
        self.line = line
        self.entry_hash = entry_hash


def sealed_text(entry: dict[str, Any]) -> SealedText:
    """The canonical line of an entry whose body has no problems, sealed with the hash of that body.

    The same text as canonical JSON gives, put together from the known order of the fields. The ids, kind,
    hashes and time of a valid body need no escapes.
    """
    head = "".join(
        ('{"capsule_id":"', entry["capsule_id"], '","effect_class":"', entry["effect_class"], '",')
    ).encode()
    tail = "".join(
        (
            '"harness_version":',
            quote(entry["harness_version"]),
            ',"kind":"',
            entry["kind"],
            '","lineage":"',
            entry["lineage"],
            '","parent_hash":"',
            entry["parent_hash"],
            '","payload":{',
            _members_text(entry["payload"]),
            '},"run_id":"',
            entry["run_id"],
            f'","schema":"{SCHEMA_VERSION}","seq":',
            number_text(entry["seq"]),
            ',"task_family":',
            quote(entry["task_family"]),
            ',"ts":"',
            entry["ts"],
            '"}',
        )
    ).encode()
    entry_hash = sha256_of(head + tail)
    return SealedText(b'%b"entry_hash":"%b",%b' % (head, entry_hash.encode(), tail), entry_hash)


def _members_text(payload: dict[str, Any]) -> str:
    members = []
    for key in sorted(payload):
        value = payload[key]
        if isinstance(value, str):
            members.append(f'"{key}":{quote(value)}')
        else:
            members.append(f'"{key}":{"null" if value is None else number_text(value)}')
    return ",".join(members)
