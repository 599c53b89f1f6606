"""A member of a share group: what it has reported of itself, and what it is assigned.

A member is an immutable value. It has no partitions to give up: its target holds at once, and
several members may have the same partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Assignment = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""

JOINING_EPOCH = 0
LEAVE_EPOCH = -1


@dataclass(frozen=True, slots=True)
class ShareMember:
    """One member."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    names: frozenset[str] = frozenset()
    epoch: int = JOINING_EPOCH
    previous_epoch: int = -1
    assigned: Assignment = field(default_factory=dict)

    @property
    def instance_id(self) -> None:
        """Members of share groups are never static."""
        return None


@dataclass(frozen=True, slots=True)
class ShareBeat:
    """ShareGroupHeartbeat. None means: unchanged."""

    group_id: str
    member_id: str
    epoch: int
    client_id: str
    client_host: str
    rack_id: str | None = None
    names: Sequence[str] | None = None


class ShareBeatAnswer(NamedTuple):
    """The answer to a ShareBeat; `assignment` is None if it is not sent."""

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None
