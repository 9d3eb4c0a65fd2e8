"""Metadata: `capsule.json`, the identity that every entry of a journal must repeat.

Rules (source document):
- Required: schema, run_id, capsule_id, harness_version, task_family, created_at; other keys are allowed. The
  file may be laid out freely and may repeat keys (the last one wins); it is strict UTF-8 without a BOM.
- Ids have the form of the envelope; harness_version and task_family are not blank (ECMAScript white space);
  created_at is exactly what formatting its time gives (`YYYY-MM-DDTHH:mm:ss.sssZ`).
- Whatever is wrong with it, a missing file included, is `capsule.metadata_invalid`.
- created_at and other keys have a form but are not bound by any entry: the chain does not vouch for them.
"""

from __future__ import annotations

import os

from . import files
from .canonical import canonical_bytes, loads
from .ecmascript import trim
from .envelope import ID_FORM, SCHEMA_VERSION, is_id, is_schema
from .errors import EvalsError
from .payload import kind_of, unexpected
from .timestamps import format_ms, parse_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

FILE_NAME: Final = "capsule.json"
# Far above any identity; a larger file is refused before it fills memory.
MAX_BYTES: Final = 1024 * 1024
IDENTITY_FIELDS: Final = ("schema", "run_id", "capsule_id", "harness_version", "task_family")


class Metadata:
    """A valid identity: its fields, and `raw`, the bytes that they were read from."""

    __slots__ = ("capsule_id", "created_at", "harness_version", "identity", "raw", "run_id", "task_family")

    def __init__(self, document: dict[str, Any], raw: bytes) -> None:
        self.raw = raw
        self.run_id: str = document["run_id"]
        self.capsule_id: str = document["capsule_id"]
        self.harness_version: str = document["harness_version"]
        self.task_family: str = document["task_family"]
        self.created_at: str = document["created_at"]
        self.identity = tuple([document[field] for field in IDENTITY_FIELDS])


def identity_of(entry: dict[str, Any]) -> tuple[str, ...]:
    """The values of an entry that must equal `Metadata.identity`."""
    return tuple([entry[field] for field in IDENTITY_FIELDS])


def read_metadata(folder: str, known: Metadata | None = None) -> Metadata:
    """The metadata of the capsule in `folder`; `known` again where its bytes are still those on disk.

    Raises EvalsError `capsule.metadata_invalid`: missing, not a regular file of its own (symlinks are not
    followed), unreadable, too large, not JSON, or not of the form above.
    """
    try:
        raw = files.read_regular(os.path.join(folder, FILE_NAME), limit=MAX_BYTES, follow_symlinks=False)
    except EvalsError as error:
        raise invalid(_file_problem(error.code)) from error
    return known if known is not None and known.raw == raw else parse_metadata(raw)


def _file_problem(code: str) -> str:
    return {
        "file.missing": "there is no such file",
        "file.not_regular": "it is not a regular file",
        "file.too_large": f"it is larger than {MAX_BYTES} bytes",
    }.get(code, "it cannot be read")


def parse_metadata(raw: bytes) -> Metadata:
    """The metadata in the bytes of a capsule.json; raises EvalsError `capsule.metadata_invalid`."""
    try:
        document = loads(raw)
    except EvalsError as error:
        raise invalid(error.message) from None
    problems = metadata_problems(document)
    if problems:
        raise invalid("; ".join(problems))
    return Metadata(document, raw)


def invalid(problem: str) -> EvalsError:
    """The refusal of a capsule.json for `problem`."""
    return EvalsError(
        "capsule.metadata_invalid",
        f"{FILE_NAME}: {problem}; restore the file that the capsule was created with",
    )


def metadata_problems(document: object) -> list[str]:
    """Every reason why a parsed capsule.json is not valid metadata."""
    if not isinstance(document, dict):
        return [f"$: found {kind_of(document)}; expected an object"]
    checks = (
        ("schema", is_schema, f'"{SCHEMA_VERSION}"'),
        ("run_id", is_id, ID_FORM),
        ("capsule_id", is_id, ID_FORM),
        ("harness_version", _is_not_blank, "text that is not blank"),
        ("task_family", _is_not_blank, "text that is not blank"),
        ("created_at", _is_written_time, "a time as 2026-01-31T09:30:00.000Z"),
    )
    return [
        unexpected(field, document[field], words) if field in document else f"$.{field}: missing"
        for field, has_form, words in checks
        if field not in document or not has_form(document[field])
    ]


def _is_not_blank(value: object) -> bool:
    return isinstance(value, str) and trim(value) != ""


def _is_written_time(value: object) -> bool:
    if not isinstance(value, str):
        return False
    ms = parse_ms(value)
    return ms is not None and format_ms(ms) == value


def metadata_bytes(document: dict[str, Any]) -> bytes:
    """The bytes of a new capsule.json: canonical text and LF.

    Raises EvalsError `capsule.metadata_invalid` where the document is not valid metadata, or larger than
    `read_metadata` takes.
    """
    problems = metadata_problems(document)
    if problems:
        raise EvalsError("capsule.metadata_invalid", "; ".join(problems))
    raw = canonical_bytes(document) + b"\n"
    if len(raw) > MAX_BYTES:
        raise EvalsError(
            "capsule.metadata_invalid",
            f"{FILE_NAME} would take {len(raw)} bytes, the limit is {MAX_BYTES}; shorten harness_version or "
            "task_family",
        )
    return raw
