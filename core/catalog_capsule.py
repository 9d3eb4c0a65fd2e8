"""Codes of capsules: what verification finds, and why an append, a creation or an export is refused."""

from __future__ import annotations

from .catalog_entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="ok",
        kind="finding",
        meaning="Every byte of the journal is canonical, every entry valid, every link and hash right,"
        " and the metadata agrees.",
        establishes="The journal is one unbroken chain from its first entry to root_hash.",
        does_not_establish="Who wrote it, when (created_at is not covered), that what it says is true,"
        " that no later entries were cut off, or that the whole journal was not replaced; a receipt kept"
        " elsewhere covers the last two.",
        next_step="Compare root_hash with a receipt that you got by another way.",
    ),
    Entry(
        code="capsule.missing_journal",
        meaning="The directory holds no journal.ndjson.",
        establishes="There is no capsule here to verify.",
        does_not_establish="That there never was one.",
        next_step="Check the path; create a capsule with `evals capsule create DIR`.",
    ),
    Entry(
        code="capsule.unreadable_journal",
        meaning="journal.ndjson exists but cannot be read, or is no regular file.",
        establishes="Nothing was verified.",
        does_not_establish="That the journal is damaged.",
        next_step="Fix permissions, or replace the directory, FIFO or link by the journal file.",
    ),
    Entry(
        code="capsule.non_canonical",
        meaning="The bytes are not the canonical text of the entries: other white space, key order,"
        " number or escape forms, or invalid UTF-8.",
        establishes="The file is not as any writer of this format leaves it; from that entry on nothing"
        " is trusted.",
        does_not_establish="That a value was changed; the parsed values may be the same.",
        next_step="Restore the file byte for byte. Version control that rewrites line ends is a frequent"
        " cause: mark *.ndjson as binary.",
    ),
    Entry(
        code="capsule.truncated_tail",
        meaning="The journal does not end with a line feed: its last line is incomplete.",
        establishes="The last append did not finish, or the end of the file was cut.",
        does_not_establish="Which of the two it was. Lines before it are not judged in this state.",
        next_step="Keep the file as evidence. Nothing repairs it; continue in a new capsule, or restore"
        " a copy.",
    ),
    Entry(
        code="capsule.corrupt_entry",
        meaning="A line of the journal is not JSON.",
        establishes="The entries before failed_at are a good chain; that line is damaged.",
        does_not_establish="What the line held.",
        next_step="Compare the line with a copy; do not edit the journal.",
    ),
    Entry(
        code="capsule.invalid_entry",
        meaning="An entry breaks the envelope's rules, holds a secret, or its hash does not match its"
        " content.",
        establishes="The entry at failed_at is not what its writer hashed, or was never valid.",
        does_not_establish="Which member was changed, or by whom.",
        next_step="Compare the entry at failed_at with a copy; the reason names what is wrong.",
    ),
    Entry(
        code="capsule.entry_too_large",
        meaning="A line of the journal is longer than any entry that this program writes or reads.",
        establishes="The entries before failed_at are a good chain; that line was not parsed.",
        does_not_establish="That the line is damaged.",
        next_step="Look at the line; keep large content in files and name it by its digest.",
    ),
    Entry(
        code="capsule.reordered",
        meaning="An entry's seq is not its place in the journal.",
        establishes="An entry before it was removed, inserted, repeated or moved.",
        does_not_establish="Which of these happened.",
        next_step="Compare the sequence around failed_at with a copy.",
    ),
    Entry(
        code="capsule.broken_link",
        meaning="An entry's parent_hash is not the hash of the entry before it.",
        establishes="The two entries do not belong to one chain.",
        does_not_establish="Which of the two is the foreign one.",
        next_step="Compare both entries with a copy.",
    ),
    Entry(
        code="capsule.metadata_invalid",
        meaning="capsule.json is missing, unreadable, not JSON, or breaks its rules.",
        establishes="The journal's own chain is good; the identity beside it is not usable.",
        does_not_establish="That an entry was changed.",
        next_step="Restore capsule.json; the entries carry the same identity, created_at they do not.",
    ),
    Entry(
        code="capsule.metadata_mismatch",
        meaning="An entry names another schema, run, capsule, harness version or task family than"
        " capsule.json.",
        establishes="The journal and capsule.json do not belong together, or one of them was edited.",
        does_not_establish="Which of them.",
        next_step="Compare capsule.json with the entry at failed_at and with a receipt.",
    ),
    Entry(
        code="capsule.exists",
        meaning="The directory already holds a capsule.json or a journal.ndjson.",
        establishes="Nothing was changed.",
        does_not_establish="That what is there is a good capsule.",
        next_step="Choose another directory, or append to the capsule that is there.",
    ),
    Entry(
        code="capsule.busy",
        meaning="An append lock exists: somebody is appending, or a writer died while doing so.",
        establishes="Nothing was changed by this call.",
        does_not_establish="That the other writer is still alive; the lock's age and content are not judged.",
        next_step="Try again later. Only after all writers are stopped and the capsule is looked at may"
        " an operator remove .append.lock.",
    ),
    Entry(
        code="capsule.session_busy",
        meaning="A writing session was asked to append while an append of it was still under way: from"
        " another thread, or from within the first one.",
        establishes="Nothing of this call was written. The session goes on.",
        does_not_establish="How the other append ends.",
        next_step="Append from one place at a time: guard the session where threads share it, and let its"
        " clock only tell the time.",
    ),
    Entry(
        code="capsule.lock_lost",
        meaning="The append lock or the journal was removed, replaced or changed by somebody else while the"
        " lock was held.",
        establishes="Another writer may have been at work at the same time; what it left was left alone.",
        does_not_establish="Whether the entry is in the journal; it may be.",
        next_step="Stop all writers, verify the capsule, and look for the entry before appending it again.",
    ),
    Entry(
        code="capsule.lock_failed",
        meaning="The append lock could not be created or released, for a reason other than being held.",
        establishes="The system's reason, which the message gives.",
        does_not_establish="Whether an entry is in the journal, when the release failed.",
        next_step="Fix the cause, verify the capsule, and look for a left .append.lock.",
    ),
    Entry(
        code="capsule.bad_lineage",
        meaning="The lineage is none of plan, attempt, interaction, environment, strategy.",
        establishes="Nothing was appended.",
        does_not_establish="That the rest of the entry is valid; lineage is looked at first.",
        next_step="Use one of the five lineages.",
    ),
    Entry(
        code="capsule.payload_invalid",
        meaning="The payload is no plain object, or one of its members has the wrong type.",
        establishes="Nothing was appended, and nothing was scanned for secrets.",
        does_not_establish="That the other members are free of secrets.",
        next_step="Correct the member that the message names; `evals schema capsule-envelope` lists the"
        " types.",
    ),
    Entry(
        code="capsule.payload_denied",
        meaning="The payload holds members that the envelope does not know.",
        establishes="Nothing was appended.",
        does_not_establish="That these members hold anything private.",
        next_step="Leave them out. A Python caller may pass strict=False to have them dropped.",
    ),
    Entry(
        code="capsule.secret_canary",
        meaning="A text in the payload looks like a credential.",
        establishes="Nothing was appended; the finding names the pattern and the path, never the text.",
        does_not_establish="That it is a credential, or that a text without a finding is free of them.",
        next_step="Take the text out. If it is a live credential, revoke it where it was issued.",
    ),
    Entry(
        code="capsule.write_failed",
        meaning="An entry could not be written whole or made durable.",
        establishes="The append was not acknowledged. Bytes already written stay.",
        does_not_establish="That the entry is absent: it may be there whole, or in part as a refused tail.",
        next_step="Free space or fix the medium, verify the capsule, and look for the entry before"
        " trying again.",
    ),
    Entry(
        code="capsule.create_failed",
        meaning="A new capsule's directory or files could not be made, or could not be made durable.",
        establishes="The capsule was not acknowledged.",
        does_not_establish="That nothing was left: the directory, or a whole empty capsule, may be there.",
        next_step="Fix the cause and look at the directory: verify what is there, or create in another one.",
    ),
    Entry(
        code="capsule.changed",
        meaning="The journal changed between two looks of one command, such as an export or a listing.",
        establishes="What was copied or printed is not the whole of one consistent state.",
        does_not_establish="That the capsule itself is damaged.",
        next_step="Let the writers finish, then do it again.",
    ),
    Entry(
        code="capsule.export_conflict",
        meaning="The target of an export is the capsule itself, holds files of another capsule or an append"
        " lock, or its journal is not the beginning of the one to export: it is longer, went on differently"
        " or cannot be read.",
        establishes="The journal in the target was not changed: the export would have destroyed entries.",
        does_not_establish="That what is in the target is a good capsule, or which of two journals is the"
        " right one.",
        next_step="Export to an empty directory, or to an earlier export of the same capsule. Where the"
        " target holds newer entries, it is the one to export.",
    ),
)
