"""A file whose content is exchanged again and again, and is the original once more afterwards."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Slot:
    """The file at `path`: `put` gives it other bytes; leaving the block restores those it had."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor = os.open(path, os.O_RDWR)
        self._original = os.read(self._descriptor, os.fstat(self._descriptor).st_size + 1)

    def put(self, data: bytes) -> None:
        """Make `data` the content of the file."""
        os.pwrite(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))

    def __enter__(self) -> Slot:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.put(self._original)
        os.close(self._descriptor)
