"""The catalog and the sources name the same codes, and every row can be read by a person.

The sources are read as syntax trees. A code counts as used when it stands as one string, as a named
requirement ("case path" is `case.path`), or as a pattern with a gap (`f"retrospective.{code}"`) whose filling
stands as a string in the same module.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from evals_cli.core import catalog

_LAYERS = ("core", "commands", "evals_cli", "schemas")
_CODE = re.compile(r"[a-z]+\.[a-z]+(?:_[a-z]+)*")
_REQUIREMENT = re.compile(r"[a-z]+(?: [a-z]+)+")
_FILE_ENDINGS = {"json", "toml", "ndjson", "jsonl", "md", "py", "js", "sh", "git", "tmp", "lock"}

# A sentence opens with a capital, or with a name that is written as it is.
_OPENING = re.compile(r"[A-Z`']|stdout |--[a-z]|[a-z]+\.(?:json|ndjson) ")
# Members of documents, not codes.
_MEMBERS = {"case.baseline"}

ENTRIES = catalog.entries()
ERRORS = {entry.code for entry in ENTRIES if entry.kind == "error"}
FINDINGS = {entry.code for entry in ENTRIES if entry.kind == "finding"}
BARE = {code.rpartition(".")[2] for code in FINDINGS}
FAMILIES = {code.partition(".")[0] for code in ERRORS}


@pytest.fixture(scope="module")
def trees(repository: Path) -> dict[str, ast.Module]:
    """Every module of the program except the catalog, by its path in the repository."""
    paths = [path for layer in _LAYERS for path in sorted((repository / layer).glob("*.py"))]
    return {
        path.relative_to(repository).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if not path.name.startswith("catalog")
    }


def test_every_code_in_the_sources_is_in_the_catalog(trees: dict[str, ast.Module]) -> None:
    known = ERRORS | FINDINGS
    missing = sorted(
        f"{code} ({module})" for module, tree in trees.items() for code in _codes(tree) if code not in known
    )
    assert not missing, f"add a row to the catalog in core/catalog_*.py for: {', '.join(missing)}"


def test_every_error_in_the_catalog_is_used_by_the_sources(trees: dict[str, ast.Module]) -> None:
    used: set[str] = set()
    for tree in trees.values():
        used |= _codes(tree) | _composed(tree) | {_as_code(text) for text in _strings(tree)}
    unused = sorted(ERRORS - used)
    assert not unused, f"no module gives these codes; remove the rows or give them: {', '.join(unused)}"


def test_every_finding_in_the_catalog_is_a_word_of_the_sources(trees: dict[str, ast.Module]) -> None:
    words = {word for tree in trees.values() for word in _strings(tree)}
    words |= {code for tree in trees.values() for code in _composed(tree)}
    unused = sorted(code for code in FINDINGS if code.rpartition(".")[2] not in words)
    assert not unused, f"no module says these: {', '.join(unused)}"


def test_no_code_has_two_rows() -> None:
    codes = [entry.code for entry in ENTRIES]
    assert sorted(set(codes)) == sorted(codes)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_a_row_is_made_of_sentences(entry: catalog.Entry) -> None:
    for text in (entry.meaning, entry.establishes, entry.does_not_establish, entry.next_step):
        assert _OPENING.match(text), text
        assert text.endswith("."), text
        assert "  " not in text, text
        assert text.isprintable(), text
    assert entry.kind in ("error", "finding")


def test_a_bare_finding_is_found_and_an_error_needs_its_full_name() -> None:
    truncation = catalog.lookup("truncation")
    assert truncation is not None
    assert truncation.code == "receipt.check.truncation"
    assert catalog.lookup("busy") is None
    assert catalog.lookup("capsule.busy") is not None
    assert catalog.lookup("no.such_code") is None


def _strings(tree: ast.AST) -> set[str]:
    docs = {id(doc) for node in ast.walk(tree) if (doc := _docstring(node)) is not None}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    }


def _docstring(node: ast.AST) -> ast.Constant | None:
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first.value
    return None


def _codes(tree: ast.AST) -> set[str]:
    plain = {
        text
        for text in _strings(tree)
        if _CODE.fullmatch(text)
        and text.partition(".")[0] in FAMILIES
        and text.partition(".")[2] not in _FILE_ENDINGS
    } - _MEMBERS
    return plain | {_as_code(name) for name in _requirements(tree)}


def _as_code(requirement: str) -> str:
    return requirement.replace(" ", ".", 1).replace(" ", "_")


def _requirements(tree: ast.AST) -> set[str]:
    """The names of requirements: first arguments of RequirementError, `requirement=` and REQUIREMENT."""
    named: set[str] = set()
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "RequirementError":
            values = node.args[:1]
        elif isinstance(node, ast.keyword) and node.arg == "requirement":
            values = [node.value]
        elif isinstance(node, ast.Assign):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            values = [node.value] if any("REQUIREMENT" in name for name in targets) else []
        named |= {text for value in values for text in _strings(value) if _REQUIREMENT.fullmatch(text)}
    return named


def _composed(tree: ast.AST) -> set[str]:
    """The catalog's names that a pattern with a gap gives with a string of the same module."""
    words = _strings(tree)
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
        if parts.count(None) == 1:
            found |= {"".join(word if part is None else str(part) for part in parts) for word in words}
    return found & (ERRORS | FINDINGS | BARE)
