"""An emulator's own view of share groups, and verbs on them: which records are in flight.

Functions on a cluster, called in its thread. `member_id` None means every member.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...emulator.share.acquired_records import release
from ...emulator.share.in_flight_batches import InFlightState, RecordState
from ...emulator.share.share_partition import SharePartition
from ...emulator.share.state import SharePartitionKey
from ...wire import Error, Refused
from .members import SeenInFlight
from .source import no_partition, no_topic

if TYPE_CHECKING:
    from ...emulator.cluster import Cluster


def in_flight(cluster: Cluster, group_id: str) -> list[SeenInFlight]:
    """The records that members of a group have acquired, by topic, partition and offset."""
    found = []
    for share in cluster.share_partition_managers.of_group(group_id):
        topic = cluster.topics.by_id(share.key.topic_id)
        if topic is None:
            continue
        for first, last, state in _acquired(share):
            until = None if state.lock is None else state.lock.when
            rest = (state.member_id, state.count, until)
            offsets = range(max(first, share.start_offset), last + 1)
            found += [SeenInFlight(topic.name, share.key.partition, at, *rest) for at in offsets]
    return sorted(found, key=lambda each: (each.topic, each.partition, each.offset))


def expire_locks(cluster: Cluster, group_id: str, member_id: str | None) -> int:
    """End the locks of acquired records now, as if their time was over; return of how many."""
    count = _count(cluster, group_id, member_id)
    for share in cluster.share_partition_managers.of_group(group_id):
        for first, last, state in list(_acquired(share)):
            if member_id in (None, state.member_id) and state.state is RecordState.ACQUIRED:
                share.lock_is_over(first, last)
    cluster.settle()
    return count


def redeliver(cluster: Cluster, group_id: str, member_id: str | None) -> int:
    """Release acquired records, as their members could; return how many. Raises Refused as the
    share coordinator does."""
    count = _count(cluster, group_id, member_id)
    for share in cluster.share_partition_managers.of_group(group_id):
        holders = dict.fromkeys(state.member_id for _, _, state in _acquired(share))
        for holder in holders:
            if member_id in (None, holder):
                release(share, holder, "by the test")
        share.settle()
        share.wake()
    cluster.settle()
    return count


def poison(cluster: Cluster, group_id: str, topic: str, partition: int, offset: int) -> None:
    """Have every member that accepts a record release it instead. Raises Refused
    (UNKNOWN_TOPIC_OR_PARTITION), ValueError for a record that the group is done with."""
    if (found := cluster.topics.get(topic)) is None:
        raise no_topic(topic, [each.name for each in cluster.topics])
    if partition >= (count := len(found.partitions)):
        text = no_partition(topic, partition, count)
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, text)
    key = SharePartitionKey(group_id, found.id, partition)
    for share in cluster.share_partition_managers.of_group(group_id):
        if share.key == key and offset < share.start_offset:
            raise ValueError(
                f"share group {group_id!r} is done with offset {offset} of {topic}-{partition}:"
                f" it begins at {share.start_offset}"
            )
    cluster.share_partition_managers.poison.setdefault(key, set()).add(offset)


def _count(cluster: Cluster, group_id: str, member_id: str | None) -> int:
    held = in_flight(cluster, group_id)
    return sum(member_id in (None, each.member_id) for each in held)


def _acquired(share: SharePartition) -> Iterator[tuple[int, int, InFlightState]]:
    share.settle()
    for batch in share.batches:
        for first, last, state in batch.ranges():
            if state.state is RecordState.ACQUIRED and last >= share.start_offset:
                yield first, last, state
