"""Parts of a lane in processes of their own, as many at a time as there are processors."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .report import LaneResult


def add_parts(
    result: LaneResult, work: Callable[..., LaneResult], parts: Iterable[tuple[Any, ...]]
) -> LaneResult:
    """Call `work` with each of `parts`, and add what each gives to `result`, in their order."""
    with ProcessPoolExecutor() as pool:
        running = [pool.submit(work, *part) for part in parts]
        for part in running:
            result.add(part.result())
    return result
