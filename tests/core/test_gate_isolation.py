"""The gate executes nothing: every entry point refuses first, whatever it is given."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

from evals_cli.core import gate, gate_isolation, replay
from evals_cli.core.errors import EvalsError


@pytest.mark.parametrize("entry", [gate.run_gate, gate.run_variant])
@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {}), (("config.json",), {"trust": True}), ((None, object()), {"executor": {"verified": True}})],
)
def test_execution_is_refused_whatever_is_offered(entry, positional, named):
    with pytest.raises(EvalsError) as caught:
        entry(*positional, **named)
    assert caught.value.code == "gate.isolation_required"


def test_there_is_no_supported_isolation():
    with pytest.raises(EvalsError, match=r"^gate\.isolation_required: "):
        gate.require_supported_isolation()


def test_a_refusal_touches_no_file(monkeypatch, tmp_path):
    def touched(*_args, **_kwargs):
        raise AssertionError("a file was touched")

    for name in ("open", "stat", "lstat", "listdir", "scandir", "mkdir"):
        monkeypatch.setattr(os, name, touched)
    with pytest.raises(EvalsError):
        gate.run_gate(str(tmp_path / "config.json"), work_dir=str(tmp_path))


def test_loading_the_retired_preload_is_refused():
    sys.modules.pop(replay.EFFECT_FENCE_PRELOAD, None)
    with pytest.raises(EvalsError) as caught:
        importlib.import_module(replay.EFFECT_FENCE_PRELOAD)
    assert caught.value.code == "gate.isolation_required"


def test_the_retired_child_can_be_imported_and_does_nothing():
    assert importlib.import_module("evals_cli.core.gate_child").__name__ == "evals_cli.core.gate_child"


@pytest.mark.parametrize("module", ["evals_cli.core.gate_child", "evals_cli.core.effect_fence"])
def test_a_retired_program_refuses_in_one_line_before_reading_its_input(module):
    reading, writing = os.pipe()
    try:
        done = subprocess.run(  # the input stays open and empty: a reader would hang
            [sys.executable, "-m", module, "request.json"],
            stdin=reading,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("evals: gate.isolation_required: ")
    assert done.stderr.count("\n") == 1


def test_a_refusal_that_nobody_reads_is_still_a_refusal():
    reading, writing = os.pipe()
    os.close(writing)
    os.close(reading)
    assert gate_isolation.refuse_as_program(writing) == 1
