"""The closure evidence: what the program shows today, about a bundle that is there byte for byte.

The parts are tried on what they would see if something were wrong: a changed byte, a masked digest, a verdict
that the program does not give, a rollback that does not bring everything back.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

House = Callable[[str], ModuleType]

DOCUMENT = Path(".harness") / "evals" / "evals-evals-executable-spine-eval.md"
RUNS = Path(".harness") / "evals" / "runs"
ARTIFACTS = (
    "result.json",
    "report.md",
    "command-log.json",
    "scorer-results.json",
    "baseline-result.json",
    "trace-events.jsonl",
)


@pytest.fixture
def committed(repository: Path) -> str:
    return (repository / DOCUMENT).read_text(encoding="utf-8")


@pytest.fixture
def bundle(house: House, repository: Path, committed: str, tmp_path: Path) -> Any:
    """A copy of the cited bundle."""
    run_id = house("closure_document").cited_run(committed)
    shutil.copytree(repository / RUNS / run_id, tmp_path / run_id)
    return house("closure_bundle").Bundle(tmp_path / run_id)


@pytest.fixture
def evidence(house: House, bundle: Any) -> Any:
    """What is seen when everything is right, without running anything."""
    world = house("closure_world")
    checks = [{"label": "latest run", "schema_path": "schemas/latest-run.schema.json", "status": "pass"}]
    check = {"status": "passed", "context_match": True, "run_id": bundle.run_id, "checks": checks}
    return world.Evidence(
        cited=bundle,
        run=world.Answer(world.RUN, 0, json.dumps({"run_id": bundle.run_id}), ""),
        drift=[],
        rollback=[world.Step("undone", True)],
        shown=[world.Answer("evals check", 0, "PASS  it holds\n", "")],
        check=check,
        packets={},
        damaged=world.Answer("evals check", 1, "FAIL  report.md\n", ""),
        refused=[world.Answer(command, 1, "", f"evals: {word}: no\n") for command, word in world.REFUSED],
        left_by_refusals=[],
        looks=[look(world, "PASS  it holds\n", "\x1b[1mPASS\x1b[0m  it holds\n")],
    )


def with_failed_check(check: dict[str, Any]) -> dict[str, Any]:
    return {**check, "checks": [{**check["checks"][0], "status": "fail"}]}


@pytest.fixture
def words(house: House, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], dict[str, str]]:
    """The classification of each area, where the documents are right."""
    areas = house("closure_areas")
    monkeypatch.setattr(areas.docs, "main", lambda _: 0)
    return lambda evidence: {area.name: area.word for area in areas.areas(evidence)}


def look(world: ModuleType, plain: str, coloured: str, no_colour: str | None = None) -> Any:
    texts = (plain, coloured, plain if no_colour is None else no_colour)
    return world.Look(*(world.Answer("evals check", 0, text, "") for text in texts))


def test_the_closure_evidence_is_what_the_program_shows(repository: Path) -> None:
    command = [sys.executable, str(repository / "scripts" / "house" / "closure.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_bundle_is_committed_and_it_is_the_cited_one(
    house: House, repository: Path, committed: str
) -> None:
    listed = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "--", RUNS.as_posix()],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    run_id = house("closure_document").cited_run(committed)
    names = (*ARTIFACTS, "manifest.json", "latest-candidate.json")
    assert sorted(listed) == sorted(f"{RUNS.as_posix()}/{run_id}/{name}" for name in names)


def test_everything_that_closing_asks_for_has_its_part(committed: str) -> None:
    titles = re.findall(r"^## (.+)$", committed, re.MULTILINE)
    asked = ["Command output", "Artifact paths", "Schema validation", "Scorer verdicts", "Baseline", "Drift"]
    assert titles[:8] == [*asked, "Rollback", "Tracker"]
    rows = dict(
        re.findall(r"^\| (\w+) \| (pass|fail|blocked|not-applicable) \| .+ \|$", committed, re.MULTILINE)
    )
    assert set(rows) >= {"docs", "schema", "smoke", "security", "accessibility", "traceability"}
    assert {name for name, word in rows.items() if word != "pass"} <= {"tracker"}


def test_every_digest_of_the_document_counts(house: House, committed: str) -> None:
    digests = set(re.findall(r"\b[0-9a-f]{64}\b", committed))
    assert len(digests) >= len(ARTIFACTS) + 2
    for digest in digests:
        changed = committed.replace(digest, digest[::-1])
        assert house("closure").difference(changed, committed), digest


def test_a_classification_that_the_program_does_not_give_is_found(house: House, committed: str) -> None:
    for area in ("docs", "schema", "smoke", "security", "accessibility", "traceability", "implementation"):
        assert f"\n| {area} | pass |" in committed
        made = committed.replace(f"\n| {area} | pass |", f"\n| {area} | fail |")
        assert house("closure").difference(committed, made), area


def test_another_commit_is_no_difference_and_anything_else_is(house: House) -> None:
    difference = house("closure").difference
    line = "  git               main at {}, unchanged\n"
    assert difference(line.format("0" * 12), line.format("1" * 12)) == []
    assert difference("{} 1\n".format("0" * 64), "{} 1\n".format("1" * 64))
    assert difference("2026-01-01T00:00:00.000Z\n", "2027-01-01T00:00:00.000Z\n")


def test_an_area_that_fails_is_a_failure_even_where_the_document_says_so(
    house: House, evidence: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closure = house("closure")
    monkeypatch.setattr(house("closure_areas").docs, "main", lambda _: 0)
    monkeypatch.setattr(closure, "gather", lambda *_: evidence._replace(drift=["report.md"]))
    text, problems = closure.made(tmp_path, evidence.cited)
    assert "| implementation | fail |" in text
    assert problems == [
        "implementation: evals run fixtures/smoke/pr-closeout.case.json --json gives another report.md now"
    ]


def test_a_document_without_its_bundle_is_no_evidence(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closure = house("closure")
    monkeypatch.setattr(closure, "ROOT", tmp_path)
    monkeypatch.setattr(closure, "DOCUMENT", tmp_path / "closure.md")
    assert "cites no bundle" in closure.check(tmp_path)[0]
    (tmp_path / "closure.md").write_text(f"Cited bundle: `{RUNS.as_posix()}/gone`\n", encoding="utf-8")
    assert "cites no bundle" in closure.check(tmp_path)[0]


@pytest.mark.parametrize("name", [*ARTIFACTS, "manifest.json", "latest-candidate.json"])
def test_a_changed_byte_in_the_cited_bundle_is_found(house: House, bundle: Any, name: str) -> None:
    module = house("closure_bundle")
    before = module.artifact_rows(bundle)
    assert module.manifest_problems(bundle) == []
    (bundle.folder / name).write_bytes((bundle.folder / name).read_bytes() + b"\n")
    assert module.artifact_rows(bundle) != before
    listed = [problem for problem in module.manifest_problems(bundle) if f"/{name} is not what" in problem]
    assert len(listed) == (name in ARTIFACTS)


def test_a_missing_and_an_extra_file_of_the_cited_bundle_are_found(house: House, bundle: Any) -> None:
    (bundle.folder / "report.md").rename(bundle.folder / "other.md")
    missing, extra = house("closure_bundle").manifest_problems(bundle)
    assert missing.endswith("report.md is listed in the manifest and missing")
    assert extra.endswith("other.md is in the bundle and not in its manifest")


def later(bundle: Any, folder: Path, old: str = "", new: str = "") -> Any:
    """The bundle as a run at another time would write it, with OLD as NEW in its report."""
    stamp = re.match(r"\d{8}T\d{6}Z", bundle.run_id)
    assert stamp
    made = type(bundle)(folder / bundle.run_id.replace(stamp[0], "20300101T000000Z"))
    shutil.copytree(bundle.folder, made.folder)
    digests: dict[str, str] = {}
    for name in ("report.md", "command-log.json", "scorer-results.json", "baseline-result.json"):
        rewrite(made, name, {**digests, old: new} if name == "report.md" and old else digests)
        digests[bundle.digest(name)] = made.digest(name)
    for name in ("trace-events.jsonl", "result.json", "manifest.json", "latest-candidate.json"):
        rewrite(made, name, digests)
        digests[bundle.digest(name)] = made.digest(name)
    return made


def rewrite(made: Any, name: str, exchanged: dict[str, str]) -> None:
    text = (made.folder / name).read_text(encoding="utf-8")
    text = re.sub(r"\d{8}T\d{6}Z", "20300101T000000Z", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2030-01-01T00:00:00.000Z", text)
    for old, new in exchanged.items():
        text = text.replace(old, new)
    (made.folder / name).write_bytes(text.encode())


def test_a_run_at_another_time_is_no_drift(house: House, bundle: Any, tmp_path: Path) -> None:
    made = later(bundle, tmp_path)
    assert made.digest("report.md") != bundle.digest("report.md")
    assert house("closure_bundle").drift(bundle, made) == []


def test_a_run_that_says_anything_else_is_drift(house: House, bundle: Any, tmp_path: Path) -> None:
    made = later(bundle, tmp_path, "4 of 4 scorers", "5 of 5 scorers")
    assert house("closure_bundle").drift(bundle, made) == ["report.md"]


@pytest.mark.parametrize("name", ["manifest.json", "baseline-result.json", "latest-candidate.json"])
def test_a_digest_of_something_else_is_drift(house: House, bundle: Any, tmp_path: Path, name: str) -> None:
    made = later(bundle, tmp_path)
    text = (made.folder / name).read_text(encoding="utf-8")
    (made.folder / name).write_text(re.sub(r"\b[0-9a-f]{64}\b", "0" * 64, text), encoding="utf-8")
    assert name in house("closure_bundle").drift(bundle, made)


def test_a_file_that_only_one_run_has_is_drift(house: House, bundle: Any, tmp_path: Path) -> None:
    made = later(bundle, tmp_path)
    (made.folder / "report.md").unlink()
    (made.folder / "failure.json").write_bytes(b"{}\n")
    assert {"failure.json", "report.md"} <= set(house("closure_bundle").drift(bundle, made))


def test_verdicts_come_from_every_scorer_and_assertion_of_the_bundle(house: House, bundle: Any) -> None:
    problems = house("closure_bundle").verdict_problems
    assert problems(bundle) == []
    path = bundle.folder / "scorer-results.json"
    document = json.loads(path.read_bytes())
    document["results"][1]["assertions"][0]["status"] = "fail"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert problems(bundle) == ["scorer required-output: pass"]
    path.write_text('{"results": []}', encoding="utf-8")
    assert problems(bundle) == ["no scorer has judged the run"]


def test_schema_rows_are_what_the_validator_says(house: House, bundle: Any) -> None:
    module = house("closure_bundle")
    assert set(module.schema_problems(bundle)) == set(module.SCHEMAS)
    assert not any(module.schema_problems(bundle).values())
    for name in module.SCHEMAS:
        (bundle.folder / name).write_text('{"x": 1}\n', encoding="utf-8")
    assert all(module.schema_problems(bundle).values())


def test_the_three_baseline_fields_are_read_from_the_bundle(house: House, evidence: Any) -> None:
    document = house("closure_document")
    path = evidence.cited.folder / "baseline-result.json"
    read = json.loads(path.read_bytes())
    for field in ("presence_status", "comparison_status", "promotion_status"):
        read[field] = f"other {field}"
    path.write_text(json.dumps(read), encoding="utf-8")
    assert document.baseline(evidence).count("`other ") == 3
    assert "`other comparison_status`" in document.drift(evidence)


def test_the_rollback_is_carried_out(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = house("closure_world")
    place = tmp_path / "evals"
    house("docs").lay_out(place, empty=False)
    run, first = world.run_smoke(place)
    assert [step.name for step in world.undo_second_run(place, run, first) if not step.good] == []
    monkeypatch.setattr(world, "UNDO", ("true", world.UNDO[1]))
    wrong = [step.name for step in world.undo_second_run(place, run, first) if not step.good]
    assert wrong == ["every file is as after the first run, byte for byte"]
    monkeypatch.setattr(world, "UNDO", ("false",))
    assert len([step for step in world.undo_second_run(place, run, first) if not step.good]) == 3


def test_a_sound_closing_passes_everywhere(evidence: Any, words: Callable[[Any], dict[str, str]]) -> None:
    decided = words(evidence)
    assert decided.pop("tracker") == "blocked"
    assert set(decided.values()) == {"pass"}


@pytest.mark.parametrize(
    ("area", "change"),
    [
        ("implementation", lambda seen: {"drift": ["report.md"]}),
        ("implementation", lambda seen: {"run": seen.run._replace(code=1)}),
        ("implementation", lambda seen: {"shown": [seen.shown[0]._replace(code=1)]}),
        ("implementation", lambda seen: {"rollback": [seen.rollback[0]._replace(good=False)]}),
        ("smoke", lambda seen: {"check": {**seen.check, "status": "failed"}}),
        ("smoke", lambda seen: {"check": {**seen.check, "context_match": None}}),
        ("smoke", lambda seen: {"check": {**seen.check, "run_id": "another"}}),
        ("schema", lambda seen: {"check": {**seen.check, "checks": []}}),
        ("schema", lambda seen: {"check": with_failed_check(seen.check)}),
        ("schema", lambda seen: {"packets": {"evals state --json": seen.run}}),
        ("security", lambda seen: {"refused": [given._replace(code=0) for given in seen.refused]}),
        ("security", lambda seen: {"refused": [given._replace(stderr="no") for given in seen.refused]}),
        ("security", lambda seen: {"refused": [given._replace(stdout="yes") for given in seen.refused]}),
        ("security", lambda seen: {"left_by_refusals": ["evals/story/journal.ndjson"]}),
        ("security", lambda seen: {"damaged": seen.damaged._replace(code=0)}),
        ("security", lambda seen: {"damaged": seen.damaged._replace(stdout="FAIL  something")}),
    ],
)  # fmt: skip
def test_an_area_fails_by_what_was_seen(
    evidence: Any, words: Callable[[Any], dict[str, str]], area: str, change: Callable[[Any], dict[str, Any]]
) -> None:
    decided = words(evidence._replace(**change(evidence)))
    assert [name for name, word in decided.items() if word == "fail"] == [area]


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (("it holds\n", "\x1b[32mit holds\x1b[0m\n"), "does not begin with a verdict"),
        (("PASS  \x1b[1mx\n", "\x1b[1mPASS  x\n"), "control characters"),
        (("PASS  x\n", "\x1b[1mPASS  x\n", "\x1b[1mPASS  x\n"), "NO_COLOR does not give"),
        (("PASS  x\n", "PASS  x\n"), "no colour, so nothing was compared"),
        (("PASS  x\nnext: y\n", "\x1b[32m✓ x\x1b[0m\n→ y\n"), "does not say 'PASS x'"),
    ],
)
def test_meaning_that_only_a_colour_carries_is_found(
    house: House, texts: tuple[str, ...], problem: str
) -> None:
    found = house("closure_areas").look_problems(look(house("closure_world"), *texts))
    assert [problem in one for one in found].count(True) == 1


def test_documents_are_decided_by_what_check_docs_runs(
    house: House, evidence: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    areas = house("closure_areas")
    asked = []

    def main(arguments: list[str]) -> int:
        asked.append(arguments)
        print("README.md:1: wrong")
        return 1

    monkeypatch.setattr(areas.docs, "main", main)
    docs = next(area for area in areas.areas(evidence) if area.name == "docs")
    assert (docs.word, docs.problems, asked) == ("fail", ["README.md:1: wrong"], [[]])


def test_the_time_of_the_run_made_now_is_all_that_is_exchanged(house: House, evidence: Any) -> None:
    stamp, rest = evidence.cited.run_id[:16], "-pr-closeout-00000000"
    made = evidence._replace(run=evidence.run._replace(stdout=f"20300101T000000Z{rest}"))
    assert house("closure_document").as_cited(made).stdout == f"{stamp}{rest}"
