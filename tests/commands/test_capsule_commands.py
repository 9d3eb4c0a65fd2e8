"""The capsule commands: what they print, what they refuse, and what they leave untouched."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from evals_cli import main
from evals_cli.commands import capsule_append
from evals_cli.schemas.validator import problems

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command line in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def capsule(call: Call) -> str:
    """A capsule of one family in the folder `c`."""
    code, _, err = call("capsule", "create", "c", "--task-family", "slugify", "--run-id", "r1")
    assert (code, err) == (0, "")
    return "c"


def _append(call: Call, *words: str) -> tuple[int, str, str]:
    return call("capsule", "append", "c", "--lineage", "plan", "--kind", "note.made", *words)


def _document(schema: str, out: str) -> Any:
    document = json.loads(out)
    assert problems(schema, document) == []
    return document


def test_create_prints_the_metadata_as_stored(call: Call, tmp_path: Path) -> None:
    code, out, err = call("capsule", "create", "a/b", "--capsule-id", "c1", "--harness-version", "h 1")
    assert (code, err) == (0, "")
    document = _document("capsule-create-output", out)
    assert document == json.loads((tmp_path / "a/b/capsule.json").read_text())
    assert (document["capsule_id"], document["harness_version"]) == ("c1", "h 1")
    assert document["task_family"] == "unspecified"
    assert document["run_id"].startswith("run-")


def test_create_refuses_where_a_capsule_is(call: Call, capsule: str) -> None:
    code, out, err = call("capsule", "create", capsule)
    assert (code, out) == (1, "")
    assert err.startswith("evals: capsule.exists: ")


def test_create_with_an_invalid_id_touches_nothing(call: Call, tmp_path: Path) -> None:
    code, out, err = call("capsule", "create", "x", "--run-id", "no spaces")
    assert (code, out) == (1, "")
    assert err.startswith("evals: capsule.metadata_invalid: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--task-family", "--run-id"])
@pytest.mark.parametrize(
    ("word", "message"), [("\udcff", "of {} is not valid UTF-8"), ("\ud800x", "the word \\ud800x cannot be")]
)
def test_bytes_that_are_no_text_never_become_evidence(
    call: Call, tmp_path: Path, option: str, word: str, message: str
) -> None:
    code, out, err = call("capsule", "create", "x", option, word)
    assert (code, out) == (2, "")
    assert message.format(option) in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["verify", "project", "show", "group"])
def test_a_name_that_no_file_can_have_is_wrong_usage(call: Call, command: str) -> None:
    code, out, err = call("capsule", command, "\ud800")
    assert (code, out) == (2, "")
    assert err.startswith("evals: the word \\ud800 cannot be encoded")


def test_an_h_behind_a_dash_asks_for_help_and_creates_nothing(call: Call, tmp_path: Path) -> None:
    code, out, err = call("capsule", "create", "-h")
    assert (code, err) == (0, "")
    assert out.startswith("usage: evals capsule create ")
    assert list(tmp_path.iterdir()) == []


def test_append_prints_the_entry_as_stored(call: Call, capsule: str, tmp_path: Path) -> None:
    code, out, err = _append(call, "--effect-class", "SE1", "--payload", '{"note": "é", "total": 3}')
    assert (code, err) == (0, "")
    entry = _document("capsule-append-output", out)
    assert entry == json.loads((tmp_path / capsule / "journal.ndjson").read_bytes())
    assert (entry["seq"], entry["effect_class"], entry["payload"]) == (0, "SE1", {"note": "é", "total": 3})


def test_append_without_a_payload_has_an_empty_one(call: Call, capsule: str) -> None:
    _, out, _ = _append(call)
    assert json.loads(out)["payload"] == {}


def test_append_reads_a_payload_from_a_file(call: Call, capsule: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"note": "from a file"}')
    _, out, _ = _append(call, "--payload", "@p.json")
    assert json.loads(out)["payload"] == {"note": "from a file"}


def test_append_reads_a_payload_from_stdin(call: Call, capsule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _stdin(monkeypatch, [b'{"note": ', b'"in parts"}', b""])
    _, out, _ = _append(call, "--payload", "-")
    assert json.loads(out)["payload"] == {"note": "in parts"}


def _stdin(monkeypatch: pytest.MonkeyPatch, parts: list[Any]) -> None:
    """Make reads of descriptor 0 give these parts, or raise them."""
    real = os.read

    def read(descriptor: int, size: int) -> bytes:
        if descriptor != 0:
            return real(descriptor, size)
        part = parts.pop(0)
        if isinstance(part, Exception):
            raise part
        return bytes(part)

    monkeypatch.setattr(os, "read", read)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("{", "payload.unreadable"),
        ('{"note": "a", "note": "b"}', "payload.unreadable"),
        ("NaN", "payload.unreadable"),
        ("@missing.json", "payload.unreadable"),
        ("@.", "payload.unreadable"),
        ("null", "capsule.payload_invalid"),
        ("[]", "capsule.payload_invalid"),
        ('{"total": "3"}', "capsule.payload_invalid"),
        ('{"unknown": 1}', "capsule.payload_denied"),
        ('{"note": "TOKEN=abcdefgh12345"}', "capsule.secret_canary"),
    ],
)
def test_a_refused_payload_leaves_the_journal_alone(
    call: Call, capsule: str, tmp_path: Path, payload: str, code: str
) -> None:
    exit_code, out, err = _append(call, "--payload", payload)
    assert (exit_code, out) == (1, "")
    assert err.startswith(f"evals: {code}: ")
    assert err.count("\n") == 1
    assert "abcdefgh12345" not in err
    assert (tmp_path / capsule / "journal.ndjson").read_bytes() == b""
    assert not (tmp_path / capsule / ".append.lock").exists()


@pytest.mark.parametrize("failure", ["endless", "unreadable"])
def test_a_stdin_that_cannot_be_used_is_named(
    call: Call, capsule: str, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    monkeypatch.setattr(capsule_append, "PAYLOAD_LIMIT", 3)
    _stdin(monkeypatch, [b"1234"] if failure == "endless" else [OSError(5, "Input/output error")])
    code, out, err = _append(call, "--payload", "-")
    assert (code, out) == (1, "")
    assert err.startswith("evals: payload.unreadable: ")


@pytest.mark.parametrize(
    "words",
    [
        ["capsule", "append", "c", "--kind", "a"],
        ["capsule", "append", "c", "--lineage", "plan"],
        ["capsule", "append", "--lineage", "plan", "--kind", "a"],
        ["capsule", "append", "c", "--lineage", "plan", "--kind", "a", "--allow-drop"],
        ["capsule", "create"],
        ["capsule", "create", "a", "b"],
        ["capsule", "verify", "a", "b"],
        ["capsule", "show", "c", "--tail", "-1"],
        ["capsule", "show", "c", "--tail", "two"],
        ["capsule", "show", "c", "--tail", "9" * 400],
        ["capsule", "group", "--", "c"],
        ["capsule", "export", "c", ""],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_2_and_touches_nothing(call: Call, tmp_path: Path, words: list[str]) -> None:
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert "usage: evals capsule" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--lineage", "dream"), "--lineage takes one of plan, attempt, "),
        (("--lineage", "plan", "--effect-class", "se1"), "--effect-class takes one of SE0, SE1, "),
    ],
)
def test_a_choice_that_does_not_exist_is_wrong_usage(
    call: Call, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    code, out, err = call("capsule", "append", "c", "--kind", "a", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("payload", "hinted"),
    [("entry.json", True), ("a/b", True), ("note", False), ("{", False), ("@no.json", False)],
)
def test_a_file_without_its_sign_is_hinted_at(call: Call, capsule: str, payload: str, hinted: bool) -> None:
    code, _, err = _append(call, "--payload", payload)
    assert code == 1
    assert err.startswith("evals: payload.unreadable: ")
    assert (f"write @{payload}" in err) is hinted


def test_an_empty_stdin_is_called_empty(call: Call, capsule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _stdin(monkeypatch, [b""])
    code, out, err = _append(call, "--payload", "-")
    assert (code, out) == (1, "")
    assert err.startswith("evals: payload.unreadable: the payload: stdin is empty; ")


def test_a_locked_capsule_is_busy(call: Call, capsule: str, tmp_path: Path) -> None:
    (tmp_path / capsule / ".append.lock").write_bytes(b"")
    code, out, err = _append(call)
    assert (code, out) == (1, "")
    assert err.startswith("evals: capsule.busy: ")


def test_verify_project_export_and_group_print_their_documents(
    call: Call, capsule: str, tmp_path: Path
) -> None:
    _append(call)
    assert _document("capsule-verify-output", call("capsule", "verify", "c")[1])["ok"] is True
    projection = _document("capsule-project-output", call("capsule", "project", "c")[1])
    assert projection == json.loads((tmp_path / "c/projection.json").read_text())
    exported = _document("capsule-export-output", call("capsule", "export", "c", "out")[1])
    assert exported["dir"] == "out"
    report = _document("capsule-group-output", call("capsule", "group", "c", "out")[1])
    assert report["duplicate_count"] == 1


def test_a_failed_verification_is_a_document_and_no_error_line(call: Call) -> None:
    code, out, err = call("capsule", "verify", "none")
    assert (code, err) == (1, "")
    assert _document("capsule-verify-output", out)["code"] == "capsule.missing_journal"


def test_a_name_may_begin_with_one_dash_or_with_two_behind_a_folder(call: Call) -> None:
    assert call("capsule", "create", "-x")[0] == 0
    assert call("capsule", "create", "./--y", "--task-family", "unspecified")[0] == 0
    assert call("capsule", "group", "-x", "./--y")[0] == 0


def _fill(call: Call) -> None:
    for number in range(3):
        _append(call, "--payload", json.dumps({"note": f"n{number}", "summary": "\u202e" + "x" * 100}))


def test_show_lists_the_newest_last(call: Call, capsule: str) -> None:
    _fill(call)
    code, out, err = call("capsule", "show", "c")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["SEQ", "TIME", "LINEAGE", "KIND", "EFFECT", "PAYLOAD"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "2"]
    assert lines[3].endswith("...")
    assert "\u202e" not in out
    assert "\\u202e" in out


@pytest.mark.parametrize(("tail", "shown"), [("0", []), ("1", [2]), ("2", [1, 2]), ("9", [0, 1, 2])])
def test_show_gives_the_newest_entries_only(call: Call, capsule: str, tail: str, shown: list[int]) -> None:
    _fill(call)
    _, out, _ = call("capsule", "show", "c", "--json", "--tail", tail)
    assert [json.loads(line)["seq"] for line in out.splitlines()] == shown


def test_show_as_json_is_the_journal(call: Call, capsule: str, tmp_path: Path) -> None:
    _fill(call)
    _, out, _ = call("capsule", "show", "c", "--json")
    assert out.encode() == (tmp_path / "c/journal.ndjson").read_bytes()
    for line in out.splitlines():
        assert problems("capsule-show-output", json.loads(line)) == []


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_show_of_a_damaged_capsule_shows_nothing(
    call: Call, capsule: str, tmp_path: Path, words: list[str]
) -> None:
    _fill(call)
    journal = tmp_path / "c/journal.ndjson"
    journal.write_bytes(journal.read_bytes().replace(b"n2", b"n9"))
    code, out, err = call("capsule", "show", "c", *words)
    assert (code, out) == (1, "")
    assert err.startswith("evals: capsule.invalid_entry: ")


def test_show_of_an_empty_capsule_says_so(call: Call, capsule: str) -> None:
    assert call("capsule", "show", "c") == (0, "", "the capsule has no entries\n")
