"""How large a file may be that this program reads whole, in bytes: one table, so that the parts agree.

What a run writes must be readable for a check, so no document of a bundle is larger than BUNDLE_DOCUMENT.
The texts of a case stand in one document up to four times, and one byte of them can take four: a quotation
mark of a TOML text is escaped twice. So CASE bytes take 8 MB at most, and a run adds less than the rest.

| Limit | Of what |
| --- | --- |
| PROJECT_MANIFEST | `.evals/project.json` and `.evals/project.toml` |
| BUNDLE_DOCUMENT | latest.json and every document of a bundle that is parsed |
| TRACE_LINE | one line of a trace |
| CASE | a case |
| AUTHORED | a contract, its fixtures, a packet, a runtime-evidence case |
| SUITE | a suite |
| TARGET | a document that is validated on its own |
| CONVERTED | a file whose digest is computed again with CRLF read as LF; it is streamed |

An artifact that is only digested has no limit: it is read once as a stream.
"""

from __future__ import annotations

_MEBIBYTE = 1024 * 1024

PROJECT_MANIFEST = _MEBIBYTE
BUNDLE_DOCUMENT = 8 * _MEBIBYTE
TRACE_LINE = _MEBIBYTE
CASE = 500_000
AUTHORED = 16 * _MEBIBYTE
SUITE = 64 * _MEBIBYTE
TARGET = 64 * _MEBIBYTE
CONVERTED = 64 * _MEBIBYTE
