"""Command lines to recommend, written so that they can be pasted into a shell as they are.

Rules:
- Every command line of this program is put together by `command_line`, and every word of it that comes from
  outside goes through `quoted`; nothing else quotes.
- What the user gave as `--repo-root` is repeated, quoted for a shell; a control character in it is written
  as an escape, so that no name can steer a terminal.
- A path that begins with a dash is written with `./` in front, so that it is not read as an option.
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
    # A word that begins with a dash would be read as an option.
    path = f"./{word}" if word.startswith("-") else word
    if path.isprintable():
        import shlex

        return shlex.quote(path)
    escaped = "".join(_escaped(char) for char in path)
    return f"$'{escaped}'"


def _escaped(char: str) -> str:
    if char in "'\\":
        return f"\\{char}"
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def command_line(name: str, *targets: str, repo_root: str | None = None, as_json: bool = False) -> str:
    """The command line `evals NAME TARGETS`, ready to paste.

    `targets` and `repo_root` (what the user gave for it, or None) are plain words; they are quoted here.
    """
    words = ["evals", name, *map(quoted, targets)]
    if repo_root is not None:
        words += ["--repo-root", quoted(repo_root)]
    return " ".join([*words, "--json"] if as_json else words)


def check_command(root: Root) -> str:
    """The command line that checks `root`."""
    return command_line("check", repo_root=root.shown, as_json=True)


def state_command(root: Root) -> str:
    """The command line that tells the state of `root`."""
    return command_line("state", repo_root=root.shown, as_json=True)


def for_people(command: str) -> str:
    """The same command line with its answer in words instead of JSON."""
    return f"{command[:-8]})" if command.endswith(" --json)") else command.removesuffix(" --json")


def run_command(root: Root) -> str:
    """The command line that writes a fresh bundle in `root`: the smoke case at home, else the suite."""
    target = SMOKE_CASE if root.home else _suite(root)
    command = command_line("run", target, as_json=True)
    return command if root.way == "." else f"(cd {quoted(root.way)} && {command})"


def _suite(root: Root) -> str:
    return next((path for path in _SUITES if inside_status(root.path, path) == "present"), _SUITES[0])
