"""The folder of a run: made once, inside the repository, under a name that no other run has.

Rules:
- The name is `YYYYMMDDTHHMMSSZ-<case id>-<first 8 hex of the case's SHA-256>`; where that is taken, `-01`,
  `-02` and so on follow. Making the folder is what takes the name, so two runs never share one.
- The folder of all runs and the run's own are opened once, inside the repository, and everything that
  follows happens in those open folders (`contained_writing`): nothing is made or written outside, whatever
  is renamed or linked meanwhile.
- Whatever fails until the run's folder is open fails before the run has started: requirement
  `run directory`, no failure.json.
- Artifacts are written whole. Their names are made durable by one fsync of the folder after the last of
  them, since nothing refers to a bundle before latest.json does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .contained_writing import make_folder_inside
from .errors import EvalsError, FileError, RequirementError
from .files import system_error

if TYPE_CHECKING:
    from .contained_writing import Folder

MAX_NAMES = 10_000

_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})")


def run_name(started_at: str, case_id: str, case_sha256: str) -> str:
    """The name of a run that started at `started_at` (a text of `timestamps.now_text`)."""
    match = _TIME.match(started_at)
    if match is None:
        raise ValueError(f"a run is named by a year of four digits, not by {started_at!r}")
    year, month, day, hour, minute, second = match.groups()
    return f"{year}{month}{day}T{hour}{minute}{second}Z-{case_id}-{case_sha256[:8]}"


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """The open folder of a run, and that of all runs, in which latest.json lies."""

    run_id: str
    runs: Folder
    own: Folder

    def close(self) -> None:
        """Give both folders back."""
        self.own.close()
        self.runs.close()


def make_run_folder(root: str, prefix: str, name: str) -> RunFolder:
    """Make the folder of a run below `root`/`prefix` and open it; whoever calls closes it.

    Raises RequirementError `run directory`.
    """
    try:
        runs = make_folder_inside(root, prefix)
    except FileError as error:
        raise _refusal(error) from error
    try:
        return _taken(runs, name)
    except BaseException:
        runs.close()
        raise


def _taken(runs: Folder, name: str) -> RunFolder:
    for number in range(MAX_NAMES):
        run_id = f"{name}-{number:02d}" if number else name
        try:
            return RunFolder(run_id=run_id, runs=runs, own=runs.make(run_id))
        except FileExistsError:
            continue
        except OSError as error:
            raise _refusal(system_error(error, f"{runs.called}/{run_id}", "write")) from error
    raise _refusal(EvalsError("path.invalid", f"{name}: {MAX_NAMES} runs have this name already"))


def _refusal(error: EvalsError) -> RequirementError:
    advice = {
        "file.write_failed": "make the folder for run bundles writable, then evals run again",
        "path.outside_root": "put a folder of the repository in the place of the link, then evals run again",
    }
    otherwise = "put a folder there, or choose another artifact_root in the suite, then evals run again"
    recovery = advice.get(error.code, otherwise)
    return RequirementError("run directory", [error.message], recovery=recovery)


def write_artifacts(folder: Folder, files: dict[str, bytes]) -> None:
    """Write the files of a bundle into the run's folder, in order, each whole.

    Raises FileError `file.write_failed`; the files before the one that failed are then complete.
    """
    for name, content in files.items():
        folder.put(name, content)
    folder.sync()
