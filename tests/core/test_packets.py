"""What promotions and improvements share: references, validator spellings, and the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals_cli.core.improvements import IMPROVEMENT
from evals_cli.core.packets import PacketKind, each_of, missing_references, own_validator_problem
from evals_cli.core.promotions import PROMOTION

PROMOTION_SPELLINGS = [
    "node scripts/validate-case-promotions.js",
    "scripts/validate-case-promotions",
    "evals validate-promotions",
    "scripts/evals validate-promotions",
]
IMPROVEMENT_SPELLINGS = [
    "node scripts/validate-eval-improvements.js",
    "scripts/validate-eval-improvements",
    "evals validate-improvements",
    "scripts/evals validate-improvements",
]
SPELLINGS = [(PROMOTION, line) for line in PROMOTION_SPELLINGS]
SPELLINGS += [(IMPROVEMENT, line) for line in IMPROVEMENT_SPELLINGS]


@pytest.mark.parametrize("arguments", ["", " --json", "  --repo-root .  --json"])
@pytest.mark.parametrize(("kind", "line"), SPELLINGS)
def test_a_validator_counts_in_any_spelling_with_arguments(
    kind: PacketKind, line: str, arguments: str
) -> None:
    assert own_validator_problem(["true", line + arguments], kind) is None


@pytest.mark.parametrize(
    "line",
    [
        "evals validate-promotions-later",
        "evals validate-improvements",
        "scripts/validate-case-promotions.sh",
        "node scripts/validate-eval-improvements.js",
        "echo evals validate-promotions",
        "validate-promotions",
        "evals",
        " ",
    ],
)
def test_another_command_is_not_the_validator(line: str) -> None:
    problem = own_validator_problem([line], PROMOTION)
    assert problem is not None
    assert "'evals validate-promotions'" in problem


@pytest.mark.parametrize(
    "rest", ["|| true", "; true", "| cat", "&", "> /dev/null", "$(true)", "`true`", "\ntrue", "# later"]
)
def test_a_validator_whose_failure_the_shell_would_hide_does_not_count(rest: str) -> None:
    assert own_validator_problem([f"evals validate-promotions {rest}"], PROMOTION) is not None


def test_references_exist_inside_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "root-evil").mkdir()
    (root / "out").symlink_to(tmp_path / "root-evil")
    (root / "dangling").symlink_to("gone")
    references = [("$.x", None), *each_of("$.refs", ["folder", "gone", "out", "dangling", "../root-evil"])]
    found = missing_references(str(root), references)
    assert [line.partition(":")[0] for line in found] == ["$.refs[1]", "$.refs[2]", "$.refs[3]", "$.refs[4]"]
    assert ["does not exist" in line for line in found] == [True, False, True, False]
