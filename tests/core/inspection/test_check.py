"""The validation result of check: home and consumer, with and without the smoke case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evals_cli.commands.ports import documents
from evals_cli.core.check import check_packet, require_check_mode
from evals_cli.core.errors import RequirementError
from evals_cli.core.roots import Root, select_root

LATEST = ".harness/evals/runs/latest.json"
SMOKE = "fixtures/smoke/pr-closeout.case.json"


def _check(world: Any, *, smoke: bool = False) -> dict[str, Any]:
    ports = documents()
    packet = check_packet(world.inspect(), ports, smoke=smoke)
    assert ports.problems("validation-result", packet) == []
    return packet


def _evidence(world: Any, repository: Any, **policy: Any) -> None:
    sample = sorted((repository / "fixtures/runtime-evidence").glob("*.case.json"))[0]
    world.write("evidence/sample.case.json", sample.read_bytes())
    world.project(
        runtime_evidence_policy={
            "required": True,
            "missing_status": "blocked",
            "evidence_paths": ["evidence"],
            **policy,
        }
    )


def test_a_consumer_with_a_sound_bundle_and_evidence_passes(world: Any, repository: Any) -> None:
    _evidence(world, repository)
    packet = _check(world)
    assert (packet["status"], packet["errors"]) == ("passed", [])
    assert packet["recovery_command"] is None
    assert packet["authority_classification"]["authority_mode"] == "artifact_only"


def test_the_packet_holds_every_listed_member(world: Any) -> None:
    assert set(_check(world)) == {
        "schema_version",
        "status",
        "shared_contract_status",
        "local_project_truth_status",
        "adopted_contracts",
        "proves",
        "does_not_prove",
        "check_mode",
        "artifact_repo_root",
        "latest_path",
        "run_id",
        "run_verdict",
        "expected_context",
        "observed_latest_context",
        "context_match",
        "context_mismatch_reason",
        "recovery_command",
        "strict_smoke_command",
        "runtime_evidence",
        "authority_classification",
        "checks",
        "errors",
    }


def test_the_verdict_of_the_run_stands_beside_that_of_the_bundle(failing: Any, repository: Any) -> None:
    _evidence(failing, repository)
    packet = _check(failing)
    assert (packet["status"], packet["run_verdict"]) == ("passed", "fail")


def test_a_bundle_that_does_not_hold_has_no_verdict_of_its_run(world: Any) -> None:
    assert _check(world)["run_verdict"] == "pass"
    world.write("bundle/report.md", "other")
    assert _check(world)["run_verdict"] is None


def test_where_no_suite_stands_the_case_that_was_run_is_recommended(world: Any) -> None:
    world.path(".evals/suite.json").unlink()
    assert _check(world)["recovery_command"].endswith("&& evals run .evals/cases/closeout.case.json --json)")
    world.path(".evals/cases/closeout.case.json").unlink()
    assert _check(world)["recovery_command"] == "evals schema eval-case"


def test_a_consumer_has_no_expected_context(world: Any) -> None:
    packet = _check(world)
    assert packet["expected_context"] is None
    assert packet["context_match"] is None
    assert packet["context_mismatch_reason"] is None
    assert packet["strict_smoke_command"] is None
    assert packet["observed_latest_context"] == {
        "case_id": "closeout",
        "suite_id": "consumer-closeout",
        "execution_mode": "synthetic",
    }
    assert packet["artifact_repo_root"] == str(world.root)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda world: None, ".evals/project.json: there is no such file"),
        (lambda world: world.write(".evals/project.json", "{"), ".evals/project.json: "),
        (lambda world: world.project(), "it names no evidence; expected the paths"),
        (
            lambda world: world.project(
                runtime_evidence_policy={"required": True, "missing_status": "blocked", "evidence_paths": []}
            ),
            "it requires evidence but names none",
        ),
    ],
    ids=["no manifest", "invalid manifest", "no evidence", "required evidence"],
)
def test_without_a_policy_that_names_evidence_the_check_fails(world: Any, prepare: Any, said: str) -> None:
    prepare(world)
    packet = _check(world)
    assert packet["status"] == "failed"
    assert packet["runtime_evidence"]["policy_coverage"]["status"] == "not_configured"
    assert len(packet["errors"]) == 1
    assert said in packet["errors"][0]


def test_evidence_that_does_not_fit_its_schema_fails_the_check(world: Any, repository: Any) -> None:
    _evidence(world, repository)
    world.write("evidence/broken.case.json", "{}")
    packet = _check(world)
    assert packet["status"] == "failed"
    assert any(error.startswith("evidence/broken.case.json: ") for error in packet["errors"])


def test_a_folder_of_evidence_without_a_case_is_told(world: Any, repository: Any) -> None:
    _evidence(world, repository, evidence_paths=[".evals/cases/none"])
    (world.root / ".evals/cases/none").mkdir()
    packet = _check(world)
    assert packet["runtime_evidence"]["policy_coverage"]["status"] == "fail"
    assert any("holds no case" in error for error in packet["errors"])


def test_a_missing_run_names_the_command_that_makes_one(world: Any) -> None:
    world.path(LATEST).unlink()
    packet = _check(world)
    assert "run_id" not in packet
    assert packet["observed_latest_context"] is None
    assert packet["recovery_command"].endswith("&& evals run .evals/suite.json --json)")


def test_home_compares_with_the_smoke_case_without_failing_for_it(home: Any) -> None:
    packet = _check(home)
    assert packet["check_mode"] == "observed-latest"
    assert packet["status"] == "passed"
    assert (packet["context_match"], packet["context_mismatch_reason"]) == (False, "case_id_mismatch")
    assert packet["strict_smoke_command"] == "evals check --smoke --json"
    assert packet["recovery_command"].endswith(f"evals run {SMOKE} --json)")
    assert packet["artifact_repo_root"] is None
    assert "authority_classification" not in packet


def test_the_smoke_check_fails_on_a_bundle_of_another_case(home: Any) -> None:
    packet = _check(home, smoke=True)
    assert (packet["check_mode"], packet["status"]) == ("smoke-context", "failed")
    assert packet["errors"] == [
        f"{LATEST}: $.case_id: case_id_mismatch: closeout; expected pr-closeout of {SMOKE}",
        f"{LATEST}: $.producer.case_path: .evals/cases/closeout.case.json; expected {SMOKE}",
    ]


def _smoke_case(home: Any, **members: Any) -> None:
    case = {"case_id": "closeout", "suite_id": "consumer-closeout", **members}
    home.write(SMOKE, json.dumps(case))
    home.change(
        LATEST,
        producer={**home.read(LATEST)["producer"], "case_path": SMOKE, "case_sha256": home.digest(SMOKE)},
    )


def test_the_smoke_check_passes_on_a_bundle_of_the_smoke_case(home: Any) -> None:
    _smoke_case(home)
    packet = _check(home, smoke=True)
    assert (packet["status"], packet["errors"]) == ("passed", [])
    assert (packet["context_match"], packet["context_mismatch_reason"]) == (True, None)
    assert packet["recovery_command"] is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda home: _smoke_case(home, suite_id="other"), "suite_id_mismatch"),
        (lambda home: home.change(LATEST, execution_mode="real"), "execution_mode_mismatch"),
        (lambda home: home.change(LATEST, execution_mode="imagined"), "observed_latest_context_missing"),
        (lambda home: home.write(LATEST, "[]"), "observed_latest_context_missing"),
        (lambda home: home.write(SMOKE, "{"), "expected_context_unavailable"),
        (lambda home: home.write(SMOKE, "[]"), "expected_context_unavailable"),
        (lambda home: home.write(SMOKE, "{}"), "expected_context_unavailable"),
    ],
)
def test_the_first_difference_from_the_smoke_case_is_named(home: Any, change: Any, reason: str) -> None:
    _smoke_case(home)
    change(home)
    packet = _check(home, smoke=True)
    assert (packet["context_match"], packet["context_mismatch_reason"]) == (False, reason)
    assert packet["status"] == "failed"
    assert any(reason in error for error in packet["errors"])


def test_the_smoke_case_alone_counts_where_there_is_no_producer(home: Any) -> None:
    _smoke_case(home)
    home.change(LATEST, producer=...)
    assert _check(home, smoke=True)["status"] == "passed"


def test_the_smoke_check_belongs_to_home() -> None:
    home = Root(path="/", shown=None, home=True, way=".")
    require_check_mode(home, smoke=True)
    require_check_mode(Root(path="/", shown="/", home=False, way="/"), smoke=False)


@pytest.mark.parametrize(
    "root",
    [
        Root(path="/", shown=None, home=False, way="."),
        Root(path="/", shown="/", home=False, way="/"),
        Root(path="/", shown="/", home=True, way="/"),
    ],
    ids=["consumer around here", "named consumer", "named checkout"],
)
def test_elsewhere_the_smoke_check_is_refused(root: Root) -> None:
    with pytest.raises(RequirementError) as caught:
        require_check_mode(root, smoke=True)
    assert (caught.value.requirement, caught.value.code) == ("check mode", "check.mode")


def test_naming_the_own_checkout_is_home_mode_too(home: Any) -> None:
    assert select_root(str(home.root), "/").home
    assert _check(home)["expected_context"] is not None
