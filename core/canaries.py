r"""Canaries: shapes of secrets that must never enter evidence, and the scanner that finds them.

Rules (facts of the envelope format; patterns are ECMAScript's, without flags unless said):
- A canary found in any string is a hard refusal. Findings come in the order of the table, at most one per
  canary and string, as {"canary", "path"} with a path such as `$.message` or `$.items[0]`.
- Mapping values and list items are scanned, keys are not. Numbers, booleans and null hold no canary.
- `\b` and `\w` are ASCII, `\s` is ECMAScript white space (with U+FEFF, without U+001C..U+001F and U+0085),
  and case-insensitive means ASCII letters only.
- Lengths count UTF-16 code units: four characters beyond U+FFFF satisfy `\S{8,}`.
- No pattern needs more than linear time, whatever the text. The token pattern takes the first `eyJ` of a run
  of token characters and never goes back for a later one: the first leaves the most room after it.
- Patterns are compiled when a literal that each match must contain is met, so clean text compiles nothing.
"""

from __future__ import annotations

import re

from .canonical import MAX_DEPTH
from .ecmascript import WHITE_SPACE
from .errors import EvalsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_BASE64URL = "[A-Za-z0-9_-]"

# name, literals of which each match contains one, pattern, whether ASCII case is ignored. {s} stands for the
# members of ECMAScript's white space class.
_TABLE: Final = (
    ("private_key_block", ("-----BEGIN ",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----", False),
    ("aws_access_key", ("AKIA",), r"\bAKIA[0-9A-Z]{16}\b", False),
    ("openai_style_key", ("sk-",), r"\bsk-[A-Za-z0-9_-]{20,}\b", False),
    (
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"\bgh[pousr]_[A-Za-z0-9]{30,}\b",
        False,
    ),
    (
        "slack_token",
        ("xoxa-", "xoxb-", "xoxp-", "xoxr-"),
        r"\bxox[abpr]-[A-Za-z0-9-]{10,}\b",
        False,
    ),
    ("stripe_key", ("k_live_", "k_test_"), r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}\b", False),
    ("bearer_header", ("Bearer",), r"\bBearer[{s}]+[A-Za-z0-9._~+/=-]{20,}", False),
    (
        "jwt",
        ("eyJ",),
        rf"(?<!{_BASE64URL})(?=({_BASE64URL}*?\beyJ))\1{_BASE64URL}{{10,}}\.{_BASE64URL}{{10,}}\.{_BASE64URL}{{10,}}\b",
        False,
    ),
    (
        "env_assignment",
        ("=",),
        r"\b(?:API_KEY|SECRET|TOKEN|PASSWORD|PASSWD)[{s}]*=[{s}]*[^{s}]{8,}",
        True,
    ),
)

CANARY_NAMES: Final = tuple(row[0] for row in _TABLE)
# Text that contains none of these holds no canary.
TRIGGERS: Final = tuple(literal for row in _TABLE for literal in row[1])

_compiled: dict[str, re.Pattern[str]] = {}


def _pattern(name: str, source: str, ignore_case: bool) -> re.Pattern[str]:
    if name not in _compiled:
        flags = re.ASCII | (re.IGNORECASE if ignore_case else 0)
        _compiled[name] = re.compile(source.replace("{s}", WHITE_SPACE), flags)
    return _compiled[name]


def may_hold_canary(text: str) -> bool:
    """Whether `text` contains a literal without which no canary matches; False clears the text."""
    for literal in TRIGGERS:  # noqa: SIM110 - a plain loop costs half of any(...) on every entry
        if literal in text:
            return True
    return False


def canaries_in(text: str) -> list[str]:
    """The names of the canaries that `text` contains, in the order of the table."""
    units = ""
    found = []
    for name, literals, source, ignore_case in _TABLE:
        if any(literal in text for literal in literals):
            units = units or _code_units(text)
            if _pattern(name, source, ignore_case).search(units):
                found.append(name)
    return found


def _code_units(text: str) -> str:
    """`text` with two characters in the place of each one beyond U+FFFF; no pattern tells them apart."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(char if char <= "\uffff" else "\ud800\udc00" for char in text)


def scan_for_canaries(value: object) -> list[dict[str, str]]:
    """The findings in a JSON-like value, in reading order: [{"canary": name, "path": "$.a[0]"}, ...].

    Raises EvalsError `json.too_deep` where lists and mappings nest deeper than the JSON reader allows, which
    a value that contains itself does.
    """
    findings: list[dict[str, str]] = []
    _scan(value, "$", MAX_DEPTH, findings)
    return findings


def _scan(value: object, path: str, room: int, findings: list[dict[str, str]]) -> None:
    if isinstance(value, str):
        findings.extend({"canary": name, "path": path} for name in canaries_in(value))
        return
    if isinstance(value, dict):
        children = [(f"{path}.{key}", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        children = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    else:
        return
    if room <= 0:
        raise EvalsError("json.too_deep", f"nested deeper than {MAX_DEPTH} levels")
    for child_path, child in children:
        _scan(child, child_path, room - 1, findings)
