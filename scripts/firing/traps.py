"""A repository that sets traps: whatever can be made to run, to be imported or to be followed, is there.

- Every command that git can be told to run leaves a marker: the file-system monitor, filters by attributes of
  three kinds, includes, hooks in two places, diff and textconv drivers, pagers, editors, transports of a
  partial clone, and the same in a submodule.
- Modules with the names of this program's parts and of the standard library's leave a marker when they are
  imported; a `git` in the repository leaves one when it is run.
- With `linked`, `.evals` and `.harness` are links to good folders outside, whose files would show that they
  were read by their time of access, and by SECRET in what is said.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .bundle_sample import PROJECT, SUITE
from .world import make_world

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "outside-secret"
HOOKS = (
    *("fsmonitor-watchman", "post-checkout", "post-index-change", "pre-auto-gc", "pre-commit"),
    *("reference-transaction", "post-rewrite", "post-merge", "update", "query-watchman"),
)
MODULES = (
    *("core", "commands", "schemas", "evals_cli", "json", "os", "typing", "argparse", "hashlib", "re"),
    *("jsonschema", "rich", "tomllib", "sitecustomize", "usercustomize", "conftest", "referencing"),
)
# On PYTHONPATH only these can be defended against: Python itself takes the rest from there.
DEFENDED = ("core", "commands", "schemas", "contracts", "fixtures")
_LONG_AGO, _AGO = 1_000_000_000, 1_600_000_000


@dataclass(frozen=True)
class Trap:
    """The repository, the folder that links lead to, and the one where whatever was run leaves a file."""

    folder: Path
    outside: Path
    markers: Path

    @property
    def sprung(self) -> list[str]:
        """What was run or imported."""
        return sorted(path.name for path in self.markers.iterdir())

    @property
    def read_outside(self) -> list[str]:
        """The files outside that were read since `settle`."""
        files = (path for path in self.outside.rglob("*") if path.is_file())
        return sorted(path.name for path in files if int(path.stat().st_atime) != _LONG_AGO)

    def settle(self) -> None:
        """Make the next reading of a file outside visible."""
        for path in self.outside.rglob("*"):
            os.utime(path, (_LONG_AGO, _AGO))

    @property
    def environment(self) -> dict[str, str]:
        """An environment that leads into the repository wherever that can be defended."""
        path = os.pathsep.join((str(self.folder / "bin"), ".", os.environ.get("PATH", os.defpath)))
        return {**os.environ, "PATH": path, "PYTHONPATH": str(self.folder / "python")}


def make_trap(folder: Path, *, linked: bool) -> Trap:
    """Set all traps in a new folder."""
    trap = Trap(folder / "repository", folder / "outside", folder / "markers")
    make_world(trap.folder)
    trap.outside.mkdir()
    trap.markers.mkdir()
    evil = folder / "evil.sh"
    evil.write_text(f'#!/bin/sh\n: > "{trap.markers}/$1"\nexec cat\n', encoding="utf-8")
    evil.chmod(0o755)
    _lay_modules(trap)
    _lay_program(trap, evil)
    _lay_hooks(trap.folder / "hooks", evil, "own-hook")
    _commit(trap)
    _configure(trap.folder, evil, "")
    _lay_hooks(trap.folder / ".git" / "hooks", evil, "hook")
    if linked:
        _link(trap)
    return trap


def _lay_modules(trap: Trap) -> None:
    for name in MODULES:
        marker = f"open({str(trap.markers / f'module-{name}')!r}, 'w').close()\n"
        if name in DEFENDED or name == "evals_cli":
            (trap.folder / name).mkdir(exist_ok=True)
            (trap.folder / name / "__init__.py").write_text(marker, encoding="utf-8")
        else:
            (trap.folder / f"{name}.py").write_text(marker, encoding="utf-8")
    for name in DEFENDED:
        (trap.folder / "python" / name).mkdir(parents=True)
        marker = f"open({str(trap.markers / f'path-{name}')!r}, 'w').close()\n"
        (trap.folder / "python" / name / "__init__.py").write_text(marker, encoding="utf-8")


def _lay_program(trap: Trap, evil: Path) -> None:
    for name in ("git", "sh", "less", "ssh"):
        for place in (trap.folder / "bin" / name, trap.folder / name):
            place.parent.mkdir(exist_ok=True)
            place.write_text(f'#!/bin/sh\nexec "{evil}" program-{name} </dev/null\n', encoding="utf-8")
            place.chmod(0o755)


def _git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def _commit(trap: Trap) -> None:
    """A commit of everything, with a submodule."""
    other = trap.folder.with_name("other")
    other.mkdir()
    (other / "file").write_text("x\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "one")):
        _git(other, *words)
    (trap.folder / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
    _git(trap.folder, "init", "-q")
    _git(trap.folder, "submodule", "add", "-q", str(other), "sub")
    _git(trap.folder, "add", "-f", ".")
    _git(trap.folder, "commit", "-q", "-m", "one")
    _git(trap.folder, "update-ref", "refs/remotes/origin/main", "HEAD")


def _configure(folder: Path, evil: Path, prefix: str) -> None:
    """Name a command wherever git takes one; files are touched, so that git has to compare them."""
    git = folder / ".git"
    if git.is_file():
        git = (folder / git.read_text(encoding="utf-8").partition(": ")[2].strip()).resolve()
    lines = [_section(title, keys, evil, prefix) for title, keys in _SECTIONS]
    lines.append(f'[core]\n\thooksPath = hooks\n\tattributesFile = "{git}/attributes"\n')
    lines.append('[include]\n\tpath = more\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n')
    lines.append(
        f"\turl = ext::{evil} {prefix}transport\n\tpromisor = true\n\tpartialclonefilter = blob:none\n"
    )
    with open(git / "config", "a", encoding="utf-8") as config:
        config.write("".join(lines))
    more = _section('filter "included"', ("clean", "process", "smudge"), evil, f"{prefix}included-")
    (git / "more").write_text(more, encoding="utf-8")
    (git / "attributes").write_text("*.json filter=included\n", encoding="utf-8")
    (git / "info").mkdir(exist_ok=True)
    (git / "info" / "attributes").write_text("*.md filter=evil\n", encoding="utf-8")
    for path in (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        os.utime(path, (_AGO, _AGO))
    if not prefix:
        _configure(folder / "sub", evil, "sub-")


_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("core", ("fsmonitor", "pager", "editor", "sshCommand", "askPass", "gitProxy", "alternateRefsCommand")),
    ('filter "evil"', ("clean", "process", "smudge")),
    ('diff "evil"', ("command", "textconv")),
    ("diff", ("external",)),
    ('merge "evil"', ("driver",)),
    ("gpg", ("program",)),
    ("credential", ("helper",)),
    ("uploadpack", ("packObjectsHook",)),
    ("sequence", ("editor",)),
    ("interactive", ("diffFilter",)),
    ("pager", ("status", "diff")),
    ("alias", ("diff-files", "diff-index", "ls-files", "rev-parse", "config")),
)


def _section(title: str, keys: tuple[str, ...], evil: Path, prefix: str) -> str:
    name = title.partition('"')[0].strip()
    bang = "!" if name == "alias" else ""
    return f"[{title}]\n" + "".join(f'\t{key} = "{bang}\\"{evil}\\" {prefix}{name}-{key}"\n' for key in keys)


def _lay_hooks(folder: Path, evil: Path, prefix: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        hook = folder / name
        hook.write_text(f'#!/bin/sh\nexec "{evil}" {prefix}-{name} </dev/null\n', encoding="utf-8")
        hook.chmod(0o755)


def _link(trap: Trap) -> None:
    """Move `.evals` and `.harness` outside, mark what they say, and leave links."""
    for name in (".evals", ".harness"):
        (trap.folder / name).rename(trap.outside / name)
        (trap.folder / name).symlink_to(trap.outside / name)
    for path in trap.outside.rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        for shown in (PROJECT["project"]["owner_repo"], SUITE["domain"], "pr-closeout"):
            text = text.replace(f'"{shown}"', f'"{SECRET}"')
        path.write_text(text, encoding="utf-8")
