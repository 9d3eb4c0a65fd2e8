"""Reading what people write: inside the root, of bounded size, as strict text; every failure one line."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from evals_cli.core import authored
from evals_cli.core.documents import Documents
from evals_cli.core.errors import EvalsError, FileError
from evals_cli.core.strict_json import loads_unique

DOCUMENTS = Documents(parse=lambda _, raw: loads_unique(raw), problems=lambda _, __: [])


def code_of(error: pytest.ExceptionInfo[EvalsError]) -> str:
    return error.value.code


def test_a_document_is_parsed_by_the_port(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}', encoding="utf-8")
    assert authored.read_document(str(tmp_path), "a.json", DOCUMENTS) == {"a": 1}


def test_a_document_of_200_megabytes_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(FileError) as refused:
        authored.read_document(str(tmp_path), "huge.json", DOCUMENTS)
    assert code_of(refused) == "file.too_large"
    assert refused.value.message.startswith("huge.json: ")


def test_a_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"all \xff checks passed")
    with pytest.raises(EvalsError) as refused:
        authored.read_words(str(tmp_path), "a.md")
    assert code_of(refused) == "json.invalid"


def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(FileError) as refused:
        authored.read_document(str(tmp_path), "a.json", DOCUMENTS)
    assert code_of(refused) == "file.not_regular"


def test_names_come_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert authored.list_names(str(tmp_path), ".") == ["a", "b", "c"]


@pytest.mark.parametrize("folder", ["gone", "file", "file/below"])
def test_what_is_no_folder_has_no_names(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    assert authored.list_names(str(tmp_path), folder) is None


@pytest.mark.parametrize(
    ("folder", "code"), [("..", "path.invalid"), ("/etc", "path.invalid"), ("out", "path.outside_root")]
)
def test_a_folder_outside_the_root_is_not_listed(tmp_path: Path, folder: str, code: str) -> None:
    root = tmp_path / "root"
    (tmp_path / "root-evil").mkdir()
    root.mkdir()
    (root / "out").symlink_to(tmp_path / "root-evil")
    with pytest.raises(FileError) as refused:
        authored.list_names(str(root), folder)
    assert code_of(refused) == code


def test_a_folder_that_cannot_be_listed_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> list[str]:
        raise OSError(errno.EACCES, "Permission denied")

    (tmp_path / "closed").mkdir()
    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(FileError) as refused:
        authored.list_names(str(tmp_path), "closed")
    assert code_of(refused) == "file.unreadable"


def test_a_finding_names_its_file_once() -> None:
    file_error = FileError("file.missing", "a.json: there is no such file")
    assert authored.finding("a.json", file_error) == "a.json: there is no such file"
    assert authored.finding("a\x1b.json", EvalsError("json.invalid", "line 1")) == "a\\x1b.json: line 1"
    assert authored.about("a.json", ["$.b: missing"]) == ["a.json: $.b: missing"]
