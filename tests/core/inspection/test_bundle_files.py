"""Reading and digesting the files of an inspected repository."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from evals_cli.core import bundle_files, limits
from evals_cli.core.authored import about
from evals_cli.core.bundle_files import BundleFiles, same_path, value_shown
from evals_cli.core.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_digest_is_that_of_the_bytes_that_were_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{}")
    files = BundleFiles(str(tmp_path))
    assert files.read("a.json") == b"{}"
    # Whoever swaps the file after it was parsed does not get the new bytes vouched for.
    (tmp_path / "a.json").write_bytes(b"[]")
    assert files.digest("a.json") == hashlib.sha256(b"{}").hexdigest()


def test_a_file_is_digested_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"a")
    files = BundleFiles(str(tmp_path))
    first = files.digest("a")
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("read again"))
    assert files.digest("a") == first


@pytest.mark.parametrize("name", ["./a", "././a", "b"])
def test_another_spelling_or_link_of_a_file_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "a").write_bytes(b"a\r\n")
    (tmp_path / "b").symlink_to("a")
    files = BundleFiles(str(tmp_path))
    first = files.digest_problem("a", "0" * 64)
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("read again"))
    for other in (name, "a"):
        problem = files.digest_problem(other, "0" * 64)
        assert str(problem).partition(": ")[2] == str(first).partition(": ")[2]


def test_a_file_whose_identity_cannot_be_told_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"a")
    descriptor = os.open(tmp_path / "a", os.O_RDONLY)

    def broken(_descriptor: int) -> os.stat_result:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", broken)
        with pytest.raises(FileError) as caught:
            bundle_files._identity(descriptor, "a")
    assert caught.value.code == "file.unreadable"


def test_a_file_that_could_not_be_read_stays_so(tmp_path: Path) -> None:
    files = BundleFiles(str(tmp_path))
    for _ in range(2):
        with pytest.raises(FileError) as caught:
            files.digest("a")
        assert caught.value.code == "file.missing"
        (tmp_path / "a").write_bytes(b"late")


def test_a_file_that_breaks_off_while_its_line_ends_are_looked_at_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"a")
    files = BundleFiles(str(tmp_path))
    files.digest("a")

    def broken(_descriptor: int, _size: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", broken)
    problem = files.digest_problem("a", "0" * 64)
    assert problem == "a: cannot be read (Input/output error)"


def test_a_document_past_its_limit_is_not_digested_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_bytes(b"123456789")
    monkeypatch.setattr(limits, "BUNDLE_DOCUMENT", 8)
    files = BundleFiles(str(tmp_path))
    for use in (files.read, files.digest):
        with pytest.raises(FileError) as caught:
            use("a.json")
        assert caught.value.code == "file.too_large"


def test_a_digest_may_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    recorded = hashlib.sha256(b"12345").hexdigest()
    assert BundleFiles(str(tmp_path)).digest_problem("a", recorded, limit=5) is None
    problem = BundleFiles(str(tmp_path)).digest_problem("a", recorded, limit=4)
    assert problem == "a: larger than the limit of 4 bytes"


def test_line_ends_are_looked_for_in_texts_of_a_usual_size_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"a\r\n")
    recorded = hashlib.sha256(b"a\n").hexdigest()
    assert "rewrote its line ends" in str(BundleFiles(str(tmp_path)).digest_problem("a", recorded))
    monkeypatch.setattr(limits, "CONVERTED", 2)
    assert "not the one that was recorded" in str(BundleFiles(str(tmp_path)).digest_problem("a", recorded))


def test_problems_name_their_file_with_control_characters_escaped() -> None:
    assert about("a\nb", ["$.x: y"]) == ["a\\nb: $.x: y"]


def test_values_are_shown_short_and_without_control_characters() -> None:
    assert value_shown("a\x1b[31m") == "a\\x1b[31m"
    assert value_shown("") == '""'
    assert value_shown(7) == "7"
    assert len(value_shown("x" * 1000)) == 200


def test_a_backslash_counts_as_a_slash_in_comparisons_only() -> None:
    assert same_path("a\\b/c", "a/b\\c")
    assert not same_path("a/b", "a/c")
