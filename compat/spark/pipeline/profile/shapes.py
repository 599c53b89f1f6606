"""What JSON values look like: which paths there are, of which types, in how many values.

Only some values of each batch are looked at, evenly spread, and none that is very long: `sampled`
says how many. Paths are written as `$.user.id` and `$.items[].price`; past `PATHS_MAX` paths, or
deeper than `DEPTH_MAX`, no more are told apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

PATHS_MAX = 200
DEPTH_MAX = 8
SAMPLED_OF_A_BATCH = 256
_LONGEST = 64 << 10
_NAME_MAX = 100
_NODES_MAX = 2_000
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@dataclass
class Shapes:
    """Paths and types of some values."""

    sampled: int = 0
    parsed: int = 0
    """How many of them are JSON."""
    paths: dict[str, dict[str, int]] = field(default_factory=dict)
    """Path -> type -> how many values have it."""
    is_cut: bool = False
    """Whether there were more paths."""

    def add(self, values: pa.Array) -> None:
        """Look at some values of a column of bytes without nulls."""
        step = max(1, -(-len(values) // SAMPLED_OF_A_BATCH))
        for value in values.take(pa.array(np.arange(0, len(values), step))).to_pylist():
            self.sampled += 1
            if len(value) <= _LONGEST:
                self._look(value)

    def join(self, other: Shapes) -> None:
        """Add those of another one."""
        self.sampled += other.sampled
        self.parsed += other.parsed
        self.is_cut |= other.is_cut
        for path, types in other.paths.items():
            for kind, count in types.items():
                self._count(path, kind, count)

    def _look(self, value: bytes) -> None:
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return
        self.parsed += 1
        for path, kind in set(_walk(found)):
            self._count(path, kind, 1)

    def _count(self, path: str, kind: str, count: int) -> None:
        types = self.paths.get(path)
        if types is None:
            if len(self.paths) >= PATHS_MAX:
                self.is_cut = True
                return
            types = self.paths[path] = {}
        types[kind] = types.get(kind, 0) + count


def _walk(value: Any) -> Iterator[tuple[str, str]]:
    """Path and type of each part of a value."""
    waiting: list[tuple[str, Any, int]] = [("$", value, 0)]
    for _ in range(_NODES_MAX):
        if not waiting:
            return
        path, found, depth = waiting.pop()
        if isinstance(found, dict):
            yield path, "object"
            inside: Iterable[tuple[str, Any]] = (
                (f"{path}.{name[:_NAME_MAX]}", each) for name, each in found.items()
            )
        elif isinstance(found, list):
            yield path, "array"
            inside = ((f"{path}[]", each) for each in found)
        else:
            yield path, _TYPES[type(found)]
            continue
        if depth < DEPTH_MAX:
            for name, each in inside:
                if len(waiting) >= _NODES_MAX:
                    break
                waiting.append((name, each, depth + 1))
