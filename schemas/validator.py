"""The one place that runs jsonschema, to see whether a document fits the schema of its name.

Rules:
- `problems` lists every finding in document order, each as `$.path: what was found; what is expected`.
  At most MAX_PROBLEMS are listed, and a last line then says so.
- jsonschema is imported when the first document is checked, and each schema is compiled once per process.
- A schema may refer to a sibling by file name (`assertion-result.schema.json`); nothing is ever fetched.
- No document makes this raise: one that is nested too deeply to be checked is a finding.
"""

from __future__ import annotations

import json
import os
import re
from itertools import islice

from ..core.errors import EvalsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

BASE = "https://evals.example/schemas/"
SUFFIX = ".schema.json"
MAX_PROBLEMS = 100

_REFERENCE = re.compile(r'"\$ref": "([a-z0-9-]+)\.schema\.json')
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_compiled: dict[str, Any] = {}


def schema_names() -> list[str]:
    """The names of every schema of this package, sorted."""
    return sorted(name[: -len(SUFFIX)] for name in os.listdir(_FOLDER) if name.endswith(SUFFIX))


def schema_text(name: str) -> str:
    """The JSON text of the schema `name`.

    Raises EvalsError `schema.unknown` (details `name`, `supported`) or `schema.unreadable`.
    """
    try:
        names = schema_names()
        text = _read(name) if name in names else None
    except OSError as error:
        raise EvalsError(
            "schema.unreadable",
            f"the schemas that evals came with cannot be read ({error.strerror}); install it again",
        ) from error
    if text is None:
        shown = name.encode("unicode_escape").decode("ascii")
        raise EvalsError(
            "schema.unknown",
            f"{shown}: there is no schema of this name; there are {', '.join(names)}",
            {"name": name, "supported": names},
        )
    return text


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name + SUFFIX), encoding="utf-8") as file:
        return file.read()


def problems(name: str, document: object) -> list[str]:
    """What keeps `document` from fitting the schema `name`; empty means that it fits.

    Raises EvalsError `schema.unknown` for a name that no schema has.
    """
    validator = _validator(name)
    try:
        findings = list(islice(validator.iter_errors(document), MAX_PROBLEMS + 1))
    except RecursionError:
        return ["$: nested too deeply to be checked; expected a flatter document"]
    # In document order: an array's tenth item after its second, however the numbers sort as text.
    findings.sort(key=lambda finding: ([_sort_key(step) for step in finding.absolute_path], finding.message))
    lines = [f"{_path(finding.absolute_path)}: {finding.message}" for finding in findings[:MAX_PROBLEMS]]
    if len(findings) > MAX_PROBLEMS:
        lines.append(f"$: more than {MAX_PROBLEMS} problems; only {MAX_PROBLEMS} of them are listed")
    return lines


def _sort_key(step: str | int) -> tuple[int, int, str]:
    return (0, step, "") if isinstance(step, int) else (1, 0, step)


def _path(steps: Iterable[str | int]) -> str:
    return "$" + "".join(_step(step) for step in steps)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.isascii() and step.replace("_", "a").replace("-", "a").isalnum():
        return f".{step}"
    return f"[{step[:80]!a}]"


def _validator(name: str) -> Any:
    validator = _compiled.get(name)
    if validator is None:
        validator = _compiled[name] = _compile(name)
    return validator


def _compile(name: str) -> Any:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    from .keywords import VALIDATOR

    family = {name: _contents(name)}
    waiting = [name]
    while waiting:
        for sibling in _REFERENCE.findall(json.dumps(family[waiting.pop()])):
            if sibling not in family:
                family[sibling] = _contents(sibling)
                waiting.append(sibling)
    known = [(f"{BASE}{each}{SUFFIX}", DRAFT202012.create_resource(family[each])) for each in family]
    return VALIDATOR(family[name], registry=Registry().with_resources(known))


def _contents(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(schema_text(name))
    # jsonschema would take the draft's own keywords, and their messages, wherever it meets `$schema`.
    del schema["$schema"]
    return schema
