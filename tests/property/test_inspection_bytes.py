"""Any byte of a fixture, a gate document, a variant or a task set may be another one: it is told, and how.

- Whatever is read in their place ends in a documented code with a message of one line, in no other error.
- No bit of a fixture can change without being refused, and what answers is what was recorded.
- Every changed bit of a gate document, a variant's tree or a task set changes the digest, or is refused.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evals_cli.commands.ports import parse_document
from evals_cli.commands.receipt_files import read_gate
from evals_cli.core import capsule, gate, receipt
from evals_cli.core.errors import EvalsError
from evals_cli.core.replay import FixtureStore

Read = Callable[[Path], object]

ARGS = {"path": "a", "n": [1, -0.5, None]}
RESPONSE = {"text": "\u00e9\U0001f600\n", "list": [1.5, True, None, {}], "n": 9007199254740991}
GATE = {"verdict": "pass", "tasks": [{"id": "a", "ok": True}], "note": "\u00e9"}
TASKS = {"version": "1", "family": "f", "tasks": [{"id": "a", "input": "x", "expected": [1, None]}]}
MANIFEST = {"name": "v", "effect_class": "SE1", "entry": "run.py"}
MANIFEST_TOML = b'name = "v"\neffect_class = "SE1"\nentry = "run.py"\n'
SOURCE = "from os import (\r\n  path,  # x\n)\nimport json, socket\nopen('../a')\n\u00a0exec(x)\n".encode()


def _text(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _store(folder: Path) -> tuple[FixtureStore, Path]:
    store = FixtureStore(folder / "fixtures")
    store.put("read", ARGS, RESPONSE)
    return store, Path(store.path_for("read", ARGS))


def _variant(folder: Path, manifest: str = "variant.json") -> Path:
    root = folder / "variant"
    root.mkdir()
    (root / "run.py").write_bytes(SOURCE)
    (root / manifest).write_bytes(MANIFEST_TOML if manifest.endswith("toml") else _text(MANIFEST))
    return root


def _inspected(root: Path) -> object:
    variant = gate.load_variant(root, parse=parse_document)
    return variant, gate.scan_tripwires(variant)


def _fixture_case(folder: Path) -> tuple[Path, Read]:
    store, path = _store(folder)
    return path, lambda _: store.get("read", ARGS)


def _gate_case(folder: Path) -> tuple[Path, Read]:
    path = folder / "gate.json"
    path.write_bytes(_text(GATE))
    return path, lambda place: read_gate(str(place))


def _task_set_case(folder: Path) -> tuple[Path, Read]:
    path = folder / "tasks.json"
    path.write_bytes(_text(TASKS))
    return path, gate.load_taskset


def _variant_case(name: str, manifest: str = "variant.json") -> Callable[[Path], tuple[Path, Read]]:
    def case(folder: Path) -> tuple[Path, Read]:
        root = _variant(folder, manifest)
        return root / name, lambda _: _inspected(root)

    return case


CASES = {
    "fixture": _fixture_case,
    "gate": _gate_case,
    "task set": _task_set_case,
    "manifest": _variant_case("variant.json"),
    "TOML manifest": _variant_case("variant.toml", "variant.toml"),
    "source": _variant_case("run.py"),
}
CODES = {
    "fixture": {"tool.fixture_corrupt", "tool.fixture_mismatch"},
    "gate": {"receipt.unreadable"},
    "task set": {"gate.taskset_invalid"},
    "manifest": {"gate.variant_invalid"},
    "TOML manifest": {"gate.variant_invalid"},
    "source": set(),
}


def _mutated(raw: bytes, seed: int) -> bytes:
    """`raw` after a few cuts, doublings, swaps and foreign bytes."""
    chance, data = random.Random(seed), bytearray(raw)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 1, 2, 9)))
        pieces = (
            b"",
            bytes([chance.randrange(256)]),
            data[start:end] * 2,
            b"\xff\x00",
            b'"',
            b"{",
            b"\\ud800",
            b"1e999",
        )
        data[start:end] = chance.choice(pieces)
    return bytes(data)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), whole=st.none() | st.binary(max_size=200))
@example(seed=0, whole=b"")
@example(seed=0, whole=b"[" * 3000)
@example(seed=0, whole=b'{"a":' * 3000)
@example(seed=0, whole=b"1" * 10_000)
@example(seed=0, whole=b"\xef\xbb\xbf{}")
def test_any_bytes_end_in_a_documented_code(
    name: str, seed: int, whole: bytes | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, read = CASES[name](tmp_path_factory.mktemp("any"))
    good = read(path)
    path.write_bytes(_mutated(path.read_bytes(), seed) if whole is None else whole)
    try:
        result = read(path)
    except EvalsError as error:
        assert error.code in CODES[name]
        assert "\n" not in error.message
        assert error.message.isprintable()
    else:
        assert name != "fixture" or result == good


def _each_bit(raw: bytes) -> Iterator[bytes]:
    for position in range(len(raw) * 8):
        changed = bytearray(raw)
        changed[position // 8] ^= 1 << position % 8
        yield bytes(changed)


def test_no_bit_of_a_fixture_can_change_unnoticed(tmp_path: Path) -> None:
    store, path = _store(tmp_path)
    raw, codes = path.read_bytes(), set()
    for changed in _each_bit(raw[:-1]):
        path.write_bytes(changed + b"\n")
        with pytest.raises(EvalsError) as caught:
            store.get("read", ARGS)
        codes.add(caught.value.code)
    assert codes == CODES["fixture"]
    path.write_bytes(raw)
    assert store.get("read", ARGS) == RESPONSE


def test_no_bit_of_a_gate_document_can_change_unnoticed(tmp_path: Path) -> None:
    path, _ = _gate_case(tmp_path)
    capsule.Capsule.create(tmp_path / "c").append("plan", "a")
    document = receipt.build_receipt(tmp_path / "c", gate_receipt=read_gate(str(path)))
    refused = 0
    # Flipping a space gives none of JSON's other ones, so every change that reads is one of the content.
    for changed in _each_bit(path.read_bytes()):
        path.write_bytes(changed)
        try:
            verdict = receipt.verify_receipt(document, tmp_path / "c", gate_receipt=read_gate(str(path)))
        except EvalsError as error:
            assert error.code == "receipt.unreadable"
            refused += 1
        else:
            assert verdict.check == "gate_receipt"
    assert refused


@pytest.mark.parametrize("name", ["task set", "manifest", "TOML manifest", "source"])
def test_every_bit_of_what_is_inspected_is_in_its_digest(tmp_path: Path, name: str) -> None:
    path, _ = CASES[name](tmp_path)
    root = path if name == "task set" else path.parent
    digest = (
        (lambda: gate.load_taskset(root).digest) if name == "task set" else (lambda: gate.digest_dir(root))
    )
    seen = {digest()}
    for changed in _each_bit(path.read_bytes()):
        path.write_bytes(changed)
        try:
            found = digest()
        except EvalsError as error:
            assert error.code == "gate.taskset_invalid"
        else:
            assert found not in seen
            seen.add(found)
    assert len(seen) > 20


def test_every_bit_of_a_name_is_in_the_digest_of_its_tree(tmp_path: Path) -> None:
    root = _variant(tmp_path)
    seen = {gate.digest_dir(root)}
    for changed in _each_bit(b"run.py"):
        if b"/" in changed or b"\0" in changed:
            continue
        name = os.fsencode(root) + b"/" + changed
        try:
            os.rename(root / "run.py", name)
        except OSError:  # a file system that takes only Unicode names
            continue
        found = gate.digest_dir(root)
        assert found not in seen
        seen.add(found)
        os.rename(name, root / "run.py")
