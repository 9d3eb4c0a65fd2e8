"""How the receipt commands read the JSON files that a user names.

Rules of this module:
1. Whatever keeps a file from being read as JSON is `receipt.unreadable`; the message says which file.
2. The generic reader is used: a repeated key keeps its last value, as for every hash of this format.
"""

from __future__ import annotations

from ..core.canonical import MAX_BYTES, loads
from ..core.errors import EvalsError
from ..core.files import read_regular, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_document(path: str, role: str) -> Any:
    """Give the value in the JSON file `path`; `role` names it in messages.

    Raises EvalsError `receipt.unreadable`, with the underlying code in details["cause"].
    """
    try:
        return loads(read_regular(path, limit=MAX_BYTES))
    except EvalsError as error:
        reason = error.message.removeprefix(f"{shown(path)}: ")
        message = f"{role} {shown(path)} cannot be used: {reason}"
        raise EvalsError("receipt.unreadable", message, {**error.details, "cause": error.code}) from None
