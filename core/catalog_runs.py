"""Codes of runs, validation, check and state: requirements not met, and reasons inside packets."""

from __future__ import annotations

from .catalog_entry import Entry


def _state(name: str, meaning: str, establishes: str, does_not_establish: str, next_step: str) -> Entry:
    return Entry(
        code=f"state.reason.{name}",
        kind="finding",
        meaning=meaning,
        establishes=establishes,
        does_not_establish=does_not_establish,
        next_step=next_step,
    )


def _mismatch(name: str, meaning: str, next_step: str) -> Entry:
    return Entry(
        code=f"check.mismatch.{name}",
        kind="finding",
        meaning=meaning,
        establishes="latest.json does not stand for the smoke case that `check --smoke` asks for.",
        does_not_establish="That the bundle is damaged; it may be a sound bundle of another case.",
        next_step=next_step,
    )


def _unscored(family: str, subject: str, way: str) -> Entry:
    return Entry(
        code=f"RTE_POLICY_{family}_UNSCORED",
        kind="finding",
        meaning=f"A runtime-evidence case declares a policy on {subject}, and nothing enforces it.",
        establishes="The declared policy was not checked by this case.",
        does_not_establish="That the policy was broken.",
        next_step=f"{way}, or remove the declaration.",
    )


_REQUIREMENTS = (
    Entry(
        code="case.path",
        meaning="The path of a case or suite is missing, not usable, or outside the project root.",
        establishes="No bundle was written.",
        does_not_establish="Anything about the case's content.",
        next_step="Name a case file below the project root, relative to the working directory.",
    ),
    Entry(
        code="case.read",
        meaning="A case file cannot be read, or is not UTF-8.",
        establishes="No bundle was written.",
        does_not_establish="Anything about the case's content.",
        next_step="Check that the file exists, is a regular file, and is saved as UTF-8.",
    ),
    Entry(
        code="case.parse",
        meaning="A case file is not JSON or TOML.",
        establishes="No bundle was written.",
        does_not_establish="That the case would be valid once it parses.",
        next_step="Correct the named line.",
    ),
    Entry(
        code="case.validation",
        meaning="A case breaks its schema or the policy for cases, or repeats a key.",
        establishes="No bundle was written; every problem is listed with its JSON path.",
        does_not_establish="That the case's subject is at fault.",
        next_step="Correct each listed path; `evals schema eval-case` prints the schema.",
    ),
    Entry(
        code="suite.validation",
        meaning="A suite breaks its rules; a bad case of it has a code of its own.",
        establishes="No case of the suite was run and nothing was written.",
        does_not_establish="That its cases are good.",
        next_step="Correct each listed problem; `evals schema suite` prints the schema.",
    ),
    Entry(
        code="run.directory",
        meaning="The directory for a run's bundle cannot be made: no rights, no space, a link in its place.",
        establishes="No bundle was written; latest.json is what it was.",
        does_not_establish="Anything about the case.",
        next_step="Fix permissions or free space, as the message says.",
    ),
    Entry(
        code="run.failed",
        meaning="A run stopped after its directory was made.",
        establishes="latest.json is what it was; failure.json in the run directory says what happened,"
        " where it could be written.",
        does_not_establish="Anything about the case's verdict.",
        next_step="Fix the cause and run the case again; the failed directory may be removed.",
    ),
    Entry(
        code="artifact.schema_validation",
        meaning="A run stopped after it had started; the message names the cause, a full disk for example.",
        establishes="latest.json is what it was, unless only making the new one durable failed.",
        does_not_establish="Anything about the case's verdict.",
        next_step="Read failure.json in the run's directory, remove the cause, and run the case again.",
    ),
    Entry(
        code="latest.validation",
        meaning="A latest.json that was to be validated breaks its schema.",
        establishes="The pointer cannot be used as it is written.",
        does_not_establish="Anything about the bundle that it should name.",
        next_step="Run the case again; `evals schema latest-run` prints the schema.",
    ),
    Entry(
        code="project.manifest",
        meaning="A project manifest that was to be validated breaks its schema or names a bad path.",
        establishes="`check` and `state` use nothing of it; each problem names its JSON path.",
        does_not_establish="Anything about the project's bundles or evidence.",
        next_step="Correct each listed path; `evals schema external-project-manifest` prints the schema.",
    ),
    Entry(
        code="runtime.evidence",
        meaning="A runtime-evidence case that was to be validated breaks its schema, leaves a policy"
        " uncovered, or expects another verdict than its scorers give.",
        establishes="It counts as failing evidence as it stands; each problem names its JSON path.",
        does_not_establish="That the session it describes did anything wrong.",
        next_step="Correct each listed path; `evals schema runtime-evidence-case` prints the schema.",
    ),
    Entry(
        code="schema.validation",
        meaning="A claim registry or a score vector breaks its schema or contradicts itself.",
        establishes="At least one of its rules is broken; each problem names its JSON path.",
        does_not_establish="Whether the claims or scores in it are true.",
        next_step="Correct each listed problem; `evals schema NAME` prints the schema.",
    ),
    Entry(
        code="schema.unreadable",
        meaning="The schemas that evals was installed with cannot be read.",
        establishes="No document was judged.",
        does_not_establish="Anything about the document.",
        next_step="Free file descriptors or fix the disk, or install evals again.",
    ),
    Entry(
        code="repo.root_option",
        meaning="--repo-root names nothing, or no directory.",
        establishes="Nothing was inspected.",
        does_not_establish="Anything about a repository.",
        next_step="Name an existing directory.",
    ),
    Entry(
        code="check.mode",
        meaning="--smoke was asked for outside a checkout of this project, or together with --repo-root.",
        establishes="Nothing was checked.",
        does_not_establish="Anything about the latest bundle.",
        next_step="Leave --smoke out, or run it in a checkout of evals.",
    ),
    Entry(
        code="contract.validation",
        meaning="A contract breaks its rules, has no fixtures, or does not judge its fixtures as it claims.",
        establishes="The contract catalog cannot be relied on as it is.",
        does_not_establish="Anything about texts other than the fixtures.",
        next_step="Correct each listed problem; `evals schema contract` prints the schema.",
    ),
    Entry(
        code="promotion.validation",
        meaning="A case-promotion packet breaks its rules, or there is none.",
        establishes="The promotions of this root are not proved.",
        does_not_establish="That the promoted case is wrong.",
        next_step="Correct each listed problem; `evals schema case-promotion` prints the schema.",
    ),
    Entry(
        code="improvement.validation",
        meaning="An improvement packet breaks its rules, or there is none.",
        establishes="The improvements of this root are not proved.",
        does_not_establish="That the improvement is wrong.",
        next_step="Correct each listed problem; `evals schema eval-improvement-packet` prints the schema.",
    ),
    Entry(
        code="check.failed",
        meaning="`evals check` found at least one check that fails.",
        establishes="The newest bundle, or the runtime evidence, does not hold as it stands.",
        does_not_establish="Which of two files that disagree was changed. A check that passes does not cover"
        " the times, retention and privacy texts of latest.json and manifest.json, which no digest holds, nor"
        " a rewrite of all files that agrees.",
        next_step="Read every problem that is listed; `evals state` names the next step.",
    ),
    Entry(
        code="validation.target_path",
        meaning="The file to validate lies outside the root, or its path is not usable.",
        establishes="It was not read.",
        does_not_establish="Anything about its content.",
        next_step="Name a file below the project root.",
    ),
    Entry(
        code="validation.target_read",
        meaning="The file to validate cannot be read or parsed.",
        establishes="It was not validated.",
        does_not_establish="That its content would be valid.",
        next_step="Correct what the message names.",
    ),
    Entry(
        code="schema.validation_target_path",
        meaning="The file for `validate-schema` is missing, outside the root, or its path is not usable.",
        establishes="It was not read.",
        does_not_establish="Anything about its content.",
        next_step="Name a file below --repo-root, or below the working directory without it.",
    ),
    Entry(
        code="schema.unknown",
        meaning="There is no schema of that name.",
        establishes="Nothing was validated.",
        does_not_establish="Anything about a document.",
        next_step="`evals schema` lists the names.",
    ),
)

_REASONS = (
    _state(
        "latest_missing",
        "There is no latest.json.",
        "No run is known here.",
        "That nothing was ever run.",
        "Run a case or a suite.",
    ),
    _state(
        "latest_invalid",
        "latest.json cannot be read as JSON, or breaks its schema.",
        "The pointer to the newest bundle is unusable.",
        "That the bundles are damaged.",
        "Run again, or restore latest.json.",
    ),
    _state(
        "artifact_missing",
        "A file that latest.json points to is not there.",
        "The bundle is incomplete now.",
        "That it was incomplete when written.",
        "Restore the bundle, or run again.",
    ),
    _state(
        "artifact_invalid",
        "A pointer of latest.json is no contained path.",
        "The pointer was not followed.",
        "What lies behind it.",
        "Run again; find out who edited latest.json.",
    ),
    _state(
        "latest_validation_failed",
        "The newest bundle exists but `evals check` fails on it.",
        "At least one check fails; check lists all of them.",
        "Which of the files is the changed one, where two disagree.",
        "Run `evals check --json` and follow its errors.",
    ),
    _state(
        "runtime_evidence_failed",
        "The runtime-evidence cases fail, or their policies are not enforced.",
        "The evidence about runtime behaviour does not hold.",
        "That the agent misbehaved; a case may be wrong.",
        "Run `evals check --json` and look at runtime_evidence.policy_coverage.",
    ),
    _mismatch("case_id_mismatch", "The newest bundle is of another case.", "Run the smoke case, then check."),
    _mismatch(
        "suite_id_mismatch", "The newest bundle is of another suite.", "Run the smoke case, then check."
    ),
    _mismatch(
        "execution_mode_mismatch",
        "The newest bundle was made in another execution mode.",
        "Run the smoke case, then check.",
    ),
    _mismatch("observed_latest_context_missing", "latest.json names no context.", "Run the smoke case."),
    _mismatch(
        "expected_context_unavailable",
        "The smoke case cannot be read, so there is nothing to compare with.",
        "Restore the smoke case in fixtures/smoke.",
    ),
    _unscored("PERMISSION", "permissions", "Select the scorer permission-drift"),
    _unscored("SUBAGENT_ARTIFACT", "subagent artifacts", "Select the scorer subagent-artifact-contract"),
    _unscored("PLUGIN", "plugin attribution", "Select the scorer plugin-attribution"),
    _unscored("GOAL", "goals", "Declare a scaffold for it"),
    _unscored("THREAD", "threads", "Declare a scaffold for it"),
    _unscored("NETWORK", "the network", "Declare a scaffold for it"),
    _unscored("PACKAGE_PROVENANCE", "package provenance", "Declare a scaffold for it"),
)

ENTRIES: tuple[Entry, ...] = (*_REQUIREMENTS, *_REASONS)
