r"""Certify: prove whole blocks of journal lines good without parsing them, or leave them to the exact way.

What is proven is what `journal.check_line` would find: a certified line passes all its checks, for the same
index and parent hash, and has the identity that the certifier was made for. Nothing here ever refuses: a line
that is not certified is judged exactly, in its turn, so codes, indices and the order of failures are those of
the exact way. Why a certified line is good:

- Lines. A block is whole lines of valid UTF-8 (the caller's promise). The pattern of a line matches LF at its
  end only and has a last alternative that takes any line, so matches touch and each is one line.
- Layout, key order, no repeated keys. The pattern spells out all of the line's bytes except values: the
  thirteen fields in canonical order, and the payload as `{}` or as `{"`, then for each allowed key in
  canonical order its pair or nothing. A pair ends with `,"`, or with `}` before a comma, at which no further
  pair can begin; and the last byte taken must be `}`. So a pair comes after `,"` and none after `}`: there is
  no missing, doubled or trailing comma.
- Identity. The texts around capsule_id and effect_class, harness_version, run_id and schema, and task_family
  are compared with the canonical text of the identity; metadata has proven its forms.
- Kind, lineage, effect class. By pattern or literal, the same sets as `envelope`.
- Time. The pattern is `YYYY-MM-DDTHH:mm:ss.sssZ` with the month lengths of the calendar; 29 February in leap
  years only. Other forms that `timestamps` accepts go the exact way.
- Text. Raw bytes but `"`, `\` and controls, and the escapes of canonical text but those of surrogates: no
  escape of a plain character, no `\/`, no capital hex digit.
- Integers. No sign on zero, no leading zero, at most 15 digits: exact in a 64-bit float, hence canonical.
- Numbers. A decimal of at most 16 characters has at most 15 significant digits. If a float had a shorter text
  S than such a text D, S would have at most 15 digits too, and two different decimals of at most 15 digits
  never share a float. So D is shortest if it has no trailing zero and is not below 1e-6, where the layout
  changes; both are in the pattern. Longer numbers are compared with the text that the canonical form has for
  their float.
- Hash. SHA-256 over the line's bytes without the `"entry_hash":"...",` member, found by its position, since
  the line is canonical but for that; the digest in hex must be the 64 bytes of the member.
- Chain. seq is compared with the decimal index, and parent_hash with the hash of the row before it; for the
  first row of a run, with that of the chain as it stands.
- Canaries. Only payload strings can hold one; all of them are searched as raw bytes. What a canary matches is
  ASCII that canonical text never escapes, except white space and the character before a word boundary. The
  suspicions below spell these two out as bytes and are otherwise looser than the canaries of `canaries`. A
  line under suspicion goes the exact way.

Cost: patterns compile once a process, at the first block; the caller starts with the exact way, since that
takes some milliseconds. No pattern needs more than linear time. Memory is a few times that of the block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from hashlib import sha256

from .canonical import quote
from .ecmascript import WHITE_SPACE, number_text
from .envelope import EFFECT_CLASSES, LINEAGES, PAYLOAD_TYPES, SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    from .journal import Chain

    Column = tuple[bytes, ...]

_ESCAPE = rb'\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f]))'
_PLAIN = rb'[^"\\\x00-\x1f]*'
# A string from its opening quote on. The first alternative of the end is the cheap and usual one.
_TEXT = rb'"' + _PLAIN + rb'(?:"|(?:' + _ESCAPE + _PLAIN + rb')+")'
_INTEGER = rb"(?:0|-?[1-9][0-9]{0,14})"
# Short numbers are proven by their form, long ones are captured and compared with the shortest text.
_SHORT = rb"(?![-.0-9]{17}|-0[,}]|-?0\.0{6})-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*[1-9])?"
_LONG = rb"(-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{0,22}[1-9])?(?:e[-+][1-9][0-9]{0,2})?)"

# By the words of PAYLOAD_TYPES for a type.
_VALUES: Final = {
    "text": _TEXT,
    "an integer": _INTEGER,
    "an integer or null": rb"(?:null|" + _INTEGER + rb")",
    "a finite number": rb"(?:" + _SHORT + rb"(?=[,}])|" + _LONG + rb")",
}

_DAY = (
    rb"(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    rb"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    rb"|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
_TIME = _DAY + rb"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"

# Wider than text needs to be: what it takes is compared with the identity.
_NAME = rb'"[^"\\\n]*(?:"|(?:\\.[^"\\\n]*)+")'
_ID = rb"[A-Za-z0-9._:-]*"


def _payload() -> bytes:
    """A payload. A pair ends with what follows it, so that its first letter tells whether it is there."""
    pairs = [
        rb"(?:" + key.encode() + rb'":' + _VALUES[PAYLOAD_TYPES[key]] + rb'(?:,"|\}(?=,))|)'
        for key in sorted(PAYLOAD_TYPES)
    ]
    return rb'\{(?:\}|"' + b"".join(pairs) + rb"(?<=\}))"


def _line() -> bytes:
    lineages, schema = "|".join(LINEAGES).encode(), re.escape(SCHEMA_VERSION.encode())
    pieces = (
        *(rb'(\{"capsule_id":"', _ID, rb'","effect_class":"SE[0-9]",)'),
        rb'"entry_hash":"(.{64})",',
        *(rb'(("harness_version":', _NAME, rb',"kind":")[a-z][a-z0-9_.-]{0,63}'),
        *(rb'","lineage":"(', lineages, rb')","parent_hash":"(.{64})","payload":('),
        *(_payload(), rb')(,"run_id":"', _ID, rb'","schema":"', schema, rb'","seq":)'),
        *(rb'(0|[1-9][0-9]{0,14})(,"task_family":', _NAME, rb',"ts":")', _TIME, rb'"\})'),
    )
    return rb"(?:" + b"".join(pieces) + rb"|[^\n]*)\n"


@cache
def _lines() -> re.Pattern[bytes]:
    """The pattern of lines; `findall` gives a row for each line, of empty bytes where it does not match."""
    return re.compile(_line())


def _assignments() -> bytes:
    """A word of a secret, white space or none, and `=`; found by the `=`, which is rare."""
    words = (rb"TOKEN", rb"SECRET|PASSWD", rb"API_KEY", rb"PASSWORD")
    before = [rb"(?i:" + word + rb")" + gap for word in words for gap in (rb"", rb" ")]
    # White space that is not one plain space is suspicious whatever stands before it. Lookbehinds have a
    # fixed width, so it is told by its last byte or by its escape.
    last_bytes = {char.encode()[-1] for char in WHITE_SPACE if char > "\x7f"}
    odd = [
        b"[" + b"".join([rb"\x%02x" % byte for byte in sorted(last_bytes)]) + b"]",
        rb"\\[tnrf]",
        rb"\\u000b",
    ]
    before += [*odd, rb"  ", *(form + rb" " for form in odd)]
    return rb"=(?:" + b"|".join([rb"(?<=" + text + rb"=)" for text in before]) + rb")"


def _after_boundary(literal: bytes) -> bytes:
    """`literal` where no word character of the text stands before it; an escape may end in one."""
    before = (rb"(?<![A-Za-z0-9_]", rb"(?<=\\[bfnrt]", rb"(?<=\\u00[01][0-9a-f]")
    return literal + rb"(?:" + b"|".join([text + literal + rb")" for text in before]) + rb")"


# Canary, one byte that it needs (a cheap look), and the suspicion: a literal first makes a search fast.
SUSPICIONS: Final[tuple[tuple[str, bytes, Callable[[], bytes]], ...]] = (
    ("private_key_block", b"-", lambda: rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("aws_access_key", b"K", lambda: rb"AKIA[0-9A-Z]{16}"),
    ("openai_style_key", b"-", lambda: _after_boundary(rb"sk-") + rb"[A-Za-z0-9_-]{20}"),
    ("github_token", b"_", lambda: rb"gh[pousr]_[A-Za-z0-9]{30}"),
    ("slack_token", b"x", lambda: rb"xox[abpr]-[A-Za-z0-9-]{10}"),
    ("stripe_key", b"_", lambda: rb"k_(?:live|test)_[A-Za-z0-9]{16}"),
    ("bearer_header", b"B", lambda: rb"Bearer(?:[^!-~]|\\[tnrfu])"),
    ("jwt", b"J", lambda: rb"eyJ[A-Za-z0-9_-]{10}"),
    ("env_assignment", b"=", _assignments),
)


@cache
def _suspicion(source: Callable[[], bytes]) -> re.Pattern[bytes]:
    return re.compile(source())


class Certifier:
    """Proves lines of one capsule's journal; `identity` is that of its metadata (`metadata.identity_of`)."""

    def __init__(self, identity: tuple[str, ...]) -> None:
        schema, run_id, capsule_id, harness_version, task_family = identity
        # A copy of a digest that has taken the head is cheaper than hashing the head again.
        self._digests: dict[bytes, Callable[[], Any]] = {}
        self._effect_of: dict[bytes, str] = {}
        for name in EFFECT_CLASSES:
            head = f'{{"capsule_id":"{capsule_id}","effect_class":"{name}",'.encode()
            self._effect_of[head] = name
            self._digests[head] = sha256(head).copy
        self._version = f'"harness_version":{quote(harness_version)},"kind":"'.encode()
        self._run = f',"run_id":"{run_id}","schema":"{schema}","seq":'.encode()
        self._family = f',"task_family":{quote(task_family)},"ts":"'.encode()
        self._forget()

    def _forget(self) -> None:
        self._block = b""
        self._next_start = self._next_row = 0
        self._suspects: set[int] = set()
        self._stops: list[int] = []
        self._effects: Column = ()
        self._hashes: Column = ()
        self._lineages: Column = ()
        self._parents: Column = ()

    def certify(self, block: bytes, start: int, chain: Chain) -> int:
        """Advance `chain` over the lines of `block` from `start` on that are proven one after another.

        `block` is valid UTF-8 and ends with LF; `start` is at the first byte of a line. Returns the offset
        after the last proven line: `start` itself where the first is not proven.
        """
        if block is not self._block or start != self._next_start:
            self._study(block, start, chain.count)
        row = self._next_row
        if row in self._suspects or self._parents[row] != chain.parent_hash.encode():
            return self._give_up(row, start)
        where = bisect_right(self._stops, row)
        stop = self._stops[where] if where < len(self._stops) else len(self._hashes)
        self._advance(chain, row, stop)
        if stop == len(self._hashes):
            self._forget()
            return len(block)
        for _ in range(row, stop):
            start = block.index(b"\n", start) + 1
        return self._give_up(stop, start)

    def _give_up(self, row: int, start: int) -> int:
        """Leave one line to the exact way, and be ready for the next."""
        self._next_row = row + 1
        self._next_start = self._block.index(b"\n", start) + 1
        return start

    def _advance(self, chain: Chain, row: int, stop: int) -> None:
        lineages, effects = self._lineages[row:stop], self._effects[row:stop]
        chain.count += stop - row
        chain.parent_hash = self._hashes[stop - 1].decode()
        for name in LINEAGES:
            chain.by_lineage[name] += lineages.count(name.encode())
        for head, name in self._effect_of.items():
            chain.by_effect_class[name] += effects.count(head)

    def _study(self, block: bytes, start: int, index: int) -> None:
        """Read all rows of `block` and note those that are not proven, links between rows apart."""
        rows = _lines().findall(block, start)
        columns = tuple(zip(*rows, strict=True))
        heads, hashes, bodies, versions, lineages, parents, payloads, *numbers, runs, seqs, families = columns
        suspects = self._of_others(heads, versions, runs, families)
        suspects.update(_differing(seqs, tuple([b"%d" % seq for seq in range(index, index + len(rows))])))
        suspects.update(self._of_other_hashes(hashes, heads, bodies))
        for column in numbers:
            suspects.update(_not_shortest(column))
        suspects.update(_suspected(payloads))
        self._block, self._next_row, self._suspects = block, 0, suspects
        self._effects, self._hashes, self._lineages, self._parents = heads, hashes, lineages, parents
        unlinked = [row + 1 for row in _differing(parents[1:], hashes[:-1])]
        self._stops = sorted(suspects.union(unlinked))

    def _of_others(self, heads: Column, versions: Column, runs: Column, families: Column) -> set[int]:
        """The rows that are not of this identity, those that the pattern does not take among them."""
        if self._digests.keys() >= set(heads) and all(
            column.count(text) == len(heads)
            for column, text in ((versions, self._version), (runs, self._run), (families, self._family))
        ):
            return set()
        expected = (self._version, self._run, self._family)
        return {
            row
            for row, (head, *texts) in enumerate(zip(heads, versions, runs, families, strict=True))
            if head not in self._digests or tuple(texts) != expected
        }

    def _of_other_hashes(self, hashes: Column, heads: Column, bodies: Column) -> list[int]:
        found = []
        for head, body in zip(heads, bodies, strict=True):
            digest = self._digests.get(head, sha256)()
            digest.update(body)
            found.append(digest.hexdigest())
        if "".join(found).encode() == b"".join(hashes):
            return []
        return _differing(hashes, tuple([text.encode() for text in found]))


def _differing(found: Column, expected: Column) -> list[int]:
    if found == expected:
        return []
    return [row for row, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other]


def _not_shortest(column: Column) -> list[int]:
    """The rows whose long number is not the canonical text of its float."""
    if not any(column):
        return []
    rows = [row for row, text in enumerate(column) if text]
    texts = [column[row].decode() for row in rows]
    shortest = map(repr, map(float, texts))
    return [
        row
        for row, text, own in zip(rows, texts, shortest, strict=True)
        # Where no exponent is involved the two layouts agree on decimals that end in no zero.
        if (own != text or "e" in own) and not _is_canonical(text)
    ]


def _is_canonical(text: str) -> bool:
    number = float(text)
    return number - number == 0 and number_text(number) == text


def _suspected(payloads: Column) -> set[int]:
    """The rows in whose payload there may be a canary."""
    rows: set[int] = set()
    text = b"\n".join(payloads)
    for _, byte, source in SUSPICIONS:
        if byte in text and _suspicion(source).search(text):
            search = _suspicion(source).search
            rows.update([row for row, payload in enumerate(payloads) if search(payload)])
    return rows
