"""Tripwires warn by rule, file and line, in a fixed order, and never run anything."""

from __future__ import annotations

import json
import time

import pytest

from evals_cli.core import gate_tripwires
from evals_cli.core.ecmascript import WHITE_SPACE
from evals_cli.core.errors import EvalsError
from evals_cli.core.gate import Tripwire, Variant, load_variant, scan_tripwires
from evals_cli.core.gate_tripwires import MAX_SOURCE_BYTES, TRIPWIRES


@pytest.fixture
def scan(tmp_path):
    def run(files, *, entry="run.js", effect_class="SE1", **options):
        for name, text in {entry: "", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        declared = {"name": "v", "effect_class": effect_class, "entry": entry}
        (tmp_path / "variant.json").write_text(json.dumps(declared))
        hits = scan_tripwires(load_variant(tmp_path), **options)
        assert {hit["variant"] for hit in hits} <= {"v"}
        return [(hit["rule"], hit["file"], hit["line"]) for hit in hits]

    return run


def test_a_quiet_tree_has_no_hits(scan):
    assert scan({"run.js": "module.exports = (text) => text.toLowerCase();\n"}) == []


def test_hits_come_class_first_then_by_file_line_and_rule(scan):
    files = {
        "b.js": "ok\r\nfetch(1); require('child_process')\r\n",
        "A.js": "x\ny\n'../up' + taskset",
        "c.txt": "fetch(1)",
    }
    assert scan(files, effect_class="SE2") == [
        ("effect_class_expansion", "variant.json", 1),
        ("checker_probe", "A.js", 3),
        ("parent_escape", "A.js", 3),
        ("hidden_network", "b.js", 2),
        ("process_spawn", "b.js", 2),
    ]


@pytest.mark.parametrize("ending", [".js", ".cjs", ".mjs", ".json", ".sh"])
def test_each_kind_of_source_is_read(scan, ending):
    assert scan({f"x{ending}": "fetch(1)"}) == [("hidden_network", f"x{ending}", 1)]


@pytest.mark.parametrize("name", ["x.JS", "x.jsx", "x.txt", "x", "x.toml", "x.py"])
def test_other_endings_are_not(scan, name):
    assert scan({name: "fetch(1); import socket"}) == []


def test_the_manifest_is_scanned_like_any_source(tmp_path):
    (tmp_path / "run.js").write_text("")
    (tmp_path / "variant.json").write_text('{"name":"v","effect_class":"SE0",\n"note":"--no-sandbox"}')
    assert scan_tripwires(load_variant(tmp_path)) == [
        {"variant": "v", "rule": "sandbox_weakening", "file": "variant.json", "line": 2}
    ]


def test_a_toml_manifest_is_scanned_and_named_in_its_place(tmp_path):
    (tmp_path / "run.js").write_text("")
    (tmp_path / "variant.toml").write_text('# --no-sandbox\nname = "v"\n')
    variant = load_variant(tmp_path, parse=lambda _name, _raw: {"name": "v", "effect_class": "SE4"})
    assert [(hit["rule"], hit["file"], hit["line"]) for hit in scan_tripwires(variant)] == [
        ("effect_class_expansion", "variant.toml", 1),
        ("sandbox_weakening", "variant.toml", 1),
    ]


def test_one_tripwire_hits_a_line_once_and_two_of_one_rule_twice(scan):
    assert scan({"a.js": "fetch(1) fetch(2)"}) == [("hidden_network", "a.js", 1)]
    assert scan({"a.js": "require('net') fetch(2)"}) == [("hidden_network", "a.js", 1)] * 2


@pytest.mark.parametrize("space", WHITE_SPACE.replace("\n", ""))
def test_white_space_is_that_of_ecmascript(scan, space):
    assert scan({"a.js": f"fetch{space}(1)"}) == [("hidden_network", "a.js", 1)]


@pytest.mark.parametrize("between", [b"\x1c", "\u0085".encode(), b"\xff", b"\n", b"\r\n"])
def test_nothing_else_is_white_space_and_no_hit_spans_lines(scan, between):
    assert scan({"a.js": b"fetch" + between + b"(1)"}) == []


@pytest.mark.parametrize("before", [b"", b"\xff", "é".encode(), b"'", b"\n", b"\r\n"])
def test_a_parent_path_is_seen_after_anything_but_a_word_or_a_dot(scan, before):
    line = 2 if b"\n" in before else 1
    assert scan({"a.js": before + b"../x"}) == [("parent_escape", "a.js", line)]


@pytest.mark.parametrize("text", ["x../y", ".../y", "_../y", "a..b", "..."])
def test_spread_ranges_and_names_are_no_parent_path(scan, text):
    assert scan({"a.js": text}) == []


def test_a_higher_maximum_admits_the_declared_class(scan):
    assert scan({}, effect_class="SE4", max_effect_class="SE4") == []
    assert scan({}, effect_class="SE1", max_effect_class="SE0") == [
        ("effect_class_expansion", "variant.json", 1)
    ]


def test_an_unknown_maximum_is_the_callers_mistake(scan):
    with pytest.raises(ValueError, match="max_effect_class"):
        scan({}, max_effect_class="SE9")


def test_own_tripwires_replace_the_built_in_ones(scan):
    own = [Tripwire("todo", r"^later\s$", (".txt",))]
    assert scan({"a.js": "fetch(1)", "b.txt": "x\r\nlater \r\nlater x"}, tripwires=own) == [
        ("todo", "b.txt", 2)
    ]


@pytest.mark.parametrize(
    ("tripwires", "problem"),
    [
        (5, TypeError),
        ("(", TypeError),
        ([("todo", "later")], TypeError),
        ([Tripwire(5, "x")], TypeError),
        ([Tripwire("x", b"x")], TypeError),
        ([Tripwire("x", "x", ".js")], TypeError),
        ([Tripwire("x", "x", (5,))], TypeError),
        ([Tripwire("x", "(")], ValueError),
        ([Tripwire("x", "\u00e9")], ValueError),
        ([Tripwire("x", "a{99999999999999999999}")], ValueError),
        ([Tripwire("x", "(" * 20_000 + ")" * 20_000)], ValueError),
    ],
    ids=str,
)
def test_tripwires_that_cannot_be_used_are_the_callers_mistake(scan, tripwires, problem):
    with pytest.raises(problem):
        scan({}, tripwires=tripwires)


@pytest.mark.parametrize("changes", [{"name": 5}, {"effect_class": None}, {"entry": None}, {"dir": b"v"}])
def test_a_variant_of_other_types_is_the_callers_mistake(tmp_path, changes):
    good = {"name": "v", "effect_class": "SE0", "entry": "run.js", "digest": "0" * 64, "dir": str(tmp_path)}
    assert scan_tripwires(Variant(**good)) == []
    with pytest.raises(TypeError):
        scan_tripwires(Variant(**{**good, **changes}))


@pytest.mark.parametrize("variant", [None, "v", {"name": "v"}])
def test_what_is_no_variant_is_the_callers_mistake(variant):
    with pytest.raises(TypeError, match="load_variant"):
        scan_tripwires(variant)


def test_more_hits_than_can_be_listed_refuse_the_variant(scan, monkeypatch):
    monkeypatch.setattr(gate_tripwires, "MAX_HITS", 5)
    assert len(scan({"a.js": "fetch(1)\n" * 2, "b.js": "fetch(1)\n" * 3})) == 5
    for one_too_many in ({"b.js": "fetch(1)\n" * 4}, {"c.js": "fetch(1)"}):
        with pytest.raises(EvalsError, match="more than 5 hits") as caught:
            scan({"b.js": "fetch(1)\n" * 3, **one_too_many})
        assert caught.value.code == "gate.variant_invalid"


def test_an_oversized_source_is_refused(scan, tmp_path):
    with (tmp_path / "big.js").open("wb") as stream:
        stream.truncate(MAX_SOURCE_BYTES + 1)
    with pytest.raises(EvalsError) as caught:
        scan({})
    assert caught.value.code == "gate.variant_invalid"


PYTHON = [
    ("hidden_network", "import socket"),
    ("hidden_network", "    import os, urllib.request as fetcher"),
    ("hidden_network", "import os as o, ssl"),
    ("hidden_network", "from http.client import HTTPSConnection"),
    ("hidden_network", "from requests import get"),
    ("hidden_network", "x = 1; import httpx"),
    ("hidden_network", "import aiohttp  # later"),
    ("hidden_network", "importlib.import_module('smtplib')"),
    ("hidden_network", '__import__("ftplib")'),
    ("hidden_network", "await asyncio.open_connection(host, 80)"),
    ("process_spawn", "import subprocess"),
    ("process_spawn", "from subprocess import run"),
    ("process_spawn", "from multiprocessing.pool import Pool"),
    ("process_spawn", "import ctypes.util"),
    ("process_spawn", "import pty"),
    ("process_spawn", "__import__('subprocess')"),
    ("process_spawn", "os.system('ls')"),
    ("process_spawn", "os . popen('ls')"),
    ("process_spawn", "os.execvpe('a', [], {})"),
    ("process_spawn", "os.spawnl(0, 'a')"),
    ("process_spawn", "os.posix_spawn('a', [], {})"),
    ("process_spawn", "os.fork()"),
    ("process_spawn", "os.forkpty()"),
    ("process_spawn", "from os import path, system"),
    ("process_spawn", "from os import (sep as s, fork)"),
    ("process_spawn", "asyncio.create_subprocess_shell('ls')"),
    ("process_spawn", "from os import *"),
    ("process_spawn", "from os import(*"),
    ("process_spawn", "import webbrowser"),
    ("process_spawn", "from runpy import run_path"),
    ("sandbox_weakening", "exec(text)"),
    ("sandbox_weakening", "x = [eval (text)]"),
    ("sandbox_weakening", "import builtins"),
    ("sandbox_weakening", "sys.modules['json'] = fake"),
    ("sandbox_weakening", "sys.meta_path.insert(0, finder)"),
    ("sandbox_weakening", "__builtins__['open'] = fake"),
    ("sandbox_weakening", "env['PYTHONPATH'] = '.'"),
    ("sandbox_weakening", "import effect_fence"),
    ("checker_probe", "open('taskset.json')"),
    ("checker_probe", "env['EVALS_GATE_TOKEN']"),
    ("parent_escape", "open('../answers.json')"),
    ("parent_escape", "root = os.path.join(here, '..')"),
    ("parent_escape", "root / os.pardir"),
    ("parent_escape", "Path(__file__).parent.parent"),
    ("parent_escape", "Path(__file__).parents[1]"),
]


@pytest.mark.parametrize(("rule", "line"), PYTHON)
def test_a_python_variant_is_judged_in_pythons_terms(scan, rule, line):
    assert scan({"lib/m.py": f"# first\n{line}\n"}, entry="run.py") == [(rule, "lib/m.py", 2)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x\nfrom os import (\n    path,\n    system,\n)\n", [2]),
        ("from os import (  # (names)\r\n    sep,  # b\r\n    fork as f)\r\n", [1]),
        ("from os import (path,\n\n  system); from os import (\n*", [1]),
        ("from os \\\n import \\\n popen\nimport \\\n  a, \\\n  subprocess", [1, 4]),
        ("from os import (sep)\nfrom os import (\n  fork)", [2]),
    ],
)
def test_a_statement_of_several_lines_is_a_hit_on_its_first(scan, text, lines):
    hits = [("process_spawn", "m.py", line) for line in lines]
    assert scan({"m.py": text}, entry="run.py") == hits


@pytest.mark.parametrize("text", ["from os import (\n  path,\n  sep)\nsystem = 1", "import \\\n  re\nos = 1"])
def test_an_ordinary_statement_of_several_lines_has_no_hits(scan, text):
    assert scan({"m.py": text}, entry="run.py") == []


def test_what_a_line_of_a_statement_shows_is_a_hit_on_that_line_alone(scan):
    text = "from tools import (\n    a,\n    taskset,  # .gate-marker\n)\nx = a, \\\n  os.fork()\n"
    assert scan({"m.py": text}, entry="run.py") == [
        ("checker_probe", "m.py", 3),
        ("process_spawn", "m.py", 6),
    ]


def test_a_statement_of_several_lines_means_nothing_in_javascript(scan):
    own = [Tripwire("joined", "a b", (".js", ".py"))]
    hits = scan({"m.js": "a\\\nb", "m.py": "a\\\nb"}, tripwires=own)
    assert hits == [("joined", "m.py", 1)]


@pytest.mark.parametrize(("entry", "name"), [("run.pyw", "m.py"), ("run.py", "m.pyw")])
def test_windowless_python_is_python(scan, entry, name):
    assert scan({name: "import socket"}, entry=entry) == [("hidden_network", name, 1)]


@pytest.mark.parametrize(
    "line",
    [
        "import json, re",
        "from .http_like import x",
        "import requests_mock_of_mine",
        "from . import slug",
        "from .. import slug",
        "here = Path(__file__).parent",
        "os.path.join('a', 'b')",
        "system('x')",
        "self.important = True",
        "execute(plan)",
        "evaluate(model)",
        "model.eval()",
        "from os import path",
        "from os import (path, sep)",
    ],
)
def test_ordinary_python_has_no_hits(scan, line):
    assert scan({"m.py": line}, entry="run.py") == []


def test_a_python_variants_javascript_is_judged_by_the_same_list_as_ever(scan):
    assert scan({"a.js": "fetch(1)\nimport socket"}, entry="run.py") == [("hidden_network", "a.js", 1)]


def test_python_beside_another_entry_changes_no_result(scan):
    assert scan({"d.py": "import socket\nfetch(1)"}) == []


def test_every_python_rule_is_one_of_javascripts(scan):
    rules = {wire.rule for wire in TRIPWIRES}
    assert {rule for rule, _ in PYTHON} == rules


# Every place in the patterns at which a run of white space may begin.
BEFORE_SPACES = (
    "require(",
    "require('net'",
    "fetch",
    "import",
    "import a",
    "import a as",
    "import a as b",
    "import a,",
    "from",
    "from socket",
    "from socket.x",
    "from os",
    "from os import",
    "from os import(",
    "from os import (a as",
    "from os import (a,",
    "__import__",
    "import_module(",
    "open_connection",
    "os",
    "os.",
    "sys",
    "sys.",
    "exec",
)


@pytest.mark.parametrize(
    "text",
    [
        "import " + "a.b , " * 30_000,
        "from os import " * 30_000,
        "from os import " + "x, " * 30_000,
        *(f"{start}{space * 60_000}!" for start in BEFORE_SPACES for space in (" ", "\u00a0")),
        *(f"{start}{' ' * 60_000}" * 3 for start in BEFORE_SPACES),
        "import " + "a" * 200_000,
        "import " * 30_000,
        "fetch" + " " * 200_000,
        "fetch" + "\u00a0" * 200_000,
        "os" + " " * 200_000,
        "." * 200_000,
        "from a import (" * 20_000,
        "from a import (\n" * 20_000,
        "from a import (#" * 20_000,
        "\\" * 200_000,
        "\\\n" * 100_000,
        "import \\\n" * 30_000,
    ],
    ids=lambda text: f"{text[:22]}-{text[-4:]!a}-{len(text)}",
)
def test_a_long_line_takes_no_long_time(scan, text):
    started = time.process_time()
    scan({"m.py": text, "m.js": text, "lines.py": text.replace(" ", "\n")}, entry="run.py")
    # What is quadratic takes a minute; what is linear a small part of a second.
    assert time.process_time() - started < 5
