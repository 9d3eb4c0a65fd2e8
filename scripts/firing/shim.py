"""A shim over the `os` module: counts file effects by kind, and makes the k-th of one kind go wrong, once.

What can go wrong (`Fault.how`):
- an errno name (EIO, ENOSPC, EINTR): the call raises and has no effect; a failed close has closed, as on
  Linux.
- `late`: the call has its effect and raises EIO all the same, as a network file system may.
- `short`: a write takes half of its bytes; `stuck`: a write takes none.
- `death`: the process ends before the call; `torn`: it ends in the middle of a write. Death is no Exception,
  and every later call raises it again, so that no clean-up can have an effect that a dead process has not.

Descriptors that are left open are counted and closed when the shim ends.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

KINDS = (
    "open",
    "read",
    "write",
    "fsync",
    "close",
    "replace",
    "rename",
    "unlink",
    "link",
    "mkdir",
    "stat",
    "lstat",
    "fstat",
    "lseek",
    "readlink",
    "listdir",
    "scandir",
)
CHANGING = ("open", "write", "fsync", "replace", "rename", "unlink", "link", "mkdir")
ERRORS = ("EIO", "ENOSPC", "EINTR")


class Fault(NamedTuple):
    """The k-th call (from 1) of a kind goes wrong."""

    kind: str
    number: int
    how: str

    def __str__(self) -> str:
        return f"{self.kind} no. {self.number}: {self.how}"


class Death(BaseException):
    """The process has ended."""


class Shim:
    """Replaces the functions of `os` inside the block.

    `counts` are the calls by kind, `fired` tells whether the fault came and `where` at which argument, `died`
    whether the process ended; `leaked` is the number of descriptors that were open at the end.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.died = False
        self.fired = False
        self.leaked = 0
        self.where: str | None = None
        self._fault = fault
        self._originals: dict[str, Callable[..., Any]] = {}
        self._open: set[int] = set()

    def __enter__(self) -> Shim:  # noqa: PYI034 - Self needs Python 3.11
        for kind in KINDS:
            self._originals[kind] = getattr(os, kind)
            setattr(os, kind, self._wrapped(kind))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, original in self._originals.items():
            setattr(os, name, original)
        self.leaked = len(self._open)
        for descriptor in self._open:
            os.close(descriptor)

    def _wrapped(self, kind: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if self.died and kind == "close":
                return self._done(kind, args, options)  # the kernel closes what a dead process leaves
            if self.died:
                raise Death
            self.counts[kind] += 1
            fault = self._fault
            if fault is not None and fault.kind == kind and fault.number == self.counts[kind]:
                self.fired = True
                self.where = str(args[0]) if args else None
                return self._gone_wrong(fault.how, kind, args, options)
            return self._done(kind, args, options)

        return call

    def _done(self, kind: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if kind == "close":
            self._open.discard(args[0])
        value = self._originals[kind](*args, **options)
        if kind == "open":
            self._open.add(value)
        return value

    def _gone_wrong(self, how: str, kind: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if how == "late":
            value = self._done(kind, args, options)
            if kind == "open":
                self._done("close", (value,), {})
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if how == "short":
            return self._done(kind, (args[0], bytes(args[1])[: len(args[1]) // 2]), options)
        if how == "stuck":
            return 0
        if how == "torn":
            self._done(kind, (args[0], bytes(args[1])[: (len(args[1]) + 1) // 2]), options)
        if how in ("death", "torn"):
            self.died = True
            raise Death
        if kind == "close":
            self._done(kind, args, options)
        number = getattr(errno, how)
        raise OSError(number, os.strerror(number))


def faults(counts: Counter[str], *, quick: bool) -> list[Fault]:
    """Every fault of a run that made `counts` calls; `quick`: of each kind its first, middle, last."""
    found = []
    for kind in KINDS:
        total = counts[kind]
        places = sorted({1, (total + 1) // 2, total}) if quick and total else range(1, total + 1)
        for number in places:
            ways = (*ERRORS, *(("late",) if kind in CHANGING else ()), "death")
            ways += ("short", "stuck", "torn") if kind == "write" else ()
            if quick:
                # One error, by turns: the programs under test treat all alike.
                ways = (ERRORS[number % len(ERRORS)], *ways[len(ERRORS) :])
            found += [Fault(kind, number, how) for how in ways]
    return found
