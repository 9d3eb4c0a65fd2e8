"""Says whether every acceptance id of the specification names tests that exist.

Rules:
- A table whose header is `id | statement | proof` states acceptance; every row of it counts.
- An id is capital letters, `-` and two digits, and stands once. A statement is not empty.
- A proof is `tests/FILE.py::test_name` or `tests/FILE.py::TestClass::test_name` between backticks, several
  apart by `, `; a row has at least one. A folder or a file alone is no proof, since it cannot fail.
- The file is parsed, and the function must be in it. One that is marked to be skipped or to fail, or that
  asks for reference material which most machines lack (the fixture `shared`), is no proof.
- Whether the named tests pass, and whether they prove the statement, is not decided here: the first is what
  `scripts/test` is for, the second is a reviewer's.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

HEADER = ["id", "statement", "proof"]
IDENTIFIER = re.compile(r"[A-Z]+-\d\d")
PROOF = re.compile(r"`(tests/[\w/]+\.py)::((?:\w+::)?\w+)`")
NOT_EVERYWHERE = "shared"

Tests = dict[str, ast.FunctionDef | ast.AsyncFunctionDef]


class Row(NamedTuple):
    """One acceptance: its line in the specification and its cells."""

    line: int
    cells: list[str]


def traceability_problems(text: str, root: Path) -> list[str]:
    """A line for each row of the specification TEXT that is not traced to tests below ROOT."""
    rows = acceptance_rows(text)
    if not rows:
        return ["the specification states no acceptance: a table `id | statement | proof` is needed"]
    seen: set[str] = set()
    problems = []
    for row in rows:
        problems += [f"line {row.line}: {problem}" for problem in row_problems(row.cells, seen, root)]
    return problems


def acceptance_rows(text: str) -> list[Row]:
    """Every row of every table of acceptance, with its header and rule left out."""
    rows: list[Row] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells or cells == HEADER:
            inside = bool(cells)
        elif inside and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            rows.append(Row(number, cells))
    return rows


def row_problems(cells: list[str], seen: set[str], root: Path) -> list[str]:
    """What is wrong with one row; SEEN collects the ids."""
    if len(cells) != len(HEADER):
        return [f"{len(cells)} cells; expected {' | '.join(HEADER)}"]
    identifier, statement, proofs = cells
    problems = []
    if not IDENTIFIER.fullmatch(identifier):
        problems.append(f"{identifier!r} is no acceptance id")
    if identifier in seen:
        problems.append(f"{identifier} stands twice")
    seen.add(identifier)
    if not statement:
        problems.append(f"{identifier} states nothing")
    for proof in proofs.split(", "):
        problem = proof_problem(proof, root)
        if problem:
            problems.append(f"{identifier}: {problem}")
    return problems


def proof_problem(proof: str, root: Path) -> str | None:
    """Why a proof is none; None where it is one."""
    match = PROOF.fullmatch(proof)
    if not match:
        return f"{proof or 'nothing'!r} is no proof; expected `tests/FILE.py::test_name`"
    file, name = match.groups()
    if not (root / file).is_file():
        return f"there is no file {file}"
    test = tests_of((root / file).read_text(encoding="utf-8")).get(name)
    if test is None:
        return f"{file} has no test {name}"
    marks = [ast.unparse(mark) for mark in test.decorator_list]
    if any(re.search(r"\bskip(if)?\b|\bxfail\b", mark) for mark in marks):
        return f"{file}::{name} is marked to be skipped or to fail"
    if NOT_EVERYWHERE in {argument.arg for argument in test.args.args}:
        return f"{file}::{name} needs reference material that most machines lack"
    return None


def tests_of(source: str) -> Tests:
    """The tests of a file by name, those in a class as `Class::name`."""
    found: Tests = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            found.update({f"{node.name}::{name}": test for name, test in functions(node.body).items()})
    return {**found, **functions(ast.parse(source).body)}


def functions(body: list[ast.stmt]) -> Tests:
    """The functions among statements that pytest would collect."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for node in body if isinstance(node, kinds) and node.name.startswith("test_")}
