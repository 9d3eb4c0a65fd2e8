"""Makes the virtual environment that the scripts of this checkout run in.

Rules:
- Nothing but Python 3.10 and its standard library is needed to start; packages come pinned, checked by hash.
- The environment is built beside its final place and renamed there when it is whole, so that two builds at
  once, or one that is stopped, never leave half an environment behind.
- It keeps copies of pyproject.toml and of the pinned requirements as they were when the build began; the
  scripts compare them to know when to build again.
- An environment that had the development tools keeps them when it is made again.
- The program runs from the checkout's own files: a link of a few lines finds `evals_cli` and the folders that
  belong to it. (The link that `pip install -e` writes makes every start of Python import pathlib and more,
  about 20 ms; this one imports nothing.)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROFILES = ("runtime", "development")
STAMP = "evals-setup"
PINNED = ROOT / "requirements"
ABANDONED_AFTER_S = 6 * 3600

LINK = '''\
"""Finds evals_cli and the folders that belong to it in the checkout at ROOT."""
import sys
from _frozen_importlib_external import PathFinder

ROOT = {root!r}
NAMES = frozenset({names!r})


class Checkout:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [ROOT]) if name in NAMES else None


sys.meta_path.append(Checkout)
'''
LAUNCHER = """\
#!{python}
import sys

from evals_cli.main import run

sys.exit(run())
"""


class SetupError(Exception):
    """The environment cannot be made; the message says why and what to do."""


def main(arguments: list[str]) -> int:
    """Make the environment at FOLDER for PROFILE; 0 when it is there, 1 with one line about what is wrong."""
    folder, profile = Path(arguments[0]), arguments[1]
    if profile not in PROFILES:
        raise SystemExit(f"environment.py: {profile} is none of {', '.join(PROFILES)}")
    if (folder / STAMP / "development.txt").exists():
        profile = "development"
    version = ".".join(map(str, sys.version_info[:3]))
    print(
        f"evals: making {folder.name} with Python {version} ({profile} packages) ...",
        file=sys.stderr,
        flush=True,
    )
    try:
        make(folder, profile)
    except (SetupError, OSError) as error:
        print(f"evals: {folder.name} could not be made: {error}", file=sys.stderr)
        return 1
    return 0


def make(folder: Path, profile: str) -> None:
    """Build the environment in a temporary folder beside FOLDER, then put it in its place."""
    need_ensurepip()
    remove_abandoned(folder)
    stamp = read_stamp(profile)
    building = Path(tempfile.mkdtemp(prefix=f"{folder.name}.tmp-", dir=folder.parent))
    try:
        run([sys.executable, "-m", "venv", str(building)], "a virtual environment cannot be created")
        install(building, profile)
        link_checkout(building)
        write_stamp(building, stamp)
        settle(building, folder)
        put_in_place(building, folder, stamp)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def need_ensurepip() -> None:
    """Some systems ship Python without the part that puts pip into a new environment."""
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        name = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise SetupError(
            f"{sys.executable} came without ensurepip; install it (on Debian and Ubuntu: "
            f"apt install {name}), or name another Python in EVALS_PYTHON"
        ) from None


def remove_abandoned(folder: Path) -> None:
    """Take away what a build that was stopped left beside FOLDER."""
    for left in folder.parent.glob(f"{folder.name}.tmp-*"):
        if time.time() - left.stat().st_mtime > ABANDONED_AFTER_S:
            shutil.rmtree(left, ignore_errors=True)


def run(command: list[str], problem: str) -> None:
    """Run COMMAND, or raise SetupError with PROBLEM and the last of what the command said."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=clean(), check=False
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-6:]
        raise SetupError("\n  ".join([problem, *said]))


def clean() -> dict[str, str]:
    """The environment variables without those that would lead Python to other code."""
    return {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "PYTHONHOME"}}


def python_of(environment: Path) -> Path:
    """The interpreter of an environment."""
    windows = environment / "Scripts" / "python.exe"
    return windows if windows.exists() else environment / "bin" / "python"


def install(building: Path, profile: str) -> None:
    """Install the pinned packages, each checked by its hash."""
    pip = [
        str(python_of(building)),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
    ]
    listed = str(PINNED / f"{profile}.txt")
    run([*pip, "--require-hashes", "--requirement", listed], "the pinned packages cannot be installed")


def link_checkout(building: Path) -> None:
    """Let the environment's Python find the program in the checkout, and give it the command `evals`."""
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run(
        [str(python_of(building)), "-c", asked], capture_output=True, text=True, check=True
    )
    packages = Path(found.stdout.strip())
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    folders = dict(re.findall(r'^"(evals_cli[.\w]*)" = "(\w+)"$', project, re.MULTILINE))
    strange = [name for name, place in folders.items() if name.rpartition(".")[2] != place]
    if strange or not folders:
        raise SetupError(f"pyproject.toml maps {strange or 'no package'}, which the link cannot follow")
    text = LINK.format(root=str(ROOT), names=sorted(folders))
    (packages / "evals_checkout.py").write_text(text, encoding="utf-8")
    (packages / "evals_checkout.pth").write_text("import evals_checkout\n", encoding="utf-8")
    launcher = python_of(building).with_name("evals")
    launcher.write_text(LAUNCHER.format(python=python_of(building)), encoding="utf-8")
    launcher.chmod(0o755)
    describe(packages, project)


def describe(packages: Path, project: str) -> None:
    """Say what is installed, for importlib.metadata and pip."""
    version = re.findall(r'^version = "([^"]+)"$', project, re.MULTILINE)[0]
    record = packages / f"evals_cli-{version}.dist-info"
    record.mkdir()
    for name, text in {
        "METADATA": f"Metadata-Version: 2.1\nName: evals-cli\nVersion: {version}\n",
        "INSTALLER": "scripts/setup\n",
        "entry_points.txt": "[console_scripts]\nevals = evals_cli.main:run\n",
    }.items():
        (record / name).write_text(text, encoding="utf-8")


def read_stamp(profile: str) -> dict[str, bytes]:
    """What the environment is made from, read before the build begins."""
    stamp = {
        "pyproject.toml": (ROOT / "pyproject.toml").read_bytes(),
        "runtime.txt": (PINNED / "runtime.txt").read_bytes(),
        "wanted": os.environ.get("EVALS_WANTED", "").encode() + b"\n",
    }
    if profile == "development":
        stamp["development.txt"] = (PINNED / "development.txt").read_bytes()
    return stamp


def write_stamp(environment: Path, stamp: dict[str, bytes]) -> None:
    """Leave the stamp in the environment."""
    (environment / STAMP).mkdir()
    for name, content in stamp.items():
        (environment / STAMP / name).write_bytes(content)


def has_stamp(environment: Path, stamp: dict[str, bytes]) -> bool:
    """Whether the environment was made from the same things."""
    try:
        return all((environment / STAMP / name).read_bytes() == content for name, content in stamp.items())
    except OSError:
        return False


def settle(building: Path, folder: Path) -> None:
    """Make the scripts in the environment name the folder where it will stand."""
    old, new = str(building).encode(), str(folder).encode()
    for script in python_of(building).parent.iterdir():
        if script.is_symlink() or script.suffix == ".exe" or not script.is_file():
            continue
        content = script.read_bytes()
        if old in content and b"\0" not in content:
            script.write_bytes(content.replace(old, new))


def put_in_place(building: Path, folder: Path, stamp: dict[str, bytes]) -> None:
    """Rename the finished environment to FOLDER, unless another build put a right one there meanwhile."""
    for _ in range(10):
        try:
            os.rename(building, folder)
            return
        except OSError:
            if not folder.exists():
                raise
        if has_stamp(folder, stamp):
            return
        outdated = Path(tempfile.mkdtemp(prefix=f"{folder.name}.tmp-", dir=folder.parent))
        try:
            os.rename(folder, outdated / "outdated")
        except FileNotFoundError:
            pass
        finally:
            shutil.rmtree(outdated, ignore_errors=True)
    raise SetupError("other builds keep replacing it; try again when they are done")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
