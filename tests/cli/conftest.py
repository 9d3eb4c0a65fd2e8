"""What the tests of the command line share: the package as it is installed, and the console script.

- `installed`: a folder whose only content is the package laid out as a wheel lays it out.
- `script`: the `evals` command of the environment that runs the tests.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

import pytest

_PARTS = ("commands", "core", "schemas", "contracts", "fixtures")


@pytest.fixture(scope="session")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package laid out as a wheel lays it out."""
    root = tmp_path_factory.mktemp("installed")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "evals_cli", root / "evals_cli", ignore=ignored)
    for part in _PARTS:
        shutil.copytree(repository / part, root / "evals_cli" / part, ignore=ignored)
    return root


@pytest.fixture(scope="session")
def script() -> str:
    """The console script of this environment."""
    found = shutil.which("evals", path=sysconfig.get_path("scripts"))
    assert found, "install the package first: scripts/setup"
    return os.path.abspath(found)
