"""Case promotions: whether a failure seen somewhere really became a deterministic fixture here.

Rules, besides those of `packets`:
- The source artifact, the labeled examples, the trace evidence and the target fixture exist inside the root.
- Precision and recall targets are at most 1, and no model gates the case (`judge_gate_status` not_used).
- A validated promotion targets a bad fixture of a contract in the catalog, the text at that path really
  fails that contract, and its commands list its own validator.

A promotion that holds says that the named failure is caught here, deterministically. It does not say that
the failure happened as told, or that others of its kind are caught.
"""

from __future__ import annotations

from .authored import about, finding, read_words
from .contracts import Catalog, catalog_root, load_catalog
from .errors import EvalsError, RequirementError
from .files import shown
from .packets import (
    PacketKind,
    PacketReport,
    each_of,
    missing_references,
    own_validator_problem,
    read_packet,
    validate_packets,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .documents import Documents

PROMOTION = PacketKind(
    noun="case promotion",
    folder=".harness/case-promotions",
    schema="case-promotion",
    requirement="promotion validation",
    validators=(
        ("evals", "validate-promotions"),
        ("scripts/evals", "validate-promotions"),
        ("scripts/validate-case-promotions",),
        ("node", "scripts/validate-case-promotions.js"),
    ),
)

_TARGET = "$.deterministic_case.target_fixture_path"


class PromotionRules:
    """The rules for the promotions of one root, with the contract catalog that decides about fixtures."""

    def __init__(self, root: str, documents: Documents, installed: Callable[[], str]) -> None:
        """Load the catalog of `root`, or of the root that `installed` gives where it has none of its own."""
        self._root = root
        self._documents = documents
        self._catalog: Catalog | None = None
        self._catalog_problems: list[str] = []
        try:
            self._catalog = load_catalog(catalog_root(root, installed), documents)
        except RequirementError as error:
            self._catalog_problems = error.problems
        except EvalsError as error:
            self._catalog_problems = [error.message]

    def judge(self, path: str) -> list[str]:
        """Everything that is wrong with the promotion at `path`; empty where it holds."""
        return self.read(path)[1]

    def read(self, path: str) -> tuple[Any, list[str]]:
        """The promotion at `path` and everything that is wrong with it; None where it cannot be read."""
        document, problems = read_packet(self._root, path, PROMOTION, self._documents)
        if problems:
            return document, problems
        problems = missing_references(self._root, _references(document)) + _policy_problems(document)
        if document["validation"]["status"] == "validated":
            problems += self._validated_problems(document)
        return document, about(path, problems)

    def _validated_problems(self, document: dict[str, Any]) -> list[str]:
        validator = own_validator_problem(document["validation"]["commands"], PROMOTION)
        target = document["deterministic_case"]["target_fixture_path"]
        return self._target_problems(target) + ([validator] if validator else [])

    def _target_problems(self, target: str) -> list[str]:
        if self._catalog is None:
            return [f"{_TARGET}: no contract can confirm it: {problem}" for problem in self._catalog_problems]
        contracts = self._catalog.with_bad_fixture(target)
        if not contracts:
            return [f"{_TARGET}: {shown(target)} is no contract's bad fixture; a validated promotion has one"]
        try:
            text = read_words(self._root, target)
        except EvalsError as error:
            return [f"{_TARGET}: {finding(target, error)}"]
        if any(contract.failures(text) for contract in contracts):
            return []
        names = ", ".join(contract.contract_id for contract in contracts)
        return [f"{_TARGET}: {shown(target)} passes {names}; the text must fail the contract that names it"]


def _references(document: dict[str, Any]) -> list[tuple[str, str | None]]:
    quality = document["quality_evidence"]
    labeled, loop = quality["labeled_examples"], quality["improvement_loop"]
    return [
        ("$.source_failure.source_artifact_ref", document["source_failure"]["source_artifact_ref"]),
        *each_of("$.quality_evidence.labeled_examples.source_refs", labeled["source_refs"]),
        *each_of("$.quality_evidence.improvement_loop.trace_evidence_refs", loop["trace_evidence_refs"]),
        (_TARGET, document["deterministic_case"]["target_fixture_path"]),
    ]


def _policy_problems(document: dict[str, Any]) -> list[str]:
    policy = document["quality_evidence"]["metric_policy"]
    where = "$.quality_evidence.metric_policy"
    problems = [
        f"{where}.{key}: found {policy[key]}; a share is at most 1"
        for key in ("precision_target", "recall_target")
        if policy[key] > 1
    ]
    if policy["judge_gate_status"] != "not_used":
        found = policy["judge_gate_status"]
        problems.append(f"{where}.judge_gate_status: found {found!r}; expected 'not_used', no model gates it")
    return problems


def validate_promotions(root: str, documents: Documents, installed: Callable[[], str]) -> PacketReport:
    """Judge every case promotion below `root`; content problems are reported, not raised.

    `installed` gives the root of the installed contract catalog, for roots without their own. Raises
    FileError where the folder of the promotions leads out of the root or may not be listed.
    """
    return validate_packets(root, PROMOTION, PromotionRules(root, documents, installed).judge)
