"""Whether something optional is here, and what is raised where it is not: a test that meets it is
skipped."""

from __future__ import annotations

from importlib.util import find_spec


class Unavailable(Exception):
    """Something optional is not here: Java, Maven, a client library. The text is one sentence."""


def is_installed(module: str) -> bool:
    """Whether there is a module, also one within a package that is not there."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of its parent
        return False
