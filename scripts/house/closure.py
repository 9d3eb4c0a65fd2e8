"""Writes the closure evidence of the executable spine from what the program does, and checks that it holds.

Rules:
- Without `--write` the document is made again from the committed bundle that it cites and from commands run
  now, and compared letter by letter. The commit that `evals state` tells is all that may differ: digests are
  those of the committed files, and times come from the cited bundle.
- It fails where the document differs, where the cited bundle is missing, and where an area is classified as
  `fail`, whatever the document says.
- `--write` runs the smoke case, keeps its bundle under `.harness/evals/runs/` as the cited one (and drops the
  one cited before), and writes the document. It fails like a check where the result does not hold.
- What is prose and what people state, the document says itself (`closure_document`); what decides each area
  stands in `closure_areas`.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import tempfile
from pathlib import Path

from closure_areas import areas
from closure_bundle import RUNS, Bundle
from closure_document import cited_run, document
from closure_world import gather, new_bundle

from docs import ROOT, link_problems

DOCUMENT = ROOT / ".harness" / "evals" / "evals-evals-executable-spine-eval.md"
COMMIT = re.compile(r"(?<= at )[0-9a-f]{12}(?=, unchanged$)", re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Write or check the closure evidence; 0 when it holds, 1 with what is wrong when it does not."""
    parser = argparse.ArgumentParser(prog="scripts/closure", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="run everything and write the document")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        problems = write(Path(place).resolve()) if chosen.write else check(Path(place).resolve())
    print("\n".join(problems) or f"{DOCUMENT.relative_to(ROOT)} is what the program shows")
    return 1 if problems else 0


def check(place: Path) -> list[str]:
    """What is wrong with the document as it stands."""
    committed = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    run_id = cited_run(committed)
    if not run_id or not (ROOT / RUNS / run_id).is_dir():
        return [f"{DOCUMENT.relative_to(ROOT)} cites no bundle that is there: scripts/closure --write"]
    text, problems = made(place, Bundle(ROOT / RUNS / run_id))
    return [*problems, *difference(committed, text)]


def write(place: Path) -> list[str]:
    """Make a bundle, cite it, and write the document; what is wrong with the result."""
    before = cited_run(DOCUMENT.read_text(encoding="utf-8")) if DOCUMENT.exists() else None
    bundle = new_bundle(place / "new")
    kept = ROOT / RUNS / bundle.run_id
    shutil.copytree(bundle.folder, kept)
    text, problems = made(place, Bundle(kept))
    DOCUMENT.write_bytes(text.encode("utf-8"))
    if before:
        shutil.rmtree(ROOT / RUNS / before, ignore_errors=True)
    return problems


def made(place: Path, cited: Bundle) -> tuple[str, list[str]]:
    """The document as it must be now, and why it does not hold."""
    evidence = gather(place, cited)
    classified = areas(evidence)
    text = document(evidence, classified)
    problems = [f"{area.name}: {problem}" for area in classified for problem in area.problems]
    return text, [*problems, *link_problems(DOCUMENT, text)]


def difference(committed: str, text: str) -> list[str]:
    """How the committed document differs from the present one; empty when it does not."""
    old, new = (COMMIT.sub("<commit>", side).splitlines() for side in (committed, text))
    return list(difflib.unified_diff(old, new, "document", "program", lineterm="", n=1))


if __name__ == "__main__":
    raise SystemExit(main())
