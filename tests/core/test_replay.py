"""Replay serves recorded responses and never an effect; record mode calls what it was given, once."""

from __future__ import annotations

import errno
import json
import os

import pytest

from evals_cli.core.canonical import hash_value
from evals_cli.core.errors import EvalsError
from evals_cli.core.replay import FixtureStore, create_replayer


@pytest.fixture
def store(tmp_path):
    return FixtureStore(tmp_path / "new" / "fixtures")


def refused(call, *arguments, **named):
    with pytest.raises(EvalsError) as caught:
        call(*arguments, **named)
    assert "\n" not in caught.value.message
    return caught.value.code


def tool(effect_class="SE0", impl=None, determinism="deterministic"):
    return {"effect_class": effect_class, "determinism": determinism, "impl": impl}


def never(_args):
    raise AssertionError("the implementation was called")


def rewrite(store, name, args, **changes):
    path = store.path_for(name, args)
    with open(path, encoding="utf-8") as stream:
        document = json.load(stream)
    document.update(changes)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(document, stream)


class TestStore:
    def test_a_fixture_is_canonical_json_under_the_hash_of_its_call(self, store):
        key = store.put("read", {"b": 1.0, "a": None}, ["x", 2.50])
        assert (
            key
            == store.key("read", {"a": None, "b": 1})
            == hash_value({"tool": "read", "args": {"a": None, "b": 1}})
        )
        assert store.path_for("read", {"a": None, "b": 1}) == os.path.join(store.path, f"{key}.json")
        with open(store.path_for("read", {"a": None, "b": 1}), "rb") as stream:
            raw = stream.read()
        assert raw == (
            b'{"args_hash":"'
            + hash_value({"a": None, "b": 1}).encode()
            + b'","key":"'
            + key.encode()
            + b'","response":["x",2.5],"response_hash":"'
            + hash_value(["x", 2.5]).encode()
            + b'","tool":"read"}\n'
        )

    def test_what_was_put_is_got(self, store):
        assert not store.has("read", {})
        store.put("read", {}, {"n": 1})
        assert store.has("read", {})
        assert store.get("read", {}) == {"n": 1}

    def test_null_and_the_empty_object_are_two_calls(self, store):
        store.put("t", None, 1)
        assert store.get("t", None) == 1
        assert not store.has("t", {})

    def test_a_later_response_replaces_an_earlier_one(self, store):
        store.put("t", {}, 1)
        store.put("t", {}, 2)
        assert store.get("t", {}) == 2
        assert len(os.listdir(store.path)) == 1

    def test_a_name_in_halves_of_a_character_finds_its_fixture(self, store):
        store.put("\ud83d\ude00", {}, 1)
        assert store.get("\ud83d\ude00", {}) == store.get("\U0001f600", {}) == 1

    def test_a_response_that_is_not_json_is_not_kept(self, store):
        assert refused(store.put, "t", {}, {1, 2}) == "json.unsupported_value"
        assert not os.path.exists(store.path)

    def test_a_response_that_could_not_be_read_back_is_not_kept(self, store):
        room = 16 * 1024 * 1024 - 310
        store.put("t", {}, "x" * room)
        assert len(store.get("t", {})) == room
        assert refused(store.put, "t", {}, "x" * (room + 310)) == "tool.fixture_unwritable"
        assert len(store.get("t", {})) == room

    @pytest.mark.parametrize("path", [b"fixtures", 5, None, "a\0b", "\ud800"])
    def test_what_is_no_path_is_the_callers_mistake(self, path):
        with pytest.raises((TypeError, ValueError)):
            FixtureStore(path)

    def test_a_tools_name_must_be_text(self, store):
        with pytest.raises(TypeError):
            store.key(5, {})

    def test_nothing_there_is_missing(self, store):
        assert refused(store.get, "t", {}) == "tool.fixture_missing"
        os.makedirs(store.path)
        assert refused(store.get, "t", {}) == "tool.fixture_missing"

    @pytest.mark.parametrize("raw", [b"", b"\xff", b"[]", b"null", b"{", b"[" * 9999, b'{"a":NaN}'])
    def test_what_is_no_json_object_is_corrupt(self, store, raw):
        store.put("t", {}, 1)
        with open(store.path_for("t", {}), "wb") as stream:
            stream.write(raw)
        assert refused(store.get, "t", {}) == "tool.fixture_corrupt"

    @pytest.mark.parametrize("kind", ["folder", "fifo", "huge"])
    def test_what_is_no_readable_file_is_corrupt_and_never_hangs(self, store, kind):
        os.makedirs(store.path)
        path = store.path_for("t", {})
        if kind == "folder":
            os.mkdir(path)
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            with open(path, "wb") as stream:
                stream.truncate(200 * 1024 * 1024)
        assert store.has("t", {}) == (kind == "huge")
        assert refused(store.get, "t", {}) == "tool.fixture_corrupt"

    @pytest.mark.parametrize("field", ["key", "tool", "args_hash", "response_hash", "response"])
    def test_an_edited_field_is_a_mismatch(self, store, field):
        store.put("t", {}, 1)
        rewrite(store, "t", {}, **{field: "other"})
        assert refused(store.get, "t", {}) == "tool.fixture_mismatch"

    @pytest.mark.parametrize("field", ["key", "tool", "args_hash", "response_hash", "response"])
    def test_an_absent_field_is_a_mismatch(self, store, field):
        store.put("t", {}, None)
        with open(store.path_for("t", {}), "rb") as stream:
            document = json.loads(stream.read())
        del document[field]
        with open(store.path_for("t", {}), "w", encoding="utf-8") as stream:
            json.dump(document, stream)
        assert refused(store.get, "t", {}) == "tool.fixture_mismatch"

    def test_layout_and_further_fields_are_free(self, store):
        store.put("t", {}, 1)
        rewrite(store, "t", {}, note="kept by hand")
        assert store.get("t", {}) == 1

    def test_a_failed_write_keeps_the_earlier_fixture(self, store, monkeypatch):
        store.put("t", {}, 1)

        def full(*_args):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        assert refused(store.put, "t", {}, 2) == "tool.fixture_unwritable"
        assert store.get("t", {}) == 1
        assert len(os.listdir(store.path)) == 1


class TestDeclarations:
    def test_the_first_complaint_is_the_mode_then_the_store_then_the_tools(self, store):
        bad = {"t": None}
        assert refused(create_replayer, bad, mode="live", store=None) == "replay.bad_mode"
        assert refused(create_replayer, bad, mode="record", store=None) == "replay.no_store"
        assert refused(create_replayer, bad, store=store) == "replay.bad_declaration"

    @pytest.mark.parametrize("mode", [None, "", "Replay", ["replay"]])
    def test_other_modes_are_refused(self, store, mode):
        assert refused(create_replayer, {}, mode=mode, store=store) == "replay.bad_mode"

    @pytest.mark.parametrize("nothing", [None, "folder", object()])
    def test_anything_but_a_store_is_no_store(self, nothing):
        assert refused(create_replayer, {}, store=nothing) == "replay.no_store"

    @pytest.mark.parametrize(
        "tools",
        [
            [],
            {5: tool()},
            {"t": []},
            {"t": {"determinism": "deterministic"}},
            {"t": tool("SE5")},
            {"t": tool(["SE0"])},
            {"t": tool(determinism="sometimes")},
            {"t": tool(determinism=["deterministic"])},
            {"ok": tool(), "t\n": tool(determinism=None)},
        ],
    )
    def test_a_bad_declaration_is_refused(self, store, tools):
        assert refused(create_replayer, tools, store=store) == "replay.bad_declaration"

    @pytest.mark.parametrize("impl", [None, "read", 5])
    def test_recording_needs_an_implementation(self, store, impl):
        assert (
            refused(create_replayer, {"t": tool(impl=impl)}, mode="record", store=store)
            == "replay.bad_declaration"
        )
        assert create_replayer({"t": tool(impl=impl)}, store=store).mode == "replay"

    @pytest.mark.parametrize("maximum", ["SE5", None, 2])
    def test_an_unknown_maximum_class_is_refused(self, store, maximum):
        assert refused(create_replayer, {}, store=store, max_effect_class=maximum) == "replay.bad_declaration"

    def test_later_changes_to_the_declarations_change_nothing(self, store):
        tools = {"t": tool("SE4", never)}
        replayer = create_replayer(tools, store=store)
        tools["t"]["effect_class"] = "SE0"
        assert refused(replayer.call, "t") == "tool.effect_forbidden"


class TestReplay:
    def test_the_implementation_is_never_called(self, store):
        store.put("t", {"n": 1}, "kept")
        replayer = create_replayer({"t": tool("SE2", never)}, store=store)
        assert replayer.call("t", {"n": 1}) == "kept"
        assert refused(replayer.call, "t", {"n": 2}) == "tool.fixture_missing"
        rewrite(store, "t", {"n": 1}, response="forged")
        assert refused(replayer.call, "t", {"n": 1}) == "tool.fixture_mismatch"

    @pytest.mark.parametrize("effect_class", ["SE3", "SE4"])
    def test_published_and_external_effects_are_refused_whatever_the_maximum_and_the_fixture(
        self, store, effect_class
    ):
        store.put("t", {}, "kept")
        replayer = create_replayer({"t": tool(effect_class, never)}, store=store, max_effect_class="SE4")
        assert refused(replayer.call, "t") == "tool.effect_forbidden"
        assert replayer.calls == [
            {"tool": "t", "mode": "replay", "status": "refused", "code": "tool.effect_forbidden"}
        ]

    def test_a_class_above_the_maximum_is_refused_before_the_fixture_is_read(self, store):
        replayer = create_replayer({"t": tool("SE2")}, store=store, max_effect_class="SE1")
        assert refused(replayer.call, "t") == "tool.effect_forbidden"

    def test_unknown_tools_and_missing_fixtures_leave_no_record(self, store):
        seen = []
        replayer = create_replayer({"t": tool()}, store=store, on_call=seen.append)
        assert refused(replayer.call, "u") == "tool.unknown"
        assert refused(replayer.call, "t") == "tool.fixture_missing"
        assert replayer.calls == seen == []

    def test_arguments_that_are_not_json_are_refused(self, store):
        replayer = create_replayer({"t": tool()}, store=store)
        assert refused(replayer.call, "t", {"n": {1}}) == "json.unsupported_value"

    def test_each_answered_call_is_recorded_and_reported(self, store):
        key = store.put("t", {}, [1])
        seen = []
        replayer = create_replayer({"t": tool()}, store=store, on_call=seen.append)
        replayer.call("t")
        assert (
            replayer.calls
            == seen
            == [
                {
                    "tool": "t",
                    "mode": "replay",
                    "status": "replayed",
                    "fixture_key": key,
                    "args_hash": hash_value({}),
                    "response_hash": hash_value([1]),
                }
            ]
        )

    def test_the_records_cannot_be_changed_from_outside(self, store):
        store.put("t", {}, 1)
        replayer = create_replayer({"t": tool()}, store=store, on_call=dict.clear)
        replayer.call("t")
        replayer.calls[0].clear()
        assert replayer.calls[0]["status"] == "replayed"

    def test_the_mode_cannot_be_changed_afterwards(self, store):
        replayer = create_replayer({"t": tool(impl=never)}, store=store)
        with pytest.raises(AttributeError):
            replayer.mode = "record"


class TestRecord:
    def test_the_response_is_kept_and_served_again(self, store):
        live = create_replayer({"t": tool("SE1", lambda args: {"got": args})}, mode="record", store=store)
        assert live.call("t", {"n": 1}) == {"got": {"n": 1}}
        assert [record["status"] for record in live.calls] == ["recorded"]
        replayer = create_replayer({"t": tool("SE1")}, store=store)
        assert replayer.call("t", {"n": 1}) == {"got": {"n": 1}}
        assert replayer.calls[0]["response_hash"] == live.calls[0]["response_hash"]

    def test_the_caller_gets_what_a_replay_will_serve(self, store):
        live = create_replayer(
            {"t": tool(impl=lambda _args: (1.0, float("nan"), 2**53 + 1))}, mode="record", store=store
        )
        assert live.call("t") == store.get("t", {}) == [1, None, 2**53]

    def test_an_implementation_that_changes_its_arguments_does_not_change_the_key(self, store):
        live = create_replayer({"t": tool(impl=dict.clear)}, mode="record", store=store)
        live.call("t", {"n": 1})
        assert store.has("t", {"n": 1})

    def test_arguments_that_are_not_json_never_reach_the_implementation(self, store):
        live = create_replayer({"t": tool(impl=never)}, mode="record", store=store)
        assert refused(live.call, "t", object()) == "json.unsupported_value"

    def test_the_maximum_class_holds(self, store):
        tools = {"t": tool("SE3", never)}
        live = create_replayer(tools, mode="record", store=store)
        assert refused(live.call, "t") == "tool.effect_forbidden"
        assert live.calls[0]["mode"] == "record"

    def test_a_raised_maximum_lets_external_effects_be_recorded(self, store):
        live = create_replayer(
            {"t": tool("SE4", lambda _: 1)}, mode="record", store=store, max_effect_class="SE4"
        )
        assert live.call("t") == 1

    def test_what_the_implementation_raises_comes_through_and_leaves_nothing(self, store):
        def broken(_args):
            raise LookupError("no")

        live = create_replayer({"t": tool(impl=broken)}, mode="record", store=store)
        with pytest.raises(LookupError):
            live.call("t")
        assert live.calls == []
        assert not store.has("t", {})

    def test_no_arguments_reach_the_implementation_as_the_empty_object(self, store):
        live = create_replayer({"t": tool(impl=lambda args: args)}, mode="record", store=store)
        assert live.call("t") == {}
