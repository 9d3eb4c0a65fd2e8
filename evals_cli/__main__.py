"""`python -m evals_cli`: the same command line as `evals`."""

from __future__ import annotations

import sys

from .main import run

if __name__ == "__main__":
    sys.exit(run())
