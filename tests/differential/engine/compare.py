"""Two trees, field by field: what differs, and how many fields were compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NOTHING = "(nothing)"
"""Stands for a side that has no such field, entry or answer."""


@dataclass(frozen=True)
class Difference:
    """One field in which the answers differ. `path` is like "topics[0].error_code"."""

    path: str
    real: Any
    ours: Any

    @property
    def place(self) -> str:
        """The path without indices: the same for every entry of a list."""
        return re.sub(r"\[\d+\]", "", self.path)

    def __str__(self) -> str:
        return f"{self.path}: real {self.real!r}, ours {self.ours!r}"


class Comparison:
    """The differences between two trees, and the number of leaves that were compared."""

    def __init__(self, real: Any, ours: Any) -> None:
        self.fields = 0
        self.differences = list(self._compare("", real, ours))

    def _compare(self, path: str, real: Any, ours: Any) -> Iterator[Difference]:
        if isinstance(real, dict) and isinstance(ours, dict):
            for name in real | ours:
                below = f"{path}.{name}" if path else str(name)
                yield from self._compare(below, real.get(name, NOTHING), ours.get(name, NOTHING))
        elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
            for index, (left, right) in enumerate(zip(real, ours, strict=True)):
                yield from self._compare(f"{path}[{index}]", left, right)
        else:
            self.fields += 1
            if type(real) is not type(ours) or real != ours:
                yield Difference(path, real, ours)
