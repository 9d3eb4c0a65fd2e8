"""Command lines to recommend, written so that they can be pasted into a shell as they are.

Rules:
- Every command line of this program is put together by `command_line`, and every word of it that comes from
  outside goes through `quoted`; nothing else quotes.
- What the user gave as `--repo-root` is repeated, quoted for a shell; a control character in it is written
  as an escape, so that no name can steer a terminal.
- A path that begins with a dash is written with `./` in front, so that it is not read as an option.
- A fresh bundle comes from what is there: at home from the smoke case, else from the suite, else from what
  latest.json says was run, named anew from its parts. What a document calls its command is never repeated.
  Where nothing is there to run, the command shows how a case is written.
- A run works on the root around the working directory, so its command changes there first where the two
  differ.
- Nothing here is ever executed.
"""

from __future__ import annotations

from .contained import inside_status
from .targets import SUITE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .roots import Root

SMOKE_CASE = "fixtures/smoke/pr-closeout.case.json"
SMOKE_CHECK = "evals check --smoke --json"
MANIFEST_SCHEMA = "evals schema external-project-manifest"
FIRST_STEP = "evals schema eval-case"
_RUN_BEFORE = ("suite_path", "case_path")
SUITES = tuple(f".evals/{name}" for name in SUITE_NAMES)


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
    # A shell without $'...' reads only plain quotes, so none may stand inside: it must end the word nowhere.
    if char in "'\\":
        return "\\x27" if char == "'" else "\\\\"
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


def run_command(root: Root, latest: object = None) -> str:
    """The command line that leads to a fresh bundle in `root`; `latest` is its parsed latest.json, if any."""
    target = SMOKE_CASE if root.home else _target(root, latest)
    if target is None:
        return FIRST_STEP
    command = command_line("run", target, as_json=True)
    return command if root.way == "." else f"(cd {quoted(root.way)} && {command})"


def _target(root: Root, latest: object) -> str | None:
    """The first that stands inside the root: a suite, or the suite or case of the latest run."""
    producer = latest.get("producer") if isinstance(latest, dict) else None
    stated = [producer.get(key) for key in _RUN_BEFORE] if isinstance(producer, dict) else []
    return next((path for path in (*SUITES, *stated) if inside_status(root.path, path) == "present"), None)
