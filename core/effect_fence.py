"""Retired preload: the module that once patched a runtime to fence effects off. Loading it only refuses.

Rules:
- Importing `evals_cli.core.effect_fence` raises EvalsError `gate.isolation_required`, always, and patches
  nothing: interception inside the candidate's own runtime is not isolation.
- Started as a program it prints the refusal in one line and exits 1.
- `replay.EFFECT_FENCE_PRELOAD` still names it, so that old callers meet the refusal and not a missing file.
"""

from __future__ import annotations

from .gate_isolation import refuse_as_program, require_supported_isolation

if __name__ == "__main__":
    raise SystemExit(refuse_as_program())
require_supported_isolation()
