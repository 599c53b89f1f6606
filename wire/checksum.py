"""CRC-32C: the C function of the package crc32c, without that package.

Its `__init__` imports what its command line and its version need, argparse, importlib.metadata and
email: a tenth of all that `from odradek import Emulator` takes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import cast

from .primitives import Buffer

Checksum = Callable[[Buffer], int]


def _function() -> Checksum:
    package = PathFinder.find_spec("crc32c")
    places = None if package is None else package.submodule_search_locations
    spec = places and PathFinder.find_spec("crc32c._crc32c", places)
    if not spec or spec.loader is None:  # of another layout, or not in a directory
        from crc32c import crc32c

        return cast(Checksum, crc32c)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Checksum, module.crc32c)


crc32c = _function()
