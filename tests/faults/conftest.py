"""What the fault tests share: the lanes of `scripts/fire`, which they run in a short form."""

from __future__ import annotations

import sys
from pathlib import Path

# The lanes are no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))
