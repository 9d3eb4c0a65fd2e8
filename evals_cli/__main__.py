"""`python -m evals_cli`: the same command line as `evals`."""

from __future__ import annotations

import sys

from . import IN_A_CHECKOUT
from .main import run

_PARTS = tuple(f"{__package__}.{part}" for part in ("commands", "core", "schemas"))

if __name__ == "__main__":
    try:
        sys.exit(run())
    except ModuleNotFoundError as error:
        if error.name not in _PARTS:
            raise
        sys.exit(f"evals: {IN_A_CHECKOUT}")
