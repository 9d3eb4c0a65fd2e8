"""The public face: evidence about evaluation runs, for Python programs.

Rules of this module:
1. The names in `__all__` are a promise; anything else in this package may change.
2. Nothing is imported until it is asked for, so `import evals_cli` costs nothing at start-up.
3. In a checkout the parts of this package lie beside this folder; a Python that finds the folder alone is
   told how to get the whole.

    from evals_cli import capsule, receipt, EvalsError

`main(argv=None)` runs the command line and gives the exit code.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .core import canonical, capsule, envelope, gate, receipt, replay, retrospective
    from .core.errors import EvalsError
    from .main import main

    __version__: str

__all__ = [
    "EvalsError",
    "__version__",
    "canonical",
    "capsule",
    "envelope",
    "gate",
    "main",
    "receipt",
    "replay",
    "retrospective",
]

IN_A_CHECKOUT = (
    "this evals_cli is the bare source folder of a checkout; use the checkout's own .venv/bin/python"
    " (scripts/setup makes it), or install the package: pip install ."
)
_CORE_MODULES = ("canonical", "capsule", "envelope", "gate", "receipt", "replay", "retrospective")


def __getattr__(name: str) -> object:
    """Import a promised name on first use (PEP 562)."""
    try:
        return _promised(name)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.core":
            raise
        raise ModuleNotFoundError(IN_A_CHECKOUT, name=error.name) from None


def _promised(name: str) -> object:
    from importlib import import_module

    if name in _CORE_MODULES:
        return import_module(f".core.{name}", __name__)
    if name == "EvalsError":
        return import_module(".core.errors", __name__).EvalsError
    if name == "__version__":
        return import_module(".version", __name__).VERSION
    if name == "main":
        return import_module(".main", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
