"""Command lines to recommend, written so that they can be pasted into a shell as they are.

Rules:
- What the user gave as `--repo-root` is repeated, quoted for a shell; a control character in it is written
  as an escape, so that no name can steer a terminal.
- A run works on the root around the working directory, so its command changes there first where the two
  differ.
- Nothing here is ever executed.
"""

from __future__ import annotations

from .contained import inside_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .roots import Root

SMOKE_CASE = "fixtures/smoke/pr-closeout.case.json"
SMOKE_CHECK = "evals check --smoke --json"
MANIFEST_SCHEMA = "evals schema external-project-manifest"
_SUITES = (".evals/suite.json", ".evals/suite.toml")


def quoted(word: str) -> str:
    """`word` as one word of a POSIX shell; with control characters in it, in the $'...' form."""
    if word.isprintable():
        import shlex

        # A word that begins with a dash would be read as an option.
        return shlex.quote(f"./{word}" if word.startswith("-") else word)
    escaped = "".join(_escaped(char) for char in word)
    return f"$'{escaped}'"


def _escaped(char: str) -> str:
    if char in "'\\":
        return f"\\{char}"
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def check_command(root: Root) -> str:
    """The command line that checks `root`."""
    return f"evals check{_option(root)} --json"


def state_command(root: Root) -> str:
    """The command line that tells the state of `root`."""
    return f"evals state{_option(root)} --json"


def _option(root: Root) -> str:
    return "" if root.shown is None else f" --repo-root {quoted(root.shown)}"


def for_people(command: str) -> str:
    """The same command line with its answer in words instead of JSON."""
    return f"{command[:-8]})" if command.endswith(" --json)") else command.removesuffix(" --json")


def run_command(root: Root) -> str:
    """The command line that writes a fresh bundle in `root`: the smoke case at home, else the suite."""
    target = SMOKE_CASE if root.home else _suite(root)
    command = f"evals run {target} --json"
    return command if root.way == "." else f"(cd {quoted(root.way)} && {command})"


def _suite(root: Root) -> str:
    return next((path for path in _SUITES if inside_status(root.path, path) == "present"), _SUITES[0])
