"""The fast way over a journal: what it proves is good, what it leaves alone is judged exactly.

Every line here carries the right hash over its own bytes, so that only the rule under test can tell.
"""

from __future__ import annotations

import re
import subprocess
import sys
from hashlib import sha256

import pytest

from evals_cli.core import certify, envelope, journal
from evals_cli.core.canaries import CANARY_NAMES, canaries_in
from evals_cli.core.canonical import quote
from evals_cli.core.timestamps import parse_ms

IDENTITY = ("capsule-envelope/v1", "run-1", "cap-1", 'h "1"\\', "größe,\n")
NEVER = 1 << 40

HEAD = b'{"capsule_id":"cap-1","effect_class":"SE2",'
BODY = (
    b'"harness_version":"h \\"1\\"\\\\","kind":"step","lineage":"strategy","parent_hash":"PARENT",'
    b'"payload":PAYLOAD,"run_id":"run-1","schema":"capsule-envelope/v1","seq":SEQ,'
    + '"task_family":"größe,\\n","ts":"TIME"}'.encode()
)


def seal(head: bytes, body: bytes) -> bytes:
    """The line of these two parts of an entry with the hash that they have."""
    return head + b'"entry_hash":"' + sha256(head + body).hexdigest().encode() + b'",' + body


def entry(
    payload: bytes = b"{}",
    *,
    seq: int = 0,
    parent: bytes = envelope.GENESIS_HASH.encode(),
    time: bytes = b"2026-08-20T00:00:00.000Z",
    change: tuple[bytes, bytes] = (b"", b""),
) -> bytes:
    body = BODY.replace(b"PARENT", parent).replace(b"TIME", time).replace(b"SEQ", b"%d" % seq)
    body = body.replace(b"PAYLOAD", payload)
    assert change[0] in HEAD + body
    return seal(HEAD.replace(*change), body.replace(*change))


def hash_of(line: bytes) -> bytes:
    start = line.index(b'"entry_hash":"') + 14
    return line[start : start + 64]


def chained(payloads: list[bytes]) -> list[bytes]:
    lines: list[bytes] = []
    for seq, payload in enumerate(payloads):
        parent = hash_of(lines[-1]) if lines else envelope.GENESIS_HASH.encode()
        lines.append(entry(payload, seq=seq, parent=parent))
    return lines


def is_certified(line: bytes) -> bool:
    """Whether the certifier proves the one line of a journal; checks what it did to the chain."""
    chain, block = journal.Chain(), line + b"\n"
    end = certify.Certifier(IDENTITY).certify(block, 0, chain)
    assert end in (0, len(block))
    assert chain.count == (end > 0)
    if end:
        assert chain.parent_hash == hash_of(line).decode()
    return end > 0


def outcome(data: bytes, exact_bytes: int) -> tuple[object, ...]:
    scan = journal.Scan(IDENTITY, exact_bytes=exact_bytes, checkpoint=2)
    scan.feed(data)
    fault = scan.finish()
    said = (fault.code, fault.reason, fault.failed_at, fault.entry_count) if fault else None
    chain = scan.chain
    counts = (chain.count, chain.parent_hash, chain.by_lineage, chain.by_effect_class)
    return (said, counts, scan.mismatch_at, scan.checkpoint_root)


def is_good(line: bytes) -> bool:
    """The verdict on the one line of a journal, after making sure that both ways give it."""
    fast, exact = outcome(line + b"\n", 0), outcome(line + b"\n", NEVER)
    assert fast == exact
    return exact[0] is None and exact[2] is None


ALL_KEYS = (
    "{"
    + ",".join(
        f'"{key}":' + {"text": '"é"', "an integer or null": "null"}.get(envelope.PAYLOAD_TYPES[key], "-7")
        for key in sorted(envelope.PAYLOAD_TYPES)
    )
    + "}"
).encode()

CERTIFIED = {
    "empty": b"{}",
    "all keys": ALL_KEYS,
    "first key": b'{"args_hash":""}',
    "last key": b'{"verdict":""}',
    "escapes": b'{"message":"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u0007\\u000b\\u000e\\u000f\\u0010\\u001f"}',
    "raw": '{"message":"/\x7f\u2028\u00a0é評😀\ufffd\ufeff"}'.encode(),
    "commas and braces": b'{"message":",\\"}","note":"{\\",","status":"},","tool":"{"}',
    "integers": b'{"exit_code":0,"failed":-1,"hits":999999999999999,"passed":-999999999999999}',
    "no exit code": b'{"exit_code":null}',
    "short decimals": b'{"cost_usd":0.000001,"duration_ms":-12345678.125,"score":0.12345678901234}',
    "long decimals": b'{"cost_usd":0.1234567890123456,"duration_ms":123.45678901234567,"score":-0.5}',
    "small decimals": b'{"cost_usd":0.00001234567890123456,"score":0.000012345678901234568}',
    "exponents": b'{"cost_usd":1e-7,"duration_ms":1.5e+300,"score":-5e-324}',
    "large whole numbers": b'{"cost_usd":9007199254740993000,"duration_ms":100000000000000000000}',
    "zeros": b'{"cost_usd":0,"exit_code":0,"score":0}',
    "looks like a key": b'{"note":"task-0123456789abcdef0123","path":"disk-0123456789abcdef0123"}',
    "looks like an assignment": b'{"note":"x=12345678 tokens = 12345678 TOKEN: y=12345678"}',
    "ends in white space": '{"note":"TOKEN ","path":"=12345678\u3000"}'.encode(),
}


@pytest.mark.parametrize("payload", CERTIFIED.values(), ids=CERTIFIED.keys())
def test_a_canonical_line_is_proven_without_parsing(payload: bytes) -> None:
    assert is_good(entry(payload))
    assert is_certified(entry(payload))


@pytest.mark.parametrize("name", envelope.EFFECT_CLASSES)
def test_every_effect_class_is_known(name: str) -> None:
    line = entry(change=(b"SE2", name.encode()))
    assert is_good(line)
    assert is_certified(line)


@pytest.mark.parametrize("name", envelope.LINEAGES)
def test_every_lineage_is_known(name: str) -> None:
    line = entry(change=(b"strategy", name.encode()))
    assert is_good(line)
    assert is_certified(line)


@pytest.mark.parametrize("name", envelope.PAYLOAD_TYPES)
def test_every_key_is_known_alone(name: str) -> None:
    value = {"text": b'"x"'}.get(envelope.PAYLOAD_TYPES[name], b"1")
    line = entry(b'{"%b":%b}' % (name.encode(), value))
    assert is_good(line)
    assert is_certified(line)


LEFT_ALONE = {
    "an integer of 16 digits": entry(b'{"hits":9007199254740992}'),
    "an integer with an exponent": entry(b'{"hits":1e+300}'),
    "a lone surrogate": entry(b'{"note":"\\ud800"}'),
    "a time without milliseconds": entry(time=b"2026-08-20T00:00:00Z"),
    "a time with an offset": entry(time=b"2026-08-20T00:00:00.000+02:00"),
    "a date": entry(time=b"2026-08-20"),
    "the end of a day": entry(time=b"2026-08-20T24:00:00.000Z"),
    "an expanded year": entry(time=b"+002026-08-20T00:00:00.000Z"),
    "half of a secret": entry(b'{"note":"AKIA0123456789ABCDEF0"}'),
}


@pytest.mark.parametrize("line", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_a_good_line_beyond_the_proof_is_accepted_the_exact_way(line: bytes) -> None:
    assert not is_certified(line)
    assert is_good(line)


BAD_PAYLOADS = {
    "no comma": b'{"failed":1"hits":2}',
    "two commas": b'{"failed":1,,"hits":2}',
    "comma at the start": b'{,"hits":2}',
    "comma at the end": b'{"hits":2,}',
    "comma and quote at the end": b'{"hits":2,"}',
    "lone quote": b'{"}',
    "lone comma": b"{,}",
    "swapped keys": b'{"hits":2,"failed":1}',
    "repeated key": b'{"hits":2,"hits":2}',
    "unknown key": b'{"hit":2}',
    "key with an escape": b'{"\\u0068its":2}',
    "space": b'{"hits": 2}',
    "space at the end": b'{"hits":2 }',
    "tab": b'{\t"hits":2}',
    "nested": b'{"note":{}}',
    "list": b"[]",
    "null": b"null",
    "text for an integer": b'{"hits":"2"}',
    "integer for text": b'{"note":2}',
    "boolean": b'{"hits":true}',
    "null for an integer": b'{"hits":null}',
    "null for a number": b'{"score":null}',
    "integral float": b'{"hits":1.0}',
    "fraction for an integer": b'{"hits":1.5}',
    "integral number with a point": b'{"score":1.0}',
    "whole number of 16 digits with a point": b'{"score":1234567890123456.0}',
    "trailing zero": b'{"score":1.50}',
    "trailing zeros, long": b'{"score":0.12345678901234500}',
    "exponent without sign": b'{"score":1e5}',
    "exponent that needs none": b'{"score":1e+5}',
    "padded exponent": b'{"score":1e-07}',
    "capital exponent": b'{"score":1E-7}',
    "small plain decimal": b'{"score":0.0000001}',
    "small plain decimal, negative": b'{"score":-0.0000001}',
    "minus zero": b'{"score":-0}',
    "minus zero for an integer": b'{"hits":-0}',
    "minus zero with a point": b'{"score":-0.0}',
    "leading zero": b'{"hits":01}',
    "leading zero of a number": b'{"score":00.5}',
    "plus": b'{"hits":+1}',
    "no whole part": b'{"score":.5}',
    "no fraction": b'{"score":5.}',
    "two signs": b'{"score":--5}',
    "two points": b'{"score":1.2.3}',
    "infinite": b'{"score":1e+400}',
    "not a number": b'{"score":NaN}',
    "integer that no float holds": b'{"hits":9007199254740993}',
    "number that no float holds": b'{"score":9007199254740993}',
    "more digits than needed": b'{"score":0.10000000000000001}',
    "digits of another float": b'{"score":0.12345678901234567890}',
    "nineteen digits": b'{"score":1234567890123456789}',
    "exponent of a plain number": b'{"score":1.2345678901234567e+20}',
    "escaped slash": b'{"note":"\\/"}',
    "escaped letter": b'{"note":"\\u0041"}',
    "long escape of a line feed": b'{"note":"\\u000a"}',
    "capital hex digits": b'{"note":"\\u001F"}',
    "escaped surrogate pair": b'{"note":"\\ud83d\\ude00"}',
    "capital surrogate": b'{"note":"\\uD800"}',
    "unknown escape": b'{"note":"\\a"}',
    "half an escape": b'{"note":"\\"}',
    "cut escape": b'{"note":"\\u00"}',
    "raw control": b'{"note":"\x01"}',
    "raw tab": b'{"note":"\t"}',
    "single quotes": b"{'note':''}",
    "brace instead of a comma": b'{"failed":1}hits":2}',
    "brace and comma instead of a comma": b'{"failed":1},"hits":2}',
    "end in the middle": b'{"failed":1},hits":2}',
    "two payloads": b'{},"payload":{}',
}


@pytest.mark.parametrize("payload", BAD_PAYLOADS.values(), ids=BAD_PAYLOADS.keys())
def test_a_payload_that_is_not_canonical_is_never_proven(payload: bytes) -> None:
    assert not is_certified(entry(payload))
    assert not is_good(entry(payload))


BAD_LINES = {
    "seq": entry(seq=1),
    "seq with a leading zero": entry(change=(b'"seq":0', b'"seq":00')),
    "seq with a point": entry(change=(b'"seq":0', b'"seq":0.0')),
    "seq as text": entry(change=(b'"seq":0', b'"seq":"0"')),
    "parent": entry(parent=b"1" * 64),
    "parent in capitals": entry(parent=b"A" * 64),
    "other capsule": entry(change=(b"cap-1", b"cap-2")),
    "other run": entry(change=(b"run-1", b"run-2")),
    "other version": entry(change=(b'h \\"1\\"', b"h 2")),
    "other task family": entry(change=(b"\\n", b"\\t")),
    "other layout of the version": entry(change=(b'\\"1', b"\\u00221")),
    "other schema": entry(change=(b"envelope/v1", b"envelope/v2")),
    "unknown effect class": entry(change=(b"SE2", b"SE5")),
    "unknown lineage": entry(change=(b"strategy", b"strategist")),
    "capital in the kind": entry(change=(b'"step"', b'"Step"')),
    "no kind": entry(change=(b'"step"', b'""')),
    "long kind": entry(change=(b'"step"', b'"' + b"s" * 65 + b'"')),
    "no such day": entry(time=b"2026-02-29T00:00:00.000Z"),
    "no such hour": entry(time=b"2026-02-28T24:00:00.001Z"),
    "no such minute": entry(time=b"2026-02-28T23:60:00.000Z"),
    "no such second": entry(time=b"2026-02-28T23:59:60.000Z"),
    "no time": entry(time=b""),
    "digits of another script": entry(time="２026-02-28T23:59:59.000Z".encode()),
    "unknown field": entry(change=(b'"kind"', b'"kine":1,"kind"')),
    "missing field": entry(change=(b'"kind":"step",', b"")),
    "repeated field": entry(change=(b'"kind"', b'"kind":"step","kind"')),
    "fields out of order": entry(
        change=(b'"kind":"step","lineage":"strategy"', b'"lineage":"strategy","kind":"step"')
    ),
    "space before a field": entry(change=(b'"kind"', b' "kind"')),
    "space at the end": entry() + b" ",
    "carriage return": entry() + b"\r",
    "second value": entry() + b"{}",
    "cut short": entry()[:-1],
    "byte-order mark": b"\xef\xbb\xbf" + entry(),
    "empty": b"",
    "hash in capitals": entry().replace(hash_of(entry()), hash_of(entry()).upper()),
    "other hash": entry().replace(hash_of(entry()), hash_of(entry(b'{"hits":1}'))),
    "hash member at another place": (HEAD + BODY).replace(
        b"}", b',"entry_hash":"' + hash_of(entry()) + b'"}'
    ),
    "two hash members": entry().replace(b'"entry_hash"', b'"entry_hash":"","entry_hash"'),
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_never_proven(line: bytes) -> None:
    assert not is_certified(line)
    assert not is_good(line)


def test_a_proven_time_is_one_of_the_calendar() -> None:
    for year in (b"0000", b"1900", b"2000", b"2023", b"2024", b"9999"):
        for month in range(14):
            for day in range(33):
                time = b"%b-%02d-%02dT23:59:59.999Z" % (year, month, day)
                assert is_certified(entry(time=time)) == (parse_ms(time.decode()) is not None), time


def test_a_proven_29_february_is_in_a_leap_year() -> None:
    pattern = re.compile(certify._TIME)
    for year in range(10_000):
        time = b"%04d-02-29T00:00:00.000Z" % year
        assert (pattern.fullmatch(time) is None) == (parse_ms(time.decode()) is None), time


SECRETS = {
    "private_key_block": ["-----BEGIN PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----"],
    "aws_access_key": ["AKIA0123456789ABCDEF"],
    "openai_style_key": ["sk-0123456789abcdefghij", "sk-" + "_-" * 10 + "x"],
    "github_token": [f"gh{letter}_" + "a1" * 15 for letter in "pousr"],
    "slack_token": [f"xox{letter}-0123456789" for letter in "abpr"],
    "stripe_key": ["sk_live_0123456789abcdef", "rk_test_0123456789abcdef"],
    "bearer_header": [
        f"Bearer{space}0123456789.~+/=-abcde"
        for space in (" ", "\t", "\n", "\x0b", "\f", "\r", "\xa0", "\u3000", "\ufeff", " \u2028 ")
    ],
    "jwt": ["eyJ0123456789.0123456789.0123456789"],
    "env_assignment": [
        f"{word}{before}={after}12345678"
        for word in ("API_KEY", "secret", "Token", "PASSWORD", "passwd")
        for before in (
            "",
            " ",
            "  ",
            "\t",
            "\n",
            "\x0b",
            "\f",
            "\r",
            "\xa0",
            "\u1680",
            "\u2003",
            "\u2028",
            "\u2029",
            "\u202f",
            "\u205f",
            "\u3000",
            "\ufeff",
            "\t ",
            "\u2003 ",
            "\x0b ",
            " \t",
            " \ufeff",
        )
        for after in ("", " ")
    ],
}


def test_there_is_a_suspicion_for_every_canary() -> None:
    assert tuple(name for name, _, _ in certify.SUSPICIONS) == CANARY_NAMES == tuple(SECRETS)


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize(
    "before", ["", " ", "é", "\n", "\x00", "\x1f", '"', "\\", "\b", "/", "評", "x.", "n-", "=", "😀"]
)
def test_a_secret_is_never_proven_whatever_stands_before_it(name: str, before: str) -> None:
    for secret in SECRETS[name]:
        assert name in canaries_in(before + secret), (before, secret)
        line = entry(b'{"note":%b}' % quote(before + secret + ".").encode())
        assert not is_certified(line), (before, secret)
        assert not is_good(line)


WOUNDED = (
    b'{"failed":-1,"hits":20,"note":"a\\n","score":1.5}',
    b'{"exit_code":null,"score":0.12345678901234567}',
    b'{"score":1e-7,"tool":""}',
)
WOUNDS = [bytes([byte]) for byte in b'"\\/{}[],:;.+-_0159Aaefnrtu \t\r\n\0\x7f'] + [
    *(
        b"",
        b',"',
        b"},",
        b'},"',
        b'":',
        b'{"',
        b"00",
        b"-0",
        b".0",
        b"e5",
        b"e-7",
        b"\\u",
        b"null",
        b'""',
        b'"}',
    ),
    *(b'"hits":1,', b'hits":1,"', b'hits":1}', b',"tool":""', b"{}", b"\xc3\xa9", b"\\u0041", b"\\ud800"),
]


@pytest.mark.parametrize("payload", WOUNDED)
def test_no_small_wound_to_a_payload_is_proven_unless_it_makes_another_good_line(payload: bytes) -> None:
    proven = 0
    for at in range(len(payload) + 1):
        for wound in WOUNDS:
            for cut in range(3):
                line = entry(payload[:at] + wound + payload[at + cut :])
                if is_certified(line):
                    proven += 1
                    assert journal.check_line(line, 0, envelope.GENESIS_HASH), line
    assert proven > 100


@pytest.mark.parametrize(
    "wound", [b"", b'"', b",", b"}", b"{", b" ", b"\r", b"\x00", b"a", b"0", b"\\", b'","', b'":"']
)
def test_no_small_wound_to_a_line_is_proven_unless_it_makes_another_good_line(wound: bytes) -> None:
    text = HEAD + BODY.replace(b"PARENT", envelope.GENESIS_HASH.encode()).replace(b"PAYLOAD", b'{"hits":1}')
    text = text.replace(b"SEQ", b"0").replace(b"TIME", b"2026-08-20T00:00:00.000Z")
    for at in range(len(text) + 1):
        for cut in range(3):
            hurt = text[:at] + wound + text[at + cut :]
            line = seal(hurt[: len(HEAD)], hurt[len(HEAD) :])
            if is_certified(line):
                assert journal.check_line(line, 0, envelope.GENESIS_HASH), line


EXOTIC, BAD, HIDDEN = b'{"hits":1e+300}', b'{"hits":01}', b'{"note":"sk-0123456789abcdefghij"}'


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("run", [1, 2, 7])
@pytest.mark.parametrize("odd", [EXOTIC, BAD, HIDDEN])
def test_the_exact_way_takes_over_for_odd_lines_only(at: int, run: int, odd: bytes) -> None:
    payloads = [odd if at <= seq < at + run else b'{"hits":1}' for seq in range(7)]
    data = b"\n".join([*chained(payloads), b""])
    fast, exact = outcome(data, 0), outcome(data, NEVER)
    assert fast == exact
    assert fast[1][0] == (7 if odd == EXOTIC else at)  # type: ignore[index]  # the counts


@pytest.mark.parametrize("other", [3, 4])
def test_a_broken_link_is_found_where_it_is(other: int) -> None:
    lines = chained([b"{}"] * 6)
    lines[other] = entry(seq=other, parent=b"0" * 64)
    data = b"\n".join([*lines, b""])
    assert outcome(data, 0) == outcome(data, NEVER)
    assert outcome(data, 0)[0][:1] == ("capsule.broken_link",)  # type: ignore[index]  # a fault


def test_a_line_after_an_odd_one_must_be_linked_to_it() -> None:
    lines = chained([b"{}", EXOTIC, b"{}"])
    lines[2] = entry(seq=2, parent=hash_of(lines[0]))
    data = b"\n".join([*lines, b""])
    assert outcome(data, 0) == outcome(data, NEVER)
    assert outcome(data, 0)[0][2] == 2  # type: ignore[index]  # failed_at


def test_an_earlier_bad_line_is_reported_though_a_later_one_is_seen_first() -> None:
    lines = chained([b"{}", b"{}", BAD, b"{}", HIDDEN])
    lines[3] = b"{}"
    data = b"\n".join([*lines, b""])
    assert outcome(data, 0)[0][2] == 2  # type: ignore[index]  # failed_at


def test_the_same_bytes_twice_are_judged_twice() -> None:
    line = chained([b"{}"])[0] + b"\n"
    chain, certifier = journal.Chain(), certify.Certifier(IDENTITY)
    assert certifier.certify(line, 0, chain) == len(line)
    assert certifier.certify(line, 0, chain) == 0
    assert certifier.certify(line, 0, chain) == 0
    assert chain.count == 1


def test_a_block_may_be_taken_up_in_its_middle() -> None:
    first, second, third = chained([EXOTIC, b"{}", b"{}"])
    block = b"\n".join([first, second, third, b""])
    chain = journal.Chain()
    chain.add("plan", "SE0", hash_of(first).decode())
    assert certify.Certifier(IDENTITY).certify(block, len(first) + 1, chain) == len(block)
    assert chain.count == 3


def test_a_short_journal_loads_no_certifier() -> None:
    code = (
        "import sys; from evals_cli.core import journal\n"
        "scan = journal.Scan(('capsule-envelope/v1', 'r', 'c', 'h', 't'))\n"
        "scan.feed(b'{}\\n' * 9)\n"
        "print('evals_cli.core.certify' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
