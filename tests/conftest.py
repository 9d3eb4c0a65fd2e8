"""What every test may ask for.

- `repository`: the root of this checkout, wherever the tests are started from.
- `shared`: the folder of reference material that lies beside the checkout on some machines. It is
  `EVALS_SHARED` when that is set, else `../shared`; a test that asks for it is skipped where it is absent.

Property tests have no deadline, since machines differ, and remember nothing from one run to the next; under
continuous integration they try the same examples every time, elsewhere new ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

_ROOT = Path(__file__).resolve().parent.parent

hypothesis.settings.register_profile(
    "house", deadline=None, database=None, derandomize=bool(os.environ.get("CI"))
)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root folder of the checkout that these tests belong to."""
    return _ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material; skips the test where there is none."""
    named = os.environ.get("EVALS_SHARED")
    folder = Path(named) if named else _ROOT.parent / "shared"
    if not (folder / "vectors").is_dir():
        pytest.skip("the reference material (EVALS_SHARED or ../shared) is not on this machine")
    return folder
