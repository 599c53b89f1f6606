"""One module per API, named as that of its messages in wire.api; each registers its handler."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ...wire.api import API_MODULES


def load() -> None:
    """Register the handler of every API that has one."""
    for name in API_MODULES.values():
        if find_spec(f"{__name__}.{name}") is not None:
            import_module(f".{name}", __name__)
