"""The pinned requirements: exact, with hashes, of one mind, and free of addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PINNED = Path(__file__).resolve().parent.parent.parent / "requirements"
FILES = ("runtime.txt", "development.txt")
PIN = re.compile(r"^(?P<name>[a-z0-9.-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>[^\\]+?))?$")


def pins(name: str) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """(package, marker) -> (version, hashes), from a file of pip's format."""
    found = {}
    logical = (PINNED / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    for line in logical:
        requirement, *hashes = re.split(r"\s+--hash=", line.strip())
        match = PIN.match(requirement.strip())
        assert match, f"not an exact pin: {requirement}"
        found[match["name"], match["marker"] or ""] = (match["version"], hashes)
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_exact_and_has_hashes(name: str) -> None:
    for (package, _), (_, hashes) in pins(name).items():
        assert hashes, package
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), package


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_an_index(name: str) -> None:
    text = (PINNED / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text


def test_the_checks_run_with_the_versions_that_users_get() -> None:
    development = {(package, version) for (package, _), (version, _) in pins("development.txt").items()}
    runtime = {(package, version) for (package, _), (version, _) in pins("runtime.txt").items()}
    assert runtime <= development


def test_what_the_program_needs_is_pinned(repository: Path) -> None:
    project = (repository / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    assert block
    needed = set(re.findall(r'"([a-z0-9-]+)[>=]', block[1]))
    assert needed <= {package for package, _ in pins("runtime.txt")}
