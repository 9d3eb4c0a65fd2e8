"""One look at a root, on which both check and state build: catalog, project manifest, health and bundle.

Rules:
- The contract catalog is the checkout's own at home and the installed one for a consumer. Where the
  checkout's cannot be read, the installed one is listed and the runtime health says so.
- Everything is looked at once, so that a check and a state of the same moment cannot disagree.
"""

from __future__ import annotations

from .bundle_check import check_bundle, latest_prefix
from .bundle_files import BundleFiles
from .contracts import load_catalog
from .errors import EvalsError, RequirementError
from .project_manifest import ProjectManifest, load_project_manifest
from .runtime_health import RuntimeHealth, assess_health

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle_check import BundleVerdict
    from .contracts import Catalog
    from .documents import Documents
    from .roots import Root


class Inspection:
    """What was found at a root."""

    __slots__ = ("catalog", "files", "health", "manifest", "root", "verdict")

    def __init__(
        self,
        *,
        root: Root,
        catalog: Catalog,
        manifest: ProjectManifest,
        health: RuntimeHealth,
        verdict: BundleVerdict,
        files: BundleFiles,
    ) -> None:
        self.root = root
        self.catalog = catalog
        self.manifest = manifest
        self.health = health
        self.verdict = verdict
        self.files = files


def inspect_root(root: Root, documents: Documents, *, installed: str) -> Inspection:
    """Look at `root`; `installed` is the folder whose `contracts/` belongs to this installation.

    Raises EvalsError only where the installation's own catalog cannot be read.
    """
    catalog, catalog_problems = contracts_in_force(root, documents, installed=installed)
    manifest = load_project_manifest(root.path, documents)
    files = BundleFiles(root.path)
    prefix = latest_prefix(root.path, manifest.artifact_roots)
    return Inspection(
        root=root,
        catalog=catalog,
        manifest=manifest,
        health=assess_health(root, manifest, catalog_problems, documents),
        verdict=check_bundle(root.path, prefix, files, documents, home=root.home),
        files=files,
    )


def contracts_in_force(root: Root, documents: Documents, *, installed: str) -> tuple[Catalog, list[str]]:
    """The catalog of contracts for `root`, and why the checkout's own could not be used."""
    if not root.home:
        return load_catalog(installed, documents), []
    try:
        return load_catalog(root.path, documents), []
    except EvalsError as error:
        problems = error.problems if isinstance(error, RequirementError) else [error.message]
        return load_catalog(installed, documents), list(problems)


def contract_fields(catalog: Catalog) -> dict[str, Any]:
    """The members of a packet that say what was checked and what stays open."""
    return {
        "shared_contract_status": "artifact_consistency_checked",
        "local_project_truth_status": "not_evaluated",
        "adopted_contracts": catalog.adopted,
        "proves": catalog.proves,
        "does_not_prove": catalog.does_not_prove,
    }
