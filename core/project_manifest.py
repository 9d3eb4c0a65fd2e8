"""What a project says about itself: `.evals/project.json` or `.evals/project.toml`.

Rules:
- Without either file the manifest is missing. Both at once is an error that names both.
- A manifest is invalid when it cannot be read inside its root (`limits.PROJECT_MANIFEST`), does not parse,
  breaks the schema `external-project-manifest`, asks for another default mode than `artifact_only`, or names
  a path that is not POSIX-style, relative and inside the root, links resolved.
- The path fields are suite_roots, artifact_policy.artifact_roots, runtime_evidence_policy.evidence_paths and
  baseline_authority.baseline_paths.
- No artifact root lies in git's own folder, where nothing but git writes.
- Only a valid manifest has content; nothing of an invalid one is used.
- An approval whose expires_at has passed counts as expired, and so does one whose end cannot be told.

A valid manifest says what its authors wish; it does not show that their evidence is good.
"""

from __future__ import annotations

from . import limits
from .bundle_layout import lies_in_git
from .contained import inside_status, read_inside, relative_problem
from .errors import EvalsError, FileError
from .files import shown
from .timestamps import parse_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .documents import Documents

JSON_PATH = ".evals/project.json"
TOML_PATH = ".evals/project.toml"
SCHEMA = "external-project-manifest"
QUALITY_FIELDS = (
    "steady_state_hypothesis",
    "decision_metric",
    "guardrail_metrics",
    "unit_of_analysis",
    "denominator",
    "residual_uncertainty",
    "oracle_type",
    "evaluator_authority_status",
)
_PATH_FIELDS = (
    ("suite_roots",),
    ("artifact_policy", "artifact_roots"),
    ("runtime_evidence_policy", "evidence_paths"),
    ("baseline_authority", "baseline_paths"),
)


class ProjectManifest:
    """A project manifest: `status` is missing, invalid or valid; `document` is empty unless valid."""

    __slots__ = ("document", "path", "problems", "status")

    def __init__(
        self,
        status: str,
        path: str,
        *,
        document: dict[str, Any] | None = None,
        problems: list[str] | None = None,
    ) -> None:
        self.status = status
        self.path = path
        self.document = document or {}
        self.problems = problems or []

    @property
    def artifact_roots(self) -> list[str]:
        """The folders of run bundles that a valid manifest names, in its order."""
        return self._strings("artifact_policy", "artifact_roots")

    @property
    def evidence_paths(self) -> list[str]:
        """The runtime-evidence cases and folders that a valid manifest names."""
        return self._strings("runtime_evidence_policy", "evidence_paths")

    @property
    def evidence_required(self) -> bool:
        """Whether a valid manifest refuses to be judged without runtime evidence."""
        return self._section("runtime_evidence_policy").get("required") is True

    @property
    def missing_evidence_blocks(self) -> bool:
        """Whether a valid manifest calls absent runtime evidence blocked."""
        return self._section("runtime_evidence_policy").get("missing_status") == "blocked"

    def missing_quality(self) -> list[str]:
        """The suite_quality fields that a valid manifest leaves out, with their prefix, in schema order."""
        given = self._section("suite_quality")
        return [f"suite_quality.{name}" for name in QUALITY_FIELDS if name not in given]

    def approval(self, now_ms: int) -> str | None:
        """The privacy approval status at `now_ms`, an end that has passed considered; None unless valid."""
        privacy = self._section("privacy")
        status = privacy.get("approval_status")
        ends = privacy.get("expires_at")
        if status == "approved" and isinstance(ends, str) and _has_passed(ends, now_ms):
            return "expired"
        return status if isinstance(status, str) else None

    def _section(self, name: str) -> dict[str, Any]:
        section = self.document.get(name)
        return section if isinstance(section, dict) else {}

    def _strings(self, section: str, name: str) -> list[str]:
        return list(self._section(section).get(name, []))


def _has_passed(ends: str, now_ms: int) -> bool:
    # RFC 3339 allows what ECMAScript's format does not: small letters, and a leap second.
    text = ends.upper().replace(":60", ":59")
    moment = parse_ms(text)
    return moment is None or moment <= now_ms


def load_project_manifest(root: str, documents: Documents) -> ProjectManifest:
    """The manifest of the project at `root`; every defect is a problem in it, nothing is raised."""
    found = {path: inside_status(root, path) for path in (JSON_PATH, TOML_PATH)}
    paths = [path for path, status in found.items() if status != "missing"]
    if not paths:
        return ProjectManifest("missing", JSON_PATH)
    if list(found.values()) == ["present", "present"]:
        return _invalid(paths[0], [f"{JSON_PATH} and {TOML_PATH}: both forms are present; keep one of them"])
    path = paths[0]
    try:
        document = documents.parse(path, read_inside(root, path, limit=limits.PROJECT_MANIFEST))
    except FileError as error:
        return _invalid(path, [error.message])
    except EvalsError as error:
        return _invalid(path, [f"{path}: {error.message}"])
    problems = manifest_problems(root, document, documents)
    if problems:
        return _invalid(path, [f"{path}: {problem}" for problem in problems])
    return ProjectManifest("valid", path, document=document)


def _invalid(path: str, problems: list[str]) -> ProjectManifest:
    return ProjectManifest("invalid", path, problems=problems)


def manifest_problems(root: str, document: Any, documents: Documents) -> list[str]:
    """What keeps a parsed document from being the manifest of the project at `root`: schema, then policy."""
    return documents.problems(SCHEMA, document) or manifest_policy_problems(root, document)


def manifest_policy_problems(root: str, document: dict[str, Any]) -> list[str]:
    """What a manifest that fits its schema still may not say, each with its JSON path."""
    problems = []
    mode = document["authority"]["default_mode"]
    if mode != "artifact_only":
        problems.append(
            f"$.authority.default_mode: {mode}; expected artifact_only, the only mode of this phase"
        )
    for json_path, value in _paths(document):
        problem = relative_problem(value)
        if problem is None and inside_status(root, value) == "invalid":
            problem = "leads out of the repository"
        if problem is None and json_path.startswith("$.artifact_policy.") and lies_in_git(value):
            problem = "it lies in git's own folder; no bundles are kept there"
        if problem is not None:
            problems.append(f"{json_path}: {shown(value)}: {problem}")
    return problems


def _paths(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in _PATH_FIELDS:
        value: Any = document
        for key in field:
            value = value.get(key, {})
        for index, path in enumerate(value or ()):
            yield f"$.{'.'.join(field)}[{index}]", path
