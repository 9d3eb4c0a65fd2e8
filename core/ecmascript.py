r"""ECMAScript's text rules that hashes depend on: number layout, key order, code units, white space.

Rules (ECMA-262):
- A number prints as `Number::toString`: the shortest digits that read back as the same 64-bit float, plain
  for 1e-6 <= |x| < 1e21, else with an exponent that has a sign and no padding; -0 prints as 0.
- Object keys: array indices (0 to 4294967294, no sign, no leading zero) in numeric order, then all others
  by UTF-16 code unit.
- White space is what `trim` and `\s` take: Unicode space separators, tab, LF, VT, FF, CR, U+2028, U+2029
  and U+FEFF, but neither U+001C..U+001F nor U+0085.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

MAX_ARRAY_INDEX = 4294967294
MAX_SAFE_INTEGER = 2**53 - 1
_EXACT = 2**53
_DIGITS = frozenset("0123456789")


def trim(text: str) -> str:
    """`text` without ECMAScript white space at either end."""
    return text.strip(WHITE_SPACE)


def as_float(number: int | float) -> float:
    """The 64-bit float that ECMAScript holds for `number`; integers beyond the range become infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def number_text(number: int | float) -> str:
    """How ECMAScript prints a finite number; the caller handles NaN and the infinities."""
    if isinstance(number, int) and -_EXACT <= number <= _EXACT:
        return str(int(number))
    value = as_float(number)
    if value.is_integer() and -_EXACT <= value <= _EXACT:
        return str(int(value))
    return _layout(repr(value))


def _layout(shortest: str) -> str:
    """Python's shortest round-trip text `shortest`, laid out as ECMAScript lays it out."""
    sign = "-" if shortest[0] == "-" else ""
    mantissa, _, exponent = shortest.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    padded = whole + fraction
    digits = padded.lstrip("0")
    point -= len(padded) - len(digits)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = "." + digits[1:] if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def utf16_key(text: str) -> bytes:
    """A sort key that orders texts by UTF-16 code unit; lone surrogates count as themselves."""
    return text.encode("utf-16-be", "surrogatepass")


def is_array_index(key: str) -> bool:
    """Whether an object orders `key` among its numeric keys."""
    if not key or len(key) > 10 or not _DIGITS.issuperset(key):
        return False
    return key == "0" or (key[0] != "0" and int(key) <= MAX_ARRAY_INDEX)


def object_order(keys: Iterable[str]) -> list[str]:
    """`keys` in the order of canonical text: array indices by value, then the rest by UTF-16 code unit."""
    named = sorted(keys)
    if any(key[:1] in _DIGITS for key in named):
        indices = [key for key in named if is_array_index(key)]
        others = [key for key in named if not is_array_index(key)]
        return sorted(indices, key=int) + sorted(others, key=utf16_key)
    return named if "".join(named).isascii() else sorted(named, key=utf16_key)


def join_surrogates(text: str) -> str:
    """`text` with each high and low surrogate pair joined into its character; lone ones stay."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
