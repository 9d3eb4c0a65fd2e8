"""Eval improvements: whether trace evidence and feedback were carried into a deterministic promotion.

Rules, besides those of `packets`:
- The evidence, the feedback, the linked promotion and the target fixture exist inside the root.
- An origin outside the repository (user-agents-traces, user-agents-sessions, mixed) is named only:
  `origin_path_policy` is external_origin_named_only, and the origin is never read.
- A promoted improvement is deterministic and not decided by an advisory model. It links a case promotion
  directly in its folder that itself holds, is validated, has the same target fixture, and whose source
  artifact is among the improvement's evidence.
- A validated improvement lists its own validator among its commands.

An improvement that holds says that its promotion stands. It does not say that the original trace exists.
"""

from __future__ import annotations

import posixpath

from . import packets
from .authored import about
from .files import shown
from .promotions import PROMOTION, PromotionRules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .documents import Documents

IMPROVEMENT = packets.PacketKind(
    noun="eval improvement",
    folder=".harness/eval-improvements",
    schema="eval-improvement-packet",
    requirement="improvement validation",
    validators=(
        ("evals", "validate-improvements"),
        ("scripts/evals", "validate-improvements"),
        ("scripts/validate-eval-improvements",),
        ("node", "scripts/validate-eval-improvements.js"),
    ),
)

EXTERNAL_ORIGINS = ("mixed", "user-agents-sessions", "user-agents-traces")
_NAMED_ONLY = "external_origin_named_only"
_EVIDENCE = "$.source_evidence.repo_evidence_refs"
_LINK = "$.promotion_decision.case_promotion_ref"
_TARGET = "$.promotion_decision.target_fixture_path"


def _references(document: dict[str, Any]) -> list[tuple[str, str | None]]:
    decision = document["promotion_decision"]
    return [
        *packets.each_of(_EVIDENCE, document["source_evidence"]["repo_evidence_refs"]),
        *packets.each_of("$.feedback.feedback_refs", document["feedback"]["feedback_refs"]),
        (_LINK, decision["case_promotion_ref"]),
        (_TARGET, decision["target_fixture_path"]),
    ]


def _origin_problems(evidence: dict[str, Any]) -> list[str]:
    origin, policy = evidence["origin"], evidence["origin_path_policy"]
    if origin not in EXTERNAL_ORIGINS or policy == _NAMED_ONLY:
        return []
    where = "$.source_evidence.origin_path_policy"
    return [f"{where}: found {policy!r}; the outside origin {origin!r} needs {_NAMED_ONLY!r}"]


def _authority_problems(candidate: dict[str, Any]) -> list[str]:
    problems = []
    status, oracle = candidate["evaluator_authority_status"], candidate["oracle_type"]
    if status != "deterministic":
        where = "$.candidate_eval.evaluator_authority_status"
        problems.append(f"{where}: found {status!r}; a promoted improvement is 'deterministic'")
    if oracle == "llm_advisory":
        where = "$.candidate_eval.oracle_type"
        problems.append(f"{where}: found {oracle!r}; a promoted improvement is decided without a model")
    return problems


def _same(one: str, other: str) -> bool:
    return posixpath.normpath(one) == posixpath.normpath(other)


class _ImprovementRules:
    def __init__(self, root: str, documents: Documents, promotions: PromotionRules) -> None:
        self._root = root
        self._documents = documents
        self._promotions = promotions

    def judge(self, path: str) -> list[str]:
        """Everything that is wrong with the improvement at `path`; empty where it holds."""
        document, problems = packets.read_packet(self._root, path, IMPROVEMENT, self._documents)
        if problems:
            return problems
        problems = packets.missing_references(self._root, _references(document))
        problems += _origin_problems(document["source_evidence"])
        if document["promotion_decision"]["status"] == "promoted":
            problems += _authority_problems(document["candidate_eval"]) + self._link_problems(document)
        if document["validation"]["status"] == "validated":
            validator = packets.own_validator_problem(document["validation"]["commands"], IMPROVEMENT)
            problems += [validator] if validator else []
        return about(path, problems)

    def _link_problems(self, document: dict[str, Any]) -> list[str]:
        decision = document["promotion_decision"]
        link, target = decision["case_promotion_ref"], decision["target_fixture_path"]
        problems = []
        if target is None:
            problems.append(f"{_TARGET}: found null; a promoted improvement names its target fixture")
        if link is None:
            return [*problems, f"{_LINK}: found null; a promoted improvement links its case promotion"]
        if not _same(posixpath.dirname(link), PROMOTION.folder) or not link.endswith(".json"):
            where = f"{PROMOTION.folder}/<name>.json"
            return [*problems, f"{_LINK}: {shown(link)} is no case promotion; they stand in {where}"]
        promotion, broken = self._promotions.read(posixpath.normpath(link))
        if broken:
            return [*problems, *(f"{_LINK}: the promotion does not hold: {problem}" for problem in broken)]
        return problems + _agreement_problems(document, promotion)


def _agreement_problems(document: dict[str, Any], promotion: dict[str, Any]) -> list[str]:
    """What keeps an improvement and the promotion that it links from telling one story."""
    problems = []
    decision, evidence = document["promotion_decision"], document["source_evidence"]["repo_evidence_refs"]
    status = promotion["validation"]["status"]
    if status != "validated":
        problems.append(f"{_LINK}: the promotion is {status!r}; expected 'validated'")
    target = promotion["deterministic_case"]["target_fixture_path"]
    named = decision["target_fixture_path"]
    if named is not None and not _same(named, target):
        problems.append(f"{_TARGET}: found {shown(named)}; the linked promotion targets {shown(target)}")
    source = promotion["source_failure"]["source_artifact_ref"]
    if not any(_same(path, source) for path in evidence):
        problems.append(f"{_EVIDENCE}: lacks {shown(source)}, the source artifact of the linked promotion")
    return problems


def validate_improvements(
    root: str, documents: Documents, installed: Callable[[], str]
) -> packets.PacketReport:
    """Judge every eval improvement below `root`; content problems are reported, not raised.

    `installed` gives the root of the installed contract catalog, for roots without their own. Raises
    FileError where the folder of the improvements leads out of the root or may not be listed.
    """
    promotions = PromotionRules(root, documents, installed)
    return packets.validate_packets(root, IMPROVEMENT, _ImprovementRules(root, documents, promotions).judge)
