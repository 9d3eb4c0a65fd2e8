"""Codes of receipts, retrospective groups, replay and the gate."""

from __future__ import annotations

from .catalog_entry import Entry

_RERUN = "Compare the receipt and the capsule with copies from their producer."


def _check(name: str, meaning: str, establishes: str, does_not_establish: str, next_step: str) -> Entry:
    return Entry(
        code=f"receipt.check.{name}",
        kind="finding",
        meaning=meaning,
        establishes=establishes,
        does_not_establish=does_not_establish,
        next_step=next_step,
    )


def _tripwire(name: str, meaning: str) -> Entry:
    return Entry(
        code=f"gate.tripwire.{name}",
        kind="finding",
        meaning=meaning,
        establishes="That line of that file matches the pattern.",
        does_not_establish="That the line runs or does harm; and no hit anywhere proves no safety.",
        next_step="Read the line. Nothing of this project will run it.",
    )


_RECEIPT = (
    Entry(
        code="receipt.schema_invalid",
        meaning="A receipt was asked for with an artifact digest that is no SHA-256 in lower-case hex.",
        establishes="Nothing was written, the projection included.",
        does_not_establish="Anything about the capsule; it was not read.",
        next_step="Pass 64 lower-case hex digits, or a path to the artifact.",
    ),
    Entry(
        code="receipt.unreadable",
        meaning="A receipt file or a gate file cannot be read, or is not JSON.",
        establishes="Nothing was compared.",
        does_not_establish="Anything about the capsule.",
        next_step="Check the path and the file.",
    ),
    Entry(
        code="receipt.artifact_unreadable",
        meaning="The artifact that a receipt should name cannot be read.",
        establishes="No receipt was issued.",
        does_not_establish="Anything about the capsule.",
        next_step="Check the path; an artifact is one regular file.",
    ),
    Entry(
        code="receipt.target_refused",
        meaning="A receipt was to be written over a capsule's own file, or over something that is no file.",
        establishes="Nothing was written there.",
        does_not_establish="Anything about the capsule.",
        next_step="Write the receipt to another place.",
    ),
    _check(
        "schema",
        "The receipt's fields are not those of the format.",
        "The receipt cannot be used; nothing else was looked at.",
        "Anything about the capsule.",
        _RERUN,
    ),
    _check(
        "receipt_hash",
        "The receipt's own hash does not cover its fields.",
        "A field of the receipt was changed after it was issued.",
        "Which field, or anything about the capsule.",
        _RERUN,
    ),
    _check(
        "signature",
        "The verifier that was supplied does not accept the signature, or there is none.",
        "The receipt is not vouched for by the expected key.",
        "That the fields are wrong.",
        "Make sure of the key, then ask the signer.",
    ),
    _check(
        "journal_present",
        "The capsule has no journal.",
        "There is nothing to compare the receipt with.",
        "That the receipt is bad.",
        "Name the capsule's directory or an export of it.",
    ),
    _check(
        "journal_integrity",
        "The journal does not verify, or is not the bytes that the receipt names.",
        "The journal differs from what was receipted.",
        "What was changed; `evals capsule verify` names the entry when the chain itself is broken.",
        "Run `evals capsule verify DIR`.",
    ),
    _check(
        "truncation",
        "The journal holds fewer entries than the receipt names.",
        "Entries are missing at the end.",
        "What they held.",
        "Get the full journal from a copy.",
    ),
    _check(
        "capsule_root",
        "After the named number of entries the journal has another root hash.",
        "The journal was rewritten, or belongs to another capsule.",
        "Which entry differs.",
        _RERUN,
    ),
    _check(
        "stale_checkpoint",
        "The journal matches the receipt and has grown since.",
        "The receipted entries are still there, unchanged.",
        "Anything about the entries after them.",
        "Ask for a receipt of the capsule as it is now.",
    ),
    _check(
        "metadata",
        "capsule.json does not verify, or names another run or capsule than the receipt.",
        "The receipt is not about this capsule, or capsule.json was edited.",
        "That an entry was changed.",
        _RERUN,
    ),
    _check(
        "projection",
        "projection.json is missing, damaged, or not what the journal gives.",
        "The stored summary cannot be relied on.",
        "That the journal is damaged; it was found good before.",
        "Run `evals capsule project DIR` on the producer's side, then build a new receipt.",
    ),
    _check(
        "artifact",
        "The artifact is missing, unreadable, unnamed in the receipt, or has another digest.",
        "The file at hand is not the one that was receipted.",
        "What was changed in it.",
        "Get the artifact from its producer.",
    ),
    _check(
        "gate_receipt",
        "The gate document is unnamed in the receipt, or has another digest.",
        "The document at hand is not the one that was receipted.",
        "That a gate ever ran; this project's gate cannot.",
        "Get the document from its producer.",
    ),
)

_GROUP = (
    Entry(
        code="retrospective.invalid_inputs",
        meaning="The inputs are not 1 to 100 directory names.",
        establishes="No capsule was read.",
        does_not_establish="Anything about the capsules.",
        next_step="Name between 1 and 100 directories.",
    ),
    Entry(
        code="retrospective.invalid_capsule",
        meaning="An input does not verify as a capsule.",
        establishes="The input at the named place (from 0) is unusable; no report was made.",
        does_not_establish="Why; the cause is left out on purpose, since reports are shared.",
        next_step="Run `evals capsule verify` on that input.",
    ),
    Entry(
        code="retrospective.mixed_task_families",
        meaning="The capsules are not all of one task family.",
        establishes="The input at the named place differs from the first; no report was made.",
        does_not_establish="Which of them was meant.",
        next_step="Group capsules of one task family at a time.",
    ),
    Entry(
        code="retrospective.conflicting_identity",
        meaning="Two inputs have the same run and capsule ids but other content.",
        establishes="They are different snapshots of one capsule, or one of them is forged.",
        does_not_establish="Which one to believe; none is chosen.",
        next_step="Leave the older snapshot out, or find out why the ids repeat.",
    ),
)

_REPLAY = (
    Entry(
        code="tool.fixture_missing",
        meaning="There is no recorded response for this tool and these arguments.",
        establishes="The tool was not called.",
        does_not_establish="That the tool would fail.",
        next_step="Record it once in record mode, with a trusted implementation.",
    ),
    Entry(
        code="tool.fixture_corrupt",
        meaning="A recorded response is not a JSON object.",
        establishes="The recording cannot be used.",
        does_not_establish="What it held.",
        next_step="Restore the file, or record again.",
    ),
    Entry(
        code="tool.fixture_mismatch",
        meaning="A recording names another tool or other arguments, or its response was edited.",
        establishes="The recording is not what record mode wrote for this call.",
        does_not_establish="Which member was changed.",
        next_step="Restore the file, or record again.",
    ),
    Entry(
        code="tool.fixture_unwritable",
        meaning="A recording could not be written whole.",
        establishes="An earlier recording of the same call is still whole.",
        does_not_establish="That the tool's effect did not happen; in record mode it was called.",
        next_step="Fix the cause, then record again.",
    ),
    Entry(
        code="tool.unknown",
        meaning="The tool was not declared to this replayer.",
        establishes="Nothing was called or read.",
        does_not_establish="That a recording is missing.",
        next_step="Declare the tool with its effect class and determinism.",
    ),
    Entry(
        code="tool.effect_forbidden",
        meaning="The tool's declared effect class is above what this mode allows.",
        establishes="The implementation was not called and no recording was read.",
        does_not_establish="That the declaration is honest.",
        next_step="Leave the tool out of the replay; SE3 and SE4 are never replayed.",
    ),
    Entry(
        code="replay.bad_mode",
        meaning="The mode is neither replay nor record.",
        establishes="No replayer was made.",
        does_not_establish="Anything about tools or recordings.",
        next_step="Use mode='replay' or mode='record'.",
    ),
    Entry(
        code="replay.no_store",
        meaning="No fixture store was given.",
        establishes="No replayer was made.",
        does_not_establish="Anything about tools or recordings.",
        next_step="Pass store=FixtureStore(path).",
    ),
    Entry(
        code="replay.bad_declaration",
        meaning="A tool's declaration lacks a valid effect class or determinism, or record mode lacks an"
        " implementation.",
        establishes="No replayer was made.",
        does_not_establish="That the other declarations are good.",
        next_step="Declare effect_class SE0 to SE4 and determinism deterministic or nondeterministic.",
    ),
)

_GATE = (
    Entry(
        code="gate.isolation_required",
        meaning="Candidate code cannot be executed: no reviewed isolation backend exists on any system.",
        establishes="Nothing was read, copied, loaded, created or run.",
        does_not_establish="Anything about the candidate, good or bad. No gate verdict can be issued.",
        next_step="Inspect the files with `evals gate inspect DIR`. No flag enables execution.",
    ),
    Entry(
        code="gate.variant_missing",
        meaning="The directory has no variant.json.",
        establishes="There is no variant here to inspect.",
        does_not_establish="That the directory is empty.",
        next_step="Check the path.",
    ),
    Entry(
        code="gate.variant_invalid",
        meaning="variant.json breaks its rules, or the tree holds a link or special file.",
        establishes="The variant was refused; nothing of it was run.",
        does_not_establish="That the code in it is harmful.",
        next_step="Correct what the message names; a variant is a tree of regular files.",
    ),
    Entry(
        code="gate.taskset_invalid",
        meaning="A task set lacks its version, family or tasks, or its task ids repeat.",
        establishes="The task set was refused.",
        does_not_establish="Anything about a variant.",
        next_step="Correct what the message names.",
    ),
    _tripwire("effect_class_expansion", "The variant declares a higher effect class than allowed."),
    _tripwire("hidden_network", "A line reaches for the network."),
    _tripwire("process_spawn", "A line starts processes."),
    _tripwire("sandbox_weakening", "A line touches module loading, run-time options or a fence."),
    _tripwire("checker_probe", "A line names the task set, expected outputs or marks of the gate."),
    _tripwire("parent_escape", "A line holds a path that climbs out of its directory."),
)

ENTRIES: tuple[Entry, ...] = (*_RECEIPT, *_GROUP, *_REPLAY, *_GATE)
