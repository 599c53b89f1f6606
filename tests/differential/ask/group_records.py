"""Reading what a broker has written of a group in `__consumer_offsets`.

    Ask(written("~g"), 12)     fetches the partition that stores "~g", from its beginning

How the records are shown and compared: engine/group_records.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from odradek.emulator.base.java_order import partition_for
from odradek.emulator.share.state import SharePartitionKey
from odradek.wire.api.fetch import FetchRequest

from ..engine.steps import Symbol, World

OFFSETS, STATES = "__consumer_offsets", "__share_group_state"
PARTITIONS = 50
WRITTEN_S = 0.15
"""How long a real broker takes at most to write what it has answered already."""
_ALL = 1 << 26


@dataclass(frozen=True)
class kept_in(Symbol):
    """The partition of `__consumer_offsets` in which a group is stored."""

    group: str

    def resolve(self, world: World) -> int:
        return partition_for(world.resolve(self.group), PARTITIONS)


@dataclass(frozen=True)
class state_kept_in(Symbol):
    """The partition of `__share_group_state` that has a group's state in a partition."""

    group: str
    topic: str
    index: int

    def resolve(self, world: World) -> int:
        topic_id = world.kept.get(self.topic, bytes(16))
        key = SharePartitionKey(world.resolve(self.group), topic_id, self.index)
        return partition_for(key.text, PARTITIONS)


def state_written(topic: str = "~t", index: int = 0, group: str = "~g") -> FetchRequest:
    """Everything written of a share group's state in a partition."""
    return _all_of(STATES, state_kept_in(group, topic, index))


def written(group: str = "~g") -> FetchRequest:
    """Everything written of a group. The topic is given by name, so the version is at most 12."""
    return _all_of(OFFSETS, kept_in(group))


def _all_of(name: str, partition: Any) -> FetchRequest:
    asked = FetchRequest.Topic.Partition(
        partition=partition, fetch_offset=0, partition_max_bytes=_ALL
    )
    topic = FetchRequest.Topic(topic=name, partitions=[asked])
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=_ALL, topics=[topic])
