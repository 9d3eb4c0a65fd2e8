"""SHA-256, from where it costs the least: the interpreter's own for short texts, OpenSSL's for long ones.

Rules:
- Both are the same function; which one is used changes no result.
- `hashlib` loads OpenSSL, which takes longer than all else that verifies a short journal. So `sha256_of` and
  what follows from it takes the module that hashlib itself falls back on, and hashlib where there is none.
- OpenSSL's is several times faster a byte. What is long, or streamed, is worth loading it.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Its name since Python 3.12, and before.
BUILT_IN = ("_sha2", "_sha256")
LONG = 64 * 1024


def built_in() -> Callable[[bytes], Any] | None:
    """The interpreter's own SHA-256; None where it was built without one."""
    for name in BUILT_IN:
        try:
            found: Callable[[bytes], Any] = import_module(name).sha256
        except ImportError:
            continue
        return found
    return None


_short = built_in()


def sha256_of(data: bytes) -> str:
    """SHA-256 of `data` in lower-case hex."""
    if _short is None or len(data) > LONG:
        digest: str = new_sha256(data).hexdigest()
    else:
        digest = _short(data).hexdigest()
    return digest


def new_sha256(data: bytes = b"") -> Any:
    """A digest to be fed piece by piece, as `hashlib.sha256` gives it."""
    import hashlib

    return hashlib.sha256(data)
