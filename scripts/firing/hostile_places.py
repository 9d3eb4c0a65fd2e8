"""Places that are poor or strange: environments without home and locale, trees that cannot be written, CRLF.

Rules:
- Without HOME, without a locale, in the C locale, with a locale that does not exist: documents on
  stdout are, byte for byte, what they are elsewhere, also about names beyond ASCII.
- In a tree that is mounted read-only readers say what they said before; writers refuse with a code, and the
  tree is as it was.
- Where git has rewritten line ends, the refusal says so.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

from .bundle_sample import LATEST
from .launching import launched, launcher, unshared
from .snapshots import snapshot
from .trying import tried
from .world import COMMANDS, REFUSING, make_world

if TYPE_CHECKING:
    from pathlib import Path

    from .report import LaneResult

NAME_BEYOND_ASCII = "caps\u00fcle \u4e16"
_BARE = {"PATH": os.environ.get("PATH", os.defpath)}
_ASCII = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "nothing but PATH": _BARE,
    "the C locale": {**_BARE, "LC_ALL": "C"},
    "the C locale as ASCII": {**_BARE, **_ASCII, "LC_ALL": "C"},
    "no locale of this name": {**_BARE, **_ASCII, "LC_ALL": "xx_XX.nothing", "LANG": "xx_XX"},
    "HOME that is nowhere": {**_BARE, "HOME": "/nowhere/at/all", "TMPDIR": "/nowhere"},
    "another time zone": {**_BARE, "TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8"},
}
_TIME = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# What these print is new each time, or needs a folder for temporary files.
_VARYING = ("example",)
_FOR_PEOPLE = (("capsule", "show", "capsule"),)


def fire_environments(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Every reader in every environment; a quick run takes every seventh pair."""
    world = folder / "world"
    make_world(world)
    (world / "capsule").rename(world / NAME_BEYOND_ASCII)
    (world / "capsule").symlink_to(NAME_BEYOND_ASCII)
    script = launcher(folder / "launcher")
    readers = [use.words for use in COMMANDS if not use.writes and use.name not in _VARYING]
    readers.append(("capsule", "verify", NAME_BEYOND_ASCII))
    pairs = [(words, name) for words in readers for name in ENVIRONMENTS]
    for words, name in pairs[:: 7 if quick else 1]:
        encoded = [os.fsencode(word) for word in words]
        wanted = launched(script, encoded, world)
        found = launched(script, encoded, world, environment=ENVIRONMENTS[name])
        result.count(f"environment: {name}")
        if _outcome(words, found) != _outcome(words, wanted):
            result.fail(
                f"{name}: {words}: {found.returncode} {found.stdout[-200:]!r} {found.stderr[-300:]!r}"
            )


def _outcome(words: tuple[str, ...], done: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes]:
    """Exit code and document without the time of day; words for people fit what their stream can show."""
    document = b"" if words in _FOR_PEOPLE else _TIME.sub(b"TIME", done.stdout)
    return done.returncode, document


def fire_read_only(folder: Path, result: LaneResult, *, quick: bool) -> None:
    """Every command in a read-only tree; a quick run takes every third."""
    namespace = unshared("--mount")
    if namespace is None:
        result.note("no read-only mount could be made here; read-only trees were not tried")
        return
    world = folder / "world"
    make_world(world)
    script = launcher(folder / "launcher")
    place = shlex.quote(str(world))
    mount = f'mount --bind {place} {place} && mount -o remount,bind,ro {place} && cd {place} && exec "$@"'
    within = [*namespace, "sh", "-c", mount, "sh"]
    before = snapshot(world)
    for use in COMMANDS[:: 3 if quick else 1]:
        done = launched(script, use.words, world, within=within)
        said = done.stderr.decode("utf-8", "replace")
        result.count("commands in a read-only tree")
        wanted = int(use.writes or use.name in REFUSING)
        if done.returncode != wanted or "internal.error" in said or "Traceback" in said:
            result.fail(f"read-only tree: {use.name}: exit code {done.returncode}: {said[-300:]}")
        if snapshot(world) != before:
            result.fail(f"read-only tree: {use.name} changed something")


def fire_line_ends(folder: Path, result: LaneResult) -> None:
    """A repository whose evidence git checks out with CRLF."""
    world = folder / "world"
    make_world(world)
    if not _check_out_with_crlf(world):
        result.note("there is no git here; CRLF made by git was not tried")
        return
    for words, expected in (
        (("check", "--json"), "git rewrote its line ends"),
        (("state", "--json"), "git rewrote its line ends"),
        (("capsule", "verify", "capsule"), "CR LF"),
        (("capsule", "show", "capsule"), "CR LF"),
        (("capsule", "append", "capsule", "--lineage", "plan", "--kind", "k"), "CR LF"),
        (("receipt", "verify", "receipt.json", "capsule"), "CR LF"),
    ):
        trial = tried(words, world)
        result.count("CRLF made by git")
        for problem in trial.problems:
            result.fail(f"CRLF made by git: {words}: {problem}")
        if expected not in trial.said or trial.status != int(words[0] != "state"):
            result.fail(f"CRLF made by git: {words}: {expected!r} is not said: {trial.said[-600:]}")


def _check_out_with_crlf(world: Path) -> bool:
    git = ["git", "-C", str(world), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    git += ["-c", "core.autocrlf=true", "-c", "core.eol=crlf", "-c", "core.safecrlf=false"]
    steps = (["init", "-q"], ["add", "-f", "."], ["commit", "-q", "-m", "all"], ["rm", "-q", "-r", "."])
    try:
        for step in (*steps, ["checkout", "-q", "HEAD", "--", "."]):
            subprocess.run([*git, *step], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return b"\r\n" in (world / LATEST).read_bytes()
