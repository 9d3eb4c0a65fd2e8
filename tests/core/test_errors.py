"""Errors carry a stable code, one line, and details."""

from __future__ import annotations

from evals_cli.core.errors import EvalsError, RequirementError


def test_an_error_prints_its_code_and_message() -> None:
    error = EvalsError("some.code", "what happened", {"line": 3})
    assert str(error) == "some.code: what happened"
    assert error.details == {"line": 3}


def test_details_default_to_none_at_all() -> None:
    assert EvalsError("some.code", "text").details == {}


def test_a_requirement_has_its_published_name_and_a_code_made_from_it() -> None:
    error = RequirementError("schema validation target path", ["one", "two"], recovery="do this")
    assert error.requirement == "schema validation target path"
    assert error.code == "schema.validation_target_path"
    assert error.problems == ["one", "two"]
    assert error.message == "one; two"
    assert error.recovery == "do this"
