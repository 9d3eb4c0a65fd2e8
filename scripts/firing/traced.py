"""Which system calls of a traced command touch evidence, read from the log that strace writes.

Rules:
- A call touches evidence where it names a path inside the working folder (relative, or absolute below it),
  acts on a descriptor that such a call opened, or writes to stdout. The interpreter's start does not.
- A call is named by its kind and its number among all calls of that kind in the process, which is how strace
  is told where to inject.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

KINDS = (
    "openat",
    "read",
    "write",
    "fsync",
    "close",
    "rename",
    "unlink",
    "link",
    "mkdir",
    "stat",
    "lstat",
    "fstat",
    "newfstatat",
    "lseek",
    "readlink",
    "getdents64",
)
_LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)")
_PATH = re.compile(r'(?:(AT_FDCWD|\d+), )?"((?:[^"\\]|\\.)*)"')
_DESCRIPTOR = re.compile(r"(\d+)")
_RESULT = re.compile(r"= (\d+)[^=]*$")
_STDOUT = 1


class Call(NamedTuple):
    """The `number`-th call (from 1) of `kind`; `text` is how the log shows it."""

    kind: str
    number: int
    text: str


def own_calls(log: str, folder: str) -> list[Call]:
    """The calls in `log` that touch evidence in the working folder, in order."""
    counts: Counter[str] = Counter()
    opened: set[int] = set()
    found = []
    for line in log.splitlines():
        match = _LINE.match(line)
        if match is None or match[1] not in KINDS:
            continue
        kind, rest = match.groups()
        counts[kind] += 1
        if _is_own(kind, rest, folder, opened):
            found.append(Call(kind, counts[kind], f"{kind}({rest[:100]}"))
            _follow(kind, rest, opened)
    return found


def _is_own(kind: str, rest: str, folder: str, opened: set[int]) -> bool:
    path = _PATH.match(rest)
    # A path that is empty means the descriptor before it.
    if path is not None and path[2] and kind not in ("read", "write"):
        return not path[2].startswith("/") or path[2].startswith(f"{folder}/") or path[2] == folder
    descriptor = _DESCRIPTOR.match(rest)
    if descriptor is None:
        return False
    return int(descriptor[1]) in opened or (kind == "write" and int(descriptor[1]) == _STDOUT)


def _follow(kind: str, rest: str, opened: set[int]) -> None:
    result = _RESULT.search(rest)
    if kind == "openat" and result is not None:
        opened.add(int(result[1]))
    descriptor = _DESCRIPTOR.match(rest)
    if kind == "close" and descriptor is not None:
        opened.discard(int(descriptor[1]))
