"""Retrospective groups: one report over many capsules of a task family, from what their journals declare.

Rules (`capsule-retrospective/v1`):
- 1 to 100 folders. First every capsule is projected afresh, stored projections are never used; then one pass
  in input order judges each one's task family and then its identity. The first input at fault refuses the
  whole report, with its index and nothing of the cause.
- (run_id, capsule_id) identifies a capsule: the same projection again counts once, another is a conflict.
- The report holds counts and digests by harness version, no paths, ids, payloads or times; report_hash covers
  everything else. The order of the inputs changes nothing.
- Where threads run at once, large groups are projected by as many as there are cores, with the same report
  and the same refusal.
- It is report_only: counts describe recorded entries and prove no improvement. Task family and harness
  versions are printed as they are, and the digests of ids can be guessed: read it before sharing it.

Why threads: no command of this tool starts a process, and a process pool would also run the caller's main
module again where processes are spawned. Where the interpreter runs threads at once (free-threaded builds)
every core is used. Under the interpreter's lock only reading and hashing the journals' bytes could overlap,
a tenth of the work, and passing the lock to and fro costs more than that: 100 journals of 1,000 entries took
1.08 to 1.10 times the sum of their verifications one by one, and 1.10 to 1.17 times with two threads (CPython
3.11).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from .canonical import canonical_json, hash_value
from .capsule import read_snapshot
from .ecmascript import trim, utf16_key
from .envelope import EFFECT_CLASSES, LINEAGES
from .errors import EvalsError
from .files import as_path
from .verification import journal_path

RETROSPECTIVE_VERSION = "capsule-retrospective/v1"
MAX_INPUTS = 100
# Below this many journal bytes the threads' start costs more than they save.
MIN_BYTES_FOR_THREADS = 8 * 1024 * 1024

Projection = dict[str, Any]


def group_capsules(paths: Sequence[str | os.PathLike[str]]) -> dict[str, Any]:
    """The report on the capsules in the folders `paths`.

    Raises EvalsError `retrospective.invalid_inputs`, and with the zero-based details["input_index"]
    `retrospective.invalid_capsule`, `retrospective.mixed_task_families` or
    `retrospective.conflicting_identity`.
    """
    projections = _projections(_folders(paths))
    unique = _unique(projections)
    report: dict[str, Any] = {
        "schema": RETROSPECTIVE_VERSION,
        "report_only": True,
        "task_family": projections[0]["task_family"],
        "input_count": len(projections),
        "capsule_count": len(unique),
        "duplicate_count": len(projections) - len(unique),
        "groups": _groups(unique),
    }
    report["report_hash"] = hash_value(report)
    return report


def _folders(paths: object) -> list[str]:
    if isinstance(paths, (str, bytes)) or not isinstance(paths, Sequence):
        raise _invalid_inputs("a list of folders is expected")
    if not 1 <= len(paths) <= MAX_INPUTS:
        raise _invalid_inputs(f"1 to {MAX_INPUTS} folders are expected, {len(paths)} were given")
    return [_folder(index, path) for index, path in enumerate(paths)]


def _folder(index: int, path: Any) -> str:
    try:
        folder = as_path(path)
    except (TypeError, ValueError):
        folder = ""
    if not trim(folder):
        raise _invalid_inputs(f"input {index} is not the name of a folder")
    return folder


def _invalid_inputs(reason: str) -> EvalsError:
    return EvalsError("retrospective.invalid_inputs", reason)


def _refusal(code: str, index: int, reason: str) -> EvalsError:
    return EvalsError(f"retrospective.{code}", f"input {index}: {reason}", {"input_index": index})


def _projections(folders: Sequence[str]) -> list[Projection]:
    workers = _workers(folders)
    if workers == 1:
        return _all_required(map(_projection, folders))
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers)
    try:
        return _all_required(pool.map(_projection, folders))
    finally:
        pool.shutdown(cancel_futures=True)


def _workers(folders: Sequence[str]) -> int:
    if _has_interpreter_lock() or sum(map(_journal_size, folders)) < MIN_BYTES_FOR_THREADS:
        return 1
    return min(len(folders), _cores())


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # not on every platform
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _has_interpreter_lock() -> bool:
    asked = getattr(sys, "_is_gil_enabled", None)  # since Python 3.13
    return asked is None or bool(asked())


def _journal_size(folder: str) -> int:
    try:
        return os.stat(journal_path(folder)).st_size
    except OSError:
        return 0  # the projection will say what is wrong


def _all_required(projections: Iterable[Projection | None]) -> list[Projection]:
    return [_required(projection, index) for index, projection in enumerate(projections)]


def _projection(folder: str) -> Projection | None:
    # None where it does not verify: the cause may hold private text, so it ends here.
    return read_snapshot(folder).projection


def _required(projection: Projection | None, index: int) -> Projection:
    if projection is None:
        raise _refusal("invalid_capsule", index, "not a capsule that verifies; try `evals capsule verify`")
    return projection


def _unique(projections: Sequence[Projection]) -> list[Projection]:
    family = projections[0]["task_family"]
    known: dict[tuple[str, str], Projection] = {}
    for index, projection in enumerate(projections):
        if projection["task_family"] != family:
            raise _refusal("mixed_task_families", index, "another task family than that of input 0")
        identity = (projection["run_id"], projection["capsule_id"])
        earlier = known.setdefault(identity, projection)
        if earlier["projection_hash"] != projection["projection_hash"]:
            raise _refusal("conflicting_identity", index, "another snapshot of an earlier input's capsule")
    return list(known.values())


def _groups(unique: Iterable[Projection]) -> list[dict[str, Any]]:
    by_version: dict[str, list[Projection]] = {}
    for projection in unique:
        by_version.setdefault(projection["harness_version"], []).append(projection)
    return [_group(version, by_version[version]) for version in sorted(by_version, key=utf16_key)]


def _group(version: str, members: Sequence[Projection]) -> dict[str, Any]:
    members = sorted(members, key=_identity_text)
    return {
        "harness_version": version,
        "capsule_count": len(members),
        "entry_count": sum(member["entry_count"] for member in members),
        "by_lineage": _totals(members, "by_lineage", LINEAGES),
        "by_effect_class": _totals(members, "by_effect_class", EFFECT_CLASSES),
        "sources": [_source(member) for member in members],
    }


def _totals(members: Sequence[Projection], field: str, names: Sequence[str]) -> dict[str, int]:
    return {name: sum(member[field][name] for member in members) for name in names}


def _identity_text(projection: Projection) -> str:
    # Ids are ASCII, so the order of code points is that of UTF-16.
    return canonical_json([projection["run_id"], projection["capsule_id"]])


def _source(projection: Projection) -> dict[str, Any]:
    return {
        "identity_hash": hash_value([projection["run_id"], projection["capsule_id"]]),
        "entry_count": projection["entry_count"],
        "root_hash": projection["root_hash"],
        "journal_sha256": projection["journal_sha256"],
        "projection_hash": projection["projection_hash"],
    }
