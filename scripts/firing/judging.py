"""What must hold after anything went wrong: the promises, each as a list of what broke.

Rules:
- Every byte of the journal that was there is there; what was added is whole lines of one good chain, and
  perhaps one torn line, which verification refuses.
- What was acknowledged is there. Bytes of an entry that was not acknowledged are there only where the code
  says so.
- The lock is there only where its release failed or the process died. A later append is then `capsule.busy`,
  and changes nothing; a torn journal is refused too; otherwise it goes on.
- A file that is replaced is the old one or the new one, whole. Temporary files are gone, unless the process
  died; then their names are such that no reader takes them for evidence.
- The code is in the catalog.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from evals_cli.core import capsule, receipt
from evals_cli.core.catalog import lookup
from evals_cli.core.errors import EvalsError

from .bundle_sample import LATEST, judged, run_case

if TYPE_CHECKING:
    from pathlib import Path

    from .acting import Ending

# After these an entry may be on disk although it was not acknowledged.
AMBIGUOUS = ("capsule.write_failed", "capsule.lock_failed", "capsule.lock_lost", "output.unwritable")
CAPSULE_FILES = {"capsule.json", "journal.ndjson", "projection.json", ".append.lock"}


def code_problems(ending: Ending) -> list[str]:
    """An ending whose code nobody can look up."""
    if ending.code is None or ending.died or lookup(ending.code) is not None:
        return []
    return [f"{ending.code} is not in the catalog of codes"]


def journal_problems(folder: Path, before: bytes, ending: Ending, *, at_most: int) -> list[str]:
    """What is wrong with a journal to which at most `at_most` entries were being added."""
    after = (folder / "journal.ndjson").read_bytes()
    if not after.startswith(before):
        return ["entries that were there have changed"]
    added = after[len(before) :]
    verdict = capsule.verify(folder)
    wanted = "ok" if not added or added.endswith(b"\n") else "capsule.truncated_tail"
    problems = [] if verdict.code == wanted else [f"expected {wanted}, found {verdict.code} {verdict.reason}"]
    whole = added[: added.rfind(b"\n") + 1].splitlines()
    if len(whole) > at_most:
        problems.append(f"{len(whole)} entries were added, at most {at_most} were meant")
    on_disk = [json.loads(line) for line in whole]
    problems += [
        f"entry {entry['seq']} was acknowledged and is not there"
        for entry in ending.acknowledged
        if entry not in on_disk
    ]
    unacknowledged = len(on_disk) > len(ending.acknowledged) or wanted != "ok"
    if unacknowledged and not ending.died and ending.code not in (None, *AMBIGUOUS):
        problems.append(f"{ending.code} says that nothing was written, and something was")
    return problems


def lock_problems(folder: Path, ending: Ending) -> list[str]:
    """A lock that should not be there."""
    if not (folder / ".append.lock").exists() or ending.died:
        return []
    if ending.code == "capsule.lock_failed" and (
        ending.late or ending.details.get("stage", "release") == "release"
    ):
        return []
    return [f"the lock stayed after {ending.code}"]


def later_append_problems(folder: Path) -> list[str]:
    """What the next writer meets: busy, a torn journal, or a capsule that goes on."""
    journal = folder / "journal.ndjson"
    before = journal.read_bytes()
    locked = (folder / ".append.lock").exists()
    torn = before != b"" and not before.endswith(b"\n")
    wanted = "capsule.busy" if locked else "capsule.truncated_tail" if torn else None
    try:
        capsule.append_entry(folder, "plan", "later")
        found = None
    except EvalsError as error:
        found = error.code
    if found != wanted:
        return [f"the next append: expected {wanted}, found {found}"]
    if wanted is not None:
        return [] if journal.read_bytes() == before else ["a refused append changed the journal"]
    return [] if capsule.verify(folder).ok else ["after the next append the capsule is bad"]


def stray_problems(folder: Path, known: set[str], ending: Ending) -> list[str]:
    """Files that nobody knows, temporary ones included where the process went on."""
    strays = {path.name for path in folder.iterdir()} - known
    left = {name for name in strays if name.endswith(".tmp")}
    problems = [f"a file that nobody knows: {name}" for name in sorted(strays - left)]
    if not (ending.died or ending.late):
        problems += [f"a temporary file was left: {name}" for name in sorted(left)]
    return problems


def whole_problems(path: Path, *allowed: bytes | None) -> list[str]:
    """A file that is none of what it may be; None stands for no file."""
    content = path.read_bytes() if path.exists() else None
    return [] if content in allowed else [f"{path.name} is neither the old one nor the new one whole"]


def receipt_problems(path: Path, folder: Path) -> list[str]:
    """A receipt that is there and does not hold."""
    if not path.exists():
        return []
    try:
        verdict = receipt.verify_receipt(json.loads(path.read_bytes()), folder)
    except ValueError:
        return [f"{path.name} is torn"]
    return [] if verdict.ok else [f"{path.name} fails its check {verdict.check}: {verdict.reason}"]


def run_problems(folder: Path, before: bytes | None, ending: Ending) -> list[str]:
    """What is wrong in a repository in which a run was going on; `before` was its latest.json."""
    latest = folder / LATEST
    after = latest.read_bytes() if latest.exists() else None
    problems = []
    if after is None:
        if before is not None:
            problems.append("latest.json has gone")
    elif found := judged(folder).problems:
        problems.append(f"latest.json names a bundle that check refuses: {found}")
    if ending.code is None and not ending.died and after == before:
        problems.append("the run succeeded and latest.json is the old one")
    problems += _folder_problems(folder, ending)
    try:
        run_case(folder)
        problems += [f"after the next run: {problem}" for problem in judged(folder).problems]
    except EvalsError as error:
        problems.append(f"the next run is refused: {error}")
    return problems


def _folder_problems(folder: Path, ending: Ending) -> list[str]:
    runs = (folder / LATEST).parent
    if not runs.is_dir():
        return []
    problems = stray_problems(
        runs, {path.name for path in runs.iterdir() if path.is_dir()} | {"latest.json"}, ending
    )
    for run in (path for path in runs.iterdir() if path.is_dir()):
        complete = (run / "latest-candidate.json").exists()
        failed = (run / "failure.json").exists()
        excused = ending.died or ending.hampered or ending.code == "run.directory"
        if not (complete or failed or excused):
            problems.append(f"{run.name} is neither complete nor says that it failed")
        left = [path.name for path in run.iterdir() if path.name.endswith(".tmp")]
        if left and not (ending.died or ending.late):
            problems.append(f"a temporary file was left in {run.name}: {left}")
    return problems


def export_problems(target: Path, old: Path | None, new: Path) -> list[str]:
    """Files of an export's target that are neither as in `old` (None: not there) nor as in `new`, whole."""
    problems = []
    for name in ("capsule.json", "journal.ndjson", "projection.json"):
        before = (old / name).read_bytes() if old is not None else None
        problems += whole_problems(target / name, before, (new / name).read_bytes())
    return problems


def copied(template: Path, folder: Path) -> Path:
    """A fresh copy of `template` at `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    return folder
