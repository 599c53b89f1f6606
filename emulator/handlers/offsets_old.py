"""OffsetCommit v0 and OffsetFetch v0 of brokers with ZooKeeper, which keeps these offsets; and v1
of 0.8.2, whose groups have no members.

They are apart from what later versions commit: whoever commits in v0 reads in v0. Of a partition
that is not known, and of one without an offset, the answer is UNKNOWN_TOPIC_OR_PARTITION. A group
without a name is UNKNOWN_SERVER_ERROR: ZooKeeper has no such path.

With a ZooKeeper beside the brokers that is where they are (zookeeper/registry.py). Without one they
are kept in memory, and a restart forgets them.

In v1 0.8.2 stores what anybody commits, also of topics that it does not know; it only looks at how
long the metadata is. Of partitions that it does not know OffsetFetch has
UNKNOWN_TOPIC_OR_PARTITION.

Left out: 0.8.2 also shows an offset whose metadata it has refused, until it is restarted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ...wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ..base.call import Call
from ..base.java_order import hash_map_order, partition_order
from ..groups.group import CommitRequest, OffsetCommit
from ..groups.offsets.store import FetchedOffset

if TYPE_CHECKING:
    from ..cluster import Cluster

Committed = OffsetCommitResponse.Topic
Fetched = OffsetFetchResponse.Topic
Key = tuple[str, int]


def commit_old(cluster: Cluster, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Keep offsets; each partition is answered once."""
    asked = {
        (topic.name, each.partition_index): each
        for topic in request.topics
        for each in topic.partitions
    }
    longest = cluster.config.get("offset.metadata.max.bytes")
    topics: dict[str, Committed] = {}
    for name, index in partition_order(asked):
        each = asked[name, index]
        error = _problem(cluster, request.group_id, (name, index))
        is_known = error is not Error.UNKNOWN_TOPIC_OR_PARTITION
        if is_known and len(each.committed_metadata or "") > longest:
            error = Error.OFFSET_METADATA_TOO_LARGE
        if not error:
            key = request.group_id, name, index
            cluster.groups.in_zookeeper[key] = each.committed_offset
        answer = Committed.Partition(partition_index=index, error_code=error)
        topics.setdefault(name, Committed(name=name, partitions=[])).partitions.append(answer)
    return OffsetCommitResponse(topics=_in_order(topics.values()))


def fetch_old(cluster: Cluster, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """The offsets that are kept; each partition is answered once."""
    asked = [(t.name, index) for t in request.topics or [] for index in t.partition_indexes]
    topics: dict[str, Fetched] = {}
    for name, index in partition_order(asked):
        error = _problem(cluster, request.group_id, (name, index))
        kept = cluster.groups.in_zookeeper.get((request.group_id, name, index))
        if not error and kept is None:
            error = Error.UNKNOWN_TOPIC_OR_PARTITION
        answer = Fetched.Partition(
            partition_index=index,
            committed_offset=-1 if error or kept is None else kept,
            metadata="",
            error_code=error,
        )
        topics.setdefault(name, Fetched(name=name, partitions=[])).partitions.append(answer)
    order = {each.name: each for each in topics.values()}
    return OffsetFetchResponse(topics=[order[name] for name in hash_map_order(order)])


def commit_without_members(
    cluster: Cluster, call: Call, request: OffsetCommitRequest
) -> OffsetCommitResponse:
    """OffsetCommit v1 of 0.8.2; each partition is answered once."""
    asked = {
        (topic.name, each.partition_index): each
        for topic in request.topics
        for each in topic.partitions
    }
    commits = [
        OffsetCommit(
            *(name, index, each.committed_offset),
            metadata=each.committed_metadata,
            timestamp=each.commit_timestamp,
        )
        for (name, index), each in asked.items()
    ]
    offsets = cluster.groups.at(call.node_id).offsets
    try:
        errors = offsets.commit(
            request.group_id, CommitRequest(call.version, "", None, -1, commits)
        )
    except Refused as refused:
        errors = [refused.error] * len(commits)
    topics: dict[str, Committed] = {}
    for (name, index), error in zip(asked, errors, strict=True):
        answer = Committed.Partition(partition_index=index, error_code=error)
        topics.setdefault(name, Committed(name=name, partitions=[])).partitions.append(answer)
    return OffsetCommitResponse(topics=list(topics.values()))


def without_unknown(
    cluster: Cluster, wanted: Sequence[Key]
) -> tuple[list[Key], dict[Key, FetchedOffset]]:
    """The partitions whose offsets 0.8.2 looks for, and what it answers of the others."""
    unknown = {
        key: FetchedOffset(*key, error=Error.UNKNOWN_TOPIC_OR_PARTITION)
        for key in wanted
        if not _is_there(cluster, key)
    }
    return [key for key in wanted if key not in unknown], unknown


def _is_there(cluster: Cluster, key: Key) -> bool:
    topic = cluster.topics.get(key[0])
    return topic is not None and 0 <= key[1] < len(topic.partitions)


def _in_order(topics: Iterable[Committed]) -> list[Committed]:
    order = {each.name: each for each in topics}
    return [order[name] for name in hash_map_order(order)]


def _problem(cluster: Cluster, group_id: str, key: Key) -> Error:
    name, index = key
    topic = cluster.topics.get(name)
    looks = cluster.release.looks_for_partitions_of_offsets
    if topic is None or (looks and not 0 <= index < len(topic.partitions)):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.NONE if group_id else Error.UNKNOWN_SERVER_ERROR
