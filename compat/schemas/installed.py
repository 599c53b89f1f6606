"""Whether an optional package is installed."""

from __future__ import annotations

from importlib.util import find_spec


def is_installed(module: str) -> bool:
    """Whether there is a module, also one within a package that is not there."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of its parent
        return False
