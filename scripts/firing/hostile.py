"""Lane `hostile`: places that are made to mislead, to hang, to steer a terminal, or that are merely poor.

Each part of the lane is a module of its own, which states its rules:
- `hostile_kinds`: anything but a regular file, in every place;
- `hostile_races`: links that are swapped during a look;
- `hostile_names`: names and texts on a terminal;
- `hostile_places`: environments, read-only trees, line ends that git rewrote;
- `hostile_trees`: very many runs, names that clash.
"""

from __future__ import annotations

from pathlib import Path

from .hostile_kinds import fire_kinds
from .hostile_names import fire_names
from .hostile_places import fire_environments, fire_line_ends, fire_read_only
from .hostile_races import fire_races
from .hostile_trees import fire_clashes, fire_many_runs
from .report import Context, LaneResult

NAME = "hostile"
SUMMARY = "FIFOs, devices and links in every place, swaps during a look, evil names, poor environments"


def run(context: Context) -> LaneResult:
    """Every part."""
    result = LaneResult(NAME)
    folder, quick = Path(context.folder), context.quick
    fire_kinds(_made(folder / "kinds"), result, quick=quick)
    fire_races(_made(folder / "races"), result, quick=quick)
    fire_names(_made(folder / "names"), result, quick=quick)
    fire_environments(_made(folder / "environments"), result, quick=quick)
    fire_read_only(_made(folder / "read-only"), result, quick=quick)
    fire_line_ends(_made(folder / "line-ends"), result)
    fire_many_runs(_made(folder / "many-runs"), result, quick=quick)
    fire_clashes(_made(folder / "clashes"), result)
    return result


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
