"""The layers, as rules over the sources: what may import what, and how large and how open a module is.

import-linter checks the arrows between layers on the installed package; these tests keep its lists complete
and check what it cannot express.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS = ("evals_cli", "commands", "core", "schemas")
MODULES = sorted(path for layer in LAYERS for path in (ROOT / layer).glob("**/*.py"))
LINES_AT_MOST = 400


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def contracts() -> dict[str, dict[str, list[str]]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return {one["name"]: one for one in tomllib.load(file)["tool"]["importlinter"]["contracts"]}


def wing(contract: str, side: str) -> set[str]:
    return {module.rpartition(".")[2] for module in contracts()[contract][side]}


EVIDENCE_ALONE = "The evidence wing does not know the runs wing"
RUNS_ALONE = "The runs wing does not know the evidence wing"
GROUND_BELOW = "The ground floor knows neither wing"


def test_every_core_module_belongs_to_the_ground_or_to_one_wing() -> None:
    ground = wing(GROUND_BELOW, "source_modules")
    evidence = wing(EVIDENCE_ALONE, "source_modules")
    runs = wing(RUNS_ALONE, "source_modules")
    present = {path.stem for path in (ROOT / "core").glob("*.py")} - {"__init__"}
    assert sorted(ground | evidence | runs) == sorted(present)
    assert len(ground) + len(evidence) + len(runs) == len(present)


def test_the_contracts_about_wings_mirror_each_other() -> None:
    evidence = wing(EVIDENCE_ALONE, "source_modules")
    runs = wing(RUNS_ALONE, "source_modules")
    assert wing(EVIDENCE_ALONE, "forbidden_modules") == runs
    assert wing(RUNS_ALONE, "forbidden_modules") == evidence
    assert wing(GROUND_BELOW, "forbidden_modules") == evidence | runs


def test_the_face_that_no_lower_layer_may_import_is_complete() -> None:
    layers = contracts()["The face calls the commands, the commands call core and schemas"]["layers"]
    listed = {name.strip().rpartition(".")[2] for name in layers[0].split(":")}
    present = {path.stem for path in (ROOT / "evals_cli").glob("*.py")} - {"__init__", "version"}
    assert sorted(listed) == sorted(present)


@pytest.mark.parametrize("path", sorted((ROOT / "core").glob("**/*.py")), ids=named)
def test_core_imports_the_standard_library_and_itself_alone(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            outside = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            outside = [node.module or ""]
        else:
            continue
        for name in outside:
            assert name.partition(".")[0] in sys.stdlib_module_names, f"line {node.lineno}: {name}"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_imports_inside_the_package_are_relative(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        inside = {name for name in names if name.partition(".")[0] in LAYERS}
        assert not inside, f"line {node.lineno}: {inside}"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_says_what_it_is_for_and_stays_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert len(text.splitlines()) <= LINES_AT_MOST


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_an_exception_from_a_check_gives_its_reason(path: Path) -> None:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        for mark in ("# type: ignore", "# noqa", "# pragma: no cover"):
            if mark in line:
                assert len(line.split(mark, 1)[1].split()) >= 3, f"line {number}: {line.strip()}"
