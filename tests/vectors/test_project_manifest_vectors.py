"""Project manifests with the verdict that a reference implementation gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.project_manifest import load_project_manifest

KEPT = json.loads((Path(__file__).parent / "data" / "project_manifests.json").read_text(encoding="utf-8"))
STATUS = {"pass": "valid", "fail": "invalid"}


def _status(text: str, root: Path) -> str:
    folder = root / ".evals"
    folder.mkdir(parents=True)
    (folder / "project.json").write_text(text, encoding="utf-8")
    return load_project_manifest(str(root), documents()).status


@pytest.mark.parametrize("row", KEPT, ids=lambda row: row["name"])
def test_a_kept_manifest_gets_the_reference_verdict(row: dict[str, str], tmp_path: Path) -> None:
    assert _status(row["text"], tmp_path) == STATUS[row["status"]]


def test_every_reference_manifest_gets_the_same_verdict(shared: Path, tmp_path: Path) -> None:
    rows = json.loads((shared / "vectors/runs/project_manifests.json").read_text(encoding="utf-8"))
    assert len(rows) == 20
    for index, row in enumerate(rows):
        assert _status(row["text"], tmp_path / str(index)) == STATUS[row["status"]], row["name"]


@pytest.mark.parametrize(("folder", "status"), [("good", "valid"), ("bad", "invalid")], ids=["good", "bad"])
def test_published_fixtures_are_told_apart(shared: Path, tmp_path: Path, folder: str, status: str) -> None:
    # Two of the bad fixtures are valid documents: what makes them bad is their approval, not their form.
    by_approval = {"blocked-privacy.json", "expired-privacy.json"}
    fixtures = sorted((shared / "reference/fixtures/external-project-manifest" / folder).iterdir())
    assert fixtures
    for index, fixture in enumerate(fixtures):
        if fixture.name not in by_approval:
            assert _status(fixture.read_text(encoding="utf-8"), tmp_path / str(index)) == status, fixture.name
