"""`evals capsule show DIR`: the entries of a capsule, the newest last.

Rules of this module:
1. The whole capsule is verified once before the first entry is shown; a bad one shows nothing.
2. For people: a table of sequence number, time, lineage, kind, effect class and a line of payload.
   For machines, with `--json`: each entry as stored, canonical text, one a line (NDJSON).
3. Memory holds the shown rows only, and with `--json` one entry at a time.
"""

from __future__ import annotations

from collections import deque

from ..core.canonical import canonical_json
from ..core.capsule import read_entries
from .arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from .contract import Terminal

_HEADERS = ("SEQ", "TIME", "LINEAGE", "KIND", "EFFECT", "PAYLOAD")
_SUMMARY_WIDTH = 72
_MOST_DIGITS = 18


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory, the form and how many entries."""
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory")
    parser.add_argument("--tail", metavar="N", help="show the newest N entries only")
    parser.add_argument("--json", action="store_true", help="print entries as stored, one JSON line each")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Show; 0, or 1 with the code that verification gives."""
    tail = _count(args.tail)
    entries = _newest(read_entries(args.dir), tail)
    if args.json:
        for entry in entries:
            terminal.record(entry)
        return 0
    rows = [_row(entry) for entry in entries]
    if rows:
        terminal.table(_HEADERS, rows)
    else:
        terminal.note("none of the entries is asked for" if tail == 0 else "the capsule has no entries")
    return 0


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise UsageError("--tail takes a whole number, 0 or more")
    return int(text)


def _newest(entries: Iterator[dict[str, object]], tail: int | None) -> Iterator[dict[str, object]]:
    if tail is None:
        return entries
    return iter(deque(entries, maxlen=tail))


def _row(entry: Mapping[str, object]) -> list[str]:
    shown = [str(entry[name]) for name in ("seq", "ts", "lineage", "kind", "effect_class")]
    return [*shown, _summary(entry["payload"])]


def _summary(payload: object) -> str:
    text = canonical_json(payload)[1:-1]
    return text if len(text) <= _SUMMARY_WIDTH else text[: _SUMMARY_WIDTH - 3] + "..."
