"""The gate: execution is unavailable, and what can be said about a variant without running it is here.

Rules:
- `run_gate`, `run_variant` and `require_supported_isolation` refuse with `gate.isolation_required` before
  anything is read, copied, loaded or created; no argument changes that (`gate_isolation`).
- Static inspection reads quiet local trees: variants and their digest (`gate_variant`), task sets
  (`gate_taskset`), warnings about sources (`gate_tripwires`).
- `parse_child_result` and `baseline_failure` are pure checks of a bounded protocol (`gate_protocol`).
- None of this proves that a candidate is safe, correct or better, and no gate receipt can be issued.
"""

from __future__ import annotations

from .gate_isolation import ISOLATION_REQUIRED, require_supported_isolation
from .gate_protocol import ChildResult, baseline_failure, parse_child_result
from .gate_taskset import TaskSet, load_taskset
from .gate_tripwires import PYTHON_TRIPWIRES, TRIPWIRES, Hit, Tripwire, scan_tripwires
from .gate_variant import Variant, digest_dir, load_variant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = [
    "ISOLATION_REQUIRED",
    "PYTHON_TRIPWIRES",
    "TRIPWIRES",
    "ChildResult",
    "Hit",
    "TaskSet",
    "Tripwire",
    "Variant",
    "baseline_failure",
    "digest_dir",
    "load_taskset",
    "load_variant",
    "parse_child_result",
    "require_supported_isolation",
    "run_gate",
    "run_variant",
    "scan_tripwires",
]


def run_gate(*_: object, **__: object) -> NoReturn:
    """Refuse to compare variants by running them: raises EvalsError `gate.isolation_required`, always."""
    require_supported_isolation()


def run_variant(*_: object, **__: object) -> NoReturn:
    """Refuse to run a variant: raises EvalsError `gate.isolation_required`, always."""
    require_supported_isolation()
