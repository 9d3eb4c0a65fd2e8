"""Creation: the two files of a new capsule.

Rules (source document):
- Metadata is validated before anything is made: `capsule.metadata_invalid`.
- A capsule.json or a journal.ndjson that is there, of any kind, is never touched: `capsule.exists`.
- The empty journal is created exclusively, which decides between two creators; capsule.json follows, whole.
  Where that fails, the journal made a moment ago is removed again, unless a capsule.json stands beside it:
  `capsule.create_failed`.
"""

from __future__ import annotations

import os

from . import files, journal, metadata
from .envelope import SCHEMA_VERSION
from .errors import EvalsError, FileError
from .timestamps import now_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .timestamps import Clock


class _Omitted(str):
    """The default of an argument that was not given, which None is not."""

    __slots__ = ()


OMITTED = _Omitted()


def create_files(
    folder: str,
    *,
    run_id: str,
    capsule_id: str,
    harness_version: str,
    task_family: str,
    clock: Clock | None,
) -> metadata.Metadata:
    """Make the files of an empty capsule in `folder`; returns its metadata. Errors by the rules above."""
    document = {
        "schema": SCHEMA_VERSION,
        "run_id": _given(run_id, f"run-{os.urandom(8).hex()}"),
        "capsule_id": _given(capsule_id, f"capsule-{os.urandom(8).hex()}"),
        "harness_version": _given(harness_version, "unknown"),
        "task_family": _given(task_family, "unspecified"),
        "created_at": now_text(clock),
    }
    raw = metadata.metadata_bytes(document)
    try:
        _refuse_existing(folder)
        files.make_folders(folder)
        _create_journal(folder, raw)
    except (OSError, FileError) as error:
        raise _create_failed(error) from error
    # As it will be read: writing joins halves of a character that the caller gave one by one.
    return metadata.parse_metadata(raw)


def _given(value: str, default: str) -> str:
    return default if value is OMITTED else value


def _refuse_existing(folder: str) -> None:
    for name in (metadata.FILE_NAME, journal.FILE_NAME):
        if files.exists(os.path.join(folder, name)):
            raise _exists(name)


def _exists(name: str) -> EvalsError:
    return EvalsError(
        "capsule.exists",
        f"{name} is there already; choose another folder, or append to the capsule in this one",
    )


def _create_journal(folder: str, metadata_raw: bytes) -> None:
    path = os.path.join(folder, journal.FILE_NAME)
    try:
        descriptor = os.open(path, files.WRITE_FLAGS | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW, 0o644)
    except FileExistsError:
        raise _exists(journal.FILE_NAME) from None
    beside = os.path.join(folder, metadata.FILE_NAME)
    try:
        os.close(descriptor)
        # Again, now that other creators are shut out: the folder may have changed since the first look.
        if files.exists(beside):
            raise _exists(metadata.FILE_NAME)
        files.write_whole(beside, metadata_raw)
    except BaseException:
        _remove_orphan(path, beside)
        raise


def _remove_orphan(path: str, beside: str) -> None:
    # With a capsule.json the journal is part of a capsule: ours, not known to be durable, or somebody else's.
    try:
        if not files.exists(beside):
            os.unlink(path)
    except (OSError, FileError):
        pass


def _create_failed(error: OSError | FileError) -> EvalsError:
    failure = error if isinstance(error, FileError) else files.system_error(error, journal.FILE_NAME, "write")
    return EvalsError(
        "capsule.create_failed",
        f"the capsule could not be created ({failure.message}); fix the cause and look at the folder",
        {"errno": failure.details.get("errno")},
    )
