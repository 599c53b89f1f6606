"""ListOffsets (2): the first offset at or after a time, or one of the offsets with a name.

-1 latest, -2 earliest, -3 of the largest timestamp (v7+), -4 earliest local (v8+), -5 latest
tiered (v9+), -6 earliest pending upload (v11+). Nothing is tiered here, so -4 is -2, and -5 and -6
find nothing. A partition named twice is answered once, with INVALID_REQUEST. v0 knows nothing of
times: list_offsets_old.py. The leader answers, and to the replica id -2 a follower too. Whoever is
no consumer sees all that the replica has, also what is not replicated yet.

Not emulated: tiered storage.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..base.turns import Slices, each_of
from ..partitions.partition import Partition
from .fetch_run import ISOLATION_LEVELS
from .list_offsets_old import DEBUGGER, PARTITIONS_A_SLICE, list_old_offsets, partition_of
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Asked = ListOffsetsRequest.Topic.Partition
Found = ListOffsetsResponse.Topic.Partition

CONSUMER = -1
_NOT_AVAILABLE_SINCE = 5
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
_SINCE = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}


@handler(ListOffsetsRequest)
def list_offsets(
    cluster: Cluster, call: Call, request: ListOffsetsRequest
) -> ListOffsetsResponse | Sentinel | Slices[ListOffsetsResponse]:
    is_unknown = request.isolation_level not in ISOLATION_LEVELS
    if is_unknown and not cluster.release.refuses_unknown_levels:
        call.close()
        return NO_REPLY
    if not cluster.release.answers_each_entry:
        repeated = _repeated(request)
        request = _each_once(request)
    else:
        repeated = _repeated(request)
    if call.version == 0:
        return list_old_offsets(cluster, call, request)
    if cluster.release.lists_offsets_entry_by_entry:
        return _as_asked(cluster, call, request, repeated)
    if is_unknown:
        return _refused(request, Error.UNKNOWN_SERVER_ERROR)
    topics = request.topics
    if not len(topics) == 1 == len(topics[0].partitions):
        return _by_topic(cluster, call, request)
    name, asked = topics[0].name, topics[0].partitions[0]
    try:
        found = _find(cluster, call, request, name, asked)
    except Refused as refused:
        found = _error(asked, refused.error)
    return ListOffsetsResponse(topics=[ListOffsetsResponse.Topic(name=name, partitions=[found])])


def _each_once(request: ListOffsetsRequest) -> ListOffsetsRequest:
    """What a broker up to 2.4 makes of a request: each partition once, after v0 those that are
    named twice as often as it takes to refuse them."""
    topics: dict[str, dict[int, Asked]] = {}
    for topic in request.topics:
        for each in topic.partitions:
            topics.setdefault(topic.name, {})[each.partition_index] = each
    return ListOffsetsRequest(
        replica_id=request.replica_id,
        isolation_level=request.isolation_level,
        topics=[
            ListOffsetsRequest.Topic(name=name, partitions=list(partitions.values()))
            for name, partitions in topics.items()
        ],
    )


def _by_topic(
    cluster: Cluster, call: Call, request: ListOffsetsRequest
) -> Slices[ListOffsetsResponse]:
    repeated = _repeated(request)
    answered: set[tuple[str, int]] = set()
    topics: dict[str, ListOffsetsResponse.Topic] = {}  # one entry each, also if asked for twice
    for topic in request.topics:
        if not topic.partitions:
            continue
        answer = topics.get(topic.name)
        if answer is None:
            answer = topics[topic.name] = ListOffsetsResponse.Topic(name=topic.name, partitions=[])
        partitions = answer.partitions
        for number, asked in enumerate(topic.partitions, 1):
            if not number % PARTITIONS_A_SLICE:
                yield
            if repeated and (key := (topic.name, asked.partition_index)) in repeated:
                if key not in answered:
                    answered.add(key)
                    partitions.append(_error(asked, Error.INVALID_REQUEST))
                continue
            try:
                partitions.append(_find(cluster, call, request, topic.name, asked))
            except Refused as refused:
                partitions.append(_error(asked, refused.error))
    return ListOffsetsResponse(topics=list(topics.values()))


def _repeated(request: ListOffsetsRequest) -> set[tuple[str, int]]:
    """The partitions that are named more than once."""
    named = [(t.name, p.partition_index) for t in request.topics for p in t.partitions]
    if len(named) == len(set(named)):
        return set()
    return {each for each, times in Counter(named).items() if times > 1}


def _as_asked(
    cluster: Cluster, call: Call, request: ListOffsetsRequest, repeated: set[tuple[str, int]]
) -> Slices[ListOffsetsResponse]:
    """What releases up to 3.9 answer: entry by entry, each that is named twice with 42."""

    is_known = request.replica_id != CONSUMER or request.isolation_level in ISOLATION_LEVELS

    def one(name: str, asked: Asked) -> Found:
        if (name, asked.partition_index) in repeated:
            return _error(asked, Error.INVALID_REQUEST)
        try:
            if cluster.release.refuses_unknown_timestamps:
                _check_known(asked.timestamp, call.version)
            if not is_known:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            return _find(cluster, call, request, name, asked)
        except Refused as refused:
            return _error(asked, refused.error)

    topics = []
    for topic in request.topics:
        found = yield from each_of(topic.partitions, partial(one, topic.name), PARTITIONS_A_SLICE)
        topics.append(ListOffsetsResponse.Topic(name=topic.name, partitions=found))
    return ListOffsetsResponse(topics=topics)


def _refused(request: ListOffsetsRequest, error: Error) -> ListOffsetsResponse:
    """All of it refused: every entry is answered as it was asked."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsResponse.Topic(
                name=topic.name, partitions=[_error(asked, error) for asked in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _error(asked: Asked, error: Error) -> Found:
    return Found(partition_index=asked.partition_index, error_code=error)


def _find(
    cluster: Cluster, call: Call, request: ListOffsetsRequest, name: str, asked: Asked
) -> Found:
    timestamp, node_id = asked.timestamp, call.connection.node_id
    is_time = False
    if timestamp < LATEST:
        if cluster.release.refuses_unknown_timestamps:
            _check_known(timestamp, call.version)
        else:
            is_time = timestamp < _before_all(cluster)
    leader_only = request.replica_id != DEBUGGER
    partition = partition_of(cluster, name, asked.partition_index, leader_only=leader_only)
    partition.check_read(node_id, asked.current_leader_epoch, leader_only=leader_only)
    is_consumer = request.replica_id == CONSUMER
    if is_consumer:
        bound = partition.upper_bound(request.isolation_level, node_id)
    else:
        bound = partition.end_at(node_id)
    if timestamp >= 0 and not partition.topic.config.magic:
        raise Refused(Error.UNSUPPORTED_FOR_MESSAGE_FORMAT)  # its messages have no times
    if timestamp == LATEST:
        offset, found_at, epoch = bound, -1, partition.leader_epoch
    else:
        offset, found_at, epoch = _look_up(partition, timestamp, bound, is_time=is_time)
        if bound == 0 and node_id != partition.leader:
            epoch = -1  # a follower hears of it with the first batch
    if is_consumer and partition.apart is not None and _is_beyond(partition, timestamp, offset):
        is_old = call.version < _NOT_AVAILABLE_SINCE
        raise Refused(Error.LEADER_NOT_AVAILABLE if is_old else Error.OFFSET_NOT_AVAILABLE)
    return Found(
        partition_index=asked.partition_index,
        timestamp=found_at,
        offset=offset,
        leader_epoch=epoch,
    )


def _is_beyond(partition: Partition, timestamp: int, offset: int) -> bool:
    """Whether the leader cannot know yet: its high watermark has not reached its epoch."""
    entries = partition.log.epochs.entries
    if not entries or partition.high_watermark >= entries[-1].start_offset:
        return False
    return timestamp == LATEST or (timestamp not in (EARLIEST, EARLIEST_LOCAL) and offset < 0)


def _before_all(cluster: Cluster) -> int:
    """The least timestamp that means something else than a time, in releases that refuse none."""
    _, last = cluster.release.advertised[ListOffsetsRequest.api_key]
    return min(timestamp for timestamp, since in _SINCE.items() if since <= last)


def _check_known(timestamp: int, version: int) -> None:
    if timestamp < 0 and _SINCE.get(timestamp, version + 1) > version:
        raise Refused(Error.UNSUPPORTED_VERSION)


def _look_up(
    partition: Partition, timestamp: int, bound: int, *, is_time: bool
) -> tuple[int, int, int]:
    """Offset, timestamp and leader epoch; three times -1 where there is nothing below `bound`.
    `is_time`: a negative timestamp is a time, too."""
    log = partition.log
    if is_time:
        found = log.reader.find_timestamp(timestamp)
        return (-1, -1, -1) if found is None or found[0] >= bound else found
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return log.log_start_offset, -1, log.epochs.epoch_at(log.log_start_offset)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return -1, -1, -1
    found = (
        log.reader.max_timestamp()
        if timestamp == MAX_TIMESTAMP
        else log.reader.find_timestamp(timestamp)
    )
    if found is None or found[0] >= bound:
        return -1, -1, -1
    return found
