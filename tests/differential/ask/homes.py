"""Names of groups and transactional ids whose coordinator is known: `homed("g", 2)` is a name that
belongs into the partition of the internal topics that the second broker leads first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from odradek.emulator.base.java_order import java_hash

from ..engine.steps import Symbol, World

_PARTITIONS = 3


@dataclass(frozen=True)
class Homed(Symbol):
    """What `homed` returns."""

    name: str
    node: int

    def resolve(self, world: World) -> str:
        for number in range(1000):
            text = f"{world.namespace}{self.name}{number}"
            if abs(java_hash(text)) % _PARTITIONS == self.node - 1:
                return text
        raise ValueError(f"no name for broker {self.node}")

    def __repr__(self) -> str:
        return f"homed({self.name!r}, {self.node})"


def homed(name: str, node: int) -> Any:
    """A name of the sequence's own with this coordinator, as long as that leads."""
    return Homed(name, node)
