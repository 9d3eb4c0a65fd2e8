"""The order of names in a directory digest: the root collation of ICU for ASCII, a stated one beyond.

Rules:
- Names are compared as whole strings first by the primary order below, in which letters differ by letter
  and not by case; a name that ends first comes first.
- Names that are equal so far: at the first letter that differs in case, lower comes before upper.
- The primary order is tab, LF, VT, FF, CR, then the printable characters as listed, then everything beyond
  ASCII by code point. The other control characters carry no weight, as in ICU.
- Names that are still equal are ordered by their bytes, so that the order is total.
"""

from __future__ import annotations

import os

# The printable ASCII characters in the root collation's order, as ICU prints it.
ASCII_ORDER = (
    " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
)

_PRIMARY = {
    character: weight
    for weight, character in enumerate("\t\n\v\f\r" + "".join(c for c in ASCII_ORDER if not "A" <= c <= "Z"))
}
_BEYOND = 0x80


def _primary(character: str) -> int | None:
    if character.isascii():
        return _PRIMARY.get(character.lower())
    return _BEYOND + ord(character)


def collation_key(name: str) -> tuple[list[int], list[bool], bytes]:
    """The sort key of a file name; keys of different names are never equal."""
    weights: list[int] = []
    capitals: list[bool] = []
    for character in name:
        weight = _primary(character)
        if weight is not None:
            weights.append(weight)
            capitals.append("A" <= character <= "Z")
    return weights, capitals, os.fsencode(name)
