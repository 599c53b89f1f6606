"""The groups whose records one partition of __consumer_offsets keeps.

A shard is what the records say, replayed in the order of the log (semantics F7): a group comes back
as it was last written, Stable or Empty; an offset alone makes a simple group; a tombstone undoes
either; a transaction's offsets are pending until its marker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ...wire.stored.consumer_groups import ConsumerGroupMetadataKey
from .classic.group import ClassicGroup, restore
from .classic.state import random_uuid
from .consumer.group import ConsumerGroup
from .consumer.records import Stored
from .offsets.committed import Offsets
from .records import GroupRecord, OffsetRecord, Record, Tombstone
from .settings import GroupSettings
from .topics_view import TopicsView

AnyGroup = ClassicGroup | ConsumerGroup


class ShardState(Enum):
    """Whether a shard can serve."""

    LOADING = "loading"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class TransactionEnd:
    """A marker in the log: this producer's transaction has ended."""

    producer_id: int
    commit: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    """One record of the log. `producer_id` is set for an offset inside a transaction."""

    record: Record
    producer_id: int | None = None


_NONE = Offsets()


class Shard:
    """Groups and their offsets. A group has an entry in `groups`; one with no offsets has none in
    `offsets`."""

    def __init__(
        self,
        partition: int,
        settings: GroupSettings,
        topics: TopicsView,
        new_uuid: Callable[[], str] = random_uuid,
    ) -> None:
        self.partition = partition
        self.state = ShardState.LOADING
        self.groups: dict[str, AnyGroup] = {}
        self.offsets: dict[str, Offsets] = {}
        self.unseen: set[str] = set()
        """Groups of which nothing was written, nor anything to the partition since: those who only
        look do not see them, as a real coordinator shows what lies below the high watermark."""
        self._settings = settings
        self._topics = topics
        self._new_uuid = new_uuid
        # Grows with every record taken over: the later of two is the one with the higher number.
        self._order = 0

    def create(self, group_id: str, now: int) -> ClassicGroup:
        """An Empty group nobody has joined yet."""
        group = ClassicGroup(group_id, self._settings, now, self._new_uuid)
        self.groups[group_id] = group
        return group

    def offsets_of(self, group_id: str) -> Offsets:
        """The group's offsets; none if it has never committed, or is no more."""
        return self.offsets.get(group_id, _NONE) if group_id in self.groups else _NONE

    def seen(self, group_id: str) -> AnyGroup | None:
        """The group, for those who only look."""
        return None if group_id in self.unseen else self.groups.get(group_id)

    def forget(self, group_id: str) -> None:
        """The group and all its offsets, pending ones too, are no more."""
        self.unseen.discard(group_id)
        self.groups.pop(group_id, None)
        self.offsets.pop(group_id, None)

    def apply(self, record: Record, now: int, producer_id: int | None = None) -> None:
        """Take over a record from the log, or one that has just been written there."""
        match record:
            case GroupRecord(group_id):
                self.groups[group_id] = restore(record, self._settings, now, self._new_uuid)
            case OffsetRecord(group_id):
                if group_id not in self.groups:
                    self.create(group_id, now)
                self._order += 1
                table = self.offsets.setdefault(group_id, Offsets())
                table.apply(record, self._order, producer_id)
            case Tombstone(group_id, None):
                if isinstance(self.groups.get(group_id), ClassicGroup):
                    del self.groups[group_id]
            case Stored():
                self._apply_stored(record)
            case Tombstone(group_id, str(topic), partition):
                if group_id in self.offsets:
                    self.offsets[group_id].forget(topic, partition)

    def _apply_stored(self, record: Stored) -> None:
        group = self.groups.get(record.group_id)
        if not isinstance(group, ConsumerGroup):
            # A classic group is only there because its offsets came first.
            if record.value is None:
                return
            group = ConsumerGroup(record.group_id, self._settings, self._topics)
            self.groups[record.group_id] = group
        group.apply(record)
        if record.value is None and isinstance(record.key, ConsumerGroupMetadataKey):
            del self.groups[record.group_id]

    def replay(self, entry: Replayed | TransactionEnd, now: int) -> None:
        """Take over one entry of the log, in its order."""
        if isinstance(entry, TransactionEnd):
            self.end_transaction(entry)
        else:
            self.apply(entry.record, now, entry.producer_id)

    def end_transaction(self, end: TransactionEnd) -> None:
        """A transaction's pending offsets become committed, or vanish."""
        self.unseen.clear()
        for table in self.offsets.values():
            table.end_transaction(end.producer_id, end.commit)
