"""Session: many appends under one lock, after one verification.

Rules:
- Entering takes the lock (`capsule.busy`) and verifies; each append then costs its own bytes and one fsync.
- Around each write the journal must be the file, of the size, that this session left (`core.appending`).
- The chain goes on only over an entry that is durable. After an append whose bytes may be on disk, whole or
  in part, and which was not acknowledged, the session takes no more: `capsule.write_failed`.
- One append at a time: a second one by another thread, or from within the first (a clock that appends), is
  refused and writes nothing: `capsule.session_busy`.
- Leaving lets the append of another thread end, closes the journal and releases the lock with the ownership
  check (`core.lock`).
"""

from __future__ import annotations

from _thread import RLock

from .errors import EvalsError
from .lock import AppendLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType
    from typing import Any

    from .appending import OpenJournal
    from .recording import Recorder


class _Turn:
    """The right to append; `lock` is held by the thread whose turn it is."""

    __slots__ = ("_taken", "lock")

    def __init__(self) -> None:
        self.lock = RLock()
        self._taken = False

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            raise _busy()
        if self._taken:
            self.lock.release()
            raise _busy()
        self._taken = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._taken = False
        self.lock.release()


class Writer:
    """A writing session of a capsule; appends are possible inside the `with` block only."""

    def __init__(
        self,
        folder: str,
        open_journal: Callable[[], OpenJournal],
        recorder_for: Callable[[OpenJournal], Recorder],
    ) -> None:
        self._lock = AppendLock(folder)
        self._open_journal = open_journal
        self._recorder_for = recorder_for
        self._journal: OpenJournal | None = None
        self._recorder: Recorder | None = None
        self._turn = _Turn()
        self._failed = False

    def __enter__(self) -> Writer:  # noqa: PYI034 - Self needs Python 3.11
        self._lock.__enter__()
        try:
            self._journal = self._open_journal().__enter__()
        except BaseException as error:
            self._lock.__exit__(type(error), error, error.__traceback__)
            raise
        self._recorder = self._recorder_for(self._journal)
        self._turn = _Turn()
        self._failed = False
        return self

    def append(
        self,
        lineage: str,
        kind: str,
        payload: Mapping[str, object] | None = None,
        *,
        effect_class: str = "SE0",
        strict: bool = True,
        allowlist: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """Append one entry, durable when this returns it.

        Errors as `Capsule.append`, those of taking the lock and of reading apart, and `capsule.session_busy`.
        A refused entry leaves the session usable. ValueError outside the `with` block.
        """
        with self._turn:
            opened, recorder = self._journal, self._recorder
            if opened is None or recorder is None:
                raise ValueError("a writing session appends inside its with block only")
            if self._failed:
                raise _takes_no_more()
            sealed = recorder.seal(lineage, kind, payload, effect_class, strict=strict, allowlist=allowlist)
            self._failed = True
            opened.append([sealed])
            recorder.accept(sealed)
            self._failed = False
            return sealed.entry

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._turn.lock:
            opened, self._journal, self._recorder = self._journal, None, None
            if opened is None:
                raise ValueError("a writing session is left once, after it was entered")
            try:
                opened.__exit__(kind, error, trace)
            except EvalsError as failure:
                self._lock.__exit__(type(failure), failure, failure.__traceback__)
                raise
            self._lock.__exit__(kind, error, trace)


def _busy() -> EvalsError:
    return EvalsError(
        "capsule.session_busy",
        "another append of this writing session is under way, and this one was not written; append from one "
        "place at a time, and not from a clock",
    )


def _takes_no_more() -> EvalsError:
    return EvalsError(
        "capsule.write_failed",
        "an earlier append of this session was not acknowledged, so it takes no more; verify the capsule",
    )
