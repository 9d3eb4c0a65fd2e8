"""Starting is cheap: each command imports what it needs, and the quick ones need little."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_HEAVY = ("typing", "dataclasses", "pathlib", "tempfile", "datetime", "inspect", "importlib.metadata", "uuid")
_HEAVY += ("random", "secrets", "subprocess", "rich", "jsonschema", "referencing", "asyncio", "socket", "ssl")
_HEAVY += ("logging", "shutil", "tomllib", "tomli", "decimal", "traceback", "difflib", "textwrap")

_CHILD = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from evals_cli.main import main
code = main(sys.argv[1:])
sys.stderr.write(" ".join(sys.modules))
sys.exit(code)
"""


def _imported(installed: Path, *words: str) -> set[str]:
    """The modules in a process without site-packages hooks after it ran `words`."""
    child = [sys.executable, "-I", "-S", "-c", _CHILD, str(installed), *words]
    done = subprocess.run(child, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stderr.split())


@pytest.fixture
def capsule(tmp_path: Path, shared_free_capsule: dict[str, bytes]) -> Path:
    for name, content in shared_free_capsule.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture
def shared_free_capsule() -> dict[str, bytes]:
    metadata = (
        b'{"capsule_id":"c","created_at":"2026-01-01T00:00:00.000Z","harness_version":"h",'
        b'"run_id":"r","schema":"capsule-envelope/v1","task_family":"t"}\n'
    )
    return {"capsule.json": metadata, "journal.ndjson": b""}


def test_version_imports_nothing_of_weight(installed: Path) -> None:
    modules = _imported(installed, "--version")
    assert not modules & {*_HEAVY, "argparse", "json", "hashlib", "re", "contextlib", "collections"}
    own = {name for name in modules if name.startswith("evals_cli")}
    assert own == {"evals_cli", "evals_cli.main", "evals_cli.version"}


def test_verify_imports_argparse_json_and_hashlib_and_nothing_else_of_weight(
    installed: Path, capsule: Path
) -> None:
    modules = _imported(installed, "capsule", "verify", str(capsule))
    assert not modules & set(_HEAVY)
    commands = {name for name in modules if name.startswith("evals_cli.commands.")}
    assert commands == {f"evals_cli.commands.{name}" for name in ("arguments", "capsule_verify")}
    assert not {name for name in modules if name.startswith(("evals_cli.schemas", "evals_cli.core.catalog"))}
    assert "evals_cli.terminal_rich" not in modules


@pytest.mark.parametrize("words", [["--help"], ["capsule", "--help"]])
def test_help_imports_no_command(installed: Path, words: list[str]) -> None:
    modules = _imported(installed, *words)
    assert not {name for name in modules if name.startswith("evals_cli.commands")}
    assert "argparse" not in modules


def test_the_package_itself_imports_no_core(installed: Path) -> None:
    child = "import sys; sys.path.insert(0, sys.argv[1]); import evals_cli; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", child, str(installed)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    own = {name for name in done.stdout.split() if name.startswith("evals_cli")}
    assert own == {"evals_cli"}


@pytest.mark.parametrize("words", [["explain", "ok"], ["schema"]])
def test_data_commands_do_not_import_jsonschema(installed: Path, words: list[str]) -> None:
    assert not _imported(installed, *words) & {"jsonschema", "rich"}
