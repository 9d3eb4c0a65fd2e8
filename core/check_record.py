"""One check as every published result holds it: what was looked at, whether it holds, and what is wrong.

Rules:
- A check passes exactly when nothing is wrong with it.
- The path is told in its printable form.
- Where a schema was applied, the check names its file.
"""

from __future__ import annotations

from .files import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def check_record(
    label: str, path: str, problems: Sequence[str], *, schema: str | None = None
) -> dict[str, Any]:
    """A check of the file at `path`, as `validation-result` holds it: label, path, status, errors.

    `schema` is the stem of the schema that was applied, or None. Each problem already names its file.
    """
    record: dict[str, Any] = {"label": label}
    if schema is not None:
        record["schema_path"] = f"schemas/{schema}.schema.json"
    return {
        **record,
        "data_path": shown(path),
        "status": "fail" if problems else "pass",
        "errors": list(problems),
    }
