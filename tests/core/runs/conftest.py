"""A consumer repository to run things in: a suite of one sound case, and nothing else.

- `consumer`: writes documents into a fresh repository and runs what it is told, with a clock of its own.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.run import Outcome, Plan, execute, plan_run

PREFIX = ".harness/evals/runs"


class Consumer:
    """A repository under test; every run starts a second after the one before it."""

    def __init__(self, root: Path, case: dict[str, Any]) -> None:
        self.root = root
        self.case = case
        self.suite: dict[str, Any] = {
            "schema_version": 1,
            "suite_id": "consumer.closeout",
            "owner_repo": "consumer",
            "domain": "closeout",
            "purpose": "Bundles stay complete.",
            "cases": ["cases/closeout.case.json"],
            "scorers": ["exit-code"],
            "baseline": None,
            "artifact_policy": {"write_bundle": True, "retain_locally": True, "allow_network": False},
        }
        self._seconds = itertools.count()

    def clock(self) -> str:
        """A time of 2026-01-31; each look is a second later."""
        second = next(self._seconds)
        return f"2026-01-31T09:{second // 60:02d}:{second % 60:02d}.000Z"

    def write(self, name: str, content: object) -> Path:
        """Write a text, bytes, or a document as JSON."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return file

    def set_up(self) -> Consumer:
        """Write the suite and its case as they stand."""
        self.write(".evals/suite.json", self.suite)
        self.write(".evals/cases/closeout.case.json", self.case)
        return self

    def changed(self, **parts: Any) -> dict[str, Any]:
        """A copy of the case with some top-level parts replaced."""
        return {**copy.deepcopy(self.case), **parts}

    def plan(self, word: str = ".evals/suite.json", cwd: Path | None = None) -> Plan:
        """Plan a run of `word`."""
        return plan_run(word, cwd=str(cwd or self.root), documents=documents())

    def run(
        self,
        word: str = ".evals/suite.json",
        *,
        as_json: bool = True,
        clock: Callable[[], str] | None = None,
        cwd: Path | None = None,
        advance: Callable[[], None] = lambda: None,
    ) -> Outcome:
        """Plan and run `word`."""
        return execute(
            self.plan(word, cwd),
            documents=documents(),
            version="9.9.9",
            as_json=as_json,
            clock=clock or self.clock,
            advance=advance,
        )

    def read(self, path: str) -> Any:
        """A JSON document of the repository."""
        return json.loads((self.root / path).read_text(encoding="utf-8"))

    def latest(self) -> Any:
        """The latest pointer."""
        return self.read(f"{PREFIX}/latest.json")

    def run_folders(self) -> list[Path]:
        """The folders of all runs, by name."""
        runs = self.root / PREFIX
        return sorted(each for each in runs.iterdir() if each.is_dir()) if runs.exists() else []


@pytest.fixture
def consumer(tmp_path: Path, repository: Path) -> Consumer:
    """A repository with a suite of one sound case."""
    text = (repository / "fixtures/smoke/pr-closeout.case.json").read_text(encoding="utf-8")
    case = {**json.loads(text), "case_id": "closeout", "suite_id": "consumer-closeout"}
    root = tmp_path / "repo"
    root.mkdir()
    return Consumer(root, case).set_up()
