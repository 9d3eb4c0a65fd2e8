"""Which folder is the project root of a command, and whether it is this project's own checkout.

Rules:
- `--repo-root PATH` names the root: it must exist and be a directory, else requirement `repo root option`.
- Otherwise the root is the nearest folder, from the working directory upwards, that holds `.evals`,
  `.harness` or `.git`; where there is none, the working directory itself.
- A root is home (a checkout of this project) when `schemas`, `contracts` and `fixtures/runtime-evidence`
  are folders in it, links not counted. Every other root is a consumer. How the root was found is no matter.
- A root is named to people and in packets only as they gave it; the resolved path stays inside.
"""

from __future__ import annotations

import os
import stat

from .errors import RequirementError
from .files import shown

REQUIREMENT = "repo root option"
MARKERS = (".evals", ".harness", ".git")
HOME_EVIDENCE = "fixtures/runtime-evidence"
_HOME_FOLDERS = ("schemas", "contracts", "fixtures", HOME_EVIDENCE)


class Root:
    """A project root.

    `path` is absolute with links resolved; `shown` is what the user gave for it, or None; `home` tells
    whether it is this project's own checkout; `way` leads there from the working directory (`.` where it is
    the same).
    """

    __slots__ = ("home", "path", "shown", "way")

    def __init__(self, *, path: str, shown: str | None, home: bool, way: str) -> None:
        self.path = path
        self.shown = shown
        self.home = home
        self.way = way


def find_root(cwd: str) -> str:
    """The nearest folder from `cwd` upwards that holds a marker, else `cwd`; absolute, links resolved."""
    start = os.path.realpath(cwd)
    folder = start
    while True:
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in MARKERS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def is_home(root: str) -> bool:
    """Whether `root` is a checkout of this project itself."""
    return all(_is_folder(os.path.join(root, *name.split("/"))) for name in _HOME_FOLDERS)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def working_directory() -> str:
    """The working directory; RequirementError `repo root option` where it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        raise RequirementError(
            REQUIREMENT, ["the working directory is gone; change to a folder that exists"]
        ) from None


def select_root(option: str | None, cwd: str) -> Root:
    """The root of a command: the one that `--repo-root` named, relative to `cwd`, or the one around `cwd`.

    Raises RequirementError `repo root option` where the named root is missing or not a directory.
    """
    if option is None:
        path = find_root(cwd)
        way = os.path.relpath(path, os.path.realpath(cwd))
    else:
        way = option
        path = os.path.realpath(os.path.join(cwd, option))
        problem = _root_problem(path)
        if problem is not None:
            raise RequirementError(
                REQUIREMENT,
                [f"{shown(option)}: {problem}; --repo-root takes the folder of a project"],
                recovery="evals state --repo-root PATH",
            )
    return Root(path=path, shown=option, home=is_home(path), way=way)


def _root_problem(path: str) -> str | None:
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "there is no such folder"
    except (OSError, ValueError):
        return "the folder cannot be looked at"
    return None if stat.S_ISDIR(mode) else "not a folder"
