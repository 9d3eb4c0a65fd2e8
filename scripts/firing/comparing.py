"""Comparing what is said of many mutants of one file with what an oracle expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .mutants import sampled
from .slot import Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from .mutants import Mutant
    from .report import LaneResult

Outcome = tuple[Any, ...]


@dataclass(frozen=True)
class Comparison:
    """Where mutants are counted and differences noted; `per_class` as in `mutants.sampled`."""

    result: LaneResult
    per_class: int | None

    def compare(
        self,
        label: str,
        path: Path,
        mutants: Iterable[Mutant],
        *,
        expected: Callable[[bytes], Outcome],
        observe: Callable[[], Outcome],
    ) -> None:
        """Put each mutant at `path` and compare what `observe` says with what its bytes deserve."""
        with Slot(path) as slot:
            for (name, data), wanted in sampled(mutants, expected, self.per_class):
                slot.put(data)
                self.expect(f"{label}: {wanted[0]}", f"{label}: {name}", observe(), wanted)

    def expect(self, class_: str, what: str, found: Outcome, wanted: Outcome) -> None:
        """Count one of `class_`, and note a difference under the name `what`."""
        self.result.count(class_)
        if found != wanted:
            self.result.fail(f"{what}: expected {wanted}, found {found}")
