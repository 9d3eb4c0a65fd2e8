"""The timeline of a run: writing the seven events, and judging a `trace-events.jsonl`.

Rules:
- One JSON object a line, no repeated keys, UTF-8; blank lines are ignored.
- Exactly the seven event types of `bundle_layout.TRACE_STATUSES`, in that order, `sequence` from 1.
- Every event has the run's `run_id` and `case_id`, and a status that its type allows.
- `artifact_path` is null only in the first event; any other is a contained relative path. It may name
  another file than the one that this project would write there.
- A `validation_result` event that says `failed` fails the timeline.
"""

from __future__ import annotations

from .bundle_layout import TRACE_STATUSES
from .canonical import canonical_json
from .contained import relative_problem
from .errors import EvalsError
from .files import shown
from .limits import TRACE_LINE
from .strict_json import loads_unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_TYPES = tuple(TRACE_STATUSES)


def trace_text(events: list[dict[str, Any]], *, run_id: str, case_id: str) -> str:
    """The content of a `trace-events.jsonl`: `events` hold what differs, in order, without a sequence.

    Each event gives `event_type`, `occurred_at`, `status`, `artifact_path`, `exit_code` and `detail`.
    """
    lines = []
    for sequence, event in enumerate(events, 1):
        head = {"schema_version": 1, "run_id": run_id, "case_id": case_id, "sequence": sequence}
        # Members in the order of the schema: each is printed alone, since canonical text would sort them.
        members = [
            f"{canonical_json(key)}:{canonical_json(value)}" for key, value in {**head, **event}.items()
        ]
        lines.append("{" + ",".join(members) + "}\n")
    return "".join(lines)


def trace_problems(
    raw: bytes,
    *,
    run_id: object,
    case_id: object,
    problems: Callable[[str, object], list[str]],
) -> list[str]:
    """What is wrong with the bytes of a trace, each finding with its line; empty means sound.

    `problems` is the schema validator (`Documents.problems`); `trace-event` is the schema it is asked for.
    """
    lines = [(number, line) for number, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
    if len(lines) != len(_TYPES):
        return [f"{len(lines)} events; expected exactly {len(_TYPES)}: {', '.join(_TYPES)}"]
    found: list[str] = []
    for position, (number, line) in enumerate(lines):
        findings = _line_problems(line, position, run_id=run_id, case_id=case_id, problems=problems)
        found.extend(f"line {number}: {finding}" for finding in findings)
    return found


def _line_problems(
    line: bytes,
    position: int,
    *,
    run_id: object,
    case_id: object,
    problems: Callable[[str, object], list[str]],
) -> list[str]:
    if len(line) > TRACE_LINE:
        return [f"longer than the limit of {TRACE_LINE} bytes"]
    try:
        event = loads_unique(line)
    except EvalsError as error:
        return [error.message]
    found = problems("trace-event", event)
    if found or not isinstance(event, dict):
        return found
    return _event_problems(event, position, run_id=run_id, case_id=case_id)


def _event_problems(event: dict[str, Any], position: int, *, run_id: object, case_id: object) -> list[str]:
    kind = _TYPES[position]
    expected: dict[str, object] = {
        "sequence": position + 1,
        "run_id": run_id,
        "case_id": case_id,
        "event_type": kind,
    }
    found = [
        f"$.{key}: {_shown(event[key])}; expected {_shown(value)}"
        for key, value in expected.items()
        if event[key] != value
    ]
    if event["status"] not in TRACE_STATUSES[kind]:
        allowed = " or ".join(TRACE_STATUSES[kind])
        found.append(f"$.status: {_shown(event['status'])}; expected {allowed} for {kind}")
    elif kind == "validation_result" and event["status"] == "failed":
        found.append("$.status: failed; the run says that its own artifacts did not validate")
    return found + _path_problems(event["artifact_path"], position)


def _path_problems(path: object, position: int) -> list[str]:
    if path is None:
        return [] if position == 0 else ["$.artifact_path: null; only the first event may name no artifact"]
    problem = relative_problem(path)
    return [f"$.artifact_path: {problem}"] if problem else []


def _shown(value: object) -> str:
    return shown(value) if isinstance(value, str) else canonical_json(value)
