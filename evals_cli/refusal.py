"""A refusal as a validation-result document, for run commands that were asked for `--json`.

Rules of this module:
1. The document is a validation-result of schema version 2 with status `failed`.
2. `requirement` is the requirement's name, or the code of an error that has no requirement.
3. `errors` lists every problem; nothing is cut.
"""

from __future__ import annotations

from .core.errors import EvalsError, RequirementError

_EXTRAS = ("target_schema", "supported_schemas")


def refusal_packet(error: EvalsError) -> dict[str, object]:
    """Give the validation-result document of a refusal."""
    requirement = error.requirement if isinstance(error, RequirementError) else error.code
    problems = error.problems if isinstance(error, RequirementError) else [error.message]
    packet: dict[str, object] = {
        "schema_version": 2,
        "status": "failed",
        "requirement": requirement,
        "checks": [],
        "errors": problems,
    }
    if isinstance(error, RequirementError) and error.recovery:
        packet["recovery"] = error.recovery
    packet.update({name: error.details[name] for name in _EXTRAS if name in error.details})
    return packet
