"""Any bytes: no reader and no command crashes, hangs or shows a traceback, whatever it is given.

A few hundred inputs are tried here besides the corpus; `scripts/fire --only fuzz` tries many thousands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from firing import fuzz, oversize
from firing.fuzz_targets import Target, targets
from firing.mutations import mutated
from firing.report import LaneResult
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LIBRARY = (
    "canonical",
    "strict_json",
    "TOML",
    "schemas",
    "documents",
    "timestamps",
    "gate child",
    "task",
    "replay",
)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    return targets(tmp_path_factory.mktemp("targets"))


def _pieces(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    near = st.builds(mutated, st.integers(0, 2**32).map(random.Random), st.sampled_from(seeds))
    return near | st.binary(max_size=300)


@pytest.mark.parametrize("kind", ["library", "commands", "words"])
@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes_break_no_promise(every: list[Target], kind: str, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from([target for target in every if _kind(target) == kind]))
    assert target.attempt(data.draw(_pieces(target.seeds))) == []


def _kind(target: Target) -> str:
    if target.name == "argv":
        return "words"
    return "library" if target.name.startswith(LIBRARY) else "commands"


def _library_and_distinct_places(every: list[Target]) -> Iterator[Target]:
    """Each reader of the library, and each file once, whichever command reads it first."""
    seen = set()
    for target in every:
        place = target.name.rpartition(": ")[2]
        if place not in seen:
            seen.add(place)
            yield target


def test_no_input_of_the_corpus_breaks_a_promise(every: list[Target], repository: Path) -> None:
    result = LaneResult("fuzz")
    corpus = fuzz.corpus_inputs(repository)
    for target in _library_and_distinct_places(every):
        fuzz.fire_corpus(target, corpus, result, quick=True)
    assert result.failures == []
    assert result.counts["corpus"] > len(corpus) * 10


def test_a_reader_that_breaks_is_noticed() -> None:
    def broken(data: bytes) -> list[str]:
        return ["it broke"] if b"\xff" in data else []

    result = LaneResult("fuzz")
    fuzz.fire_mutations(Target("broken", broken, (b"{}",)), 200, result)
    assert result.failures


def test_a_document_that_is_far_too_large_is_refused_within_the_stated_memory(tmp_path: Path) -> None:
    result = LaneResult("fuzz")
    oversize.fire_oversize(tmp_path / "world", result, quick=True)
    assert result.failures == []
    assert result.counts["far too large: refused"] > 0
