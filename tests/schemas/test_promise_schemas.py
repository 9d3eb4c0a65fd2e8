"""Schemas of contracts, runtime-evidence cases and packets: the published fields, own words for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evals_cli.schemas.validator import schema_text

PUBLISHED = ["case-promotion", "contract", "eval-improvement-packet", "runtime-evidence-case"]
OWN = ["validate-contracts-output", "validate-improvements-output", "validate-promotions-output"]
WORDS = {"$id", "$schema", "description", "title"}


def shape(value: Any) -> Any:
    """A schema without its words, and without the order of its enums and required lists."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for key, item in value.items():
        if key == "properties":
            kept[key] = {name: shape(member) for name, member in item.items()}
        elif key in ("enum", "required"):
            kept[key] = sorted(item)
        elif key not in WORDS:
            kept[key] = shape(item)
    return kept


def fields(schema: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, member in schema.get("properties", {}).items():
        yield from fields(member, f"{path}.{name}")
    if "items" in schema:
        yield from fields(schema["items"], f"{path}[]")


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_fields_are_the_published_ones(name: str, shared: Path) -> None:
    published = json.loads((shared / "reference" / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    assert shape(json.loads(schema_text(name))) == shape(published)


@pytest.mark.parametrize("name", [*PUBLISHED, *OWN])
def test_every_field_is_described(name: str) -> None:
    schema = json.loads(schema_text(name))
    assert schema["$id"] == f"https://evals.example/schemas/{name}.schema.json"
    assert schema["title"]
    assert [path for path, field in fields(schema) if not field.get("description")] == []
