"""Whether what latest.json says about its producer holds.

Rules:
- A consumer's latest.json has a producer; at home it may be absent.
- The command is `evals run ` or `pnpm evals run ` followed by words, plain or quoted: nothing in it starts
  another program, redirects or expands when it is pasted into a shell.
- artifact_root_prefix is the folder in which latest.json was found.
- The case stands at case_path with the digest case_sha256. suite_path and suite_sha256 are both null, or the
  suite stands there with that digest. Neither is read past `limits.TARGET` bytes.

It shows which inputs the bundle claims to come from, and that they are unchanged since. It does not show that
the command was really run.
"""

from __future__ import annotations

import re

from . import limits
from .bundle_files import BundleFiles, same_path, value_shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]

_WORD = r"""(?:[\w@%+=:,./~-]|'[^']*'|"[^"$`\\!]*"|\$'(?:[^'\\]|\\[^'])*')+"""
_COMMAND = re.compile(rf"(?:pnpm )?evals run(?: +{_WORD})+ *")


def producer_problems(latest: Document, prefix: str, files: BundleFiles, *, home: bool) -> list[str]:
    """What is wrong with the producer of latest.json, found in the folder `prefix`."""
    producer = latest.get("producer")
    if producer is None and "producer" not in latest:
        return [] if home else ["$.producer: missing; expected an object that says which run wrote this"]
    if not isinstance(producer, dict):
        return []
    return [
        *command_problem("$.producer.command", producer.get("command")),
        *_prefix_problems(producer.get("artifact_root_prefix"), prefix),
        *_file_problems(producer, "case", files),
        *_suite_problems(producer, files),
    ]


def command_problem(where: str, command: object) -> list[str]:
    """Why the text at the JSON path `where` is no command line that only repeats a run."""
    if not isinstance(command, str) or _COMMAND.fullmatch(command):
        return []
    return [f"{where}: {value_shown(command)}; expected `evals run` and what was run, and nothing else"]


def _prefix_problems(found: object, prefix: str) -> list[str]:
    if not isinstance(found, str) or same_path(found, prefix):
        return []
    expected = f"{value_shown(prefix)}, the folder of latest.json"
    return [f"$.producer.artifact_root_prefix: {value_shown(found)}; expected {expected}"]


def _file_problems(producer: Document, name: str, files: BundleFiles) -> list[str]:
    path, digest = producer.get(f"{name}_path"), producer.get(f"{name}_sha256")
    if not isinstance(path, str) or not isinstance(digest, str):
        return []
    problem = files.digest_problem(path, digest, limit=limits.TARGET)
    return [f"$.producer.{name}_path: {problem}"] if problem else []


def _suite_problems(producer: Document, files: BundleFiles) -> list[str]:
    if not {"suite_path", "suite_sha256"} <= producer.keys():
        return []
    if (producer["suite_path"] is None) != (producer["suite_sha256"] is None):
        return [
            "$.producer.suite_path, $.producer.suite_sha256: one of them is null; expected both or neither"
        ]
    return _file_problems(producer, "suite", files)
