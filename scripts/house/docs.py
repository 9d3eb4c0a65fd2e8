"""Checks that the documents show what the program prints, and rewrites them when it has changed.

Rules:
- A fenced block marked `console` is a session: a line that begins with `$ ` is a command, `> ` continues it,
  the rest is its output (both streams). All sessions of a document run in order in one shell, in a folder of
  their own: a copy of this checkout's data for most, an empty folder for the guide.
- A fenced block marked `json title=PATH` (or toml) is a file that the reader is asked to save; it is written
  there.
- What differs from run to run (times, run ids, digests, temporary folders) is compared by its place: the
  first digest that is shown must appear wherever the first that is printed does. A line `...` stands for any
  lines.
- Between `<!-- generated: NAME -->` and `<!-- end -->` stands a table made from the program's own tables.
- `--update` writes the present output and tables into a document that disagrees; sessions with `...` are left
  to a person.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = ("*.md", "docs/*.md", ".harness/core/*.md", ".harness/specs/*.md", ".harness/plans/*.md")
STARTS_EMPTY = {"docs/guide.md"}
DATA = ("fixtures", "contracts", "schemas", "scripts", ".harness", ".gitignore")
FENCE = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
END_MARK = "~~~ end of command "
TIME_LIMIT_S = 300

# What differs from run to run. The first group is compared by its place, not by its text.
VOLATILE = re.compile(
    r"(?P<id>\d{8}T\d{6}Z)"
    r"|(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"
    r"|\b(?P<digest>[0-9a-f]{64}|[0-9a-f]{40})\b"
    r"|\b(?P<name>(?:run|capsule)-[0-9a-f]{16})\b"
    r"|(?<= at )(?P<short>[0-9a-f]{7,12})\b"
    r"|(?P<folder>/(?:tmp|var)/[\w./+-]+)"
)


class Step(NamedTuple):
    """One command of a document with the output that the document shows, or one file to save."""

    command: str
    shown: str
    line: int


def main(arguments: list[str] | None = None) -> int:
    """Check (or update) the documents; 0 when they are right, 1 with a diff of each that is not."""
    parser = argparse.ArgumentParser(prog="scripts/check-docs", description=__doc__.split("\n", 1)[0])
    parser.add_argument("documents", nargs="*", help="documents, relative to the checkout (default: all)")
    parser.add_argument("--update", action="store_true", help="rewrite output and tables instead")
    chosen = parser.parse_args(arguments)
    wrong = [name for name in chosen.documents or documents() if not is_right(name, update=chosen.update)]
    if wrong:
        print(f"check-docs: not what the program prints: {', '.join(wrong)} (scripts/check-docs --update)")
    return 1 if wrong else 0


def documents() -> list[str]:
    """Every document of the checkout, relative to it."""
    return [path.relative_to(ROOT).as_posix() for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))]


def is_right(name: str, *, update: bool) -> bool:
    """Compare one document with the program; with UPDATE, write what the program prints into it first."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        printed = run_sessions(text, Path(place).resolve(), empty=name in STARTS_EMPTY)
    if update:
        text = with_tables(with_output(text, printed) if output_problems(text, printed) else text)
        path.write_text(text, encoding="utf-8")
    problems = [*output_problems(text, printed), *table_problems(text), *link_problems(path, text)]
    print("\n".join(f"{name}:{problem}" for problem in problems), end="\n" if problems else "")
    return not problems


def steps_of(text: str) -> list[Step]:
    """The commands and files of a document, in order."""
    steps: list[Step] = []
    for block in FENCE.finditer(text):
        language, title, body = block.groups()
        line = text.count("\n", 0, block.start(3)) + 1
        if title:
            steps.append(Step(saving(title, body), "", line))
        elif language == "console":
            steps.extend(session(body, line))
    return steps


def saving(title: str, body: str) -> str:
    """The command that saves a file whose text the document shows."""
    return f"mkdir -p \"$(dirname '{title}')\" && cat > '{title}' <<'END-OF-FILE'\n{body}END-OF-FILE"


def session(body: str, line: int) -> list[Step]:
    """The commands of one console block."""
    steps: list[Step] = []
    for number, text in enumerate(body.splitlines(keepends=True), start=line):
        if text.startswith("$ "):
            steps.append(Step(text[2:].rstrip("\n"), "", number))
        elif text.startswith("> ") and not steps[-1].shown:
            steps[-1] = steps[-1]._replace(command=f"{steps[-1].command}\n{text[2:]}".rstrip("\n"))
        else:
            steps[-1] = steps[-1]._replace(shown=steps[-1].shown + text)
    return steps


def run_sessions(text: str, place: Path, *, empty: bool) -> list[str]:
    """Run every command of a document in one shell; what each printed, in order."""
    steps = steps_of(text)
    if not steps:
        return []
    world = place / "evals"
    lay_out(world, empty=empty)
    programs = place / "bin"
    programs.mkdir()
    (programs / "evals").symlink_to(ROOT / "scripts" / "evals")
    script = "".join(f"{step.command}\nprintf '%s\\n' '{END_MARK}{n}'\n" for n, step in enumerate(steps))
    (place / "session").write_text(script, encoding="utf-8")
    kept = {key: os.environ[key] for key in ("LANG", "LD_LIBRARY_PATH", "SYSTEMROOT") if key in os.environ}
    done = subprocess.run(
        ["sh", str(place / "session")],
        stdin=subprocess.DEVNULL,
        cwd=world,
        env={
            **kept,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(place),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PYTHONUTF8": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=TIME_LIMIT_S,
        check=False,
    )
    printed = re.split(rf"{END_MARK}\d+\n", done.stdout)
    if len(printed) != len(steps) + 1:
        raise SystemExit(f"check-docs: a session ended early:\n{done.stdout[-2000:]}")
    return printed[: len(steps)]


def lay_out(world: Path, *, empty: bool) -> None:
    """The folder in which a reader of the document stands: a new one, or a fresh clone."""
    world.mkdir()
    if empty:
        return
    for name in DATA:
        if name == "scripts":
            (world / name).symlink_to(ROOT / name)
        elif (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.py", "runs")
            shutil.copytree(ROOT / name, world / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, world / name)
    commit_all(world)


def commit_all(world: Path) -> None:
    """Make the folder a repository with one commit, whatever the configuration of this machine's git."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    person = {"NAME": "reader", "EMAIL": "reader@example.org"}
    variables = {
        **kept,
        **{f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in person.items()},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for command in ("init --quiet --initial-branch=main", "add .", "commit --quiet --message=clone"):
        subprocess.run(["git", *command.split()], cwd=world, env=variables, check=True)


def with_output(text: str, printed: list[str]) -> str:
    """TEXT with the output of each session replaced by what was printed, where no `...` stands in it."""
    outputs = iter(printed)

    def renewed(block: re.Match[str]) -> str:
        language, title, body = block.groups()
        if title:
            next(outputs)
        if title or language != "console":
            return block.group()
        parts = []
        for step in session(body, 0):
            output = next(outputs)
            command = step.command.replace("\n", "\n> ")
            parts.append(f"$ {command}\n{step.shown if has_gap(step.shown) else output}")
        return f"```console\n{''.join(parts)}```"

    return FENCE.sub(renewed, text)


def has_gap(shown: str) -> bool:
    """Whether a document leaves lines of an output out."""
    return any(line.strip() == "..." for line in shown.splitlines())


def output_problems(text: str, printed: list[str]) -> list[str]:
    """A line for each command whose output is not what the document shows, with the difference."""
    shown_names: dict[str, str] = {}
    printed_names: dict[str, str] = {}
    problems = []
    for step, output in zip(steps_of(text), printed, strict=True):
        if agrees(step.shown, output, shown_names, printed_names):
            continue
        difference = difflib.unified_diff(
            step.shown.splitlines(), output.splitlines(), "document", "program", lineterm="", n=1
        )
        problems.append("\n    ".join([f"{step.line}: {step.command.splitlines()[0]}", *difference]))
    return problems


def agrees(shown: str, output: str, shown_names: dict[str, str], printed_names: dict[str, str]) -> bool:
    """Whether an output is as shown, apart from what differs from run to run and from lines left out."""
    if not has_gap(shown):
        return settled(shown, shown_names) == settled(output, printed_names)
    pieces = re.split(r"(?m)^\s*\.\.\.\n", settled(shown, {}, numbered=False))
    pattern = ".*?".join(re.escape(piece) for piece in pieces)
    return re.fullmatch(pattern, settled(output, {}, numbered=False), re.DOTALL) is not None


def settled(text: str, names: dict[str, str], *, numbered: bool = True) -> str:
    """TEXT with each value that differs from run to run replaced by its kind and order of appearance."""

    def name_of(match: re.Match[str]) -> str:
        kind, value = match.lastgroup or "", match.group()
        if not numbered or kind in {"time", "id"}:
            return f"<{kind}>"
        return names.setdefault(value, f"<{kind} {len(names)}>")

    return VOLATILE.sub(name_of, text)


def with_tables(text: str) -> str:
    """TEXT with its generated parts made anew."""
    return GENERATED.sub(lambda part: part[1] + TABLES[part[2]]() + part[4], text)


def table_problems(text: str) -> list[str]:
    """A line for each generated part that is out of date."""
    parts = [part for part in GENERATED.finditer(text) if TABLES[part[2]]() != part[3]]
    return [
        f"{text.count(chr(10), 0, part.start()) + 1}: the table `{part[2]}` is out of date" for part in parts
    ]


def link_problems(path: Path, text: str) -> list[str]:
    """A line for each link that leads to no file of this checkout."""
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    return [f"1: the link {link} leads nowhere" for link in links if not (path.parent / link).exists()]


def table_of_commands() -> str:
    """Every command with its help."""
    from evals_cli.commands.arguments import Parser
    from evals_cli.registry import COMMANDS

    parts = []
    for command in COMMANDS:
        parser = Parser(f"evals {command.name}", command.sentence)
        importlib.import_module(f"evals_cli.commands.{command.module}").configure(parser)
        said = parser.format_help().rstrip()
        parts.append(f"### evals {command.name}\n\n```text\n{said}\n```\n\n")
    return "\n" + "".join(parts)


def table_of_codes() -> str:
    """Every code of the catalog, by section."""
    from evals_cli.core.catalog import SECTIONS

    parts = []
    for title, entries in SECTIONS:
        parts.append(f"\n### {title}\n")
        for entry in entries:
            kind = "" if entry.kind == "error" else f" ({entry.kind})"
            parts.append(
                f"\n- **`{entry.code}`**{kind}: {entry.meaning}\n"
                f"  - establishes: {entry.establishes}\n"
                f"  - does not establish: {entry.does_not_establish}\n"
                f"  - next: {entry.next_step}\n"
            )
    return "".join(parts) + "\n"


def table_of_schemas() -> str:
    """Every schema with its description."""
    import json

    from evals_cli.schemas.validator import schema_names, schema_text

    rows = ["| schema | what it describes |", "| --- | --- |"]
    for name in schema_names():
        about = json.loads(schema_text(name))
        rows.append(f"| `{name}` | {about.get('description') or about['title']} |".replace("\n", " "))
    return "\n" + "\n".join(rows) + "\n\n"


TABLES: dict[str, Callable[[], str]] = {
    "commands": table_of_commands,
    "codes": table_of_codes,
    "schemas": table_of_schemas,
}

if __name__ == "__main__":
    raise SystemExit(main())
