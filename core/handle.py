"""Handle: a capsule that entries are appended to and read from.

Rules (source document):
- A handle holds no authority: each append takes the lock, then reads and verifies everything from disk; what
  the handle remembers only saves parsing (`core.prefix`). Identity is taken from the disk's metadata.
- Creating validates before any folder is made and never touches a capsule, or half of one, that is there.
- A batch is one lock, one verification, one write and one fsync, and each record is validated before the
  first byte is written. A session (`writer`) locks and verifies once for many appends.
- An append that fails once bytes may be on disk is ambiguous; those bytes are never part of what the handle
  remembers, so the next append judges them.
"""

from __future__ import annotations

from . import files, journal, metadata
from .appending import OpenJournal
from .capsule import read_entries
from .creation import OMITTED, create_files
from .errors import EvalsError
from .lock import AppendLock
from .prefix import Prefix, verify_from
from .recording import Recorder, checked_record
from .session import Writer
from .verification import journal_fault, journal_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .timestamps import Clock


class Capsule:
    """One capsule on disk. Make it with `create` or `open`."""

    def __init__(self, path: str, prefix: Prefix, clock: Clock | None) -> None:
        self._path = path
        self._metadata = prefix.metadata
        self._prefix: Prefix | None = prefix
        self._clock = clock

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        run_id: str = OMITTED,
        capsule_id: str = OMITTED,
        harness_version: str = OMITTED,
        task_family: str = OMITTED,
        clock: Clock | None = None,
    ) -> Capsule:
        """Make an empty capsule in the folder `path`, which is made where it is missing.

        Omitted: run_id and capsule_id are random, harness_version is "unknown", task_family "unspecified".
        Raises EvalsError `capsule.metadata_invalid` (nothing was touched), `capsule.exists` (a capsule.json
        or journal.ndjson is there) or `capsule.create_failed`.
        """
        folder = files.as_path(path)
        found = create_files(
            folder,
            run_id=run_id,
            capsule_id=capsule_id,
            harness_version=harness_version,
            task_family=task_family,
            clock=clock,
        )
        return cls(folder, Prefix(found, journal.Chain()), clock)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, clock: Clock | None = None) -> Capsule:
        """The capsule in the folder `path`, verified; raises EvalsError with the codes of `verify`."""
        folder = files.as_path(path)
        where = journal_path(folder)
        try:
            descriptor = files.open_regular(where, follow_symlinks=False)
        except EvalsError as error:
            raise journal_fault(error).error() from error
        try:
            verdict, prefix = verify_from(descriptor, folder, None)
        except OSError as error:
            raise journal_fault(files.system_error(error, where)).error() from error
        finally:
            files.close_quietly(descriptor)
        if prefix is None:
            raise verdict.error()
        return cls(folder, prefix, clock)

    @property
    def path(self) -> str:
        """The folder of the capsule, as it was given."""
        return self._path

    @property
    def metadata(self) -> metadata.Metadata:
        """The identity as it was when the handle was made: run_id, capsule_id, harness_version, ..."""
        return self._metadata

    def append(
        self,
        lineage: str,
        kind: str,
        payload: Mapping[str, object] | None = None,
        *,
        effect_class: str = "SE0",
        strict: bool = True,
        allowlist: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """Append one entry and return it.

        Raises EvalsError: `capsule.busy`, `capsule.lock_failed`, the codes of `verify`, those of
        `core.recording` (nothing was written); `capsule.write_failed`, `capsule.lock_lost`,
        `capsule.lock_failed` (the entry may be on disk). With `strict` false, unknown payload keys are
        dropped; `allowlist` narrows what a payload may hold.
        """
        with AppendLock(self._path), self._opened() as opened:
            recorder = self._recorder(opened)
            sealed = recorder.seal(lineage, kind, payload, effect_class, strict=strict, allowlist=allowlist)
            opened.append([sealed])
        return sealed.entry

    def append_many(
        self,
        records: Iterable[Mapping[str, object]],
        *,
        strict: bool = True,
        allowlist: Iterable[str] | None = None,
    ) -> list[dict[str, Any]]:
        """Append records, mappings of lineage, kind, payload and effect_class, and return their entries.

        All or, as far as this process can tell, none: a refused record (details `record`, from 0) writes
        nothing, a crash in the middle of the write leaves a prefix of the batch and perhaps a torn line.
        Raises as `append`; TypeError or ValueError for records of another shape.
        """
        batch = [checked_record(index, record) for index, record in enumerate(records)]
        keys = None if allowlist is None else _key_set(allowlist)
        with AppendLock(self._path), self._opened() as opened:
            recorder = self._recorder(opened)
            sealed = []
            for index, record in enumerate(batch):
                sealed.append(recorder.seal_record(index, record, strict=strict, allowlist=keys))
                recorder.accept(sealed[-1])
            if sealed:
                opened.append(sealed)
        return [one.entry for one in sealed]

    def writer(self) -> Writer:
        """A session: `with capsule.writer() as session: session.append(...)`, one lock for many appends."""
        return Writer(self._path, self._opened, self._recorder)

    def entries(self) -> Iterator[dict[str, Any]]:
        """The entries on disk, oldest first; as `core.capsule.read_entries`, with its errors."""
        return read_entries(self._path)

    def _opened(self) -> OpenJournal:
        return OpenJournal(self._path, self._take_prefix())

    def _take_prefix(self) -> Prefix | None:
        # Verification works on the memory itself, so it is taken away until the verdict is good.
        prefix, self._prefix = self._prefix, None
        return prefix

    def _recorder(self, opened: OpenJournal) -> Recorder:
        self._prefix = opened.prefix
        return _recorder(opened, self._clock)


def append_entry(
    path: str | os.PathLike[str],
    lineage: str,
    kind: str,
    payload: Mapping[str, object] | None = None,
    *,
    effect_class: str = "SE0",
    strict: bool = True,
    allowlist: Iterable[str] | None = None,
    clock: Clock | None = None,
) -> dict[str, Any]:
    """Append one entry to the capsule in `path` without opening it first: one verification, under the lock.

    Raises as `Capsule.append`.
    """
    folder = files.as_path(path)
    with AppendLock(folder), OpenJournal(folder, None, remember=False) as opened:
        recorder = _recorder(opened, clock)
        sealed = recorder.seal(lineage, kind, payload, effect_class, strict=strict, allowlist=allowlist)
        opened.append([sealed])
    return sealed.entry


def _recorder(opened: OpenJournal, clock: Clock | None) -> Recorder:
    prefix = opened.prefix
    return Recorder(prefix.metadata, clock, prefix.chain.count, prefix.chain.parent_hash)


def _key_set(allowlist: Iterable[str]) -> frozenset[str]:
    if isinstance(allowlist, str):
        raise TypeError("allowlist is a collection of payload keys, not one text")
    return frozenset(allowlist)
