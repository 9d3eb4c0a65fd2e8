"""A variant is the digest of its tree plus what its manifest declares; anything odd refuses it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket

import pytest

from evals_cli.core.errors import EvalsError
from evals_cli.core.gate import Variant, digest_dir, load_variant

MANIFEST = {"name": "baseline", "effect_class": "SE1"}


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "variant"
    (root / "lib").mkdir(parents=True)
    (root / "run.js").write_bytes(b"module.exports = 1;\n")
    (root / "lib" / "a.js").write_bytes(b"\x00\xff")
    declare(root)
    return root


def declare(root, **changes):
    (root / "variant.json").write_text(json.dumps({**MANIFEST, **changes}))


def refused(call, *arguments, **named):
    with pytest.raises(EvalsError) as caught:
        call(*arguments, **named)
    assert "\n" not in caught.value.message
    return caught.value


def expected_digest(root, names):
    total = hashlib.sha256()
    for name in names:
        total.update(name.encode() + b"\0" + (root / name).read_bytes() + b"\0")
    return total.hexdigest()


def test_the_digest_covers_paths_and_bytes_depth_first(tree):
    assert digest_dir(tree) == expected_digest(tree, ["lib/a.js", "run.js", "variant.json"])


def test_the_digest_of_a_file_larger_than_a_chunk_is_over_all_of_it(tree):
    (tree / "run.js").write_bytes(b"x" * 300_000)
    assert digest_dir(str(tree)) == expected_digest(tree, ["lib/a.js", "run.js", "variant.json"])


def test_git_and_node_modules_are_left_out_at_every_depth_and_of_any_kind(tree):
    before = digest_dir(tree)
    (tree / "node_modules" / "m").mkdir(parents=True)
    (tree / "lib" / ".git").write_text("gitdir: elsewhere")
    (tree / "lib" / "node_modules").symlink_to("/")
    assert digest_dir(tree) == before


def test_a_variant_has_its_declaration_its_digest_and_its_folder(tree):
    assert load_variant(str(tree)) == Variant(
        name="baseline", effect_class="SE1", entry="run.js", digest=digest_dir(tree), dir=str(tree)
    )


@pytest.mark.parametrize("entry", ["lib/a.js", "./lib/a.js", "lib//./a.js", "lib/a.js/"])
def test_an_entry_comes_back_in_its_plain_form(tree, entry):
    declare(tree, entry=entry)
    assert load_variant(tree).entry == "lib/a.js"


@pytest.mark.parametrize(
    "entry",
    [
        "",
        ".",
        "/",
        "/run.js",
        "lib",
        "lib/../run.js",
        "../variant/run.js",
        "lib\\a.js",
        "C:/run.js",
        "c:/run.js",
        "gone.js",
        "run.js\n",
        "run.js\0",
        "RUN.JS",
        ".git/h.js",
        None,
        5,
        ["run.js"],
        "\udcff.js",
    ],
)
def test_an_entry_outside_the_digest_is_refused(tree, entry):
    (tree / ".git").mkdir()
    (tree / ".git" / "h.js").write_text("1")
    declare(tree, entry=entry)
    assert refused(load_variant, tree).code == "gate.variant_invalid"


def test_an_undecodable_file_name_counts_in_the_digest_but_cannot_be_the_entry(tree):
    try:
        (tree / "\udcff.js").write_text("1")
    except OSError:  # a file system that takes only Unicode names
        return
    declare(tree, entry="\udcff.js")
    assert len(digest_dir(tree)) == 64
    assert refused(load_variant, tree).code == "gate.variant_invalid"


@pytest.mark.parametrize("name", [None, 5, "", "-a", "_a", "a b", "a\n", "é", "x" * 65, "ſ"])
def test_a_name_that_is_no_plain_component_is_refused(tree, name):
    declare(tree, name=name)
    assert refused(load_variant, tree).code == "gate.variant_invalid"


@pytest.mark.parametrize("effect_class", [None, 1, "SE5", "se1", "SE1\n"])
def test_an_unknown_effect_class_is_refused(tree, effect_class):
    declare(tree, effect_class=effect_class)
    assert refused(load_variant, tree).code == "gate.variant_invalid"


@pytest.mark.parametrize("raw", [b"", b"\xff", b"[]", b"{", b"[" * 9999, b'{"name":NaN}'])
def test_a_manifest_that_is_no_json_object_is_refused(tree, raw):
    (tree / "variant.json").write_bytes(raw)
    error = refused(load_variant, tree)
    assert (error.code, error.details["path"]) == ("gate.variant_invalid", "variant.json")


def test_an_oversized_manifest_is_refused_without_reading_it_whole(tree):
    with (tree / "variant.json").open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    error = refused(load_variant, tree)
    assert error.code == "gate.variant_invalid"
    assert error.message == "variant.json: larger than the limit of 1048576 bytes"


def test_a_folder_without_manifest_is_missing_its_variant(tree):
    (tree / "variant.json").unlink()
    assert refused(load_variant, tree).code == "gate.variant_missing"


def test_no_folder_at_all_is_missing_too(tree):
    assert refused(load_variant, tree / "gone").code == "gate.variant_missing"
    assert refused(load_variant, tree / "run.js").code == "gate.variant_missing"
    assert refused(digest_dir, tree / "gone").code == "gate.variant_missing"
    assert refused(digest_dir, tree / "run.js" / "below").code == "gate.variant_missing"
    assert refused(digest_dir, tree / "run.js").code == "gate.variant_invalid"


def odd(kind, path):
    if kind == "symlink":
        path.symlink_to("run.js")
    elif kind == "dangling":
        path.symlink_to("gone")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(path))


@pytest.mark.parametrize("kind", ["symlink", "dangling", "fifo", "socket"])
@pytest.mark.parametrize("name", ["variant.json", "lib/odd\n.js"])
def test_a_link_or_special_file_refuses_the_tree_without_hanging(tree, monkeypatch, kind, name):
    monkeypatch.chdir(tree)  # a socket's name must be short
    (tree / name).unlink(missing_ok=True)
    odd(kind, tree / name)
    assert refused(load_variant, tree).code == "gate.variant_invalid"
    assert refused(digest_dir, tree).code == "gate.variant_invalid"


def test_the_variant_folder_itself_may_be_named_through_a_link(tree, tmp_path):
    (tmp_path / "link").symlink_to(tree)
    assert digest_dir(tmp_path / "link") == digest_dir(tree)


def test_a_file_swapped_while_it_is_opened_is_refused(tree, monkeypatch):
    other = os.lstat(tree / "lib" / "a.js")
    true_lstat, seen = os.lstat, []

    def swapped(path, **named):
        seen.append(path)
        # the second look at run.js happens after it was opened
        return other if sum(str(p).endswith("run.js") for p in seen) == 2 else true_lstat(path, **named)

    monkeypatch.setattr(os, "lstat", swapped)
    assert "changed while it was opened" in refused(digest_dir, tree).message


@pytest.mark.parametrize("name", ["open", "lstat", "listdir", "fstat", "read", "stat"])
def test_a_failing_system_call_is_one_typed_refusal(tree, monkeypatch, name):
    def failing(*_args, **_named):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, name, failing)
        error = refused(digest_dir, tree)
    assert error.code == "gate.variant_invalid"


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_a_manifest_that_cannot_be_looked_at_is_refused(tree, monkeypatch, number):
    def failing(*_args, **_named):
        raise OSError(number, "no")

    monkeypatch.setattr(os, "lstat", failing)
    assert refused(load_variant, tree).code == "gate.variant_invalid"


def toml(name, raw):
    assert name == "variant.toml"
    if raw == b"bad":
        raise EvalsError("toml.invalid", "line 1: no")
    return {**MANIFEST, "name": raw.decode()}


def test_a_toml_manifest_needs_a_reader_from_the_caller(tree):
    (tree / "variant.json").unlink()
    (tree / "variant.toml").write_bytes(b"candidate")
    assert load_variant(tree, parse=toml).name == "candidate"
    assert refused(load_variant, tree).code == "gate.variant_missing"


def test_a_bad_toml_manifest_is_an_invalid_variant(tree):
    (tree / "variant.json").unlink()
    (tree / "variant.toml").write_bytes(b"bad")
    assert refused(load_variant, tree, parse=toml).code == "gate.variant_invalid"


@pytest.mark.parametrize("parse", [None, toml])
def test_two_manifests_are_an_error_that_names_both(tree, parse):
    (tree / "variant.toml").write_bytes(b"candidate")
    error = refused(load_variant, tree, parse=parse)
    assert error.code == "gate.variant_invalid"
    assert "variant.json" in error.message
    assert "variant.toml" in error.message


def test_the_reader_of_toml_is_not_asked_for_json(tree):
    assert load_variant(tree, parse=toml).name == "baseline"


def test_a_file_that_vanishes_during_the_walk_is_refused(tree, monkeypatch):
    true_listdir = os.listdir

    def stale(path):
        return [*true_listdir(path), "vanished"]

    monkeypatch.setattr(os, "listdir", stale)
    assert refused(digest_dir, tree).code == "gate.variant_invalid"


def test_nothing_in_the_tree_is_changed(tree):
    def state():
        return sorted((p, os.lstat(p).st_mtime_ns, os.lstat(p).st_mode) for p in tree.rglob("*"))

    before = state()
    load_variant(tree)
    assert state() == before


def test_a_file_that_vanishes_while_it_is_opened_is_refused(tree, monkeypatch):
    true_open, true_lstat, opened = os.open, os.lstat, []

    def opening(path, *arguments, **named):
        opened.append(path)
        return true_open(path, *arguments, **named)

    def gone(path, **named):
        if path in opened:
            raise FileNotFoundError(errno.ENOENT, "gone")
        return true_lstat(path, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", opening)
        patch.setattr(os, "lstat", gone)
        error = refused(digest_dir, tree)
    assert error.code == "gate.variant_invalid"


@pytest.mark.parametrize("path", [b"variant", 5, None, "a\0b", "\ud800"])
@pytest.mark.parametrize("call", [digest_dir, load_variant])
def test_what_is_no_path_is_the_callers_mistake(call, path):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(path)
    assert not isinstance(caught.value, EvalsError)


def test_a_folder_that_is_not_there_is_not_called_one_without_a_manifest(tree):
    assert refused(load_variant, tree / "gone").message.endswith("there is no such folder")


def test_a_message_stays_short_however_long_a_name_is(tree):
    declare(tree, entry="x" * 500_000 + ".js")
    assert len(refused(load_variant, tree).message) < 400
    deep = tree
    for _ in range(8):
        deep /= "d" * 200
        deep.mkdir()
    (deep / "link").symlink_to("gone")
    error = refused(digest_dir, tree)
    assert len(error.message) < 400
    assert error.message.endswith("link: not a regular file or a folder")
    assert error.details["path"] == f"{deep.relative_to(tree)}/link"
