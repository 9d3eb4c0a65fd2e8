"""Retired entry point: the process that once ran a variant's tasks. It only refuses.

Rules:
- `python -m evals_cli.core.gate_child` prints `evals: gate.isolation_required: ...` on standard error and
  exits 1. It reads neither its input, its arguments nor any file.
- Importing the module does nothing; what such a process would have printed is judged by `gate_protocol`.
"""

from __future__ import annotations

from .gate_isolation import refuse_as_program

if __name__ == "__main__":
    raise SystemExit(refuse_as_program())
