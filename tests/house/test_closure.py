"""The closure evidence: it must be what the program shows today, and its cited bundle must still hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_closure_evidence_is_what_the_program_shows(repository: Path) -> None:
    command = [sys.executable, str(repository / "scripts" / "house" / "closure.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_that_closing_asks_for_is_missing_or_failed(repository: Path) -> None:
    folder = repository / ".harness" / "evals"
    text = (folder / "evals-evals-executable-spine-eval.md").read_text(encoding="utf-8")
    for title in ("Command output", "Artifact paths", "Schema validation", "Scorer verdicts", "Baseline"):
        assert f"\n## {title}\n" in text
    for title in ("Drift", "Rollback", "Tracker"):
        assert f"\n## {title}\n" in text
    areas = ("docs", "schema", "smoke", "security", "accessibility", "traceability", "implementation")
    rows = {
        cells[1].strip(): cells[2].strip() for line in text.splitlines() if len(cells := line.split("|")) == 5
    }
    assert set(areas) <= set(rows)
    assert {rows[area] for area in areas} <= {"pass", "blocked", "not-applicable"}
