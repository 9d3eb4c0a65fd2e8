"""The folder of a run: made once, inside the repository, under a name that no other run has.

Rules:
- The name is `YYYYMMDDTHHMMSSZ-<case id>-<first 8 hex of the case's SHA-256>`; where that is taken, `-01`,
  `-02` and so on follow. Making the folder is what takes the name, so two runs never share one.
- Every folder on the way is looked at before the next one is made: a link is followed only when it leads
  to a folder inside the repository. Nothing is made outside it.
- Whatever fails until the folder is made fails before the run has started: requirement `run directory`, no
  failure.json.
- Artifacts are written whole: a temporary file, fsync, rename. The names are made durable by one fsync of
  the folder after the last of them, since nothing refers to a bundle before latest.json does.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat

from .errors import EvalsError, RequirementError
from .files import NO_FOLLOW, WRITE_FLAGS, fsync_folder, shown, system_error, write_all
from .targets import below

MAX_NAMES = 10_000

_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})")


def run_name(started_at: str, case_id: str, case_sha256: str) -> str:
    """The name of a run that started at `started_at` (a text of `timestamps.now_text`)."""
    match = _TIME.match(started_at)
    if match is None:
        raise ValueError(f"a run is named by a year of four digits, not by {started_at!r}")
    year, month, day, hour, minute, second = match.groups()
    return f"{year}{month}{day}T{hour}{minute}{second}Z-{case_id}-{case_sha256[:8]}"


def make_run_folder(root: str, prefix: str, name: str) -> tuple[str, str]:
    """Make the folder of a run below `root`/`prefix`; the pair of its run id and its absolute path.

    Raises RequirementError `run directory`.
    """
    try:
        parent = _folder_inside(os.path.realpath(root), prefix)
        run_id = _take_name(parent, name)
    except EvalsError as error:
        raise _refusal(error.message) from error
    except OSError as error:
        raise _refusal(system_error(error, f"{prefix}/{name}", "write").message) from error
    return run_id, os.path.join(parent, run_id)


def _refusal(problem: str) -> RequirementError:
    return RequirementError(
        "run directory", [problem], recovery="make the folder for run bundles writable, then evals run again"
    )


def _folder_inside(root: str, prefix: str) -> str:
    """The real path of the folder `prefix` below `root`, made part by part where it is missing."""
    folder = root
    done: list[str] = []
    for part in prefix.split("/"):
        done.append(part)
        folder = _entered(root, os.path.join(folder, part), "/".join(done))
    return folder


def _entered(root: str, path: str, relative: str) -> str:
    if not os.path.lexists(path):
        try:
            os.mkdir(path)
            fsync_folder(os.path.dirname(path))
        except FileExistsError:
            pass  # another run was faster; what it made is looked at like anything else
    real = os.path.realpath(path)
    if below(root, real) is None:
        raise EvalsError("path.outside_root", f"{shown(relative)}: leads out of the repository")
    if not stat.S_ISDIR(os.stat(real).st_mode):
        raise EvalsError("path.invalid", f"{shown(relative)}: not a folder; bundles are written below it")
    return real


def _take_name(parent: str, name: str) -> str:
    for number in range(MAX_NAMES):
        run_id = f"{name}-{number:02d}" if number else name
        try:
            os.mkdir(os.path.join(parent, run_id))
        except FileExistsError:
            continue
        return run_id
    raise EvalsError("path.invalid", f"{name}: {MAX_NAMES} runs have this name already")


def write_artifacts(folder: str, files: dict[str, bytes]) -> None:
    """Write the files of a bundle into the run's folder (absolute), in order, each whole.

    Raises FileError `file.write_failed`; the files before the one that failed are then complete.
    """
    name = ""
    try:
        for name, content in files.items():
            _write_artifact(os.path.join(folder, name), content)
        fsync_folder(folder)
    except OSError as error:
        raise system_error(error, name, "write") from error


def _write_artifact(path: str, content: bytes) -> None:
    temporary = f"{path}.tmp"
    try:
        descriptor = os.open(temporary, WRITE_FLAGS | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o644)
        try:
            write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        # The folder is this run's alone, so the temporary file is too.
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
