"""What members of streams groups ask, and what they are answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ....wire.stored.streams_groups import StreamsGroupTopologyValue
from .members import Endpoint, Held, Owned
from .topology import InternalTopic, Status


@dataclass(frozen=True, slots=True)
class StreamsBeat:
    """StreamsGroupHeartbeat. None means: unchanged. `client_tags` as they were sent: a key may be
    there twice."""

    group_id: str
    member_id: str
    epoch: int
    endpoint_epoch: int
    client_id: str
    client_host: str
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: StreamsGroupTopologyValue | None = None
    owned: Owned | None = None
    process_id: str | None = None
    endpoint: Endpoint | None = None
    client_tags: Sequence[tuple[str, str]] | None = None
    shuts_down: bool = False


Partitions = Sequence[tuple[str, Sequence[int]]]
"""Partitions by topic."""


class MemberPlace(NamedTuple):
    """Where a member answers interactive queries, and of which partitions of its source topics."""

    endpoint: Endpoint
    active: Partitions
    standby: Partitions


class StreamsAnswer(NamedTuple):
    """The answer to a StreamsBeat; `assigned` and `places` are None if they are not sent.
    `missing`: the internal topics that are to be created, by name."""

    member_id: str
    epoch: int
    heartbeat_interval_ms: int = 0
    statuses: Sequence[Status] = ()
    assigned: Held | None = None
    endpoint_epoch: int = 0
    places: Sequence[MemberPlace] | None = None
    missing: Mapping[str, InternalTopic] = MappingProxyType({})
