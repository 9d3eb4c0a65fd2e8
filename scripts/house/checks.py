"""Every check of this repository, by name, in the order in which they say the most for the least time.

Rules:
- Each check is one row of CHECKS: its name, what it proves, the function that runs it. `scripts/test` runs
  all, `scripts/test NAME...` those named; a failure does not keep the later ones from running.
- A check prints what it found only when it failed, except for the tests, whose output is shown as it comes.
- Types and layers are checked on the package as a wheel installs it, since that is what users run and since
  only there do the folders of this checkout have their real names. Its paths are shown as the checkout's.
- The bars: 95 % of lines and branches overall, 100 % in core.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
INSTALLED = BUILD / "installed"
PACKAGE_FOLDERS = ("evals_cli", "commands", "core", "schemas", "contracts", "fixtures")
PACKAGE_FILES = ("pyproject.toml", "README.md", "LICENSE.md")
OVERALL_BAR, CORE_BAR = "95", "100"
OTHER_PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


class Check(NamedTuple):
    """One row of the table below."""

    name: str
    proves: str
    run: Callable[[], bool]


def main(arguments: list[str] | None = None) -> int:
    """Run the checks asked for; 0 when all of them passed, 1 when one did not, 2 for a name that is none."""
    parser = argparse.ArgumentParser(prog="scripts/test", description="Run every check, or those named.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a check (see --list)")
    parser.add_argument("--list", action="store_true", help="print the checks and what each proves")
    chosen = parser.parse_args(arguments)
    if chosen.list:
        print("\n".join(f"{check.name:<10} {check.proves}" for check in CHECKS))
        return 0
    known = {check.name for check in CHECKS}
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(
            f"no check is called {', '.join(unknown)}; there are {', '.join(c.name for c in CHECKS)}"
        )
    failed = [check.name for check in CHECKS if check.name in (chosen.names or known) and not passes(check)]
    print(f"scripts/test: {'failed: ' + ', '.join(failed) if failed else 'all checks passed'}", flush=True)
    return 1 if failed else 0


def passes(check: Check) -> bool:
    """Run one check and print one line about it."""
    started = time.monotonic()
    good = check.run()
    took = time.monotonic() - started
    print(f"[{'ok' if good else 'FAILED'}] {check.name}: {check.proves} ({took:.1f} s)", flush=True)
    return good


def tool(name: str) -> str:
    """Path of a development tool in the environment that runs this."""
    return str(Path(sys.executable).with_name(name))


def succeeds(
    command: list[str], *, cwd: Path = ROOT, extra: dict[str, str] | None = None, shown: bool = False
) -> bool:
    """Whether COMMAND exits 0; its output is printed when it does not (or as it comes, when SHOWN)."""
    environment = {**os.environ, **(extra or {})}
    if shown:
        return subprocess.run(command, cwd=cwd, env=environment, check=False).returncode == 0
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        print(as_checkout(done.stdout).rstrip(), flush=True)
    return done.returncode == 0


def as_checkout(text: str) -> str:
    """TEXT with paths inside the installed package turned into the paths of their sources."""
    inner = "|".join(name for name in PACKAGE_FOLDERS if name != "evals_cli")
    return re.sub(rf"(?m)^evals_cli[/\\]((?:{inner})[/\\])", r"\1", text)


def check_format() -> bool:
    """Formatting is ruff's."""
    return succeeds([tool("ruff"), "format", "--check", "--quiet", "--diff", "."])


def check_lint() -> bool:
    """The rules in pyproject.toml."""
    return succeeds([tool("ruff"), "check", "--quiet", "."])


def check_wheel() -> bool:
    """Build a wheel from a copy of the sources, install it, and look at what it put where."""
    shutil.rmtree(INSTALLED, ignore_errors=True)
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "source"
        for folder in PACKAGE_FOLDERS:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=ignored)
        for name in PACKAGE_FILES:
            shutil.copy(ROOT / name, source / name)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        build = [
            *pip,
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--wheel-dir",
            place,
            str(source),
        ]
        if not succeeds(build):
            return False
        wheel = next(Path(place).glob("*.whl"))
        options = ["--no-deps", "--no-index", "--no-compile", "--target", str(INSTALLED)]
        if not succeeds([*pip, "install", *options, str(wheel)]):
            return False
    return has_only_its_own_names() and runs_installed()


def has_only_its_own_names() -> bool:
    """Nothing called core, commands or the like may land at the top of anybody's site-packages."""
    names = sorted(entry.name for entry in INSTALLED.iterdir())
    strange = [
        name for name in names if not re.fullmatch(r"evals_cli|evals_cli-[^/]+\.dist-info|bin|Scripts", name)
    ]
    if strange or "evals_cli" not in names:
        print(
            f"the wheel installs {', '.join(names)}; only evals_cli and its metadata belong there", flush=True
        )
        return False
    return True


def runs_installed() -> bool:
    """The installed program has all that it needs with it, away from the checkout."""
    program = (
        f"import sys; sys.path.insert(0, {str(INSTALLED)!r}); import evals_cli; sys.exit(evals_cli.main())"
    )
    with tempfile.TemporaryDirectory() as elsewhere:
        return all(
            succeeds([sys.executable, "-I", "-c", program, *arguments], cwd=Path(elsewhere))
            for arguments in (["--version"], ["example"], ["validate-contracts"])
        )


def check_types() -> bool:
    """The installed package and these scripts, by mypy's strict rules."""
    mypy = [tool("mypy"), "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    mypy += ["--cache-dir", str(ROOT / ".mypy_cache"), "--no-error-summary"]
    seen = {"MYPYPATH": str(INSTALLED)}
    house = [str(path) for path in sorted((ROOT / "scripts" / "house").glob("*.py"))]
    return has_installed() and all(
        [
            succeeds([*mypy, "-p", "evals_cli"], cwd=INSTALLED),
            succeeds([*mypy, *house], cwd=ROOT / "scripts", extra=seen),
        ]
    )


def check_layers() -> bool:
    """The contracts in pyproject.toml."""
    linter = [tool("lint-imports"), str(ROOT / "pyproject.toml"), "--no-logo", "--no-cache"]
    return has_installed() and succeeds(linter, cwd=INSTALLED)


def has_installed() -> bool:
    """The installed package as it is now; checks that need it may be run alone."""
    return (
        newest(INSTALLED / "evals_cli") >= newest(*(ROOT / name for name in PACKAGE_FOLDERS)) or check_wheel()
    )


def newest(*folders: Path) -> float:
    """When a Python file in one of the folders was last written; 0 where there is none."""
    return max((path.stat().st_mtime for folder in folders for path in folder.rglob("*.py")), default=0.0)


def check_tests() -> bool:
    """All tests on this Python, with the bars for coverage."""
    coverage = [sys.executable, "-m", "coverage"]
    succeeds([*coverage, "erase"])
    tested = succeeds([*coverage, "run", "-m", "pytest", *pytest_options()], shown=True)
    combined = succeeds([*coverage, "combine", "--quiet"])
    overall = combined and succeeds([*coverage, "report", "--fail-under", OVERALL_BAR])
    core = combined and succeeds([*coverage, "report", "--include", "core/*", "--fail-under", CORE_BAR])
    return tested and overall and core


def pytest_options() -> list[str]:
    """As many workers as there are processors."""
    return ["-q", "-n", str(min(os.cpu_count() or 1, 8))]


def check_docs() -> bool:
    """What the documents show is what the program prints."""
    return succeeds([sys.executable, str(ROOT / "scripts" / "house" / "docs.py")])


def check_pythons() -> bool:
    """The tests on every other supported Python that is installed here."""
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = {version: other_python(version) for version in OTHER_PYTHONS if version != this}
    missing = [version for version, python in found.items() if python is None]
    if missing:
        print(f"not installed here, so not tried: Python {', '.join(missing)}", flush=True)
    failed = [version for version, python in found.items() if python and not tests_pass_on(version, python)]
    return not failed


def other_python(version: str) -> str | None:
    """The interpreter of that version on PATH or among pyenv's; None where there is none that runs."""
    pyenv = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))) / "versions"
    candidates = [
        f"python{version}",
        *(str(path / "bin" / "python") for path in sorted(pyenv.glob(f"{version}.*"))),
    ]
    asked = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    for candidate in candidates:
        try:
            said = subprocess.run([candidate, "-c", asked], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if said.stdout.strip() == version:
            return candidate
    return None


def tests_pass_on(version: str, python: str) -> bool:
    """Run the tests in an environment of that Python's own."""
    print(f"tests on Python {version}", flush=True)
    options = " ".join(pytest_options())
    script = (
        '. "$root/scripts/house/environment.sh"; need_environment "$root/.venv-$version" development; '
        f'exec "$environment_python" -m pytest {options}'
    )
    given = {"root": str(ROOT), "version": version, "EVALS_PYTHON": python}
    return succeeds(["sh", "-eu", "-c", script], extra=given, shown=True)


CHECKS = (
    Check("format", "the sources are formatted as ruff formats them", check_format),
    Check("lint", "the sources keep the rules in pyproject.toml", check_lint),
    Check("wheel", "the wheel installs evals_cli and nothing else, and runs on its own", check_wheel),
    Check("types", "the installed package is typed strictly", check_types),
    Check("layers", "imports only point down, and core needs the standard library alone", check_layers),
    Check("tests", "the tests pass and cover 95 % overall and all of core", check_tests),
    Check("docs", "the documents show what the program prints", check_docs),
    Check("pythons", "the tests pass on the other supported Pythons installed here", check_pythons),
)

if __name__ == "__main__":
    raise SystemExit(main())
