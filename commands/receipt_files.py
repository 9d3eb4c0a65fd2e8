"""How the receipt commands read the JSON files that a user names.

Rules of this module:
1. Whatever keeps a file from being read as JSON is `receipt.unreadable`; the message says which file.
2. A gate document is an object: JSON null would read as "none given" and be compared with nothing.
3. A receipt never goes where one of the files that it names is.
4. The generic reader is used: a repeated key keeps its last value, as for every hash of this format.
"""

from __future__ import annotations

import os

from ..core.canonical import loads
from ..core.errors import EvalsError
from ..core.files import read_regular, shown
from ..core.receipt import MAX_RECEIPT_BYTES
from .arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A gate document may be as large as a receipt: what it holds can end up in one.
MAX_DOCUMENT_BYTES = MAX_RECEIPT_BYTES


def read_document(path: str, role: str) -> Any:
    """Give the value in the JSON file `path`; `role` names it in messages.

    Raises EvalsError `receipt.unreadable`, with the underlying code in details["cause"].
    """
    try:
        return loads(read_regular(path, limit=MAX_DOCUMENT_BYTES))
    except EvalsError as error:
        reason = error.message.removeprefix(f"{shown(path)}: ")
        message = f"{role} {shown(path)} cannot be used: {reason}"
        raise EvalsError("receipt.unreadable", message, {**error.details, "cause": error.code}) from None


def read_gate(path: str | None) -> dict[str, Any] | None:
    """Give the gate document in the file `path`, None where none was named; errors as `read_document`."""
    if path is None:
        return None
    document = read_document(path, "the gate document")
    if not isinstance(document, dict):
        raise EvalsError(
            "receipt.unreadable",
            f"the gate document {shown(path)} cannot be used: it is not a JSON object",
            {"path": shown(path), "cause": None},
        )
    return document


def refuse_overwriting(out: str | None, **named: str | None) -> None:
    """Raise UsageError where `out` is one of the files in `named` (option to path)."""
    for option, path in named.items():
        if out is not None and path is not None and _same_file(out, path):
            raise UsageError(f"--out names the file of --{option}, which would be lost; name another file")


def _same_file(first: str, second: str) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False
