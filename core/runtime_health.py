"""How the runtime evidence of a root stands, at home and in a consumer.

Rules:
- At home the fixtures under `fixtures/runtime-evidence` are validated and scored.
- A consumer's evidence is what its valid project manifest names under evidence_paths, read as data inside
  its root. Without a valid manifest, or without such paths, coverage is `not_configured` and says what is
  missing.
- Health is ready when the coverage passes and every case fits and is judged as it expects; failing when
  either does not hold; else it is what the coverage is.
- Where this project's own contract catalog cannot be read at home, health is `unavailable`.

Ready health shows that the recorded cases are what their authors say. It shows nothing about other runs.
"""

from __future__ import annotations

from .project_manifest import JSON_PATH, ProjectManifest
from .roots import HOME_EVIDENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Documents
    from .roots import Root


class RuntimeHealth:
    """Health of runtime evidence: ready, failing, not_configured or unavailable.

    `coverage` is the published policy coverage, `checks` those of the cases, `errors` what is in the way.
    """

    __slots__ = ("checks", "coverage", "errors", "status")

    def __init__(
        self, status: str, coverage: dict[str, Any], checks: list[dict[str, Any]], errors: list[str]
    ) -> None:
        self.status = status
        self.coverage = coverage
        self.checks = checks
        self.errors = errors

    def document(self) -> dict[str, Any]:
        """The health as state and evidence packets hold it."""
        return {
            "status": self.status,
            "policy_coverage_status": self.coverage["status"],
            "policy_coverage": self.coverage,
            "check_count": len(self.checks),
            "errors": list(self.errors),
        }


def assess_health(
    root: Root, manifest: ProjectManifest, catalog_problems: list[str], documents: Documents
) -> RuntimeHealth:
    """The runtime-evidence health of `root`; content problems are part of it, nothing is raised for them."""
    if catalog_problems:
        return _without_cases("unavailable", catalog_problems)
    paths = [HOME_EVIDENCE] if root.home else manifest.evidence_paths
    if paths:
        return _assessed(root.path, paths, documents)
    return _without_cases("not_configured", _missing_policy(manifest))


def _without_cases(status: str, errors: list[str]) -> RuntimeHealth:
    coverage = {"status": status, "families": [], "errors": errors}
    return RuntimeHealth(status, coverage, [], errors)


def _assessed(root: str, paths: list[str], documents: Documents) -> RuntimeHealth:
    # Most repositories have no runtime evidence, and then its scorers are not needed.
    from .policy_coverage import assess

    coverage = assess(root, paths, documents)
    errors = [*coverage.errors, *(error for check in coverage.checks for error in check["errors"])]
    return RuntimeHealth(
        "ready" if coverage.proved else "failing",
        coverage.document(),
        coverage.checks,
        list(dict.fromkeys(errors)),
    )


def _missing_policy(manifest: ProjectManifest) -> list[str]:
    if manifest.status == "missing":
        return [f"{JSON_PATH}: there is no such file, so the project states no runtime-evidence policy"]
    if manifest.status == "invalid":
        return manifest.problems
    demand = "it requires evidence but names none" if manifest.evidence_required else "it names no evidence"
    where = f"{manifest.path}: $.runtime_evidence_policy.evidence_paths"
    return [f"{where}: {demand}; expected the paths of runtime-evidence cases"]
