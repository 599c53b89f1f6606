"""OffsetFetch (9): how far a group has read. One group before v8, several since.

Nothing committed is offset -1 and no error, also for groups, topics and partitions that do not
exist; from v10 on an unknown topic id is 100. Null topics mean all that the group has committed.
From v9 on a member of a consumer group says who it is, and is refused in another epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ...wire import Error, Refused
from ...wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ..base.call import Call
from ..base.java_order import hash_map_order, partition_order
from ..base.turns import Slices, each_of
from ..groups.offsets.committed import FetchedOffset
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster

Group = OffsetFetchResponse.Group
Old = OffsetFetchResponse.Topic
Key = tuple[str, int]
P = TypeVar("P", Old.Partition, Group.Topic.Partition)

_PARTITIONS_A_SLICE = 100


@handles(OffsetFetchRequest)
def offset_fetch(
    cluster: Cluster, call: Call, request: OffsetFetchRequest
) -> Slices[OffsetFetchResponse]:
    if call.version < 8:
        return (yield from _single(cluster, call, request))
    groups: list[Group] = []
    for asked in request.groups:
        if groups:
            yield
        groups.append((yield from _group(cluster, call, asked, request.require_stable)))
    return OffsetFetchResponse(groups=groups)


def _single(
    cluster: Cluster, call: Call, request: OffsetFetchRequest
) -> Slices[OffsetFetchResponse]:
    if call.version == 0:
        return _unsupported(request)
    wanted = None
    if request.topics is not None:
        wanted = [(t.name, index) for t in request.topics for index in t.partition_indexes]
    try:
        found = yield from _fetched(cluster, call, request.group_id, wanted, request.require_stable)
    except Refused as refused:
        if call.version >= 2:
            return OffsetFetchResponse(error_code=refused.error)
        # v1 has no place for an error of the group: every partition gets it.
        found = [FetchedOffset(topic, index, error=refused.error) for topic, index in wanted or []]
    topics = []
    for name, offsets in _as_asked(request, found):
        partitions = yield from each_of(offsets, _old_partition, _PARTITIONS_A_SLICE)
        topics.append(Old(name=name, partitions=partitions))
    return OffsetFetchResponse(topics=topics)


def _partition(kind: type[P], one: FetchedOffset) -> P:
    return kind(
        partition_index=one.partition,
        committed_offset=one.offset,
        committed_leader_epoch=one.leader_epoch,
        metadata=one.metadata,
        error_code=one.error,
    )


_old_partition = partial(_partition, Old.Partition)
_group_partition = partial(_partition, Group.Topic.Partition)


def _fetched(
    cluster: Cluster, call: Call, group_id: str, wanted: list[Key] | None, require_stable: bool
) -> Slices[list[FetchedOffset]]:
    """What a group has committed for these partitions, or for all. Raises Refused."""
    offsets = cluster.groups.at(call.node_id).offsets
    if wanted is None:
        return offsets.fetch(group_id, None, require_stable=require_stable)
    found: list[FetchedOffset] = []
    for first in range(0, max(1, len(wanted)), _PARTITIONS_A_SLICE):
        if first:
            yield
        some = wanted[first : first + _PARTITIONS_A_SLICE]
        found += offsets.fetch(group_id, some, require_stable=require_stable)
    return found


def _unsupported(request: OffsetFetchRequest) -> OffsetFetchResponse:
    """v0, whose offsets lay in ZooKeeper; in the order of the maps in which it is put together."""
    asked = [(t.name, index) for t in request.topics or [] for index in t.partition_indexes]
    topics: dict[str, list[Old.Partition]] = {}
    for name, index in partition_order(asked):
        topics.setdefault(name, []).append(
            Old.Partition(
                partition_index=index,
                committed_offset=-1,
                metadata="",
                error_code=Error.UNSUPPORTED_VERSION,
            )
        )
    names = hash_map_order(topics)
    return OffsetFetchResponse(topics=[Old(name=n, partitions=topics[n]) for n in names])


def _as_asked(
    request: OffsetFetchRequest, found: Sequence[FetchedOffset]
) -> list[tuple[str, Sequence[FetchedOffset]]]:
    """What was found, by topic: as the request names them if it does."""
    if request.topics is None:
        return list(_by_topic(found))
    rest = iter(found)
    return [(t.name, list(islice(rest, len(t.partition_indexes)))) for t in request.topics]


def _group(
    cluster: Cluster, call: Call, asked: OffsetFetchRequest.Group, require_stable: bool
) -> Slices[Group]:
    by_id, done = call.version >= 10, 0
    try:
        cluster.groups.at(call.node_id).offsets.check_fetch(
            asked.group_id, asked.member_id, asked.member_epoch
        )
        if asked.topics is None:
            found = yield from _fetched(cluster, call, asked.group_id, None, require_stable)
            topics = []
            for name, offsets in _by_topic(found):
                topics.append((yield from _topic(cluster, name, offsets, by_id)))
        else:
            ordered = asked.topics
            if by_id:  # ids that are unknown are answered last
                ordered = sorted(ordered, key=lambda t: cluster.topics.by_id(t.topic_id) is None)
            topics = []
            for each in ordered:
                done += 1 + len(each.partition_indexes)
                if done > _PARTITIONS_A_SLICE:
                    done = 0
                    yield
                answer = yield from _asked(cluster, call, asked.group_id, each, require_stable)
                topics.append(answer)
    except Refused as refused:
        return Group(group_id=asked.group_id, topics=[], error_code=refused.error)
    return Group(group_id=asked.group_id, topics=topics)


def _asked(
    cluster: Cluster,
    call: Call,
    group_id: str,
    topic: OffsetFetchRequest.Group.Topic,
    require_stable: bool,
) -> Slices[Group.Topic]:
    name = topic.name
    if call.version >= 10:
        known = cluster.topics.by_id(topic.topic_id)
        if known is None:
            unknown = [
                FetchedOffset("", index, error=Error.UNKNOWN_TOPIC_ID)
                for index in topic.partition_indexes
            ]
            answer = yield from _topic(cluster, "", unknown, by_id=False)
            answer.topic_id = topic.topic_id
            return answer
        name = known.name
    wanted = [(name, index) for index in topic.partition_indexes]
    found = yield from _fetched(cluster, call, group_id, wanted, require_stable)
    return (yield from _topic(cluster, name, found, by_id=call.version >= 10))


def _topic(
    cluster: Cluster, name: str, offsets: Sequence[FetchedOffset], by_id: bool
) -> Slices[Group.Topic]:
    topic = cluster.topics.get(name) if by_id else None
    if len(offsets) < _PARTITIONS_A_SLICE:
        partitions = [*map(_group_partition, offsets)]
    else:
        partitions = yield from each_of(offsets, _group_partition, _PARTITIONS_A_SLICE)
    answer = Group.Topic(name=name, partitions=partitions)
    if topic is not None:
        answer.topic_id = topic.id
    return answer


def _by_topic(offsets: Iterable[FetchedOffset]) -> list[tuple[str, list[FetchedOffset]]]:
    """Those that follow each other under one topic, together."""
    grouped: list[tuple[str, list[FetchedOffset]]] = []
    for one in offsets:
        if not grouped or grouped[-1][0] != one.topic:
            grouped.append((one.topic, []))
        grouped[-1][1].append(one)
    return grouped
