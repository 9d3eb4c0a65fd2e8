"""The schemas of the run spine are sound, describe every field, and agree with the published shapes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evals_cli.schemas.formats import FORMATS
from evals_cli.schemas.validator import BASE, SUFFIX, schema_names, schema_text

NAMES = (
    "artifact-manifest",
    "assertion-result",
    "baseline-result",
    "claim-registry",
    "eval-case",
    "eval-result",
    "latest-run",
    "run-failure",
    "run-output",
    "score-vector",
    "scorer-result",
    "suite",
    "suite-run-output",
    "trace-event",
    "validate-output",
    "validate-schema-output",
)
WORDS = ("title", "description", "$id", "$schema")


def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def _fields(schema: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema that a document's value can meet, with its path."""
    for key, field in schema.get("properties", {}).items():
        yield f"{path}.{key}", field
        yield from _fields(field, f"{path}.{key}")
    if isinstance(schema.get("items"), dict):
        yield f"{path}[]", schema["items"]
        yield from _fields(schema["items"], f"{path}[]")


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_sound_and_known_by_its_name(name: str) -> None:
    schema = _schema(name)
    Draft202012Validator.check_schema(schema)
    assert name in schema_names()
    assert schema["$id"] == f"{BASE}{name}{SUFFIX}"
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert schema["description"].endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_described(name: str) -> None:
    fields = list(_fields(_schema(name)))
    assert fields
    assert [path for path, field in fields if len(field.get("description", "")) < 9] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_format_is_one_that_is_asserted(name: str) -> None:
    used = {field["format"] for _, field in _fields(_schema(name)) if "format" in field}
    assert used <= FORMATS.keys()


def _shape(schema: Any, siblings: Any) -> Any:
    """A schema without its words, its references resolved and its lists of names sorted."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _shape(siblings(schema["$ref"].removesuffix(SUFFIX)), siblings)
        shape = {
            key: _shape(value, siblings)
            for key, value in schema.items()
            if key not in WORDS or not isinstance(value, str)
        }
        if isinstance(shape.get("required"), list):
            shape["required"] = sorted(shape["required"])
        return shape
    return [_shape(item, siblings) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("name", [each for each in NAMES if "output" not in each and each != "run-failure"])
def test_a_published_document_keeps_its_published_fields(name: str, shared: Path) -> None:
    def published(other: str) -> Any:
        file = shared / "reference/schemas" / f"{other}{SUFFIX}"
        return json.loads(file.read_text(encoding="utf-8"))

    assert _shape(_schema(name), _schema) == _shape(published(name), published)
