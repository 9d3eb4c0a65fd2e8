"""Whatever the bytes, the fast way and the exact way over a journal come to the same outcome.

Journals are made of entries, then hurt as text: plainly, and in a way that keeps every hash and link right,
so that nothing but the layout can tell.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evals_cli.core import envelope, journal

IDENTITIES = (
    ("capsule-envelope/v1", "run-1", "cap-1", "h/1", "slugify"),
    ("capsule-envelope/v1", "r", "c", 'a "b"\\\n', "家族\ud800"),
)
PIECES = (
    *("a", "Z", "é", "評", "😀", "\ud800", '"', "\\", "/", "\n", "\t", "\x0b", "\x00", "\x1f", "\x7f"),
    *(" ", "\xa0", "\u2028", "\ufeff", ",", ":", "{", "}", "_", "-", ".", "=", "TOKEN", "secret", "API_KEY"),
    *(
        "sk-",
        "0123456789abcdefghij",
        "AKIA0123456789ABCDEF",
        "ghp_" + "a1" * 15,
        "xoxb-",
        "sk_live_",
        "Bearer ",
    ),
    *("eyJ0123456789", "-----BEGIN PRIVATE KEY-----", "x" * 70),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join) | st.text(max_size=20)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1000).map(lambda number: round(number, 4)),
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5),
    st.sampled_from([1e-6, 1e-7, 1e16, 1e21, 2.0**53, 123456789012345.6, 0.1 + 0.2, 5e-324, 1e300, -0.0]),
)
WHOLE = st.integers(-(2**70), 2**70) | st.integers(-9, 9) | st.sampled_from([2.0, 1e300, 2**53])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "an integer": WHOLE,
    "an integer or null": WHOLE | st.none(),
    "a finite number": NUMBERS,
}
PAYLOADS = st.lists(st.sampled_from(list(envelope.PAYLOAD_TYPES)), max_size=6, unique=True).flatmap(
    lambda keys: st.fixed_dictionaries({key: VALUES[envelope.PAYLOAD_TYPES[key]] for key in keys})
)
TIMES = st.sampled_from(
    ["2026-08-20T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "2026-01-31", "2026-08-20T00:00Z"]
)
ENTRIES = st.fixed_dictionaries(
    {
        "lineage": st.sampled_from(envelope.LINEAGES),
        "effect_class": st.sampled_from(envelope.EFFECT_CLASSES),
        "kind": st.sampled_from(["step", "a.b-c_9"]),
        "ts": TIMES,
        "payload": PAYLOADS,
    }
)
# What is put into a line: enough grammar to hurt it in the ways that a printer or an attacker would.
FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            b"",
            b",",
            b",,",
            b'"',
            b" ",
            b"\r",
            b"\t",
            b"\n",
            b"{",
            b"}",
            b"0",
            b"-0",
            b".0",
            b"00",
            b"1e5",
            b"1E5",
        ]
    ),
    st.sampled_from(
        [b"\\/", b"\\u0041", b"\\u000a", b"\\u001F", b"\\ud800", b"\xc3", b"\xff", b"\xed\xa0\x80"]
    ),
    st.sampled_from(
        [b'"hits":2,', b',"hits":2', b"null", b"true", b"[]", b'"x":1,', b"SE9", b"12345678901234567"]
    ),
    st.binary(max_size=3),
)
MEMBER = re.compile(rb'"entry_hash":"([0-9a-f]{64})",')
PARENT = re.compile(rb'"parent_hash":"[0-9a-f]{64}"')


def lines_of(identity: tuple[str, ...], entries: list[dict[str, Any]]) -> list[bytes]:
    """A journal; what `sealed_text` is given may hold secrets, which make it a bad one."""
    schema, run_id, capsule_id, harness_version, task_family = identity
    fixed = {"schema": schema, "run_id": run_id, "capsule_id": capsule_id}
    fixed |= {"harness_version": harness_version, "task_family": task_family}
    lines: list[bytes] = []
    parent = envelope.GENESIS_HASH
    for seq, entry in enumerate(entries):
        sealed = envelope.sealed_text({**fixed, **entry, "seq": seq, "parent_hash": parent})
        lines.append(sealed.line)
        parent = sealed.entry_hash
    return lines


def resealed(lines: list[bytes]) -> list[bytes]:
    """The lines with hashes and links made right over their bytes, as far as these members are there."""
    made: list[bytes] = []
    parent = envelope.GENESIS_HASH.encode()
    for line in lines:
        linked = PARENT.sub(b'"parent_hash":"%b"' % parent, line, count=1)
        parent = sha256(MEMBER.sub(b"", linked, count=1)).hexdigest().encode()
        made.append(MEMBER.sub(b'"entry_hash":"%b",' % parent, linked, count=1))
    return made


def outcome(identity: tuple[str, ...], data: bytes, exact_bytes: int, size: int) -> tuple[object, ...]:
    scan = journal.Scan(identity, exact_bytes=exact_bytes, checkpoint=2)
    for start in range(0, len(data), size):
        if not scan.feed(data[start : start + size]):
            break
    fault = scan.finish()
    said = (fault.code, fault.reason, fault.failed_at, fault.entry_count) if fault else None
    chain = scan.chain
    counts = (chain.count, chain.parent_hash, chain.by_lineage, chain.by_effect_class)
    return (said, counts, scan.mismatch_at, scan.checkpoint_root)


def agree(identity: tuple[str, ...], data: bytes, size: int = 1 << 17) -> None:
    assert outcome(identity, data, 0, size) == outcome(identity, data, 1 << 40, 1 << 17)


@settings(max_examples=200)
@given(st.sampled_from(IDENTITIES), st.lists(ENTRIES, max_size=6), st.sampled_from([97, 1000, 1 << 17]))
def test_both_ways_agree_on_journals(
    identity: tuple[str, ...], entries: list[dict[str, Any]], size: int
) -> None:
    agree(identity, b"".join([line + b"\n" for line in lines_of(identity, entries)]), size)


@settings(max_examples=400)
@given(
    st.sampled_from(IDENTITIES),
    st.lists(ENTRIES, min_size=1, max_size=3),
    st.lists(
        st.tuples(st.integers(0, 2), st.floats(0, 1), st.integers(0, 2), FRAGMENTS), min_size=1, max_size=3
    ),
    st.booleans(),
)
def test_both_ways_agree_on_hurt_journals(
    identity: tuple[str, ...],
    entries: list[dict[str, Any]],
    wounds: list[tuple[int, float, int, bytes]],
    reseal: bool,
) -> None:
    lines = lines_of(identity, entries)
    for which, where, cut, fragment in wounds:
        line = lines[which % len(lines)]
        at = int(where * len(line))
        lines[which % len(lines)] = line[:at] + fragment + line[at + cut :]
    if reseal:
        lines = resealed(lines)
    agree(identity, b"\n".join([*lines, b""]))


@settings(max_examples=300)
@given(st.lists(ENTRIES, min_size=1, max_size=3), st.data())
def test_both_ways_agree_on_hurt_payloads(entries: list[dict[str, Any]], data: st.DataObject) -> None:
    """Wounds in the payload only, where the proof has most to say, with every hash right."""
    lines = lines_of(IDENTITIES[0], entries)
    which = data.draw(st.integers(0, len(lines) - 1))
    line = lines[which]
    first = line.index(b'"payload":') + 10
    at = data.draw(st.integers(first, line.index(b',"run_id":')))
    lines[which] = line[:at] + data.draw(FRAGMENTS) + line[at + data.draw(st.integers(0, 2)) :]
    agree(IDENTITIES[0], b"\n".join([*resealed(lines), b""]))


@settings(max_examples=300)
@given(
    st.sampled_from([b"score", b"hits", b"exit_code", b"cost_usd"]),
    st.one_of(
        st.from_regex(rb"-?[0-9]{1,22}(\.[0-9]{1,24})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
        NUMBERS.map(lambda number: repr(number).encode()),
        st.text("0123456789.-+e", max_size=24).map(str.encode),
    ),
)
@example(b"score", b"1234567890123456.0")
@example(b"score", b"1e-07")
@example(b"score", b"123456789012345.67")
@example(b"hits", b"9007199254740993")
def test_both_ways_agree_on_numbers(key: bytes, number: bytes) -> None:
    line = lines_of(IDENTITIES[0], [{**BARE, "payload": {"note": ""}}])[0]
    line = line.replace(b'{"note":""}', b'{"%b":%b}' % (key, number))
    agree(IDENTITIES[0], resealed([line])[0] + b"\n")


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_both_ways_agree_on_secrets(text: str) -> None:
    line = lines_of(IDENTITIES[0], [{**BARE, "payload": {"message": text, "note": text[::-1]}}])[0]
    agree(IDENTITIES[0], line + b"\n")


PAIRS = (
    b'exit_code":null',
    b'failed":-1',
    b'hits":0',
    b'note":"}"',
    b'score":1.5',
    b'tool":"a,"',
    b'total":-0',
)
ENDS = st.sampled_from([b',"'] * 6 + [b"}"] * 4 + [b'},"', b",", b'"', b"", b"},", b"}}"])


@settings(max_examples=500)
@given(
    st.sampled_from([b'{"'] * 5 + [b"{", b'{"",', b"{}"]),
    st.lists(st.integers(0, 6), max_size=4).flatmap(
        lambda chosen: st.sampled_from([sorted({*chosen}), chosen])
    ),
    st.lists(ENDS, min_size=4, max_size=4),
)
def test_both_ways_agree_on_pairs_that_are_joined_in_any_way(
    start: bytes, chosen: list[int], ends: list[bytes]
) -> None:
    payload = start + b"".join([PAIRS[at] + end for at, end in zip(chosen, ends, strict=False)])
    line = lines_of(IDENTITIES[0], [{**BARE, "payload": {"note": ""}}])[0]
    agree(IDENTITIES[0], resealed([line.replace(b'{"note":""}', payload)])[0] + b"\n")


BARE = {"lineage": "plan", "effect_class": "SE0", "kind": "step", "ts": "2026-08-20T00:00:00.000Z"}


def test_both_ways_agree_on_every_flip_of_a_bit() -> None:
    payload = {"note": 'é"\n', "score": 0.1 + 0.2, "hits": -3, "exit_code": None}
    data = b"".join([line + b"\n" for line in lines_of(IDENTITIES[0], [{**BARE, "payload": payload}] * 2)])
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        agree(IDENTITIES[0], bytes(changed))
