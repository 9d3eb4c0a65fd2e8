"""The scanner of secret shapes: what it finds, in which order, and in how much time."""

from __future__ import annotations

import time

import pytest

from evals_cli.core.canaries import CANARY_NAMES, may_hold_canary, scan_for_canaries
from evals_cli.core.errors import EvalsError

_ONE_OF_EACH = {
    "private_key_block": "-----BEGIN RSA PRIVATE KEY-----",
    "aws_access_key": "AKIA" + "A" * 16,
    "openai_style_key": "sk-" + "a" * 20,
    "github_token": "ghp_" + "a" * 30,
    "slack_token": "xoxb-" + "1" * 10,
    "stripe_key": "sk_live_" + "a" * 16,
    "bearer_header": "Bearer " + "a" * 20,
    "jwt": "eyJ" + "a" * 10 + "." + "b" * 10 + "." + "c" * 10,
    "env_assignment": "token = 12345678",
}


def test_findings_of_one_text_come_in_the_order_of_the_table() -> None:
    text = " ".join(reversed(_ONE_OF_EACH.values()))
    assert [finding["canary"] for finding in scan_for_canaries(text)] == list(CANARY_NAMES)


@pytest.mark.parametrize(("name", "text"), _ONE_OF_EACH.items())
def test_each_canary_has_a_literal_that_gives_it_away(name: str, text: str) -> None:
    assert may_hold_canary(text)
    assert scan_for_canaries(text) == [{"canary": name, "path": "$"}]


def test_lists_and_mapping_values_are_scanned_and_keys_are_not() -> None:
    secret = _ONE_OF_EACH["aws_access_key"]
    value = {"a": [1, secret], "b": ({"c": secret},), secret: None, "d": True}
    assert scan_for_canaries(value) == [
        {"canary": "aws_access_key", "path": "$.a[1]"},
        {"canary": "aws_access_key", "path": "$.b[0].c"},
    ]


def test_a_value_that_contains_itself_is_refused_and_not_followed_for_ever() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(EvalsError) as caught:
        scan_for_canaries(value)
    assert caught.value.code == "json.too_deep"


@pytest.mark.parametrize(("count", "found"), [(4, True), (3, False)])
def test_lengths_count_utf16_code_units(count: int, found: bool) -> None:
    assert bool(scan_for_canaries("token=" + "\U0001f600" * count)) == found


@pytest.mark.parametrize(
    "text",
    [
        "x.eyJ-eyJ" + "a" * 10 + "." + "b" * 10 + "." + "c" * 10 + "-",
        "eyJa.eyJ" + "a" * 10 + "." + "b" * 10 + "." + "c" * 10,
        "-eyJ" + "a" * 10 + "." + "b" * 10 + "." + "c" * 10 + "---.d",
        "eyJ-eyJaaaaaa." + "b" * 10 + "." + "c" * 10,
    ],
)
def test_a_token_is_found_wherever_its_run_of_characters_begins(text: str) -> None:
    assert scan_for_canaries(text) == [{"canary": "jwt", "path": "$"}]


@pytest.mark.parametrize(
    "text",
    [
        "xeyJ" + "a" * 10 + "." + "b" * 10 + "." + "c" * 10,
        "eyJ" + "a" * 9 + "." + "b" * 10 + "." + "c" * 10,
        "eyJ" + "a" * 10 + "." + "b" * 9 + "." + "c" * 10,
        "eyJ" + "a" * 10 + "." + "b" * 10 + "." + "-" * 12,
    ],
)
def test_what_only_resembles_a_token_is_not_found(text: str) -> None:
    assert scan_for_canaries(text) == []


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ-",
        "eyJ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "sk-",
        "sk--",
        "xoxb-",
        "ghp_a",
        "Bearer ",
        "Bearer \u2003",
        "token ",
        "token=",
        "token= ",
        "eyJ.",
        "eyJaaaaaaaaaa.",
        "AKIA",
        "sk_live_",
    ],
)
def test_hostile_repetition_takes_time_in_proportion(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    scan_for_canaries(text)
    # A quadratic search would need minutes; linear ones need a few hundredths of a second.
    assert time.process_time() - start < 5
