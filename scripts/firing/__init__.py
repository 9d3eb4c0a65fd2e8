"""The long form of the fault tests: lanes that `scripts/fire` runs, each a module of this package.

Rules:
- A lane is a module with NAME, SUMMARY and `run(context) -> LaneResult`; a line in `registry` makes it known.
- A lane counts what it tried and names what went wrong; it never stops at the first failure.
- What a lane cannot do on a machine it says (`skipped`, with a reason), and that is no failure.
- The tests under tests/faults run the same modules in a short form.
"""

from __future__ import annotations
