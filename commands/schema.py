"""`evals schema [NAME]`: print a JSON Schema as it is installed, or the names of all of them."""

from __future__ import annotations

from ..schemas.validator import schema_names, schema_text
from .arguments import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the name."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="a schema's name, as in capsule-receipt")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Print; 0. A name that does not exist is a usage error with a near one named."""
    names = schema_names()
    if args.name is None:
        for name in names:
            terminal.line(name)
        return 0
    name = args.name.removesuffix(".schema.json")
    if name not in names:
        raise UsageError(_unknown(name, names))
    terminal.text(schema_text(name))
    return 0


def _unknown(name: str, names: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "; `evals schema` lists all of them"
    return f"there is no schema {name}{hint}"
