r"""Tripwires: warnings about what a variant's sources mention, found by reading and never by running.

Rules:
- A declared effect class above the allowed one is `effect_class_expansion` on line 1 of the manifest.
- Then every file in digest order, every line (LF or CRLF) in order, every tripwire as listed: at most one
  hit per tripwire and line. The manifest is scanned like any other source.
- JavaScript's rules apply to `.js .cjs .mjs .json .sh`, by exact ending. In a Python variant, that is one
  whose entry is a `.py` or `.pyw` file, the same five rules apply to its `.py` and `.pyw` files in Python's
  terms. A variant with another entry is judged by the first list alone, whatever lies beside it.
- A Python statement that goes on in the next lines (a list of imports in parentheses, a backslash at the
  end) is also read as one line without comments. What only that shows is a hit on the statement's first line.
- Patterns run on bytes. `\b` and `\w` are ASCII, `\s` is ECMAScript's white space in UTF-8, and bytes that
  are not UTF-8 are neither.
- The built-in patterns take time that grows with the length of a file, whatever is in it: no place lets
  two repetitions share what they match.
- Incomplete by design: a hit is a reason to look, no hits prove neither safety nor correctness.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from .ecmascript import WHITE_SPACE
from .envelope import EFFECT_CLASSES
from .files import as_path, shown
from .gate_variant import JSON_NAME, TOML_NAME, Variant, invalid, read_variant_file, variant_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_SOURCE_BYTES = 8 * 1024 * 1024
# A source within its limit can hold more than a million hits, which would cost a hundred times its size.
MAX_HITS = 100_000

_SCRIPTS = (".js", ".cjs", ".mjs", ".json", ".sh")
_PYTHON = (".py", ".pyw")


@dataclass(frozen=True)
class Tripwire:
    r"""A rule name, the ASCII pattern that trips it on one line, and the endings of the files that it reads.

    `^` and `$` are the line's own; `\A`, `\Z` and a match across lines are not to be relied on.
    """

    rule: str
    pattern: str
    suffixes: tuple[str, ...] = _SCRIPTS


class Hit(TypedDict):
    """One warning: the variant's name, the rule, the file's relative POSIX path, the line from 1."""

    variant: str
    rule: str
    file: str
    line: int


TRIPWIRES = (
    Tripwire(
        "hidden_network", r"""require\(\s*['"](?:node:)?(?:http|https|net|tls|dgram|dns|http2)['"]\s*\)"""
    ),
    Tripwire("hidden_network", r"\bfetch\s*\("),
    Tripwire("process_spawn", r"""require\(\s*['"](?:node:)?child_process['"]\s*\)"""),
    Tripwire("sandbox_weakening", r"Module\._load|--no-sandbox|NODE_OPTIONS|effect-fence|ECC_EFFECT_FENCE"),
    Tripwire("checker_probe", r"taskset|expected_output|\.gate-marker|gate-receipt|ECC_GATE_"),
    Tripwire("parent_escape", r"""(?:^|[^.\w])\.\.(?:[\\/]|['"`])"""),
)

_NETWORK = (
    "socket|socketserver|ssl|http|urllib|urllib3|requests|httpx|httplib2|aiohttp|websocket|websockets|"
    "ftplib|smtplib|poplib|imaplib|nntplib|telnetlib|xmlrpc|asyncore|asynchat|paramiko|pycurl|grpc|zmq"
)
_PROCESS = "subprocess|multiprocessing|pty|ctypes|cffi|posix|_posixsubprocess|pexpect|runpy|webbrowser"
_OS_PROCESS = r"system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|fork|forkpty|startfile"
_NAMES = r"(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*"  # the imported names before the one that is looked for
_STATEMENT = rf"\bimport\s+{_NAMES}(?:{{0}})\b|\bfrom\s+(?:{{0}})(?:\.[\w.]+)?\s+import\b"
_CALL = r"""\b(?:__import__|import_module)\s*\(\s*['"](?:{0})[.'"]"""

PYTHON_TRIPWIRES = (
    Tripwire("hidden_network", _STATEMENT.format(_NETWORK), _PYTHON),
    Tripwire("hidden_network", _CALL.format(_NETWORK), _PYTHON),
    Tripwire("hidden_network", r"\b(?:open_connection|open_unix_connection|start_server)\s*\(", _PYTHON),
    Tripwire("process_spawn", _STATEMENT.format(_PROCESS), _PYTHON),
    Tripwire("process_spawn", _CALL.format(_PROCESS), _PYTHON),
    Tripwire("process_spawn", rf"\bos\s*\.\s*(?:{_OS_PROCESS})\b", _PYTHON),
    Tripwire(
        "process_spawn", rf"\bfrom\s+os\s+import(?:\s+|\s*\(\s*){_NAMES}(?:\*|(?:{_OS_PROCESS})\b)", _PYTHON
    ),
    Tripwire("process_spawn", r"\b(?:create_subprocess_(?:exec|shell)|ProcessPoolExecutor)\b", _PYTHON),
    Tripwire(
        "sandbox_weakening",
        r"\bsys\s*\.\s*(?:modules|meta_path|path_hooks|addaudithook|settrace|setprofile)\b|__builtins__"
        r"|\bbuiltins\b|(?:^|[^.\w])(?:exec|eval)\s*\("
        r"|\bPYTHON(?:PATH|STARTUP|HOME|INSPECT|BREAKPOINT|USERBASE)\b|--no-sandbox|effect[-_]fence"
        r"|E(?:CC|VALS)_EFFECT_FENCE",
        _PYTHON,
    ),
    Tripwire(
        "checker_probe", r"taskset|expected_output|\.gate-marker|gate-receipt|E(?:CC|VALS)_GATE_", _PYTHON
    ),
    Tripwire(
        "parent_escape",
        r"""(?:^|[^.\w])\.\.(?:[\\/]|['"`])|\bos\s*\.\s*pardir\b|\.parent\.parent\b|\.parents\b""",
        _PYTHON,
    ),
)

_COMMENT = re.compile(rb"#[^\n]*")
_SPREAD = re.compile(
    rb"\bfrom\s+[\w.]+\s+import\s*\([^()]*\)"  # a list in parentheses
    rb"|^[^\n]*\\\n(?:[^\n]*\\\n)*[^\n]*",  # a backslash at the end
    re.MULTILINE,
)

# White space beyond ASCII counts as a space, so that `\s` of a bytes pattern means what ECMAScript's does.
_WIDE_SPACES = tuple(mark.encode() for mark in WHITE_SPACE if not mark.isascii())


def scan_tripwires(
    variant: Variant,
    *,
    max_effect_class: str = "SE1",
    tripwires: Sequence[Tripwire] | None = None,
) -> list[Hit]:
    """Every warning about `variant`, in the order that the module states; an empty list proves nothing.

    `tripwires` replaces the built-in lists. Raises EvalsError `gate.variant_invalid` where a source cannot
    be read or is larger than MAX_SOURCE_BYTES, or more than MAX_HITS hits would have to be listed; TypeError
    or ValueError for other arguments than these, a pattern that is no regular expression included.
    """
    _check_variant(variant)
    if max_effect_class not in EFFECT_CLASSES:
        raise ValueError(f"max_effect_class must be one of {', '.join(EFFECT_CLASSES)}")
    chosen = _for_variant(variant) if tripwires is None else _checked(tripwires)
    files = list(variant_files(as_path(variant.dir)))
    hits: list[Hit] = []
    if EFFECT_CLASSES.index(variant.effect_class) > EFFECT_CLASSES.index(max_effect_class):
        manifest = TOML_NAME if TOML_NAME in files else JSON_NAME
        hits.append(_hit(variant, "effect_class_expansion", manifest, 1))
    for file in files:
        armed = [wire for wire in chosen if _reads(wire, file)]
        if armed:
            source = read_variant_file(variant.dir, file, MAX_SOURCE_BYTES)
            text = _plain(source)
            spread = _spread_statements(text) if file.endswith(_PYTHON) else {}
            room = MAX_HITS - len(hits)
            found = islice(_tripped(text, spread, armed), room + 1)
            hits.extend(_hit(variant, rule, file, line) for rule, line in found)
            if len(hits) > MAX_HITS:
                raise invalid(file, f"more than {MAX_HITS} hits in this variant; look at it by hand")
    return hits


def _check_variant(variant: object) -> None:
    if not isinstance(variant, Variant):
        raise TypeError(f"expected a Variant, as load_variant gives it, not {type(variant).__name__}")
    for field in ("name", "effect_class", "entry", "dir"):
        if not isinstance(getattr(variant, field), str):
            raise TypeError(f"a Variant's {field} is a str")


def _checked(tripwires: Iterable[object]) -> tuple[Tripwire, ...]:
    return tuple(map(_checked_wire, tripwires))


def _fields(wire: Tripwire) -> tuple[object, object, object]:
    return wire.rule, wire.pattern, wire.suffixes


def _checked_wire(wire: object) -> Tripwire:
    if not isinstance(wire, Tripwire):
        raise TypeError(f"expected Tripwires, not {type(wire).__name__}")
    # A dataclass checks nothing: its fields may hold what their types forbid.
    rule, pattern, suffixes = _fields(wire)
    if not (isinstance(rule, str) and isinstance(pattern, str)):
        raise TypeError("a tripwire's rule and pattern are str")
    if not (isinstance(suffixes, tuple) and all(isinstance(one, str) for one in suffixes)):
        raise TypeError("a tripwire's suffixes are a tuple of str")
    try:
        _compiled(wire.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"tripwire {shown(wire.rule)}: the pattern cannot be used ({error})") from error
    return wire


def _for_variant(variant: Variant) -> tuple[Tripwire, ...]:
    return TRIPWIRES + PYTHON_TRIPWIRES if variant.entry.endswith(_PYTHON) else TRIPWIRES


def _reads(wire: Tripwire, file: str) -> bool:
    return file.endswith(wire.suffixes) or (file == TOML_NAME and ".json" in wire.suffixes)


def _hit(variant: Variant, rule: str, file: str, line: int) -> Hit:
    return {"variant": variant.name, "rule": rule, "file": file, "line": line}


def _plain(source: bytes) -> bytes:
    text = source.replace(b"\r\n", b"\n")
    for mark in _WIDE_SPACES:
        text = text.replace(mark, b" ")
    return text


def _spread_statements(text: bytes) -> dict[int, bytes]:
    """The statements of a Python text that take several lines, without comments, by first line (from 1)."""
    found: dict[int, bytes] = {}
    line, counted = 1, 0
    text = _COMMENT.sub(b"", text)
    for match in _SPREAD.finditer(text):
        line += text.count(b"\n", counted, match.start())
        counted = match.start()
        if b"\n" in match[0]:
            found[line] = match[0]
    return found


def _tripped(
    text: bytes, spread: Mapping[int, bytes], armed: Iterable[Tripwire]
) -> Iterator[tuple[str, int]]:
    joined = b"\n".join(map(_joined, spread.values()))
    # What a pattern finds in a line it also finds in the whole text, so most patterns are settled here.
    live = [
        (wire.rule, pattern)
        for wire, pattern in ((wire, _compiled(wire.pattern)) for wire in armed)
        if pattern.search(text) or pattern.search(joined)
    ]
    for number, line in enumerate(io.BytesIO(text) if live else (), start=1):
        for rule, pattern in live:
            if pattern.search(line.rstrip(b"\n")) or _only_joined(pattern, spread.get(number)):
                yield rule, number


def _only_joined(pattern: re.Pattern[bytes], statement: bytes | None) -> bool:
    if statement is None or pattern.search(_joined(statement)) is None:
        return False
    return not any(map(pattern.search, statement.split(b"\n")))


def _joined(statement: bytes) -> bytes:
    return statement.replace(b"\\\n", b" ").replace(b"\n", b" ")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("ascii"), re.MULTILINE)
