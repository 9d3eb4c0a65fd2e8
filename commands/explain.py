"""`evals explain [CODE]`: what a code means, what it establishes and does not, and what to do next.

Rules of this module:
1. Everything comes from `core.catalog`; this module only lays it out.
2. Without a code, the codes are listed. A code that does not exist is a usage error with a near one named.
3. Lines for people are at most 98 columns wide.
"""

from __future__ import annotations

import textwrap

from ..core import catalog
from .arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..core.catalog_entry import Entry
    from .contract import Terminal

_PARTS = (
    ("means", "meaning"),
    ("establishes", "establishes"),
    ("does not establish", "does_not_establish"),
    ("next", "next_step"),
)
_WIDTH = 98


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the code."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code, as in capsule.broken_link")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Explain one code, or list all; 0."""
    if args.code is None:
        return _list(args.json, terminal)
    entry = catalog.lookup(args.code)
    if entry is None:
        raise UsageError(_unknown(args.code))
    if args.json:
        terminal.document(_document(entry))
        return 0
    terminal.line(entry.code)
    for label, name in _PARTS:
        for line in _block(label, getattr(entry, name), 18):
            terminal.line(line)
    return 0


def _list(as_json: bool, terminal: Terminal) -> int:
    if as_json:
        terminal.document({"codes": [_document(entry) for entry in catalog.entries()]})
        return 0
    width = max(len(entry.code) for entry in catalog.entries())
    for title, section in catalog.SECTIONS:
        terminal.line(f"{title}:")
        for entry in section:
            for line in _block(entry.code, entry.meaning, width):
                terminal.line(line)
    return 0


def _document(entry: Entry) -> dict[str, str]:
    names = ("code", "kind", "meaning", "establishes", "does_not_establish", "next_step")
    return {name: getattr(entry, name) for name in names}


def _block(label: str, text: str, width: int) -> list[str]:
    """Lay `text` out in a column of its own, right of a label that takes `width` columns."""
    first = f"  {label:<{width}}  "
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first))


def _unknown(code: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(code, [entry.code for entry in catalog.entries()], n=1)
    hint = f"; did you mean {close[0]}?" if close else "; `evals explain` lists all of them"
    return f"there is no code {code}{hint}"
