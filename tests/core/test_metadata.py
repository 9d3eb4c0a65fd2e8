"""capsule.json: what makes it valid, and that whatever is wrong with it has one code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from evals_cli.core import canonical, metadata
from evals_cli.core.errors import EvalsError

if TYPE_CHECKING:
    from pathlib import Path

_GOOD = {
    "schema": "capsule-envelope/v1",
    "run_id": "run-1",
    "capsule_id": "cap-1",
    "harness_version": " v ",
    "task_family": "家族",
    "created_at": "2026-08-20T00:00:00.000Z",
}


def test_valid_metadata_is_read_with_its_bytes_and_extra_keys_are_allowed() -> None:
    raw = canonical.pretty_json({**_GOOD, "extra": [1]}).encode()
    found = metadata.parse_metadata(raw)
    assert found.raw == raw
    assert found.identity == ("capsule-envelope/v1", "run-1", "cap-1", " v ", "家族")
    assert found.created_at == "2026-08-20T00:00:00.000Z"


@pytest.mark.parametrize("field", _GOOD)
def test_each_field_is_required(field: str) -> None:
    document = {key: value for key, value in _GOOD.items() if key != field}
    assert metadata.metadata_problems(document) == [f"$.{field}: missing"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", "capsule-envelope/v2"),
        ("run_id", "a\n"),
        ("capsule_id", None),
        ("harness_version", "\u00a0\ufeff\t"),
        ("task_family", 5),
        ("task_family", ""),
        ("created_at", "2026-08-20T00:00:00Z"),
        ("created_at", "2026-02-30T00:00:00.000Z"),
        ("created_at", "10000-01-01T00:00:00.000Z"),
        ("created_at", 0),
    ],
)
def test_a_field_of_the_wrong_form_is_named(field: str, value: object) -> None:
    problems = metadata.metadata_problems({**_GOOD, field: value})
    assert [problem.split(":")[0] for problem in problems] == [f"$.{field}"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("harness_version", "\u0085"),
        ("task_family", "\u001c"),
        ("created_at", "+010000-01-01T00:00:00.000Z"),
        ("created_at", "-000001-12-31T23:59:59.999Z"),
    ],
)
def test_unusual_values_that_are_valid(field: str, value: str) -> None:
    assert metadata.metadata_problems({**_GOOD, field: value}) == []


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"\xef\xbb\xbf{}", b"\xff", b'{"a":NaN}', b"[" * 5000]
)
def test_bytes_that_are_no_metadata_are_one_code_and_one_line(raw: bytes) -> None:
    with pytest.raises(EvalsError) as caught:
        metadata.parse_metadata(raw)
    assert caught.value.code == "capsule.metadata_invalid"
    assert caught.value.message.isprintable()


def _folder(folder: Path, kind: str) -> None:
    target = folder / "capsule.json"
    if kind == "folder":
        target.mkdir()
    elif kind == "fifo":
        os.mkfifo(target)
    elif kind == "dangling link":
        target.symlink_to("nowhere")
    elif kind == "outward link":
        outside = folder.parent / "outside.json"
        outside.write_bytes(metadata.metadata_bytes(_GOOD))
        target.symlink_to(outside)
    elif kind == "device":
        target.symlink_to("/dev/zero")
    elif kind == "large":
        target.write_bytes(b" " * (metadata.MAX_BYTES + 1))


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "fifo", "dangling link", "outward link", "device", "large"]
)
def test_a_place_without_a_readable_file_of_its_own_is_refused_and_never_waited_for(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "capsule"
    folder.mkdir()
    _folder(folder, kind)
    with pytest.raises(EvalsError) as caught:
        metadata.read_metadata(str(folder))
    assert caught.value.code == "capsule.metadata_invalid"
    assert str(tmp_path) not in caught.value.message


def test_a_read_that_fails_is_the_same_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "capsule.json").write_bytes(metadata.metadata_bytes(_GOOD))

    def fail(descriptor: int, size: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(EvalsError, match="cannot be read"):
        metadata.read_metadata(str(tmp_path))


def test_known_metadata_is_given_back_only_while_the_bytes_on_disk_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "capsule.json"
    path.write_bytes(metadata.metadata_bytes(_GOOD))
    known = metadata.read_metadata(str(tmp_path))
    assert metadata.read_metadata(str(tmp_path), known) is known
    path.write_bytes(metadata.metadata_bytes({**_GOOD, "run_id": "run-2"}))
    assert metadata.read_metadata(str(tmp_path), known).run_id == "run-2"


def test_new_metadata_is_canonical_text_and_a_line_feed() -> None:
    assert metadata.metadata_bytes(_GOOD) == canonical.canonical_bytes(_GOOD) + b"\n"
    with pytest.raises(EvalsError, match="capsule.metadata_invalid"):  # noqa: RUF043 - a code
        metadata.metadata_bytes({**_GOOD, "run_id": None})
