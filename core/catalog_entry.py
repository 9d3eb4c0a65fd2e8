"""The shape of one row of the catalog of codes.

Rules of this module:
1. A row says what a code means, what seeing it establishes, what it does not, and what to do next.
2. `kind` says where the code is met: "error" (a refusal: `evals: CODE: message`, or EvalsError.code) or
   "finding" (a value inside a document that a command prints).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One code and its explanation, in sentences for people."""

    code: str
    meaning: str
    establishes: str
    does_not_establish: str
    next_step: str
    kind: str = "error"
