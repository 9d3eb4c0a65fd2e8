"""The example data is what its README says: sound tasks, two quiet variants, one that trips every rule."""

from __future__ import annotations

import json
import unicodedata

import pytest

from evals_cli.core import gate
from evals_cli.core.replay import FixtureStore, create_replayer


@pytest.fixture
def example(repository):
    return repository / "fixtures" / "example"


def test_the_task_set_loads_and_its_answers_are_consistent(example):
    taskset = gate.load_taskset(example / "tasks.json")
    assert taskset.family == "slugify"
    for task in taskset.tasks:
        folded = unicodedata.normalize("NFKD", task["input"].lower()).encode("ascii", "ignore").decode()
        kept = "".join(character if character.isalnum() else " " for character in folded)
        assert "-".join(kept.split()) == task["expected"]


@pytest.mark.parametrize("name", ["baseline", "candidate"])
def test_the_plain_variants_declare_no_effect_and_trip_nothing(example, name):
    variant = gate.load_variant(example / "variants" / name)
    assert (variant.name, variant.effect_class, variant.entry) == (name, "SE0", "run.js")
    assert gate.scan_tripwires(variant, max_effect_class="SE0") == []


def test_the_hasty_variant_trips_every_rule(example):
    hits = gate.scan_tripwires(gate.load_variant(example / "variants" / "hasty"))
    assert {hit["rule"] for hit in hits} == {"effect_class_expansion"} | {
        wire.rule for wire in gate.TRIPWIRES
    }


def test_the_gate_document_names_what_is_there(example):
    document = json.loads((example / "gate.json").read_text(encoding="utf-8"))
    for field in ("taskset", "baseline", "candidate"):
        assert (example / document[field]).exists()


def test_the_recorded_response_is_served(example):
    tools = {"read_titles": {"effect_class": "SE0", "determinism": "deterministic"}}
    replayer = create_replayer(tools, store=FixtureStore(example / "replay"))
    assert "Hello, World!" in replayer.call("read_titles", {"site": "docs"})["titles"]
