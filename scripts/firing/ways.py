"""The two ways by which a journal is verified: the exact one alone, and the certifier asked from the start.

Short journals go the exact way alone; here either way is forced. The certifier's own share is counted, so
that a lane can say that it really took part.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from evals_cli.core import journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evals_cli.core.journal import Certifier, Chain

EXACT, CERTIFIED = "exact", "certified"
WAYS = (EXACT, CERTIFIED)
# How many bytes go the exact way before the certifier is asked.
_ALL, _NONE = 1 << 60, 0


class Share:
    """How many lines the certifier proved while a way was in force."""

    def __init__(self) -> None:
        self.lines = 0


class _Counted:
    """A certifier whose proven lines are counted."""

    def __init__(self, certifier: Certifier, share: Share) -> None:
        self._certifier = certifier
        self._share = share

    def certify(self, block: bytes, start: int, chain: Chain) -> int:
        """As `Certifier.certify`."""
        before = chain.count
        end = self._certifier.certify(block, start, chain)
        self._share.lines += chain.count - before
        return end


@contextmanager
def taken(way: str) -> Iterator[Share]:
    """Verify by `way` inside the block."""
    share = Share()
    exact_bytes, make = journal.EXACT_BYTES, journal.make_certifier

    def counted(identity: tuple[str, ...]) -> Certifier:
        return _Counted(make(identity), share)

    setattr(journal, "EXACT_BYTES", _ALL if way == EXACT else _NONE)  # noqa: B010 - it is Final
    setattr(journal, "make_certifier", counted)  # noqa: B010 - for the block only
    try:
        yield share
    finally:
        setattr(journal, "EXACT_BYTES", exact_bytes)  # noqa: B010 - as it was
        setattr(journal, "make_certifier", make)  # noqa: B010 - as it was
