"""Every system call: whatever fails once, the promises hold on what is left.

The first, the middle and the last effect of each kind fail here; `scripts/fire --only syscalls` tries all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from firing import syscalls
from firing.report import LaneResult
from firing.scenarios import SCENARIOS, Scenario
from firing.shim import Death, Fault, Shim

from evals_cli.core import files
from evals_cli.core.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.name for scenario in SCENARIOS])
def test_whatever_fails_once_breaks_no_promise(scratch: Path, scenario: Scenario) -> None:
    result = LaneResult("syscalls")
    syscalls.fire(scenario, scratch, result, quick=True)
    assert result.failures == []
    assert result.counts[scenario.name] > 0


@pytest.mark.parametrize("how", ["EIO", "ENOSPC", "EINTR", "stuck"])
def test_the_shim_makes_a_write_fail(tmp_path: Path, how: str) -> None:
    target = tmp_path / "document"
    target.write_bytes(b"old")
    with Shim(Fault("write", 1, how)) as shim, pytest.raises(FileError):
        files.write_whole(target, b"new")
    assert shim.fired
    assert target.read_bytes() == b"old"


def test_the_shim_makes_a_write_short_and_the_rest_follows(tmp_path: Path) -> None:
    with Shim(Fault("write", 1, "short")) as shim:
        files.write_whole(tmp_path / "document", b"content")
    assert shim.counts["write"] == 2
    assert (tmp_path / "document").read_bytes() == b"content"


def test_a_dead_process_cleans_nothing_up(tmp_path: Path) -> None:
    with Shim(Fault("replace", 1, "death")) as shim, pytest.raises(Death):
        files.write_whole(tmp_path / "document", b"content")
    assert shim.died
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]


def test_the_shim_sees_a_descriptor_that_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "document").write_bytes(b"content")
    with Shim() as shim:
        files.open_regular(tmp_path / "document")
    assert shim.leaked == 1
