"""`evals capsule append DIR --lineage L --kind K`: append one entry and print it as stored.

Rules of this module:
1. The payload is a JSON object from an argument, from a file (`@FILE`) or from stdin (`-`); without one it
   is empty. It is read whole, within PAYLOAD_LIMIT, before the capsule is touched.
2. A payload that names a key twice is refused: it is not clear which value should become evidence.
3. Unknown payload keys are refused; there is no option that drops them silently.
4. A lineage or an effect class that does not exist is wrong usage.
"""

from __future__ import annotations

import os

from ..core.envelope import EFFECT_CLASSES, LINEAGES
from ..core.errors import EvalsError
from ..core.files import read_regular
from ..core.handle import append_entry
from ..core.strict_json import loads_unique
from .arguments import UsageError, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .contract import Terminal

PAYLOAD_LIMIT = 16 * 1024 * 1024
_STDIN = 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the directory and the members of an entry that a caller chooses."""
    parser.add_argument("dir", metavar="DIR", help="the capsule's directory")
    parser.add_argument("--lineage", metavar="L", required=True, help=f"one of {', '.join(LINEAGES)}")
    parser.add_argument("--kind", metavar="K", required=True, help="what happened, as in tool.call")
    parser.add_argument(
        "--effect-class", metavar="C", default="SE0", help=f"one of {', '.join(EFFECT_CLASSES)}; default SE0"
    )
    parser.add_argument(
        "--payload", metavar="JSON", help="a JSON object, @FILE for a file that holds one, or - for stdin"
    )


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Append; 0, or 1 with a `capsule.*` or `payload.unreadable` code."""
    _choice("--lineage", args.lineage, LINEAGES)
    _choice("--effect-class", args.effect_class, EFFECT_CLASSES)
    payload = {} if args.payload is None else _payload(args.payload)
    kind = as_text("--kind", args.kind)
    entry = append_entry(args.dir, args.lineage, kind, payload, effect_class=args.effect_class)
    terminal.done("the entry is in the journal")
    terminal.document(entry)
    return 0


def _choice(option: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise UsageError(f"{option} takes one of {', '.join(known)}")


def _payload(argument: str) -> dict[str, object]:
    try:
        value = loads_unique(_raw(argument))
    except EvalsError as error:
        message = f"the payload: {error.message}{_hint(argument)}"
        raise EvalsError("payload.unreadable", message, error.details) from None
    if not isinstance(value, dict):
        raise EvalsError("capsule.payload_invalid", "the payload is no JSON object; write it as {...}")
    return value


def _hint(argument: str) -> str:
    """Say how a file is named, where a word that cannot begin JSON looks as if it named one."""
    if argument[0] in '@-{[" ' or not ("." in argument or "/" in argument):
        return ""
    return f"; to read it from a file, write @{argument}"


def _raw(argument: str) -> bytes | str:
    if argument == "-":
        return _stdin()
    if argument.startswith("@"):
        return read_regular(argument[1:], limit=PAYLOAD_LIMIT)
    return as_text("--payload", argument)


def _stdin() -> bytes:
    """Read stdin to its end, within the limit."""
    parts: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(_STDIN, 65536):
            parts.append(chunk)
            size += len(chunk)
            if size > PAYLOAD_LIMIT:
                raise EvalsError("file.too_large", f"stdin holds more than {PAYLOAD_LIMIT} bytes")
    except OSError as error:
        raise EvalsError("file.unreadable", f"stdin cannot be read ({error.strerror})") from None
    if not size:
        raise EvalsError(
            "file.unreadable", "stdin is empty; write the JSON object to it, as in echo '{}' | ..."
        )
    return b"".join(parts)
