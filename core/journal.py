r"""Journal: the streaming reader that decides whether `journal.ndjson` is one unbroken chain.

Rules (source document; order of checks observed on a reference implementation):
- One pass, in memory bounded by MAX_LINE_BYTES whatever the length. Lines end with LF alone.
- Precedence: invalid UTF-8 anywhere; then a last line without LF; then the first bad line. So a bad line is
  noted and the rest is still read, for its UTF-8, its line ends and its tail.
- A line is judged in this order: it parses, it is a valid envelope with the right hash, its seq is its index,
  its parent_hash is the entry_hash before it, its bytes are its canonical text.
- A line longer than MAX_LINE_BYTES is refused unread (`capsule.entry_too_large`): the limit is this
  project's, the format has none. Parsing a hostile line within it, such as a list of small objects, takes up
  to some forty times its size.
- `identity` (of the metadata) is compared with each good entry; the first that differs is remembered.
- Content never raises. Counts and the parent hash (`Chain`) are those of the good prefix.

The seam for speed: once EXACT_BYTES were judged line by line, a certifier (`core.certify`) is asked before a
line of a block is judged here. It goes as far as it can prove and returns where it stopped, having advanced
the chain; the line at that place goes the exact way (`check_line`). Short journals go the exact way alone,
since that is sooner done than preparing a certifier; a process that has prepared one asks it at once.
"""

from __future__ import annotations

import codecs

from . import files
from .canonical import loads
from .envelope import EFFECT_CLASSES, GENESIS_HASH, LINEAGES, judge
from .errors import EvalsError
from .metadata import identity_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any, Final, Protocol

FILE_NAME: Final = "journal.ndjson"
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
EXACT_BYTES = 128 * 1024


class Chain:
    """Where a chain stands after its good entries: how many, the last hash, and what they declare."""

    __slots__ = ("by_effect_class", "by_lineage", "count", "parent_hash")

    def __init__(self) -> None:
        self.count = 0
        self.parent_hash = GENESIS_HASH
        self.by_lineage = dict.fromkeys(LINEAGES, 0)
        self.by_effect_class = dict.fromkeys(EFFECT_CLASSES, 0)

    def add(self, lineage: str, effect_class: str, entry_hash: str) -> None:
        """Advance over one good entry."""
        self.count += 1
        self.parent_hash = entry_hash
        self.by_lineage[lineage] += 1
        self.by_effect_class[effect_class] += 1


if TYPE_CHECKING:

    class Certifier(Protocol):
        """A faster way over lines that it can prove to be good."""

        def certify(self, block: bytes, start: int, chain: Chain) -> int:
            """Prove lines of `block` from `start` on; return the offset after the last one proven.

            `block` is valid UTF-8 and ends with LF; `start` is at the first byte of a line. The chain is to
            be advanced over exactly the proven lines. A proven line passes every check of `check_line` and
            has the identity that the certifier was made for. Returning `start` proves nothing.
            """


class Fault:
    """Why a journal is refused; `failed_at` and `entry_count` as a verification reports them."""

    __slots__ = ("code", "entry_count", "failed_at", "reason")

    def __init__(self, code: str, reason: str, failed_at: int | None, entry_count: int) -> None:
        self.code = code
        self.reason = reason
        self.failed_at = failed_at
        self.entry_count = entry_count


def check_line(line: bytes, index: int, parent_hash: str) -> dict[str, Any]:
    """The entry in `line` (without LF), where it is the good entry number `index` after `parent_hash`.

    Raises EvalsError `capsule.entry_too_large`, `capsule.corrupt_entry`, `capsule.invalid_entry`,
    `capsule.reordered`, `capsule.broken_link` or `capsule.non_canonical`, checked in this order.
    """
    if len(line) > MAX_LINE_BYTES:
        raise too_large()
    try:
        entry = loads(line)
    except EvalsError as error:
        raise EvalsError("capsule.corrupt_entry", f"not valid JSON ({_within_line(error)})") from None
    problems, sealed = judge(entry)
    if sealed is None:
        raise EvalsError("capsule.invalid_entry", f"not a valid entry ({'; '.join(problems)})")
    if entry["seq"] != index:
        raise EvalsError("capsule.reordered", f"its seq is not {index}: entries are missing, added or moved")
    if entry["parent_hash"] != parent_hash:
        raise EvalsError("capsule.broken_link", "its parent_hash is not the hash of the entry before it")
    if line != sealed.line:
        raise EvalsError("capsule.non_canonical", _layout_problem(line))
    checked: dict[str, Any] = entry
    return checked


def _within_line(error: EvalsError) -> str:
    # The reader counts lines from its own start, which here is the line itself.
    return error.message.removeprefix("line 1, ")


def _layout_problem(line: bytes) -> str:
    if line.endswith(b"\r"):
        return "it ends with CR LF; a checkout or an editor has converted the line ends"
    return "its bytes are not the canonical text of the entry"


def too_large() -> EvalsError:
    """The refusal of a line that is longer than this project reads."""
    return EvalsError("capsule.entry_too_large", f"longer than the limit of {MAX_LINE_BYTES} bytes")


def make_certifier(identity: tuple[str, ...]) -> Certifier:
    """The certifier for journals of `identity`; loaded when it is first needed."""
    global EXACT_BYTES  # noqa: PLW0603 - the patterns it stands for are compiled once a process, too
    from .certify import Certifier

    EXACT_BYTES = 0
    return Certifier(identity)


class Scan:
    """One pass over the bytes of a journal: `feed` them in order, then ask `finish` for the fault.

    `chain` may stand after entries that were verified before; the bytes fed are then those after them.
    `mismatch_at` is the first entry of another identity, `checkpoint_root` the hash after `checkpoint`
    entries where the chain is that long. `exact_bytes` stands for EXACT_BYTES.
    """

    def __init__(
        self,
        identity: tuple[str, ...] | None,
        *,
        exact_bytes: int | None = None,
        chain: Chain | None = None,
        checkpoint: int | None = None,
    ) -> None:
        self.chain = chain or Chain()
        self.mismatch_at: int | None = None
        self.checkpoint_root = self.chain.parent_hash if checkpoint == self.chain.count else None
        self._checkpoint = checkpoint
        self._identity = identity
        self._exact_bytes = EXACT_BYTES if exact_bytes is None else exact_bytes
        self._certifier: Certifier | None = None
        self._line_feeds = self.chain.count
        self._tail = b""
        self._in_long_line = False
        self._bad_line: Fault | None = None
        self._utf8: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")()

    def feed(self, chunk: bytes) -> bool:
        """Judge the next bytes; False once nothing that follows can change the outcome."""
        if not self._is_utf8(chunk, final=False):
            return False
        end = chunk.rfind(b"\n") + 1
        if end == 0:
            self._keep_tail(chunk)
            return True
        block = self._tail + chunk[:end]
        self._tail = b""
        if self._in_long_line:
            block = self._end_long_line(block)
        self._judge(block)
        self._keep_tail(chunk[end:])
        return True

    def finish(self) -> Fault | None:
        """The fault of the whole journal by the order of precedence, None where it is good."""
        if not self._is_utf8(b"", final=True):
            return Fault("capsule.non_canonical", f"{FILE_NAME} is not valid UTF-8; {_RESTORE}", None, 0)
        if self._tail or self._in_long_line:
            return Fault(
                "capsule.truncated_tail",
                f"{FILE_NAME} line {self._line_feeds + 1}: the last line has no line end, so its writing was "
                "cut short; keep the file as evidence and start a new capsule",
                self._line_feeds,
                0,
            )
        return self._bad_line

    def _is_utf8(self, chunk: bytes, *, final: bool) -> bool:
        if self._utf8 is None:
            return False
        try:
            self._utf8.decode(chunk, final)
        except UnicodeDecodeError:
            self._utf8 = None
            return False
        return True

    def _keep_tail(self, rest: bytes) -> None:
        if self._in_long_line or not rest:
            return
        self._tail += rest
        if len(self._tail) > MAX_LINE_BYTES:
            self._tail = b""
            self._in_long_line = True
            self._note_bad_line(too_large())

    def _end_long_line(self, block: bytes) -> bytes:
        """`block` without the rest of the line that was too long to keep."""
        self._in_long_line = False
        self._line_feeds += 1
        return block[block.index(b"\n") + 1 :]

    def _judge(self, block: bytes) -> None:
        """Judge the whole lines of `block`."""
        if self._bad_line is None:
            self._advance(block)
        if self._bad_line is None:
            # Every line was good, so the chain has counted them.
            self._line_feeds = self.chain.count
        else:
            self._line_feeds += block.count(b"\n")

    def _advance(self, block: bytes) -> None:
        certifier = self._certifier_for(block)
        start = 0
        while start < len(block):
            if certifier is not None:
                start = self._certify(certifier, block, start)
                if start == len(block):
                    return
            end = block.index(b"\n", start)
            try:
                self._accept(check_line(block[start:end], self.chain.count, self.chain.parent_hash))
            except EvalsError as error:
                self._note_bad_line(error)
                return
            start = end + 1

    def _certifier_for(self, block: bytes) -> Certifier | None:
        """The certifier to ask about `block`; None where every line of it is to be judged exactly."""
        if self._identity is None or len(block) > MAX_LINE_BYTES:
            return None
        if self._exact_bytes > 0:
            self._exact_bytes -= len(block)
            return None
        if self._certifier is None:
            self._certifier = make_certifier(self._identity)
        return self._certifier

    def _certify(self, certifier: Certifier, block: bytes, start: int) -> int:
        before = self.chain.count
        end = certifier.certify(block, start, self.chain)
        if self._checkpoint is not None and before < self._checkpoint <= self.chain.count:
            line = block[start:end].split(b"\n")[self._checkpoint - before - 1]
            self.checkpoint_root = loads(line)["entry_hash"]
        return end

    def _accept(self, entry: dict[str, Any]) -> None:
        if self._identity is not None and self.mismatch_at is None and identity_of(entry) != self._identity:
            self.mismatch_at = self.chain.count
        self.chain.add(entry["lineage"], entry["effect_class"], entry["entry_hash"])
        if self.chain.count == self._checkpoint:
            self.checkpoint_root = entry["entry_hash"]

    def _note_bad_line(self, error: EvalsError) -> None:
        if self._bad_line is None:
            index = self.chain.count
            reason = f"{FILE_NAME} line {index + 1}: {error.message}; {_RESTORE}"
            self._bad_line = Fault(error.code, reason, index, index)


_RESTORE = "compare the file with a trusted copy, or keep it as evidence and start a new capsule"


def read_entries(path: str, size: int) -> Iterator[dict[str, Any]]:
    """The entries in the first `size` bytes of a journal that was verified, each checked again as it is read.

    Raises EvalsError with the code of `check_line` where the bytes are no longer good, `capsule.changed`
    where they are fewer, and `file.*` where the file cannot be opened or read.
    """
    index, parent_hash, tail = 0, GENESIS_HASH, b""
    for chunk in first_bytes(path, size):
        *lines, tail = (tail + chunk).split(b"\n")
        for line in lines:
            entry = check_line(line, index, parent_hash)
            index, parent_hash = index + 1, entry["entry_hash"]
            yield entry


def first_bytes(path: str, size: int) -> Generator[bytes, None, None]:
    """The first `size` bytes of a journal; raises `capsule.changed` where they are fewer, and `file.*`."""
    descriptor = files.open_regular(path, follow_symlinks=False)
    try:
        for chunk in files.read_chunks(descriptor):
            yield chunk[:size]
            size -= len(chunk)
            if size <= 0:
                return
    except OSError as error:
        raise files.system_error(error, path) from error
    finally:
        files.close_quietly(descriptor)
    if size > 0:
        raise changed("became shorter")


def changed(how: str) -> EvalsError:
    """The refusal of a journal that changed between two looks of one command."""
    return EvalsError(
        "capsule.changed", f"{FILE_NAME} {how} while it was read; try again when no writer is at work"
    )
