"""Payload: the facts an entry may carry, and the default-deny rule that lets nothing else in.

Rules (source document; schema of the envelope):
- Only the keys of PAYLOAD_TYPES, all optional, each of its type. An integer is any finite number of integral
  value; booleans are no numbers; only exit_code may be null; signs are free.
- Judged in this order: a plain mapping with text keys, then the types of the keys that are kept, then
  canaries in their strings. After a wrong type nothing is scanned.
- A custom allowlist only narrows.
- Problems name the place and what is expected, never the value: it might be a secret.
"""

from __future__ import annotations

from .canaries import may_hold_canary, scan_for_canaries
from .ecmascript import as_float, utf16_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Final, TypeGuard


def is_text(value: object) -> TypeGuard[str]:
    """Whether `value` is a string."""
    return isinstance(value, str)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a number that a 64-bit float holds as a finite one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    number = as_float(value)
    return number - number == 0


def is_integer(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a finite number of integral value: 2, 2.0 and 1e300 are."""
    return is_number(value) and as_float(value).is_integer()


def is_integer_or_null(value: object) -> bool:
    """Whether `value` is null or as `is_integer`."""
    return value is None or is_integer(value)


_TEXT: Final = "text"
_INTEGER: Final = "an integer"
_INTEGER_OR_NULL: Final = "an integer or null"
_NUMBER: Final = "a finite number"

PAYLOAD_TYPES: Final[dict[str, str]] = {
    "task_id": _TEXT,
    "task_family": _TEXT,
    "tool": _TEXT,
    "tool_call_id": _TEXT,
    "args_hash": _TEXT,
    "response_hash": _TEXT,
    "status": _TEXT,
    "exit_code": _INTEGER_OR_NULL,
    "duration_ms": _NUMBER,
    "tokens_in": _INTEGER,
    "tokens_out": _INTEGER,
    "cost_usd": _NUMBER,
    "model": _TEXT,
    "message": _TEXT,
    "note": _TEXT,
    "decision": _TEXT,
    "reason": _TEXT,
    "score": _NUMBER,
    "passed": _INTEGER,
    "failed": _INTEGER,
    "total": _INTEGER,
    "variant": _TEXT,
    "digest": _TEXT,
    "path": _TEXT,
    "fixture_key": _TEXT,
    "stage": _TEXT,
    "verdict": _TEXT,
    "hits": _INTEGER,
    "branch_id": _TEXT,
    "parent_branch_id": _TEXT,
    "summary": _TEXT,
}

_FORMS: dict[str, Callable[[object], bool]] = {
    _TEXT: is_text,
    _INTEGER: is_integer,
    _INTEGER_OR_NULL: is_integer_or_null,
    _NUMBER: is_number,
}
_HAS_FORM: dict[str, Callable[[object], bool]] = {key: _FORMS[form] for key, form in PAYLOAD_TYPES.items()}


def kind_of(value: object) -> str:
    """What `value` is, in words that do not quote it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return f"text of {len(value)} characters"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else f"a value of type {type(value).__name__}"


def unexpected(place: str, value: object, expected: str) -> str:
    """The problem text for a value of the wrong form at `place`."""
    return f"$.{place}: found {kind_of(value)}; expected {expected}"


class Redaction:
    """A payload after the default-deny rule.

    `payload` holds what is kept, `dropped` the sorted names of what is not, `findings` the canaries in what
    is kept, `errors` the kept keys of a wrong type (nothing was scanned then).
    """

    __slots__ = ("dropped", "errors", "findings", "payload")

    def __init__(
        self,
        payload: dict[str, Any],
        dropped: list[str],
        findings: list[dict[str, str]],
        errors: list[str],
    ) -> None:
        self.payload = payload
        self.dropped = dropped
        self.findings = findings
        self.errors = errors

    def __repr__(self) -> str:
        return (
            f"Redaction(payload={self.payload!r}, dropped={self.dropped!r}, "
            f"findings={self.findings!r}, errors={self.errors!r})"
        )


def redact_payload(payload: object, allowlist: Iterable[str] | None = None) -> Redaction:
    """Keep the payload keys that the format (and `allowlist`, where given) allows, and judge what is kept.

    Never raises for a payload, whatever it is. TypeError where `allowlist` is one text instead of many.
    """
    if isinstance(allowlist, str):
        raise TypeError("allowlist is a collection of payload keys, not one text")
    if not isinstance(payload, dict):
        return Redaction({}, [], [], [unexpected("payload", payload, "an object")])
    allowed = _HAS_FORM if allowlist is None else _HAS_FORM.keys() & set(allowlist)
    kept: dict[str, Any] = {}
    dropped: list[str] = []
    errors: list[str] = []
    for key, value in payload.items():
        if not isinstance(key, str):
            return Redaction({}, [], [], ["$.payload: found a key that is not text; expected text keys only"])
        if key not in allowed:
            dropped.append(key)
        elif _HAS_FORM[key](value):
            kept[key] = value
        else:
            errors.append(unexpected(f"payload.{key}", value, PAYLOAD_TYPES[key]))
    findings = [] if errors else _findings(kept)
    return Redaction(kept, sorted(dropped, key=utf16_key), findings, errors)


def _findings(payload: dict[str, Any]) -> list[dict[str, str]]:
    # One search over all strings together; joining them can add a trigger but never hide one.
    text = "\n".join([value for value in payload.values() if isinstance(value, str)])
    return scan_for_canaries(payload) if may_hold_canary(text) else []


def payload_problems(payload: object) -> list[str]:
    """Every reason why a stored payload is not acceptable; dropped keys and canaries are such reasons."""
    redaction = redact_payload(payload)
    problems = redaction.errors
    if redaction.dropped:
        problems.append(f"$.payload: found {len(redaction.dropped)} key(s) that the format does not have")
    for finding in redaction.findings:
        problems.append(f"$.payload{finding['path'][1:]}: holds a canary ({finding['canary']})")
    return problems
