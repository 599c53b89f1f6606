"""Members of groups, what a group has committed, or has in flight, as a test sees them."""

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
    member_id: str
    instance_id: str | None
    """Of a static member; None for a dynamic one."""
    client_id: str
    software_name: str | None
    """As sent in ApiVersions; None if it is not connected, or not known."""
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
class SeenInFlight:
    """A record that a member of a share group has acquired, and not acknowledged yet."""

    topic: str
    partition: int
    offset: int
    member_id: str
    delivery_count: int
    """How often it was delivered; 1 the first time."""
    lock_until: int | None
    """When its lock ends, by the broker's clock, in ms since 1970."""
    client_id: str = ""
    """Of the member; "" if it is in the group no more."""

    def __repr__(self) -> str:
        who = f"client {self.client_id!r}" if self.client_id else f"member {self.member_id}"
        what = f"{self.topic}-{self.partition} offset {self.offset}"
        return f"<{what} at {who}, delivery {self.delivery_count}>"


@dataclass(frozen=True, slots=True)
class SeenOffset:
    offset: int
    """Of the next record to be read."""
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    type: str
    state: str
    protocol: str
    epoch: int | None
    members: tuple[SeenMember, ...] = ()
