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
from ..groups.offsets.store import FetchedOffset, Offsets
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Group = OffsetFetchResponse.Group
Asked = OffsetFetchRequest.Group.Topic
Old = OffsetFetchResponse.Topic
Key = tuple[str, int]
P = TypeVar("P", Old.Partition, Group.Topic.Partition)

_PARTITIONS_A_SLICE = 100


@handler(OffsetFetchRequest)
def offset_fetch(
    cluster: Cluster, call: Call, request: OffsetFetchRequest
) -> OffsetFetchResponse | Slices[OffsetFetchResponse]:
    if call.version == 0 and not cluster.release.has_kraft:
        from .offsets_old import fetch_old

        return fetch_old(cluster, request)
    if call.version < 8:
        return _single(cluster, call, request)
    response = OffsetFetchResponse(groups=[])
    filling = _fill(cluster, call, request, response.groups)
    if _is_much(request):
        return _filled(response, filling)
    for _ in filling:  # it yields nothing
        pass
    return response


def _is_much(request: OffsetFetchRequest) -> bool:
    """Whether more is asked for than a few partitions of one topic, as most ask for."""
    if len(request.groups) != 1:
        return True
    topics = request.groups[0].topics
    return not topics or len(topics) > 1 or len(topics[0].partition_indexes) >= _PARTITIONS_A_SLICE


def _filled(response: OffsetFetchResponse, filling: Slices[None]) -> Slices[OffsetFetchResponse]:
    yield from filling
    return response


def _fill(
    cluster: Cluster, call: Call, request: OffsetFetchRequest, groups: list[Group]
) -> Slices[None]:
    named = request.groups
    if not cluster.release.fetches_each_group:
        named = list({group.group_id: group for group in named}.values())
    for asked in named:
        if groups:
            yield
        groups.append((yield from _group(cluster, call, asked, request.require_stable)))


def _single(
    cluster: Cluster, call: Call, request: OffsetFetchRequest
) -> Slices[OffsetFetchResponse]:
    if call.version == 0:
        return _unsupported(request)
    wanted = None
    if request.topics is not None:
        wanted = [(t.name, index) for t in request.topics for index in t.partition_indexes]
    if wanted is not None and not cluster.release.has_members:
        from .offsets_old import without_unknown

        known, unknown = without_unknown(cluster, wanted)
        fetched = yield from _fetched(cluster, call, request.group_id, known, False)
        left = iter(fetched)
        found = [unknown[key] if key in unknown else next(left) for key in wanted]
        return (yield from _answer(request, found))
    try:
        found = yield from _fetched(cluster, call, request.group_id, wanted, request.require_stable)
    except Refused as refused:
        if call.version >= 2:
            return OffsetFetchResponse(error_code=refused.error)
        # v1 has no place for an error of the group: every partition gets it.
        found = [FetchedOffset(topic, index, error=refused.error) for topic, index in wanted or []]
    return (yield from _answer(request, found))


def _answer(
    request: OffsetFetchRequest, found: Sequence[FetchedOffset]
) -> Slices[OffsetFetchResponse]:
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
    by_id, done, group_id = call.version >= 10, 0, asked.group_id
    calls = cluster.groups.at(call.connection.node_id).offsets
    topics: list[Group.Topic] = []
    try:
        offsets = calls.readable(group_id, asked.member_id, asked.member_epoch)
        if asked.topics is None:
            for name, found in _by_topic(offsets.fetch(None, require_stable=require_stable)):
                topics.append((yield from _topic(cluster, name, found, by_id)))
            return Group(group_id=group_id, topics=topics)
        ordered = asked.topics
        if by_id:  # ids that are unknown are answered last
            ordered = sorted(ordered, key=lambda t: cluster.topics.by_id(t.topic_id) is None)
        for each in ordered:
            number = len(each.partition_indexes)
            done += 1 + number
            if done > _PARTITIONS_A_SLICE:
                done = 0
                yield
                offsets = calls.visible(group_id)
            answer = _slice_of(cluster, by_id, offsets, each, require_stable, 0)
            topics.append(answer)
            first = 0
            while number > (first := first + _PARTITIONS_A_SLICE):
                yield
                offsets = calls.visible(group_id)
                more = _slice_of(cluster, by_id, offsets, each, require_stable, first)
                answer.partitions += more.partitions
    except Refused as refused:
        return Group(group_id=group_id, topics=[], error_code=refused.error)
    return Group(group_id=group_id, topics=topics)


def _slice_of(
    cluster: Cluster, by_id: bool, offsets: Offsets, asked: Asked, require_stable: bool, first: int
) -> Group.Topic:
    """A topic with those of its partitions that are one slice."""
    name, indexes = asked.name, asked.partition_indexes
    if len(indexes) > _PARTITIONS_A_SLICE:
        indexes = indexes[first : first + _PARTITIONS_A_SLICE]
    if by_id:
        known = cluster.topics.by_id(asked.topic_id)
        if known is None:
            unknown = [FetchedOffset("", i, error=Error.UNKNOWN_TOPIC_ID) for i in indexes]
            partitions = [*map(_group_partition, unknown)]
            return Group.Topic(topic_id=asked.topic_id, partitions=partitions)
        name = known.name
    partitions = []
    for index in indexes:
        partitions.append(_group_partition(offsets.fetch_one(name, index, require_stable)))
    return Group.Topic(name=name, topic_id=asked.topic_id, partitions=partitions)


def _topic(
    cluster: Cluster, name: str, offsets: Sequence[FetchedOffset], by_id: bool
) -> Slices[Group.Topic]:
    topic = cluster.topics.get(name) if by_id else None
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
