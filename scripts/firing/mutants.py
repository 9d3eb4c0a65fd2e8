"""Mutants of a file: every single-bit flip and every truncation, each with a name that says where it lies."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Mutant = tuple[str, bytes]
STRIDE = 5


def flips(data: bytes) -> Iterator[Mutant]:
    """Every single-bit flip of `data`."""
    for index, byte in enumerate(data):
        for bit in range(8):
            yield f"byte {index} bit {bit}", data[:index] + bytes((byte ^ 1 << bit,)) + data[index + 1 :]


def truncations(data: bytes) -> Iterator[Mutant]:
    """Every proper prefix of `data`, the empty one too."""
    for size in range(len(data)):
        yield f"first {size} bytes", data[:size]


def sampled(
    mutants: Iterable[Mutant], expected: Callable[[bytes], tuple[Any, ...]], per_class: int | None
) -> Iterator[tuple[Mutant, tuple[Any, ...]]]:
    """Each mutant with what is expected of it; with `per_class`, about so many of each outcome, spread out.

    Only every STRIDE-th mutant is then looked at: an odd stride meets every bit of a byte in turn.
    """
    if per_class is None:
        for mutant in mutants:
            yield mutant, expected(mutant[1])
        return
    classes: defaultdict[object, list[tuple[Mutant, tuple[Any, ...]]]] = defaultdict(list)
    for mutant in islice(mutants, 0, None, STRIDE):
        outcome = expected(mutant[1])
        classes[outcome[0]].append((mutant, outcome))
    for members in classes.values():
        step = max(1, len(members) // per_class)
        yield from members[::step]
