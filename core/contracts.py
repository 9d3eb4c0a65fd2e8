"""The shared contract catalog: which contracts a root adopts, and whether their own fixtures prove them.

Rules:
- A contract is `contracts/<category>/<name>.json`; its category is the folder and its id
  `<category>.<name>`. Other files are not contracts; a JSON file in a folder of another name is an error.
- A root uses its own catalog when a category folder of its `contracts/` holds a JSON file, else the
  installed one.
- Every contract names good fixtures, which must pass all its assertions, and bad ones, each of which must
  fail at least one. Fixtures are read inside the catalog's root.
- What the catalog proves and does not prove is the union over its contracts, in catalog order.

A catalog that holds says that the assertions tell its good texts from its bad ones. It does not say that any
other text is true.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from .authored import about, finding, list_names, read_document, read_words
from .check_record import check_record
from .contract_assertions import assertion_failure
from .errors import EvalsError, FileError, RequirementError
from .files import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .documents import Documents

FOLDER = "contracts"
CATEGORIES = ("a11y", "docs", "evidence", "output", "repo-hygiene", "telemetry", "tool-use")
SCHEMA = "contract"
REQUIREMENT = "contract validation"
_RECOVERY = "evals validate-contracts"


@dataclass(frozen=True, kw_only=True)
class Contract:
    """One valid contract: its id, where it stands, its fixtures and the types of its assertions."""

    contract_id: str
    path: str
    proves: tuple[str, ...]
    does_not_prove: tuple[str, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]
    assertions: tuple[str, ...]

    def failures(self, text: str) -> list[str]:
        """Why `text` fails this contract, one line for each failing assertion; empty where it passes."""
        found = ((kind, assertion_failure(kind, text)) for kind in self.assertions)
        return [f"{kind}: {reason}" for kind, reason in found if reason is not None]


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """The contracts of one root, and the union of what they prove and do not prove."""

    root: str
    contracts: tuple[Contract, ...]

    @property
    def adopted(self) -> list[str]:
        """The ids of the contracts, in catalog order."""
        return [contract.contract_id for contract in self.contracts]

    @property
    def proves(self) -> list[str]:
        """What the contracts prove together, each sentence once."""
        return _union(contract.proves for contract in self.contracts)

    @property
    def does_not_prove(self) -> list[str]:
        """What the contracts leave open together, each sentence once."""
        return _union(contract.does_not_prove for contract in self.contracts)

    def with_bad_fixture(self, path: str) -> list[Contract]:
        """The contracts that name `path` as a bad fixture; `./` and doubled slashes make no difference."""
        wanted = posixpath.normpath(path)
        return [item for item in self.contracts if wanted in map(posixpath.normpath, item.bad)]


@dataclass(frozen=True, kw_only=True)
class ContractCheck:
    """One file of the catalog: the contract where it is valid, and everything that is wrong with it."""

    path: str
    contract: Contract | None
    problems: tuple[str, ...]


def _union(groups: Iterable[tuple[str, ...]]) -> list[str]:
    return list(dict.fromkeys(sentence for group in groups for sentence in group))


def _catalog_paths(root: str) -> list[str]:
    folders = list_names(root, FOLDER) or []
    return [path for folder in folders for path in _folder_paths(root, folder)]


def _folder_paths(root: str, folder: str) -> list[str]:
    try:
        names = list_names(root, f"{FOLDER}/{folder}") or []
    except FileError:
        if folder in CATEGORIES:
            raise
        return []
    return [f"{FOLDER}/{folder}/{name}" for name in names if name.endswith(".json")]


def has_own_catalog(root: str) -> bool:
    """Whether `root` holds contracts of its own: a JSON file in a category folder of its `contracts/`.

    Raises FileError `path.outside_root` where one of those folders is a link out of the root,
    `file.unreadable` where one may not be listed.
    """
    return any(path.split("/")[1] in CATEGORIES for path in _catalog_paths(root))


def catalog_root(root: str, installed: Callable[[], str]) -> str:
    """`root` where it has its own catalog, else what `installed` gives; errors as `has_own_catalog`."""
    return root if has_own_catalog(root) else installed()


def _place_problems(path: str, document: dict[str, Any]) -> list[str]:
    _, folder, name = path.split("/")
    expected = f"{folder}.{name.removesuffix('.json')}"
    problems = []
    if document["category"] != folder:
        problems.append(
            f"$.category: found {document['category']!r} in the folder {folder!r}; move the file to"
            f" {FOLDER}/{document['category']}/ or correct the category"
        )
    if document["id"] != expected:
        problems.append(f"$.id: found {document['id']!r}; at this path the id is {expected!r}")
    return problems


def _contract_of(path: str, document: dict[str, Any]) -> Contract:
    return Contract(
        contract_id=document["id"],
        path=path,
        proves=tuple(document["proves"]),
        does_not_prove=tuple(document["does_not_prove"]),
        good=tuple(document["fixtures"]["good"]),
        bad=tuple(document["fixtures"]["bad"]),
        assertions=tuple(assertion["type"] for assertion in document["assertions"]),
    )


def _read_contract(root: str, path: str, documents: Documents) -> ContractCheck:
    try:
        document = read_document(root, path, documents)
    except EvalsError as error:
        return ContractCheck(path=path, contract=None, problems=(finding(path, error),))
    problems = documents.problems(SCHEMA, document) or _place_problems(path, document)
    if problems:
        return ContractCheck(path=path, contract=None, problems=tuple(about(path, problems)))
    return ContractCheck(path=path, contract=_contract_of(path, document), problems=())


def _fixture_problems(root: str, contract: Contract) -> list[str]:
    problems: list[str] = []
    for member, fixtures in (("good", contract.good), ("bad", contract.bad)):
        for index, fixture in enumerate(fixtures):
            where = f"{shown(contract.path)}: $.fixtures.{member}[{index}]"
            problem = _fixture_problem(root, contract, fixture, good=member == "good")
            problems += [f"{where}: {problem}"] if problem else []
    return problems


def _fixture_problem(root: str, contract: Contract, fixture: str, *, good: bool) -> str | None:
    try:
        failures = contract.failures(read_words(root, fixture))
    except EvalsError as error:
        return finding(fixture, error)
    if good and failures:
        return f"{shown(fixture)} must pass but fails {'; '.join(failures)}"
    if not good and not failures:
        return f"{shown(fixture)} must fail but passes every assertion"
    return None


def _no_contracts() -> list[str]:
    return [f"{FOLDER}: no contract found; a contract is {FOLDER}/<category>/<name>.json"]


def load_catalog(root: str, documents: Documents) -> Catalog:
    """The catalog that stands in `root`; its fixtures are not proved here.

    Raises RequirementError `contract validation` when there is no contract or one is invalid, and FileError
    as `has_own_catalog`.
    """
    checks = [_read_contract(root, path, documents) for path in _catalog_paths(root)]
    problems = [problem for check in checks for problem in check.problems] if checks else _no_contracts()
    if problems:
        raise RequirementError(REQUIREMENT, problems, recovery=_RECOVERY)
    contracts = tuple(check.contract for check in checks if check.contract is not None)
    return Catalog(root=root, contracts=contracts)


@dataclass(frozen=True, kw_only=True)
class CatalogReport:
    """What was found in a catalog: a check for each file, and every problem."""

    catalog: Catalog
    checks: tuple[ContractCheck, ...]
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether there is a contract and every contract holds."""
        return not self.problems

    def document(self, recovery: str) -> dict[str, Any]:
        """The published result; `recovery` is the command line that tries again after a failure.

        A catalog that does not hold adopts and proves nothing, so those members are there on a pass only.
        """
        checks = {"checks": [_check_record(check) for check in self.checks], "errors": list(self.problems)}
        if not self.passed:
            head = {"status": "failed", "requirement": REQUIREMENT, "recovery": recovery}
            return {"schema_version": 2, **head, **checks}
        return {
            "schema_version": 2,
            "status": "passed",
            "shared_contract_status": "contract_catalog_validated",
            "local_project_truth_status": "not_evaluated",
            "adopted_contracts": self.catalog.adopted,
            "proves": self.catalog.proves,
            "does_not_prove": self.catalog.does_not_prove,
            **checks,
        }


def _check_record(check: ContractCheck) -> dict[str, Any]:
    return check_record(f"contract {shown(check.path)}", check.path, check.problems, schema=SCHEMA)


def prove_catalog(root: str, documents: Documents) -> CatalogReport:
    """Validate every contract in `root` and prove it with its fixtures; content problems are reported.

    Raises FileError as `has_own_catalog`.
    """
    checks: list[ContractCheck] = []
    for path in _catalog_paths(root):
        read = _read_contract(root, path, documents)
        if read.contract is not None:
            problems = tuple(_fixture_problems(root, read.contract))
            read = ContractCheck(path=path, contract=read.contract, problems=problems)
        checks.append(read)
    found = [problem for check in checks for problem in check.problems] if checks else _no_contracts()
    contracts = tuple(check.contract for check in checks if check.contract is not None)
    return CatalogReport(
        catalog=Catalog(root=root, contracts=contracts), checks=tuple(checks), problems=tuple(found)
    )
