"""The state of a share group in one partition, as the share coordinator keeps it, and its records.

A snapshot (record type 0) holds all of it, an update (type 1) what has changed since; a null value
removes the state.

A batch says of a range of offsets in which state the records are, and how often they were
delivered. Where two overlap, the one that was delivered more often wins, then the one of the higher
state; what is left of the other stays. Neighbours that say the same become one.
Source: KIP-932, Kafka 4.3.1's records and answers (PersisterStateBatchCombiner).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from ...wire import WireError
from ...wire.primitives import id_text, parse_id
from ...wire.records import NewRecord, Record
from ...wire.stored.keyed import keyed, read_key, read_value
from ...wire.stored.share_state import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
)

NO_OFFSET = -1


class StateBatch(NamedTuple):
    """A range of offsets. Batches are sorted as tuples: by offsets, delivery count and state."""

    first_offset: int
    last_offset: int
    delivery_count: int
    delivery_state: int

    @property
    def weight(self) -> tuple[int, int]:
        """The order of batches that overlap."""
        return self.delivery_count, self.delivery_state

    def cut(self, first_offset: int, last_offset: int) -> StateBatch:
        return self._replace(first_offset=first_offset, last_offset=last_offset)


def combined(
    before: Iterable[StateBatch], newer: Iterable[StateBatch], start_offset: int
) -> list[StateBatch]:
    """The batches of both, without overlaps, in order, and without what is below the start offset
    (NO_OFFSET: nothing is)."""
    batches = [*before, *newer]
    if start_offset != NO_OFFSET:
        batches = [
            batch.cut(max(batch.first_offset, start_offset), batch.last_offset)
            for batch in batches
            if batch.last_offset >= start_offset
        ]
    if len(batches) < 2:
        return batches
    heap = batches
    heapify(heap)
    done: list[StateBatch] = []
    while heap:
        low = heappop(heap)
        if not heap or not _touch(low, heap[0]):
            done.append(low)
            continue
        for part in _merged(low, heappop(heap)):
            heappush(heap, part)
    return done


def _touch(low: StateBatch, high: StateBatch) -> bool:
    if high.first_offset <= low.last_offset:
        return True
    return high.first_offset == low.last_offset + 1 and high.weight == low.weight


def _merged(low: StateBatch, high: StateBatch) -> list[StateBatch]:
    """Two batches that overlap or touch, of which `low` is sorted before `high`."""
    if low.weight == high.weight:
        return [low.cut(low.first_offset, max(low.last_offset, high.last_offset))]
    rest = high.cut(low.last_offset + 1, high.last_offset)
    if low.first_offset == high.first_offset:
        # With the same offsets, `high` is sorted behind `low` because it weighs more.
        if high.last_offset == low.last_offset or high.weight > low.weight:
            return [high]
        return [low, rest]
    head = low.cut(low.first_offset, high.first_offset - 1)
    if high.weight < low.weight:
        return [low, rest] if high.last_offset > low.last_offset else [low]
    if high.last_offset < low.last_offset:
        return [head, high, low.cut(high.last_offset + 1, low.last_offset)]
    return [head, high]


NO_EPOCH = -1
UNINITIALIZED = -1
"""The number of completed deliveries where no offset is known yet."""
_KEYS: tuple[type[ShareSnapshotKey | ShareUpdateKey], ...] = (ShareSnapshotKey, ShareUpdateKey)
_LONGEST_ID = 24
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}")
_SNAPSHOT, _UPDATE = ShareSnapshotKey.first_type, ShareUpdateKey.first_type


class SharePartitionKey(NamedTuple):
    group_id: str
    topic_id: bytes
    partition: int

    @property
    def text(self) -> str:
        """As FindCoordinator takes it; its hash says which partition of the topic keeps it."""
        return f"{self.group_id}:{id_text(self.topic_id)}:{self.partition}"


def is_share_key(text: str) -> bool:
    """Whether a text is a SharePartitionKey's; a group's id may have colons itself."""
    group_id, _, rest = text.rstrip(":").rpartition(":")
    group_id, _, topic_id = group_id.rpartition(":")
    return bool(group_id.strip()) and _is_id(topic_id) and _NUMBER.fullmatch(rest) is not None


def _is_id(text: str) -> bool:
    try:
        parse_id(text)
    except WireError:
        return False
    return len(text) <= _LONGEST_ID


class Change(NamedTuple):
    """A change that a partition's leader writes: where the group begins, how many records at or
    after that are done with, and which batches have changed."""

    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]


class ShareGroupOffset(NamedTuple):
    """The state in one partition. Times in ms; a new one has no offset."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...] = ()
    created: int = 0
    written: int = 0

    def changed(self, leader_epoch: int, change: Change) -> ShareGroupOffset:
        """The state after a change; NO_OFFSET and NO_EPOCH leave what there is."""
        start = self.start_offset if change.start_offset == NO_OFFSET else change.start_offset
        return self._replace(
            leader_epoch=self.leader_epoch if leader_epoch == NO_EPOCH else leader_epoch,
            start_offset=start,
            complete_count=change.complete_count,
            batches=tuple(combined(self.batches, change.batches, start)),
        )


class Update(NamedTuple):
    snapshot_epoch: int
    leader_epoch: int
    change: Change


class StateRecord(NamedTuple):
    """A record: a snapshot, an update, or None, which removes the state."""

    key: SharePartitionKey
    value: ShareGroupOffset | Update | None

    def encoded(self, now: int) -> NewRecord:
        group_id, topic_id, partition = self.key
        value = self.value
        if isinstance(value, Update):
            update = ShareUpdateKey(group_id=group_id, topic_id=topic_id, partition=partition)
            return NewRecord(now, keyed(update, _UPDATE), keyed(_update_value(value), 0))
        key = ShareSnapshotKey(group_id=group_id, topic_id=topic_id, partition=partition)
        stored = None if value is None else keyed(_snapshot_value(value), 0)
        return NewRecord(now, keyed(key, _SNAPSHOT), stored)


def decoded(record: Record) -> StateRecord:
    """The record in these bytes. Raises WireError."""
    if record.key is None:
        raise WireError("a record of share state has no key")
    key, record_type = read_key(_KEYS, record.key)
    place = SharePartitionKey(key.group_id, key.topic_id, key.partition)
    if record.value is None:
        return StateRecord(place, None)
    if record_type == _SNAPSHOT:
        return StateRecord(place, _state(read_value(ShareSnapshotValue, record.value)[0]))
    value = read_value(ShareUpdateValue, record.value)[0]
    change = Change(value.start_offset, value.delivery_complete_count, _read(value.state_batches))
    return StateRecord(place, Update(value.snapshot_epoch, value.leader_epoch, change))


def _state(value: ShareSnapshotValue) -> ShareGroupOffset:
    return ShareGroupOffset(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        _read(value.state_batches),
        value.create_timestamp,
        value.write_timestamp,
    )


def _read(
    batches: Iterable[ShareSnapshotValue.StateBatch | ShareUpdateValue.StateBatch],
) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(each.first_offset, each.last_offset, each.delivery_count, each.delivery_state)
        for each in batches
    )


def _snapshot_value(state: ShareGroupOffset) -> ShareSnapshotValue:
    return ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.complete_count,
        create_timestamp=state.created,
        write_timestamp=state.written,
        state_batches=[ShareSnapshotValue.StateBatch(**batch._asdict()) for batch in state.batches],
    )


def _update_value(update: Update) -> ShareUpdateValue:
    change = update.change
    return ShareUpdateValue(
        snapshot_epoch=update.snapshot_epoch,
        leader_epoch=update.leader_epoch,
        start_offset=change.start_offset,
        delivery_complete_count=change.complete_count,
        state_batches=[ShareUpdateValue.StateBatch(**batch._asdict()) for batch in change.batches],
    )
