"""A process whose every socket, process and write is seen by an audit hook, from its first import on.

`audited` runs commands in such a process, one after the other, and gives what the hook saw of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCRIPTS = Path(__file__).resolve().parent.parent
# Modules whose every event is a connection or a process; then single events of `os`.
_FAMILIES = (
    *("socket.", "subprocess.", "pty.", "ctypes.", "urllib.", "http.", "ftplib.", "smtplib.", "poplib."),
    *("imaplib.", "nntplib.", "telnetlib.", "webbrowser.", "winreg."),
)
_STARTS = (
    *("os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile"),
    "os.startfile/2",
)
_CHANGES = (
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"),
    *("os.truncate", "os.utime", "os.setxattr", "os.removexattr", "shutil.rmtree", "tempfile.mkdtemp"),
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

Event = list[str]


def audited(
    jobs: Sequence[tuple[Sequence[str], Path]], within: Sequence[str] = ()
) -> tuple[list[dict[str, Any]], str]:
    """What became of each (words, folder), in order, and what the process complained about.

    Each outcome holds `status`, `problems`, `events` (pairs of event and subject) and `imported` (files of
    modules that came from the folder). The first outcome is a probe, in which the process opens a socket and
    starts a process itself.
    """
    given = json.dumps([[list(words), str(folder)] for words, folder in jobs])
    done = subprocess.run(
        [*within, sys.executable, "-c", "from firing.auditing import child; child()"],
        env={**os.environ, "PYTHONPATH": str(_SCRIPTS)},
        input=given.encode(),
        capture_output=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    return [json.loads(line) for line in lines], done.stderr.decode("utf-8", "replace")


def child() -> None:
    """The audited process: jobs on stdin, an outcome a line on stdout."""
    events: list[Event] = []
    sys.addaudithook(lambda event, args: _note(events, event, args))
    jobs = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    _say(out, {"events": _probed(events)})
    from .trying import tried

    for words, folder in jobs:
        events.clear()
        trial = tried(words, Path(folder))
        seen = list(events)
        _say(
            out,
            {
                "status": trial.status,
                "problems": trial.problems,
                "said": trial.said[-500:],
                "events": seen,
                "imported": _imported(folder),
            },
        )


def _say(descriptor: int, outcome: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(outcome).encode() + b"\n")


def _probed(events: list[Event]) -> list[Event]:
    import socket

    with socket.socket():
        pass
    subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    return list(events)


def _note(events: list[Event], event: str, args: tuple[Any, ...]) -> None:
    if event.startswith(_FAMILIES) or event in _STARTS:
        events.append([event, str(args[0]) if args else ""])
    elif event == "open" and isinstance(args[2], int) and args[2] & _WRITING:
        events.append(["write", _path(args[0])])
    elif event in _CHANGES:
        events.append([event, _path(args[0])])


def _path(subject: Any) -> str:
    if isinstance(subject, int):
        return f"descriptor {subject}"
    return os.path.abspath(os.fsdecode(subject))


def _imported(folder: str) -> list[str]:
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return [file for file in files if file.startswith(os.path.join(folder, ""))]


def is_effect_outside(event: Event) -> bool:
    """Whether an event is a connection or a process, not a change of files."""
    return event[0].startswith(_FAMILIES) or event[0] in _STARTS
