"""The offsets of every group the coordinator keeps, by partition of `__consumer_offsets`.

Changed only by records that are replayed, from the log or just written. An offset creates its group
if there is none: a simple group.
"""

from __future__ import annotations

from collections.abc import Callable

from ..group import Group
from ..records import TransactionEnd
from ..runtime import Runtime
from ..shard import Shard
from .committed import Offsets
from .records import DECODERS, OffsetRecord, OffsetTombstone

NO_OFFSETS = Offsets()


class ShardOffsets:
    """The offsets of one shard's groups. A group without offsets has no entry."""

    def __init__(self) -> None:
        self.by_group: dict[str, Offsets] = {}
        # Rises with every record: of two records the later has the higher number.
        self._order = 0

    def put(self, record: OffsetRecord, producer_id: int | None) -> None:
        """Apply an offset."""
        self._order += 1
        offsets = self.by_group.get(record.group_id)
        if offsets is None:
            offsets = self.by_group[record.group_id] = Offsets()
        offsets.apply(record, self._order, producer_id)


class OffsetStore:
    """All offsets. `create_group` creates a simple group in a shard."""

    def __init__(self, runtime: Runtime, create_group: Callable[[Shard, str, int], Group]) -> None:
        self.decoders = DECODERS
        self.create_group = create_group
        self._shards: dict[int, ShardOffsets] = {}
        runtime.register(self)

    def begin(self, partition: int) -> None:
        """Start without any offsets for a partition."""
        self._shards[partition] = ShardOffsets()

    def resign(self, partition: int) -> None:
        """Forget the offsets of a partition."""
        self._shards.pop(partition, None)

    def of(self, shard: Shard, group_id: str) -> Offsets:
        """The group's offsets; none if it has never committed, or does not exist any more."""
        if group_id not in shard.groups:
            return NO_OFFSETS
        return self._shards[shard.partition].by_group.get(group_id, NO_OFFSETS)

    def visible(self, shard: Shard, group_id: str) -> Offsets:
        """The group's offsets, for calls that only look at them."""
        return NO_OFFSETS if shard.visible(group_id) is None else self.kept(shard, group_id)

    def kept(self, shard: Shard, group_id: str) -> Offsets:
        """The offsets of a group that there is, or that can still be looked at."""
        return self._shards[shard.partition].by_group.get(group_id, NO_OFFSETS)

    def all_in(self, shard: Shard) -> list[tuple[str, Offsets]]:
        """Each group's id and offsets."""
        return list(self._shards[shard.partition].by_group.items())

    def forget(self, shard: Shard, group_id: str) -> None:
        """Remove a group's offsets from memory, pending ones too."""
        self._shards[shard.partition].by_group.pop(group_id, None)

    def replay(
        self,
        shard: Shard,
        record: OffsetRecord | OffsetTombstone,
        now: int,
        producer_id: int | None,
    ) -> None:
        """Apply an offset, or a tombstone of one."""
        of_shard = self._shards[shard.partition]
        if isinstance(record, OffsetRecord):
            if record.group_id not in shard.groups:
                self.create_group(shard, record.group_id, now)
            of_shard.put(record, producer_id)
        elif record.group_id in of_shard.by_group:
            of_shard.by_group[record.group_id].forget(record.topic, record.partition)

    def end_transaction(self, shard: Shard, end: TransactionEnd) -> None:
        """A transaction's pending offsets become committed, or are dropped."""
        shard.written()
        for offsets in self._shards[shard.partition].by_group.values():
            offsets.end_transaction(end.producer_id, end.commit)
