"""Traceability: every acceptance id names test functions that exist and that run everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

House = Callable[[str], ModuleType]

TESTS = '''
import pytest
def test_one(): assert True
async def test_later(): assert True
def other(): assert True
@pytest.mark.skip(reason="no")
def test_skipped(): assert True
@pytest.mark.skipif(True, reason="no")
def test_skipped_here(): assert True
@pytest.mark.xfail
def test_fails(): assert True
def test_of_reference(shared): assert True
class TestGroup:
    def test_inside(self): assert True
"""
def test_in_words_only(): ...
"""
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "test_a.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def specification(*rows: str) -> str:
    return "| id | statement | proof |\n| --- | --- | --- |\n" + "".join(f"{row}\n" for row in rows)


@pytest.mark.parametrize("name", ["test_one", "test_later", "TestGroup::test_inside"])
def test_a_row_that_names_a_test_is_traced(house: House, root: Path, name: str) -> None:
    text = specification(f"| EVS-01 | It holds | `tests/test_a.py::{name}` |")
    assert house("traceability").traceability_problems(text, root) == []


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        ("", "'nothing' is no proof"),
        ("see the tests", "is no proof"),
        ("`tests`", "is no proof"),
        ("`tests/test_a.py`", "is no proof"),
        ("`docs/test_a.py::test_one`", "is no proof"),
        ("`tests/../docs/test_a.py::test_one`", "is no proof"),
        ("`tests/test_b.py::test_one`", "there is no file tests/test_b.py"),
        ("`tests/test_a.py::test_two`", "has no test test_two"),
        ("`tests/test_a.py::other`", "has no test other"),
        ("`tests/test_a.py::test_inside`", "has no test test_inside"),
        ("`tests/test_a.py::test_in_words_only`", "has no test test_in_words_only"),
        ("`tests/test_a.py::test_skipped`", "is marked to be skipped"),
        ("`tests/test_a.py::test_skipped_here`", "is marked to be skipped"),
        ("`tests/test_a.py::test_fails`", "is marked to be skipped or to fail"),
        ("`tests/test_a.py::test_of_reference`", "needs reference material"),
        ("`tests/test_a.py::test_one`, `tests/test_a.py::test_two`", "has no test test_two"),
    ],
)
def test_what_cannot_fail_or_is_not_there_is_no_proof(
    house: House, root: Path, proof: str, words: str
) -> None:
    (problem,) = house("traceability").traceability_problems(
        specification(f"| EVS-01 | It holds | {proof} |"), root
    )
    assert problem.startswith("line 3: EVS-01: ")
    assert words in problem


GOOD = "`tests/test_a.py::test_one`"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((), "states no acceptance"),
        ((f"| EVS-01 | It holds | {GOOD} |", f"| EVS-01 | More holds | {GOOD} |"), "EVS-01 stands twice"),
        ((f"| EVS-1 | It holds | {GOOD} |",), "'EVS-1' is no acceptance id"),
        ((f"| EVS-01 | | {GOOD} |",), "EVS-01 states nothing"),
        (("| EVS-01 | It holds |",), "2 cells"),
        ((f"| EVS-01 | It holds | {GOOD} | more |",), "4 cells"),
    ],
)
def test_a_row_of_another_form_is_named(house: House, root: Path, rows: tuple[str, ...], words: str) -> None:
    (problem,) = house("traceability").traceability_problems(specification(*rows), root)
    assert words in problem


def test_every_table_of_acceptance_counts_and_no_other(house: House, root: Path) -> None:
    text = "\n".join(
        [
            specification(f"| EVS-01 | It holds | {GOOD} |"),
            "| word | meaning |\n| --- | --- |\n| a | b |\n",
            specification("| EVC-01 | It holds | nothing |"),
        ]
    )
    (problem,) = house("traceability").traceability_problems(text, root)
    assert "EVC-01" in problem


def test_every_acceptance_of_this_repository_is_traced(house: House, repository: Path) -> None:
    path = repository / ".harness" / "specs" / "2026-05-18-evals-executable-spine-spec.md"
    problems = house("traceability").traceability_problems(path.read_text(encoding="utf-8"), repository)
    assert problems == []
