"""The real command in a process of its own, from a script outside of the folder that it looks at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TIME_LIMIT_S = 120
_LAUNCHER = "import sys\n\nfrom evals_cli.main import run\n\nsys.exit(run())\n"


def launcher(folder: Path) -> Path:
    """A script in `folder` (made where it is missing) that is the command."""
    folder.mkdir(exist_ok=True)
    script = folder / "launch.py"
    script.write_text(_LAUNCHER, encoding="utf-8")
    return script


def launched(
    script: Path,
    words: Sequence[str | bytes],
    cwd: Path,
    *,
    environment: dict[str, str] | None = None,
    within: Sequence[str] = (),
) -> subprocess.CompletedProcess[bytes]:
    """Run the command with exactly `environment` (None: this one), below the command `within`."""
    return subprocess.run(
        [*within, sys.executable, str(script), *words],
        cwd=cwd,
        env=dict(os.environ) if environment is None else environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=TIME_LIMIT_S,
    )


def unshared(*options: str) -> list[str] | None:
    """The words that start a command in namespaces of its own; None where this system does not allow it."""
    if sys.platform != "linux" or not Path("/proc/self/ns").exists():
        return None
    for rights in ((), ("--user", "--map-root-user")):
        words = ["unshare", *options, *rights]
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
        except OSError:
            return None
    return None
