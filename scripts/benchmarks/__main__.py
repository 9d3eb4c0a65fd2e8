"""Entry of `scripts/bench`: puts the folder of this package on the path, then runs its command line."""

from __future__ import annotations

import os
import sys

if not __package__:
    # Started as a folder: its modules are to be found as `benchmarks`, not by their bare names.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from benchmarks.command import main

if __name__ == "__main__":
    sys.exit(main())
