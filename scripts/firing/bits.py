"""Lane `bits`: every single-bit flip and every truncation of a capsule, its receipt and a run bundle.

Rules:
- What must be said of each mutant is computed by an oracle that shares no code with the verifier; the code
  and the index are compared, not only that there is a refusal. So a verifier that refuses everything fails
  here, and so does one that names the wrong line.
- What the formats do not cover is asserted too: such a mutant must be accepted.
- The short form takes a fixed sample of each outcome for each file.
"""

from __future__ import annotations

from pathlib import Path

from .bundle_bits import fire_bundle
from .capsule_bits import fire_capsule
from .report import Context, LaneResult
from .side_by_side import add_parts

NAME = "bits"
SUMMARY = "every bit flip and truncation of a capsule, its receipt and a run bundle"
QUICK_SAMPLE = 25
_PARTS = {"capsule": fire_capsule, "bundle": fire_bundle}


def run(context: Context) -> LaneResult:
    """Try every mutant, or a sample of each outcome; capsule and bundle side by side."""
    per_class = QUICK_SAMPLE if context.quick else None
    parts = [(context.folder, name, per_class) for name in _PARTS]
    return add_parts(LaneResult(NAME), _part, parts)


def _part(folder: str, name: str, per_class: int | None) -> LaneResult:
    place = Path(folder, name)
    place.mkdir()
    result = LaneResult(NAME)
    _PARTS[name](place, result, per_class)
    return result
