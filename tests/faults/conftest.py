"""What the fault tests share: the lanes of `scripts/fire`, run in a short form, and a quick place for them.

- `scratch`: an empty folder, in memory where the system offers that: thousands of fsyncs cost nothing there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# The lanes are no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))

_MEMORY = "/dev/shm"


@pytest.fixture
def scratch() -> Iterator[Path]:
    """An empty folder that is removed afterwards."""
    place = _MEMORY if os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="evals-faults-", dir=place) as folder:
        yield Path(os.path.realpath(folder))
