"""The schemas of check, state, claims, evidence and the project manifest."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from evals_cli.commands.ports import documents
from evals_cli.core.check import check_packet
from evals_cli.core.git_state import GitState
from evals_cli.core.inspection import inspect_root
from evals_cli.core.roots import select_root
from evals_cli.core.state import state_packet
from evals_cli.schemas.validator import schema_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = (
    "authority-classification",
    "claim",
    "evidence",
    "external-project-manifest",
    "runtime-evidence-packet",
    "runtime-state",
    "validation-result",
)

# Fields that the published schemas leave open and this project describes: the authority classification
# inside other packets, the members of its actions, and the verdict of the run beside that of its bundle.
OPEN_IN_THE_PUBLISHED = ("authority_classification", "_actions", "run_verdict")


def _schema(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(schema_text(name))
    return value


def _fields(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of a field or an item, at any depth."""
    if isinstance(schema, list):
        for item in schema:
            yield from _fields(item)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties", {})
    yield from (properties[name] for name in properties)
    if isinstance(schema.get("items"), dict):
        yield schema["items"]
    for value in schema.values():
        yield from _fields(value)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_sound_and_known_by_its_name(name: str) -> None:
    schema = _schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"https://evals.example/schemas/{name}.schema.json"
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_described(name: str) -> None:
    bare = [field for field in _fields(_schema(name)) if "description" not in field and "$ref" not in field]
    assert bare == []


def _resolved(value: Any, document: dict[str, Any]) -> Any:
    """A schema with its references put in place and without words for people."""
    if isinstance(value, list):
        return [_resolved(item, document) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        file, _, pointer = value["$ref"].partition("#")
        target = document if not file else _schema(file.removesuffix(".schema.json"))
        found: Any = target
        for part in filter(None, pointer.split("/")):
            found = found[part]
        return _resolved(found, target)
    words = ("description", "title", "$id", "$schema", "$defs")
    kept = {
        key: _resolved(item, document)
        for key, item in value.items()
        if key not in words or (isinstance(item, dict) and key != "$defs")
    }
    return {key: _unordered(key, item) for key, item in kept.items()}


def _unordered(key: str, value: Any) -> Any:
    return sorted(value, key=str) if key in ("required", "enum") and isinstance(value, list) else value


def _closed_where_published_is_open(path: str) -> bool:
    return any(name in path for name in OPEN_IN_THE_PUBLISHED)


def _differences(ours: Any, published: Any, path: str = "$") -> Iterator[str]:
    if _closed_where_published_is_open(path):
        return
    if isinstance(ours, dict) and isinstance(published, dict):
        for key in sorted({*ours, *published}):
            if key not in ours or key not in published:
                if not _closed_where_published_is_open(f"{path}.{key}"):
                    yield f"{path}.{key}"
            else:
                yield from _differences(ours[key], published[key], f"{path}.{key}")
    elif ours != published:
        yield path


@pytest.mark.parametrize("name", NAMES)
def test_the_fields_are_the_published_ones(name: str, shared: Path) -> None:
    text = (shared / "reference/schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    published = json.loads(text)
    assert list(_differences(_resolved(_schema(name), _schema(name)), _resolved(published, published))) == []


def _world(folder: Path, base: dict[str, str]) -> Path:
    for name, content in base.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(content))
    return folder


@pytest.mark.parametrize("damage", ["none", "no latest", "no object", "no report"])
def test_what_check_and_state_print_fits_the_published_schemas(
    damage: str, shared: Path, tmp_path: Path, repository: Path
) -> None:
    base = json.loads((repository / "tests/vectors/data/bundles.json").read_text(encoding="utf-8"))["base"]
    root = _world(tmp_path / "root", base)
    latest = root / ".harness/evals/runs/latest.json"
    if damage == "no latest":
        latest.unlink()
    elif damage == "no object":
        latest.write_text("[]")
    elif damage == "no report":
        next(root.rglob("report.md")).unlink()
    inspection = inspect_root(select_root(str(root), "/"), documents(), installed=str(repository))
    git = GitState(status="unavailable", reason="not asked")
    state = state_packet(inspection, git=lambda: git)
    packets = {
        "runtime-state": state,
        "runtime-evidence-packet": state["evidence_packet"],
        "authority-classification": state["authority_classification"],
        "validation-result": check_packet(inspection, documents(), smoke=False),
    }
    for name, packet in packets.items():
        text = (shared / "reference/schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
        problems = [error.message for error in Draft202012Validator(json.loads(text)).iter_errors(packet)]
        assert problems == [], name
        assert documents().problems(name, packet) == [], name
