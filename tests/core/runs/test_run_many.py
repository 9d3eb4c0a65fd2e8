"""A suite of many cases stays small in memory, and its printed pieces are one document."""

from __future__ import annotations

import dataclasses
import itertools
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core import run as run_module
from evals_cli.core.canonical import pretty_json
from evals_cli.core.case import load_case
from evals_cli.core.run import execute
from evals_cli.core.run_once import Result

if TYPE_CHECKING:
    from evals_cli.core.case import Case

    from .conftest import Consumer

PREFIX = ".harness/evals/runs"


@pytest.mark.parametrize("piece", [1, 2, 3, 500])
def test_the_printed_pieces_are_the_document(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    names = [f"{number}.json" for number in range(5)]
    for name in names:
        consumer.write(f".evals/{name}", consumer.case)
    consumer.write(".evals/suite.json", {**consumer.suite, "cases": names})
    outcome = consumer.run()
    monkeypatch.setattr(run_module, "PIECE", piece)
    pieces = list(outcome.pieces())
    assert "".join(pieces) == pretty_json(outcome.document)
    assert max(text.count('"run_id"') for text in pieces) <= piece


def test_a_large_suite_takes_less_than_a_kilobyte_a_case(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 20_000
    case = load_case(str(consumer.root / ".evals"), "cases/closeout.case.json", documents(), base=".evals")
    numbers = itertools.count()

    def ran(case: Case, **_: object) -> tuple[Result, list[str]]:
        case_id = f"case-{next(numbers)}"
        run_id = f"20260131T090000Z-{case_id}-0123abcd"
        result = Result(run_id=run_id, case_id=case_id, suite_id=case.suite_id, verdict="fail")
        return result, [f"{PREFIX}/{run_id}/scorer-results.json: failure {each}" for each in range(4)]

    monkeypatch.setattr(run_module, "_planned_case", lambda *_: case)
    monkeypatch.setattr(run_module, "run_once", ran)
    plan = dataclasses.replace(consumer.plan(), cases=(("cases/closeout.case.json", case.sha256),) * count)
    tracemalloc.start()
    try:
        outcome = execute(plan, documents=documents(), version="9", as_json=True)
        printed = sum(map(len, outcome.pieces()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert printed > count * 1000
    assert peak < count * 600, f"{peak / count:.0f} bytes a case"
    assert len(outcome.failures) == 101
    assert outcome.failures[-1].startswith("79900 more failures; ")
