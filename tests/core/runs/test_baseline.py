"""Presence, comparison and promotion of a baseline are three facts, observed inside the case's base."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals_cli.core.baseline import Baseline, baseline_document, observe
from evals_cli.core.canonical import sha256_hex
from evals_cli.core.case import Case

if TYPE_CHECKING:
    from .conftest import Consumer


def _observed(consumer: Consumer, expected: str | None, path: str | None, base: str = ".evals") -> Baseline:
    document = consumer.changed()
    if expected is None:
        del document["baseline"]
    else:
        document["baseline"] = {"expected_presence": expected, "artifact_path": path}
    case = Case(path="x", base=base, sha256="0" * 64, document=document)
    return observe(str(consumer.root), case)


@pytest.mark.parametrize("path", [None, ""])
def test_without_a_path_there_is_no_baseline(consumer: Consumer, path: str | None) -> None:
    found = _observed(consumer, "missing", path)
    assert (found.presence, found.comparison, found.path) == ("missing", "not_compared", None)
    assert _observed(consumer, "present", path).comparison == "error"


def test_without_a_contract_nothing_is_expected(consumer: Consumer) -> None:
    found = _observed(consumer, None, None)
    assert (found.presence, found.comparison) == ("missing", "not_compared")


@pytest.mark.parametrize(("expected", "comparison"), [("present", "not_compared"), ("missing", "error")])
def test_a_baseline_that_is_there_is_named_from_the_repository(
    consumer: Consumer, expected: str, comparison: str
) -> None:
    raw = consumer.write(".evals/base/a.json", b"\x00 any bytes").read_bytes()
    found = _observed(consumer, expected, "./base\\a.json")
    assert (found.presence, found.comparison) == ("present", comparison)
    assert (found.path, found.sha256) == (".evals/base/a.json", sha256_hex(raw))


@pytest.mark.parametrize(("expected", "comparison"), [("missing", "not_compared"), ("present", "error")])
def test_a_baseline_that_is_not_there_is_missing(consumer: Consumer, expected: str, comparison: str) -> None:
    found = _observed(consumer, expected, "base/a.json")
    assert (found.presence, found.comparison, found.sha256) == ("missing", comparison, None)


@pytest.mark.parametrize(
    "path", ["../x", "/etc/hostname", "\\x", "a/../../b", "cases", "link/a.json", "a\x00"]
)
def test_a_path_that_cannot_be_used_is_an_error_and_nothing_is_read(
    consumer: Consumer, tmp_path: Path, path: str
) -> None:
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    (consumer.root / ".evals/link").symlink_to(tmp_path)
    found = _observed(consumer, "missing", path)
    assert (found.presence, found.comparison, found.path) == ("missing", "error", None)
    assert found.evidence.isprintable()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_as_baseline_is_an_error_without_waiting(consumer: Consumer) -> None:
    os.mkfifo(consumer.root / ".evals/pipe")
    assert _observed(consumer, "present", "pipe").comparison == "error"


def test_the_statement_rests_on_the_artifact_or_on_the_command_log(consumer: Consumer) -> None:
    consumer.write(".evals/a", b"x")
    read = baseline_document(
        _observed(consumer, "present", "a"), owner="me", log_path="log", log_sha256="0" * 64
    )
    assert read["current_artifact_ref"] == {
        "type": "baseline-artifact",
        "path": ".evals/a",
        "sha256": sha256_hex(b"x"),
    }
    assert (read["baseline_owner"], read["promotion_status"]) == ("me", "not_requested")
    absent = baseline_document(
        _observed(consumer, "missing", None), owner=None, log_path="log", log_sha256="0" * 64
    )
    assert absent["current_artifact_ref"] == {"type": "command-log", "path": "log", "sha256": "0" * 64}
