"""What check must say of a mutated file of a run bundle, computed from the bytes and the original alone.

- Six artifacts are covered by the digests of manifest.json, byte for byte; the case by that in latest.json.
- latest.json and manifest.json are covered by no digest, only by agreement: most of their values are repeated
  elsewhere or have one admissible value. FREE lists the members that nothing vouches for, each with the form
  that it must keep. White space between tokens is free there too.
- latest-candidate.json is the run's own draft; no reader looks at it.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from .plain_json import differences, parse

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED, ACCEPTED = ("refused",), ("ok",)

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))"
)
# Words of characters that mean nothing to a shell.
_RUN = re.compile(r"(?:pnpm )?evals run( +[A-Za-z0-9_@%+=:,./~-]+)+ *")


def _text(value: object) -> bool:
    return isinstance(value, str)


def _some_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _command(value: object) -> bool:
    """A line that only repeats a run; quotes come in pairs, which one changed byte cannot make."""
    return isinstance(value, str) and _RUN.fullmatch(value) is not None


def _date_time(value: object) -> bool:
    match = _DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[7] or 0) > 23 or int(match[8] or 0) > 59:
        return False
    try:
        dt.datetime(*map(int, match.groups()[:6]), tzinfo=dt.timezone.utc)  # type: ignore[misc, arg-type]  # six ints
    except ValueError:
        return False
    return True


FREE: dict[str, dict[str, Callable[[object], bool]]] = {
    "latest.json": {
        "$.generated_at": _date_time,
        "$.producer.generated_at": _date_time,
        "$.producer.package_name": _some_text,
        "$.producer.package_version": _some_text,
        "$.producer.command": _command,
        "$.producer.evaluated_repo_root": _some_text,
    },
    "manifest.json": {
        "$.created_at": _date_time,
        "$.retention.policy": _some_text,
        "$.privacy.class": _text,
        "$.privacy.redaction_status": _text,
    },
}


def expected(name: str, original: Any, mutant: bytes) -> tuple[str, ...]:
    """Whether `mutant` may stand for the file `name` (latest.json or manifest.json), parsed as `original`."""
    try:
        found = parse(mutant, unique=True)
    except ValueError:
        return REFUSED
    for place in differences(original, found):
        has_form = FREE[name].get(place)
        if has_form is None or not has_form(_at(found, place)):
            return REFUSED
    return ACCEPTED


def _at(value: Any, place: str) -> Any:
    for key in place.split(".")[1:]:
        value = value[key]
    return value
