"""receipt, gate, explain, schema and example: what they print and what they refuse."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli import main
from evals_cli.commands import example, example_story
from evals_cli.commands.ports import documents, installed_folder
from evals_cli.core import catalog
from evals_cli.core.errors import EvalsError
from evals_cli.schemas.validator import problems, schema_names

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command line in a folder with one capsule `c`; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    main(["capsule", "create", "c"])
    main(["capsule", "append", "c", "--lineage", "plan", "--kind", "a"])
    capsys.readouterr()

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def _document(schema: str, out: str) -> Any:
    document = json.loads(out)
    assert problems(schema, document) == []
    return document


def test_a_receipt_is_printed_and_written_alike(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("artifact\n")
    (tmp_path / "g.json").write_text('{"verdict": "pass"}')
    code, out, err = call(
        "receipt", "build", "c", "--artifact", "a.txt", "--gate=g.json", "--out", "deep/er/r.json"
    )
    assert (code, err) == (0, "")
    receipt = _document("receipt-build-output", out)
    assert receipt == json.loads((tmp_path / "deep/er/r.json").read_text())
    code, out, err = call(
        "receipt", "verify", "deep/er/r.json", "c", "--artifact", "a.txt", "--gate", "g.json"
    )
    assert (code, err) == (0, "")
    assert _document("receipt-verify-output", out) == {"ok": True, "check": None, "reason": None}


def test_a_changed_artifact_fails_its_check(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("artifact\n")
    call("receipt", "build", "c", "--artifact", "a.txt", "--out", "r.json")
    (tmp_path / "a.txt").write_text("another\n")
    code, out, err = call("receipt", "verify", "r.json", "c", "--artifact", "a.txt")
    assert (code, err) == (1, "")
    assert _document("receipt-verify-output", out)["check"] == "artifact"


@pytest.mark.parametrize("text", ["null", "[]", '"pass"'])
@pytest.mark.parametrize("words", [["build", "c"], ["verify", "r.json", "c"]])
def test_a_gate_document_that_is_no_object_is_not_taken_for_none(
    words: list[str], text: str, call: Call, tmp_path: Path
) -> None:
    call("receipt", "build", "c", "--out", "r.json")
    (tmp_path / "g.json").write_text(text)
    code, out, err = call("receipt", *words, "--gate", "g.json")
    assert (code, out) == (1, "")
    assert err.startswith("evals: receipt.unreadable: the gate document g.json")


@pytest.mark.parametrize("option", ["--artifact", "--gate"])
def test_a_receipt_does_not_replace_a_file_that_it_names(option: str, call: Call, tmp_path: Path) -> None:
    (tmp_path / "named").write_text("{}")
    code, out, err = call("receipt", "build", "c", option, "named", "--out", "./named")
    assert (code, out) == (2, "")
    assert option in err
    assert (tmp_path / "named").read_text() == "{}"
    assert not (tmp_path / "c/projection.json").exists()


@pytest.mark.parametrize("name", ["missing.json", ".", "bad.json", "latin.json", "odd\x1b\u202e.json"])
@pytest.mark.parametrize("role", ["receipt", "gate"])
def test_a_file_that_is_no_json_is_unreadable(call: Call, tmp_path: Path, name: str, role: str) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    words = ["verify", name, "c"] if role == "receipt" else ["build", "c", "--gate", name]
    code, out, err = call("receipt", *words)
    assert (code, out) == (1, "")
    assert err.startswith("evals: receipt.unreadable: ")
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert not (tmp_path / "c/projection.json").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_is_refused_and_not_waited_for(call: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    code, _, err = call("receipt", "verify", "pipe", "c")
    assert code == 1
    assert err.startswith("evals: receipt.unreadable: ")


def test_gate_run_refuses_before_it_touches_anything(call: Call, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*"))
    code, out, err = call("gate", "run", "no.json", "--work-dir", "w", "--capsule", "c2")
    assert (code, out) == (1, "")
    assert err.startswith("evals: gate.isolation_required: ")
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.fixture
def variants() -> Path:
    return Path(installed_folder("fixtures")) / "example" / "variants"


def test_inspecting_a_quiet_variant_passes(call: Call, variants: Path) -> None:
    code, out, err = call("gate", "inspect", str(variants / "candidate"))
    assert (code, err) == (0, "")
    document = _document("gate-inspect-output", out)
    assert (document["name"], document["tripwires"], document["executed"]) == ("candidate", [], False)


def test_inspecting_a_variant_with_hits_fails(call: Call, variants: Path) -> None:
    code, out, err = call("gate", "inspect", str(variants / "hasty"))
    assert (code, err) == (1, "")
    rules = {hit["rule"] for hit in _document("gate-inspect-output", out)["tripwires"]}
    assert {"effect_class_expansion", "hidden_network"} <= rules


def test_the_highest_class_can_be_named(call: Call, variants: Path) -> None:
    code, out, _ = call("gate", "inspect", str(variants / "hasty"), "--max-effect-class", "SE4")
    rules = {hit["rule"] for hit in json.loads(out)["tripwires"]}
    assert (code, "effect_class_expansion" in rules) == (1, False)
    code, out, err = call("gate", "inspect", str(variants / "hasty"), "--max-effect-class", "SE9")
    assert (code, out) == (2, "")
    assert "--max-effect-class takes one of SE0" in err


def test_a_variant_may_be_declared_in_toml(call: Call, tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v/variant.toml").write_text('name = "v"\neffect_class = "SE0"\nentry = "run.py"\n')
    (tmp_path / "v/run.py").write_text("import socket\n")
    code, out, _ = call("gate", "inspect", "v")
    hits = _document("gate-inspect-output", out)["tripwires"]
    assert (code, [hit["file"] for hit in hits]) == (1, ["run.py"])


@pytest.mark.parametrize(("name", "code"), [("none", "variant_missing"), ("c", "variant_missing")])
def test_a_folder_without_a_variant_is_refused(call: Call, name: str, code: str) -> None:
    exit_code, out, err = call("gate", "inspect", name)
    assert (exit_code, out) == (1, "")
    assert err.startswith(f"evals: gate.{code}: ")


def test_explain_gives_the_four_parts_of_a_code(call: Call) -> None:
    code, out, err = call("explain", "capsule.broken_link")
    assert (code, err) == (0, "")
    labels = [line[2:22].rstrip() for line in out.splitlines()[1:] if line[2] != " "]
    assert labels == ["means", "establishes", "does not establish", "next"]
    assert all(len(line) <= 98 for line in out.splitlines())


@pytest.mark.parametrize("entry", catalog.entries(), ids=lambda entry: entry.code)
def test_explain_knows_every_code(call: Call, entry: catalog.Entry) -> None:
    code, out, _ = call("explain", "--json", entry.code)
    assert code == 0
    assert _document("explain-output", out)["code"] == entry.code


def test_explain_alone_lists_every_code(call: Call) -> None:
    code, out, _ = call("explain")
    assert code == 0
    assert all(f"  {entry.code} " in out for entry in catalog.entries())
    assert all(len(line) <= 98 for line in out.splitlines())
    assert all(" ".join(entry.meaning.split()) in " ".join(out.split()) for entry in catalog.entries())
    _, out, _ = call("explain", "--json")
    codes = [row["code"] for row in _document("explain-output", out)["codes"]]
    assert codes == [entry.code for entry in catalog.entries()]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["explain", "capsule.bussy"], "did you mean capsule.busy?"),
        (["explain", "zzz"], "`evals explain` lists all of them"),
        (["schema", "capsule-recept"], "did you mean capsule-receipt?"),
        (["schema", "zzz"], "`evals schema` lists all of them"),
    ],
)
def test_an_unknown_name_is_a_usage_error_with_a_hint(call: Call, words: list[str], hint: str) -> None:
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert hint in err


def test_schema_lists_and_prints_what_is_installed(call: Call) -> None:
    code, out, _ = call("schema")
    assert (code, out.splitlines()) == (0, schema_names())
    for spelling in ("capsule-envelope", "capsule-envelope.schema.json"):
        code, out, _ = call("schema", spelling)
        assert code == 0
        assert json.loads(out)["$id"] == "https://evals.example/schemas/capsule-envelope.schema.json"


@pytest.fixture
def empty_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_example_comes_out_as_claimed_and_leaves_nothing(call: Call, empty_temp: Path) -> None:
    code, out, err = call("example")
    assert (code, err) == (0, "")
    assert out.count("\n    $ ") == sum(len(step.commands) for step in example_story.STEPS)
    assert f"PASS  {len(example_story.STEPS)} of {len(example_story.STEPS)} steps" in out
    assert "NOT AS CLAIMED" not in out
    assert list(empty_temp.iterdir()) == []


def test_the_example_prints_the_same_twice(call: Call) -> None:
    assert call("example") == call("example")


def test_the_example_as_json_fits_its_schema(call: Call, empty_temp: Path) -> None:
    code, out, _ = call("example", "--json")
    document = _document("example-output", out)
    assert (code, document["ok"], document["kept"]) == (0, True, None)
    assert all(step["ok"] for step in document["steps"])


def test_the_examples_folder_can_be_kept_and_used(call: Call, empty_temp: Path) -> None:
    _, out, _ = call("example", "--keep", "--json")
    kept = json.loads(out)["kept"]
    assert call("receipt", "verify", f"{kept}/run.receipt.json", f"{kept}/copy")[0] == 0
    assert call("capsule", "verify", f"{kept}/tampered")[0] == 1
    shutil.rmtree(kept)
    _, out, _ = call("example", "--keep")
    assert f"kept in           {empty_temp}" in out


def test_a_step_that_does_not_come_out_stops_the_example(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_story, "_code_of", lambda _: "no refusal")
    code, out, _ = call("example")
    assert code == 1
    assert "NOT AS CLAIMED: no refusal" in out
    assert "FAIL  2 of 15 steps" in out
    code, out, _ = call("example", "--json")
    document = _document("example-output", out)
    assert (code, document["ok"], len(document["steps"])) == (1, False, 3)


def test_a_refusal_that_no_step_claims_names_its_code_and_no_folder(tmp_path: Path) -> None:
    def refuse(world: example_story.World) -> example_story.Outcome:
        raise EvalsError("file.missing", f"{world.path('x')}: there is no such file")

    step = example_story.Step(name="n", claim="c", commands=["x"], act=refuse)
    world = example_story.World(folder=str(tmp_path))
    outcome = example_story.play(step, world)
    assert (outcome.text, outcome.ok) == ("file.missing: x: there is no such file", False)


def test_an_act_that_is_not_refused_is_no_code() -> None:
    assert example_story._code_of(lambda: None) == "no refusal"


def test_example_data_that_cannot_be_copied_is_a_named_failure(
    call: Call, monkeypatch: pytest.MonkeyPatch, empty_temp: Path
) -> None:
    monkeypatch.setattr(example, "installed_folder", lambda _: "/nonexistent")
    code, out, err = call("example")
    assert (code, out) == (1, "")
    assert err.startswith("evals: file.write_failed: ")
    assert list(empty_temp.iterdir()) == []


def test_no_place_for_the_example_is_a_named_failure(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent/folder")
    code, out, err = call("example")
    assert (code, out) == (1, "")
    assert err.startswith("evals: file.write_failed: ")


def test_the_ports_read_and_judge_documents() -> None:
    ports = documents()
    assert ports.parse("a.toml", b"a = 1\n") == {"a": 1}
    with pytest.raises(EvalsError, match=r"json\.repeated_key"):
        ports.parse("a.json", b'{"a":1,"a":2}')
    assert ports.problems("capsule-metadata", []) != []
    assert os.path.isdir(installed_folder("contracts"))
