"""The face keeps its exit codes and its one-line promises, whatever the words and the streams are."""

from __future__ import annotations

import gc
import json
import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import evals_cli
from evals_cli import refusal, terminal
from evals_cli.core.errors import EvalsError, RequirementError
from evals_cli.version import VERSION

face: Any = sys.modules.get("evals_cli.main") or __import__("evals_cli.main", fromlist=["main"])

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Run = Callable[..., int]
    Stub = Callable[[Callable[..., int]], None]


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Give the garbage collector back as it was; `run` sets it for a process that ends."""
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Put a function in the place of every command's `run`."""

    def install(run: Callable[..., int]) -> None:
        def configure(parser: Any) -> None:
            parser.add_argument("words", nargs="*")
            parser.add_argument("--json", action="store_true")

        module = SimpleNamespace(configure=configure, run=run)
        monkeypatch.setattr(face, "_load", lambda _: module)

    return install


def test_version_is_one_line_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert face.main(["--version"]) == 0
    assert capsys.readouterr() == (f"evals {VERSION}\n", "")


def test_no_words_print_help_on_stderr_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert face.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: evals ")


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_goes_to_stdout(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert face.main([word]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: evals ")
    assert err == ""


@pytest.mark.parametrize("word", ["capsule", "receipt", "gate"])
def test_a_group_alone_lists_its_commands_and_exits_2(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert face.main([word]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"evals: {word} needs a command\nusage: evals {word} COMMAND")


def test_a_groups_help_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert face.main(["capsule", "--help"]) == 0
    assert "capsule verify" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["capsule", "verfy", "x"], "capsule verify"),
        (["chek"], "check"),
        (["capsul", "verify"], "capsule verify"),
        (["reciept"], "receipt"),
        (["validate-contract"], "validate-contracts"),
        (["verify"], "capsule verify"),
        (["help"], "--help"),
        (["help", "run"], "--help"),
        (["-v"], "--version"),
        (["-V"], "--version"),
        (["version"], "--version"),
    ],
)
def test_an_unknown_command_names_the_nearest(
    capsys: pytest.CaptureFixture[str], words: list[str], near: str
) -> None:
    assert face.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"did you mean `evals {near}`?" in err


def test_an_unknown_command_that_is_near_nothing_points_to_the_list(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert face.main(["zzzzzz"]) == 2
    assert capsys.readouterr().err == "evals: there is no command zzzzzz\nevals --help lists the commands\n"


def test_an_unknown_command_is_not_printed_raw(capsys: pytest.CaptureFixture[str]) -> None:
    assert face.main(["zz\x1b[2J\n\u202e\udcff"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert "zz\\x1b[2J\\n\\u202e\\udcff" in err


def test_usage_errors_exit_2_and_show_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert face.main(["capsule", "verify"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[1] == "usage: evals capsule verify DIR"


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_a_commands_help_goes_to_stdout(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert face.main(["capsule", "verify", word]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: evals capsule verify DIR\n")
    assert err == ""


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_commands_exit_code_is_passed_on(stub: Stub, code: int) -> None:
    stub(lambda args, terminal: code)
    assert face.main(["capsule", "verify"]) == code


def test_a_refusal_is_one_line_with_its_code(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub(_raising(EvalsError("capsule.busy", "wait\n\x07")))
    assert face.main(["capsule", "verify"]) == 1
    assert capsys.readouterr() == ("", "evals: capsule.busy: wait\\n\\x07\n")


def test_a_requirement_prints_every_problem_and_the_way_out(
    stub: Stub, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(
        _raising(RequirementError("case validation", ["$.a: x", "$.b: y"], recovery="evals schema eval-case"))
    )
    assert face.main(["run"]) == 1
    assert capsys.readouterr() == (
        "",
        "evals: case.validation: $.a: x\nevals: case.validation: $.b: y\nnext: evals schema eval-case\n",
    )


def test_a_run_command_asked_for_json_refuses_on_stdout(
    stub: Stub, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(_raising(RequirementError("case path", ["no such case"], recovery="name one")))
    assert face.main(["run", "x", "--json"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == {
        "schema_version": 2,
        "status": "failed",
        "requirement": "case path",
        "checks": [],
        "errors": ["no such case"],
        "recovery": "name one",
    }


def test_an_error_without_a_requirement_is_named_by_its_code(stub: Stub) -> None:
    error = EvalsError("file.unreadable", "no", {"supported_schemas": ["a"], "other": 1})
    assert refusal.refusal_packet(error) == {
        "schema_version": 2,
        "status": "failed",
        "requirement": "file.unreadable",
        "checks": [],
        "errors": ["no"],
        "supported_schemas": ["a"],
    }


def test_an_evidence_command_with_json_refuses_on_stderr(
    stub: Stub, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(_raising(EvalsError("capsule.missing_journal", "none")))
    assert face.main(["capsule", "show", "--json"]) == 1
    assert capsys.readouterr() == ("", "evals: capsule.missing_journal: none\n")


def test_an_unexpected_exception_is_one_line_without_a_traceback(
    stub: Stub, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(_raising(ZeroDivisionError("/secret/path")))
    assert face.main(["capsule", "verify"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("evals: internal.error: an unexpected ZeroDivisionError ")
    assert err.count("\n") == 1
    assert "secret" not in err


def test_debug_shows_the_traceback(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub(_raising(ZeroDivisionError("why")))
    assert face.main(["--debug", "capsule", "verify"]) == 1
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "evals: internal.error: " in err


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), SystemExit])
def test_nothing_but_a_code_leaves_main(stub: Stub, error: Any) -> None:
    stub(_raising(error))
    if error is SystemExit:  # nothing in this program raises it; it is left to the interpreter
        with pytest.raises(SystemExit):
            face.main(["capsule", "verify"])
        return
    assert face.main(["capsule", "verify"]) == 1


def test_an_interrupt_exits_130(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub(_raising(KeyboardInterrupt()))
    assert face.main(["capsule", "verify"]) == 130
    assert capsys.readouterr() == ("", "evals: interrupted\n")


def test_an_interrupt_before_the_command_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(face, "main", interrupted)
    assert face.run() == 130


@pytest.mark.parametrize("argv", [[5], ["capsule", None], [b"--version"], "--version"])
def test_words_that_are_no_text_are_a_callers_mistake(argv: Any) -> None:
    with pytest.raises(TypeError, match="argv is a sequence of str"):
        face.main(argv)


def test_argv_defaults_to_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["evals", "--version"])
    assert face.run() == 0
    assert capsys.readouterr().out == f"evals {VERSION}\n"


def test_the_package_offers_main_as_a_function_and_as_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert evals_cli.main(["--version"]) == 0
    assert callable(evals_cli.main)
    assert callable(face.run)


def test_the_version_is_that_of_the_distribution(repository: Path) -> None:
    text = (repository / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{VERSION}"\n' in text
    assert evals_cli.__version__ == VERSION


@pytest.mark.parametrize(
    "name", ["canonical", "envelope", "capsule", "receipt", "retrospective", "replay", "gate"]
)
def test_the_package_offers_each_core_module_of_the_promise(name: str) -> None:
    assert getattr(evals_cli, name).__name__ == f"evals_cli.core.{name}"


def test_the_package_offers_its_error_and_nothing_unpromised() -> None:
    assert evals_cli.EvalsError is EvalsError
    assert set(dir(evals_cli)) == set(evals_cli.__all__)
    with pytest.raises(AttributeError, match="journal"):
        evals_cli.__getattr__("journal")


def test_a_refusal_document_that_cannot_be_printed_is_said_on_stderr(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(_raising(RequirementError("case path", ["no such case"])))
    monkeypatch.setattr(sys, "stdout", None)
    assert face.main(["run", "x", "--json"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "evals: case.path: no such case"
    assert lines[1].startswith("evals: output.unwritable: ")


def test_a_refusal_document_that_nobody_reads_is_silent(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*_: object) -> None:
        raise terminal.OutputClosed

    stub(_raising(RequirementError("case path", ["no such case"])))
    monkeypatch.setattr(terminal.Terminal, "document", gone)
    assert face.main(["run", "x", "--json"]) == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_missing_streams_leak_no_descriptor(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sys, name, None)
    before = os.dup(0)
    face._occupy_standard_streams()
    after = os.dup(0)
    os.close(before)
    os.close(after)
    assert after == before + 1


def test_what_a_broken_stream_holds_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tmp_path / "closed", "w", encoding="utf-8") as stream:
        stream.write("held")
        os.close(stream.fileno())  # the next flush fails, as on a full disk
        monkeypatch.setattr(sys, "stdout", stream)
        face._settle_streams()
        stream.flush()
    assert (tmp_path / "closed").read_bytes() == b""


def _raising(error: Any) -> Callable[..., int]:
    def run(args: Any, terminal: Any) -> int:
        raise error

    return run
