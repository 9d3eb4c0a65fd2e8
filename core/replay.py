"""Replay-safe tool calls: recorded responses are served from fixtures, and live effects stay declared.

Rules:
- A fixture's key is the canonical hash of {tool, args}; its file `<key>.json` holds key, tool, args_hash,
  response_hash and response as canonical JSON and a line feed. A call without args has {}; in a store,
  None is the JSON value null and another call.
- Reading: no file is `tool.fixture_missing`; not a JSON object, or not readable, `tool.fixture_corrupt`;
  another key, tool, args hash or response hash `tool.fixture_mismatch`, so that an edited or stale fixture
  never answers. Writing replaces a fixture whole or is `tool.fixture_unwritable`, as it is for a response
  that would be too large to be read back.
- A replayer is refused in this order: `replay.bad_mode`, `replay.no_store`, `replay.bad_declaration`.
- A call is refused in this order: `tool.unknown`; `tool.effect_forbidden` for a class above the maximum and,
  in replay, for SE3 and SE4 whatever the maximum is; then what reading the fixture says.
- In replay the implementation is never called, and need not exist. In record mode the arguments are hashed
  before it is called, and the caller gets what a replay will serve: the response as JSON keeps it.
- Each call leaves a record, except unknown tools and fixtures that do not answer.
- Declarations are no sandbox: register only implementations that are trusted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .canonical import canonical_bytes, hash_value, loads
from .ecmascript import join_surrogates
from .envelope import EFFECT_CLASSES
from .errors import EvalsError, FileError
from .files import as_path, make_folders, read_regular, shown, write_whole

EFFECT_FENCE_PRELOAD = "evals_cli.core.effect_fence"
MODES = ("replay", "record")
DETERMINISM = ("deterministic", "nondeterministic")
NEVER_REPLAYED = ("SE3", "SE4")
# JSON can take fifty times its size in memory.
MAX_FIXTURE_BYTES = 16 * 1024 * 1024

OnCall = Callable[[dict[str, object]], object]


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One tool with its arguments, identified before anything happens."""

    tool: str
    args: object
    key: str
    args_hash: str


def identify(tool: str, args: object) -> ToolCall:
    """The call of `tool` with `args`; `json.unsupported_value` for args that are not JSON."""
    if not isinstance(tool, str):
        raise TypeError(f"a tool's name is a str, not {type(tool).__name__}")
    return ToolCall(
        tool=join_surrogates(tool),
        args=args,
        key=hash_value({"tool": tool, "args": args}),
        args_hash=hash_value(args),
    )


class FixtureStore:
    """A folder of recorded responses. Nothing is made or read before a method needs it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = as_path(path)

    def key(self, tool: str, args: object) -> str:
        """The key of a call, lower-case hex (`json.unsupported_value` for args that are not JSON)."""
        return identify(tool, args).key

    def path_for(self, tool: str, args: object) -> str:
        """Where the fixture of a call is kept, whether or not it exists."""
        return self._file(identify(tool, args))

    def has(self, tool: str, args: object) -> bool:
        """Whether there is a file for the call; `get` decides whether it may answer."""
        return os.path.isfile(self.path_for(tool, args))

    def put(self, tool: str, args: object, response: object) -> str:
        """Keep `response` for the call, replacing an earlier one whole; returns the key.

        Raises EvalsError `json.unsupported_value` (nothing is written) or `tool.fixture_unwritable`.
        """
        call = identify(tool, args)
        self.keep(call, response)
        return call.key

    def get(self, tool: str, args: object) -> Any:
        """The response that was kept for the call.

        Raises EvalsError `tool.fixture_missing`, `tool.fixture_corrupt` or `tool.fixture_mismatch`; details
        hold `tool` and `fixture_key`.
        """
        return self.answer(identify(tool, args))["response"]

    def _file(self, call: ToolCall) -> str:
        return os.path.join(self.path, f"{call.key}.json")

    def keep(self, call: ToolCall, response: object) -> dict[str, Any]:
        """Write the fixture of an identified call and return it as it will be read; errors as `put`."""
        fixture = {
            "key": call.key,
            "tool": call.tool,
            "args_hash": call.args_hash,
            "response_hash": hash_value(response),
            "response": response,
        }
        raw = canonical_bytes(fixture) + b"\n"
        if len(raw) > MAX_FIXTURE_BYTES:
            reason = f"larger than the limit of {MAX_FIXTURE_BYTES} bytes"
            raise self._refusal("tool.fixture_unwritable", call, reason)
        try:
            make_folders(self.path)
            write_whole(self._file(call), raw)
        except FileError as error:
            raise self._refusal("tool.fixture_unwritable", call, error.message) from error
        kept: dict[str, Any] = loads(raw)
        return kept

    def answer(self, call: ToolCall) -> dict[str, Any]:
        """The whole fixture of an identified call; errors as `get`."""
        fixture = self._read(call)
        expected = {"key": call.key, "tool": call.tool, "args_hash": call.args_hash}
        for field, value in expected.items():
            if fixture.get(field) != value:
                raise self._refusal("tool.fixture_mismatch", call, f"{field} is not that of this call")
        if "response" not in fixture or fixture.get("response_hash") != hash_value(fixture["response"]):
            raise self._refusal("tool.fixture_mismatch", call, "response_hash is not that of the response")
        return fixture

    def _read(self, call: ToolCall) -> dict[str, Any]:
        try:
            fixture = loads(read_regular(self._file(call), limit=MAX_FIXTURE_BYTES))
        except FileError as error:
            code = "tool.fixture_missing" if error.code == "file.missing" else "tool.fixture_corrupt"
            raise self._refusal(code, call, error.message) from error
        except EvalsError as error:
            raise self._refusal("tool.fixture_corrupt", call, error.message) from error
        if not isinstance(fixture, dict):
            raise self._refusal("tool.fixture_corrupt", call, "not an object")
        return fixture

    def _refusal(self, code: str, call: ToolCall, reason: str) -> EvalsError:
        message = f"{shown(call.tool)}: fixture {call.key}: {reason}"
        return EvalsError(code, message, {"tool": call.tool, "fixture_key": call.key})


@dataclass(frozen=True, kw_only=True)
class _Tool:
    effect_class: str
    impl: Callable[[Any], object] | None


def create_replayer(
    tools: Mapping[str, Mapping[str, Any]],
    *,
    mode: str = "replay",
    store: FixtureStore | None = None,
    max_effect_class: str = "SE2",
    on_call: OnCall | None = None,
) -> Replayer:
    """A replayer over declared tools {name: {effect_class, determinism, impl}}.

    `mode` is "replay" or "record"; `impl(args)` is needed, and called, in record mode only. `on_call` gets a
    copy of each call's record. Raises EvalsError `replay.bad_mode`, `replay.no_store` or
    `replay.bad_declaration` (details hold `tool`, None for the maximum class).
    """
    if mode not in MODES:
        raise EvalsError("replay.bad_mode", f"mode must be one of {', '.join(MODES)}")
    if not isinstance(store, FixtureStore):
        raise EvalsError("replay.no_store", "a replayer needs a FixtureStore to read from or record to")
    if max_effect_class not in EFFECT_CLASSES:
        raise _bad_declaration(None, f"max_effect_class must be one of {', '.join(EFFECT_CLASSES)}")
    if not isinstance(tools, Mapping):
        raise _bad_declaration(None, "tools must be a mapping from names to declarations")
    declared = {name: _declared(name, declaration, mode) for name, declaration in tools.items()}
    return Replayer(declared, mode=mode, store=store, max_effect_class=max_effect_class, on_call=on_call)


def _bad_declaration(tool: object, reason: str) -> EvalsError:
    where = "" if tool is None else f"tool {shown(tool)}: "
    return EvalsError("replay.bad_declaration", where + reason, {"tool": tool})


def _declared(name: object, declaration: object, mode: str) -> _Tool:
    if not isinstance(name, str):
        raise _bad_declaration(repr(name), "the name must be text")
    if not isinstance(declaration, Mapping):
        raise _bad_declaration(name, "the declaration must be a mapping")
    effect_class, impl = declaration.get("effect_class"), declaration.get("impl")
    if not isinstance(effect_class, str) or effect_class not in EFFECT_CLASSES:
        raise _bad_declaration(name, f"effect_class must be one of {', '.join(EFFECT_CLASSES)}")
    if declaration.get("determinism") not in DETERMINISM:
        raise _bad_declaration(name, f"determinism must be one of {', '.join(DETERMINISM)}")
    if mode == "record" and not callable(impl):
        raise _bad_declaration(name, "impl must be callable to record")
    return _Tool(effect_class=effect_class, impl=impl if callable(impl) else None)


class Replayer:
    """Calls declared tools by name; made by `create_replayer`. `mode` is fixed; `calls` are the records."""

    def __init__(
        self,
        tools: Mapping[str, _Tool],
        *,
        mode: str,
        store: FixtureStore,
        max_effect_class: str,
        on_call: OnCall | None,
    ) -> None:
        self._tools = dict(tools)
        self._mode = mode
        self._store = store
        self._maximum = EFFECT_CLASSES.index(max_effect_class)
        self._on_call = on_call
        self._calls: list[dict[str, object]] = []

    @property
    def mode(self) -> str:
        """Either "replay" or "record"."""
        return self._mode

    @property
    def calls(self) -> list[dict[str, object]]:
        """A copy of the records so far, oldest first.

        Each has tool, mode and status: `refused` with code, or `replayed` or `recorded` with fixture_key,
        args_hash and response_hash.
        """
        return [dict(record) for record in self._calls]

    def call(self, name: str, args: object = None) -> Any:
        """The response of tool `name` for `args` (None means {}): its fixture's or, to record, its `impl`'s.

        Raises EvalsError `tool.unknown`, `tool.effect_forbidden`, the store's `tool.fixture_*` codes in
        replay, and whatever `impl` or `on_call` raises. Recording a response that is not JSON is
        `json.unsupported_value` after the implementation ran.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise EvalsError("tool.unknown", f"{shown(name)}: no such tool is declared", {"tool": name})
        if self._forbidden(tool.effect_class):
            self._record(name, "refused", code="tool.effect_forbidden")
            raise EvalsError(
                "tool.effect_forbidden",
                f"{shown(name)}: declared {tool.effect_class}, which this {self._mode} does not allow",
                {"tool": name, "effect_class": tool.effect_class},
            )
        call = identify(name, {} if args is None else args)
        if self._mode == "replay":
            return self._answered("replayed", self._store.answer(call))
        assert tool.impl is not None  # checked when it was declared
        kept = self._store.keep(call, tool.impl(call.args))
        return self._answered("recorded", kept)

    def _forbidden(self, effect_class: str) -> bool:
        if self._mode == "replay" and effect_class in NEVER_REPLAYED:
            return True
        return EFFECT_CLASSES.index(effect_class) > self._maximum

    def _answered(self, status: str, fixture: dict[str, Any]) -> Any:
        self._record(
            fixture["tool"],
            status,
            fixture_key=fixture["key"],
            args_hash=fixture["args_hash"],
            response_hash=fixture["response_hash"],
        )
        return fixture["response"]

    def _record(self, tool: str, status: str, **more: str) -> None:
        record: dict[str, object] = {"tool": tool, "mode": self._mode, "status": status, **more}
        self._calls.append(record)
        if self._on_call is not None:
            self._on_call(dict(record))
