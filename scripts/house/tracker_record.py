"""Reads the state of the tracker from its record.

Rules:
- The record is one Markdown file with a line `- FIELD: VALUE` for each of FIELDS, once each.
- Its state is `linked`, `blocked` or `not-applicable`. A linked tracker names its parent issue; a blocked one
  has none, and says how to recover.
- What the record says is a person's statement. Only its form, and that its fields do not contradict each
  other, can be decided here: no tracker is asked.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FIELDS = ("state", "parent issue", "override", "recovery")
CLASSIFIED = {"linked": "pass", "blocked": "blocked", "not-applicable": "not-applicable"}
NONE = "none"


class Tracker(NamedTuple):
    """The fields of the record, and what is wrong with it."""

    fields: dict[str, str]
    problems: list[str]

    @property
    def classification(self) -> str:
        """The word for the closure evidence; `fail` for a record that cannot be relied on."""
        return "fail" if self.problems else CLASSIFIED[self.fields["state"]]


def read_tracker(text: str) -> Tracker:
    """The tracker's state as the record TEXT gives it."""
    found = re.findall(r"^- ([a-z ]+): +(\S.*(?:\n  \S.*)*)$", text, re.MULTILINE)
    names = [name for name, _ in found]
    problems = [
        f"the tracker's record has {names.count(name)} lines `- {name}: ...`; expected one"
        for name in FIELDS
        if names.count(name) != 1
    ]
    fields = {name: re.sub(r"\n +", " ", value) for name, value in found if name in FIELDS}
    return Tracker(fields, problems or contradictions(fields))


def contradictions(fields: dict[str, str]) -> list[str]:
    """What the fields of a complete record say against each other."""
    state, parent, recovery = fields["state"], fields["parent issue"], fields["recovery"]
    if state not in CLASSIFIED:
        return [f"the tracker's state is {state!r}; expected one of {', '.join(CLASSIFIED)}"]
    if state == "linked" and parent == NONE:
        return ["the tracker is said to be linked, and no parent issue is named"]
    if state == "blocked" and parent != NONE:
        return [f"the tracker is said to be blocked, and the parent issue {parent} is named"]
    if state == "blocked" and recovery == NONE:
        return ["the tracker is said to be blocked, and no recovery is named"]
    return []
