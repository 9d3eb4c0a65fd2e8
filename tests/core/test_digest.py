"""SHA-256 by two ways: the same digests, whichever is there."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from evals_cli.core import digest

TEXTS = [b"", b"abc", b"\xff" * digest.LONG, b"x" * (digest.LONG + 1)]


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_the_digest_is_that_of_hashlib(text: bytes) -> None:
    assert digest.sha256_of(text) == hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_an_interpreter_without_its_own_digest_gives_the_same(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "BUILT_IN", ("no_such_module", "nor_this"))
    monkeypatch.setattr(digest, "_short", digest.built_in())
    assert digest._short is None
    assert digest.sha256_of(text) == hashlib.sha256(text).hexdigest()


def test_a_stream_is_digested_piece_by_piece() -> None:
    stream = digest.new_sha256(b"a")
    stream.update(b"bc")
    assert stream.hexdigest() == hashlib.sha256(b"abc").hexdigest()


def test_short_texts_do_not_load_openssl() -> None:
    program = (
        "import sys; from evals_cli.core.digest import BUILT_IN, sha256_of; sha256_of(b'abc');"
        "assert not BUILT_IN or '_hashlib' not in sys.modules, 'loaded'"
    )
    # Measuring coverage in the child would load what the program does not.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    subprocess.run([sys.executable, "-c", program], check=True, env=plain)
