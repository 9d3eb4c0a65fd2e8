"""The catalog of codes: one table that `evals explain`, the reference page and the tests share.

Rules of this module:
1. Every code that the program can give is in the table once; a test compares the table with the sources.
2. The table is data, in one module for each part of the program, in the order in which people read it.
3. A finding has a qualified name (`receipt.check.truncation`); the bare word that a document shows
   (`truncation`) finds it too, as long as only one finding ends in it.
"""

from __future__ import annotations

from . import catalog_capsule, catalog_evidence, catalog_ground, catalog_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .catalog_entry import Entry

SECTIONS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    ("Any command", catalog_ground.ENTRIES),
    ("Capsules", catalog_capsule.ENTRIES),
    ("Receipts, groups, replay and the gate", catalog_evidence.ENTRIES),
    ("Runs, check and state", catalog_runs.ENTRIES),
)


def entries() -> list[Entry]:
    """Give every row, in reading order."""
    return [entry for _, section in SECTIONS for entry in section]


def lookup(code: str) -> Entry | None:
    """Give the row of a code, or of the bare word of a finding; None for an unknown one."""
    rows = entries()
    exact = [entry for entry in rows if entry.code == code]
    if exact:
        return exact[0]
    bare = [entry for entry in rows if entry.kind == "finding" and entry.code.rpartition(".")[2] == code]
    return bare[0] if len(bare) == 1 else None
