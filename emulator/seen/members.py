"""Members of a consumer group, and what it has committed, as a test sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Place: TypeAlias = tuple[str, int]
"""Topic and partition."""

DEAD = "Dead"
EMPTY = "Empty"
STABLE = "Stable"


@dataclass(frozen=True, slots=True)
class SeenMember:
    """One member of a group."""

    member_id: str
    instance_id: str | None
    """Of a static member; None for a dynamic one."""
    client_id: str
    software_name: str | None
    """As the client has told in ApiVersions; None if it is not connected, or not known."""
    software_version: str | None
    host: str
    assignment: tuple[Place, ...]
    """Topic and number of its partitions, in order."""
    epoch: int | None
    """Its epoch in the consumer protocol; None in the classic one, whose group has a generation."""

    def __repr__(self) -> str:
        has = ", ".join(f"{topic}-{index}" for topic, index in self.assignment) or "nothing"
        static = f", instance {self.instance_id!r}" if self.instance_id is not None else ""
        return f"<member {self.member_id} of client {self.client_id!r}{static}: {has}>"


@dataclass(frozen=True, slots=True)
class SeenOffset:
    """What a group has committed for a partition."""

    offset: int
    """Of the next record to be read."""
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """A group at one moment."""

    type: str
    state: str
    protocol: str
    epoch: int | None
    members: tuple[SeenMember, ...] = ()
