"""The two ways by which a journal is verified: the exact one alone, and with the certifier in front of it.

Where this version has no certifier, the second way is not offered. The certifier's own share is counted, so
that a lane can say that it really took part.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evals_cli.core import journal

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where the reader of journals lets a certifier go first.
_SEAM = "_certify"
EXACT, CERTIFIED = "exact", "certified"


def ways() -> tuple[str, ...]:
    """The ways that this version has."""
    return (EXACT, CERTIFIED) if find_spec("evals_cli.core.certify") else (EXACT,)


class Share:
    """How many lines the certifier proved while a way was in force."""

    def __init__(self) -> None:
        self.lines = 0


@contextmanager
def taken(way: str) -> Iterator[Share]:
    """Verify by `way` inside the block."""
    original: Any = getattr(journal.Scan, _SEAM)
    share = Share()

    def skip(_scan: Any, _certifier: Any, _block: bytes, start: int) -> int:
        return start

    def counted(self: Any, certifier: Any, block: bytes, start: int) -> int:
        before = self.chain.count
        end = original(self, certifier, block, start)
        share.lines += self.chain.count - before
        return end

    setattr(journal.Scan, _SEAM, skip if way == EXACT else counted)
    try:
        yield share
    finally:
        setattr(journal.Scan, _SEAM, original)
