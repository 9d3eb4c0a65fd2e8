"""The scripts of scripts/house as modules, which find each other by name only while a test uses them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

HOUSE = Path(__file__).resolve().parent.parent.parent / "scripts" / "house"


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    names = {path.stem for path in HOUSE.glob("*.py")}
    monkeypatch.syspath_prepend(str(HOUSE))
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)
