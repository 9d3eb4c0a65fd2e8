"""What `scripts/bench` measures with is what it says: good capsules of each kind, and honest verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.command import main
from benchmarks.journals import KINDS, write_capsule
from benchmarks.rows import Row, Table, amount

from evals_cli.core import capsule, certify, journal, metadata


@pytest.mark.parametrize("kind", KINDS)
def test_a_measured_journal_is_good_and_goes_the_fast_way(kind: str, tmp_path: Path) -> None:
    write_capsule(str(tmp_path), kind, 300)
    assert capsule.verify(tmp_path).entry_count == 300
    block, chain = (tmp_path / "journal.ndjson").read_bytes(), journal.Chain()
    certifier = certify.Certifier(metadata.read_metadata(str(tmp_path)).identity)
    assert certifier.certify(block, 0, chain) == len(block)
    assert (chain.count, chain.parent_hash) == (300, capsule.verify(tmp_path).root_hash)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row(work="w", figure=0.9, bar=1.5, stretch=1.0), "stretch"),
        (Row(work="w", figure=1.2, bar=1.5, stretch=1.0), "within"),
        (Row(work="w", figure=1.6, bar=1.5, stretch=1.0), "over"),
        (Row(work="w", figure=60, bar=50, at_least=True), "within"),
        (Row(work="w", figure=40, bar=50, at_least=True), "over"),
        (Row(work="w", figure=2), ""),
        (Row(work="w", missing="no disk"), "not measured: no disk"),
    ],
)
def test_a_row_says_where_it_stands(row: Row, verdict: str) -> None:
    assert row.verdict == verdict == row.document()["verdict"]
    assert row.cells()[-1] == verdict


def test_the_table_is_markdown() -> None:
    table = Table(title="T", head=("a", "bb"), body=[("x", amount(0.5, "s"))]).text()
    assert table == "### T\n\n| a | bb       |\n| - | -------- |\n| x | 500.0 ms |\n"


def test_a_group_of_rows_can_be_measured_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    options = ["--quick", "--only", "growth", "--scratch", str(tmp_path / "scratch"), "--json", str(report)]
    assert main(options) == 0
    assert "| 10,000 " in capsys.readouterr().out
    assert '"growth"' in report.read_text(encoding="utf-8")
