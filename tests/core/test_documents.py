"""The port through which core asks about documents."""

from __future__ import annotations

from evals_cli.core.documents import Documents


def test_the_port_holds_a_parser_and_a_schema_check() -> None:
    documents = Documents(parse=lambda name, raw: (name, raw), problems=lambda schema, _document: [schema])
    assert documents.parse("a.json", b"1") == ("a.json", b"1")
    assert documents.problems("suite", {}) == ["suite"]
