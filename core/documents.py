"""The port through which core asks about documents: how to parse one, and whether it fits its schema.

core knows neither jsonschema nor TOML. The command layer hands it two callables, and every rule that needs
a schema takes them from here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Documents:
    """Two callables: `parse(file name, bytes)` and `problems(schema name, document)`.

    `parse` reads JSON (no repeated keys) or, by the name's ending, TOML; it raises EvalsError `json.*` or
    `toml.invalid`. `problems` lists what is wrong, sorted, each naming its JSON path; empty means valid.
    """

    __slots__ = ("parse", "problems")

    def __init__(
        self, *, parse: Callable[[str, bytes], Any], problems: Callable[[str, object], list[str]]
    ) -> None:
        self.parse = parse
        self.problems = problems
