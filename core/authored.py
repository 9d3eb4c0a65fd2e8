"""Documents that people write (contracts, packets, runtime-evidence cases), read inside their root.

Rules:
- A path is taken relative to its root and opened only through `contained`, so no link leads out.
- A document or text is at most `limits.AUTHORED` bytes; a larger one is `file.too_large` before it is parsed.
- A text is strict UTF-8; anything else is `json.invalid`, since words cannot be judged in it.
- A folder is listed in the order of its names; what is missing, or is no folder, has no list.
- A finding is one line that starts with the path, then the JSON path or line, then what to do.
"""

from __future__ import annotations

import errno
import os

from . import limits
from .canonical import decode_utf8
from .contained import inside_status, read_inside, relative_problem
from .errors import EvalsError, FileError
from .files import shown, system_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Documents

_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR)


def read_document(root: str, path: str, documents: Documents) -> Any:
    """The document at `path` below `root`, as `documents.parse` reads it.

    Raises EvalsError: `path.*` and `file.*` of `contained.read_inside`, and the errors of the parser.
    """
    return documents.parse(path, read_inside(root, path, limit=limits.AUTHORED))


def read_words(root: str, path: str) -> str:
    """The text of the file at `path` below `root`; errors as `read_document`, `json.invalid` if not UTF-8."""
    return decode_utf8(read_inside(root, path, limit=limits.AUTHORED))


def list_names(root: str, folder: str) -> list[str] | None:
    """The names in `folder` below `root`, sorted; None where no such folder stands.

    Raises FileError `path.invalid` or `path.outside_root` for a folder outside the root, `file.unreadable`
    for one that may not be listed.
    """
    if inside_status(root, folder) == "invalid":
        problem = relative_problem(folder) or "leads out of its root"
        code = "path.invalid" if relative_problem(folder) else "path.outside_root"
        raise FileError(code, f"{shown(folder)}: {problem}", {"path": shown(folder), "errno": None})
    try:
        return sorted(os.listdir(os.path.join(root, folder)))
    except OSError as error:
        if error.errno in _NO_FOLDER:
            return None
        raise system_error(error, folder) from error


def finding(path: str, error: EvalsError) -> str:
    """An error as one line about `path`; file errors already name it."""
    if isinstance(error, FileError):
        return error.message
    return f"{shown(path)}: {error.message}"


def about(path: str, problems: list[str]) -> list[str]:
    """Problems of one document, each with the document's path in front."""
    return [f"{shown(path)}: {problem}" for problem in problems]
