"""Which lanes there are, in the order in which `scripts/fire` runs them: one module of this package each."""

from __future__ import annotations

LANES = (
    "bits",
    "syscalls",
    "strace",
    "full_disk",
    "many",
    "fuzz",
    "hostile",
    "isolation",
)
