"""How documents are compared with the program: sessions, what may differ, files to save, tables, links."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HOUSE = Path(__file__).resolve().parent.parent.parent / "scripts" / "house"


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house_docs", HOUSE / "docs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def session(*lines: str) -> str:
    return "```console\n" + "".join(f"{line}\n" for line in lines) + "```\n"


def problems(docs: ModuleType, text: str, place: Path) -> list[str]:
    found: list[str] = docs.output_problems(text, docs.run_sessions(text, place, empty=True))
    return found


def test_output_that_is_as_shown_agrees(docs: ModuleType, tmp_path: Path) -> None:
    assert problems(docs, session("$ printf 'a\\nb\\n'", "a", "b", "$ echo c >&2", "c"), tmp_path) == []


def test_output_that_is_not_as_shown_is_named_with_its_line_and_difference(
    docs: ModuleType, tmp_path: Path
) -> None:
    (problem,) = problems(docs, "one\n" + session("$ echo now", "then"), tmp_path)
    assert problem.startswith("3: echo now")
    assert "-then" in problem
    assert "+now" in problem


def test_sessions_of_one_document_share_a_shell(docs: ModuleType, tmp_path: Path) -> None:
    text = session("$ mkdir sub && cd sub") + "then\n" + session('$ basename "$PWD"', "sub")
    assert problems(docs, text, tmp_path) == []


def test_a_command_may_go_on_over_lines(docs: ModuleType, tmp_path: Path) -> None:
    assert problems(docs, session("$ cat <<END", "> kept", "> END", "kept"), tmp_path) == []


def test_a_file_that_readers_save_is_there_for_the_session(docs: ModuleType, tmp_path: Path) -> None:
    text = '```json title=.evals/a.json\n{"a": 1}\n```\n' + session("$ cat .evals/a.json", '{"a": 1}')
    assert problems(docs, text, tmp_path) == []


def test_times_may_differ(docs: ModuleType) -> None:
    assert docs.agrees("at 2026-01-01T00:00:00.000Z\n", "at 2027-02-02T01:01:01.001Z\n", {}, {})


def test_digests_may_differ_but_the_same_one_stays_the_same(docs: ModuleType) -> None:
    a, b, c = "a" * 64, "b" * 64, "c" * 64
    assert docs.agrees(f"{a} {a}\n", f"{b} {b}\n", {}, {})
    assert not docs.agrees(f"{a} {a}\n", f"{b} {c}\n", {}, {})


def test_a_gap_stands_for_any_lines(docs: ModuleType) -> None:
    assert docs.agrees("first\n...\nlast\n", "first\na\nb\nlast\n", {}, {})
    assert not docs.agrees("first\n...\nlast\n", "first\na\nb\n", {}, {})


def test_update_writes_what_was_printed_and_leaves_gaps(docs: ModuleType) -> None:
    text = session("$ one", "old", "$ two", "...", "end")
    assert docs.with_output(text, ["new\n", "x\nend\n"]) == session("$ one", "new", "$ two", "...", "end")


def test_a_table_that_is_out_of_date_is_named(docs: ModuleType) -> None:
    text = "<!-- generated: schemas -->\nold\n<!-- end -->\n"
    assert docs.table_problems(text) == ["1: the table `schemas` is out of date"]
    assert docs.table_problems(docs.with_tables(text)) == []


def test_a_link_to_nowhere_is_named(docs: ModuleType, tmp_path: Path) -> None:
    text = "[a](b.md) [c](https://example.org) [d](#e)"
    assert docs.link_problems(tmp_path / "x.md", text) == ["1: the link b.md leads nowhere"]
    (tmp_path / "b.md").touch()
    assert docs.link_problems(tmp_path / "x.md", text) == []
