"""The seams that only the command layer may join: core's port for documents, and the installed data.

Rules of this module:
1. core asks about documents through `core.documents.Documents`; here is the one place that fills it in.
2. jsonschema is imported when a document is first judged, not before.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.documents import Documents


def documents() -> Documents:
    """Give core the reader and the judge of documents (JSON or TOML, the installed schemas)."""
    from ..core.documents import Documents
    from ..schemas.validator import problems

    return Documents(parse=parse_document, problems=problems)


def parse_document(name: str, raw: bytes) -> Any:
    """Read a document that people write: by its file name TOML, else JSON in which no key repeats.

    Raises EvalsError `json.*` or `toml.*`.
    """
    from ..core.strict_json import loads_unique
    from ..schemas.documents import parse_document as parse

    return parse(name, raw, load_json=loads_unique)


def installed_folder(name: str) -> str:
    """Give the path of the installed `contracts`, `fixtures` or `schemas` folder itself."""
    from importlib import import_module

    package = (__package__ or "evals_cli.commands").rpartition(".")[0]
    module = import_module(f"{package}.{name}")
    return os.path.dirname(os.path.abspath(str(module.__file__)))
