"""The one refusal of the gate: no candidate code runs, because no isolation backend is supported.

Rules:
- There is no reviewed operating-system isolation behind this tool, on any system, so every way of executing
  a candidate refuses with `gate.isolation_required`.
- The refusal comes first: nothing is read, copied, loaded or created before it, and no argument, flag,
  environment variable or configuration changes it.
"""

from __future__ import annotations

import os

from .errors import EvalsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

ISOLATION_REQUIRED = "gate.isolation_required"


def refusal() -> EvalsError:
    """The error that every attempt to execute a candidate meets."""
    return EvalsError(
        ISOLATION_REQUIRED,
        "no isolation backend is supported on any system, so candidate code is never executed; "
        "inspect variants with `evals gate inspect` instead",
    )


def require_supported_isolation() -> NoReturn:
    """Refuse to execute anything: raises EvalsError `gate.isolation_required`, always."""
    raise refusal()


def refuse_as_program(standard_error: int = 2) -> int:
    """Print the refusal as commands do, on the descriptor `standard_error`, and return the exit code 1."""
    try:
        os.write(standard_error, f"evals: {refusal()}\n".encode())
    except OSError:
        pass  # nobody listens; the exit code still says no
    return 1
