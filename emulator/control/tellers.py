"""What is told of a request and its response, by the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...wire.api.heartbeat import HeartbeatRequest
from ...wire.api.join_group import JoinGroupRequest
from ...wire.api.list_offsets import ListOffsetsRequest
from ...wire.api.metadata import MetadataRequest
from ...wire.api.offset_commit import OffsetCommitRequest
from ...wire.api.offset_fetch import OffsetFetchRequest
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...wire.api.txn_offset_commit import TxnOffsetCommitRequest
from ..base.meanings import QUIET, QUIET_OF
from .refusals import Refusal

if TYPE_CHECKING:
    from ..base.call import Call
    from ..cluster import Cluster

_LATEST = -1
_ONE_BY_ONE = 3
_MOST = 10
_MOST_LOOKED_AT = 100
"""Of partitions, of all topics together: a request about more of them is told in part."""


def _first(topics: Sequence[Any]) -> Sequence[tuple[Any, Any]]:
    """The first topics and partitions."""
    if len(topics) == 1 and len(topics[0].partitions) == 1:
        return ((topics[0], topics[0].partitions[0]),)
    each = ((topic, partition) for topic in topics for partition in topic.partitions)
    return list(islice(each, _MOST_LOOKED_AT))


def _joined(request: JoinGroupRequest, response: Any) -> tuple[str, str] | None:
    return None if response.error_code else (request.group_id, response.member_id)


def _beat(request: HeartbeatRequest, response: Any) -> tuple[str, str] | None:
    return None if response.error_code else (request.group_id, request.member_id)


def _new_beat(
    request: ConsumerGroupHeartbeatRequest | StreamsGroupHeartbeatRequest, response: Any
) -> tuple[str, str] | None:
    is_leaving = request.member_epoch < 0
    return None if response.error_code or is_leaving else (request.group_id, response.member_id)


MEMBERSHIPS: dict[int, Callable[[Any, Any], tuple[str, str] | None]] = {
    JoinGroupRequest.api_key: _joined,
    HeartbeatRequest.api_key: _beat,
    ConsumerGroupHeartbeatRequest.api_key: _new_beat,
    StreamsGroupHeartbeatRequest.api_key: _new_beat,
}
"""Group and member that a request is about, if it has succeeded."""


def _committed(
    cluster: Cluster, call: Call, request: Any, response: Any, found: list[Refusal]
) -> None:
    """OffsetCommit, TxnOffsetCommit."""
    refused = found and {
        (_name(cluster, topic), partition.partition_index)
        for topic in response.topics
        for partition in topic.partitions
        if partition.error_code
    }
    client = _member_name(cluster, call, request)
    transactional_id = getattr(request, "transactional_id", "")
    for topic, partition in _first(request.topics):
        name = _name(cluster, topic)
        if not refused or (name, partition.partition_index) not in refused:
            cluster.journal.again(
                "committed",
                partition.committed_offset,
                client,
                name,
                partition.partition_index,
                request.group_id,
                transactional_id,
            )


def _found_offsets(
    cluster: Cluster, call: Call, request: OffsetFetchRequest, response: Any, _: list[Refusal]
) -> None:
    """OffsetFetch of a client that names the partitions, as consumers do."""
    groups: Iterable[Any] = response.groups
    if call.version < 8:
        if request.topics is None:
            return
        groups = [response]
    for group in groups:
        group_id = request.group_id if group is response else group.group_id
        for topic, partition in _first(group.topics):
            if partition.error_code:
                continue
            offset = partition.committed_offset
            cluster.journal.again(
                "found offset" if offset >= 0 else "found no offset",
                offset,
                call.connection.name,
                topic.name or _name(cluster, topic),
                partition.partition_index,
                group_id,
            )


def _looked_up(
    cluster: Cluster, call: Call, request: ListOffsetsRequest, response: Any, _: list[Refusal]
) -> None:
    """ListOffsets of the end: what a consumer does that begins at the latest offset."""
    latest = set()
    for topic, asked in _first(request.topics):
        if asked.timestamp == _LATEST:
            latest.add((topic.name, asked.partition_index))
    if not latest or not call.version:
        return
    for topic, partition in _first(response.topics):
        place = topic.name, partition.partition_index
        offset = partition.offset
        if place in latest and offset >= 0 and not partition.error_code:
            cluster.journal.run("looked up the end", call.connection.name, *place, offset, offset)


TELLERS: dict[int, Callable[[Cluster, Call, Any, Any, list[Refusal]], None]] = {
    OffsetCommitRequest.api_key: _committed,
    TxnOffsetCommitRequest.api_key: _committed,
    OffsetFetchRequest.api_key: _found_offsets,
    ListOffsetsRequest.api_key: _looked_up,
}


LOOKS = frozenset({OffsetFetchRequest.api_key, ListOffsetsRequest.api_key})
"""They change nothing: told of a client, but not of the test, which looks at the broker so."""


def tell_refusals(cluster: Cluster, call: Call, request: Any, found: list[Refusal]) -> None:
    """Each error of a response that is not normal traffic."""
    api = type(request).__name__.removesuffix("Request")
    told = [each for each in found if _is_told(cluster, api, each)]
    group = getattr(request, "group_id", None) or ""
    for each in _summed(cluster, told)[:_MOST]:
        cluster.journal.refused(
            _member_name(cluster, call, request),
            api,
            each.error,
            each.topic,
            each.partition,
            each.message,
            each.group or group,
            getattr(request, "transactional_id", None) or "",
            cluster.told_as(call.node_id),
        )


def _is_told(cluster: Cluster, api: str, refusal: Refusal) -> bool:
    if refusal.error in QUIET or (api, refusal.error) in QUIET_OF:
        return False
    # Answered as unknown this once: it was created for this request.
    is_new = api == MetadataRequest.__name__.removesuffix("Request") and refusal.topic
    return not (is_new and cluster.topics.get(refusal.topic) is not None)


def _summed(cluster: Cluster, found: list[Refusal]) -> list[Refusal]:
    """One for a topic of which many partitions are refused; topics by their names."""
    if len(found) == 1 and (found[0].topic or not found[0].topic_id):
        return found
    named = []
    for each in found:
        topic = each.topic
        if not topic and each.topic_id:
            known = cluster.topics.by_id(each.topic_id)
            topic = "" if known is None else known.name
        named.append(each._replace(topic=topic, topic_id=b""))
    count = Counter((each.error, each.topic) for each in named)
    many = [
        each._replace(partition=-1) if count[each.error, each.topic] > _ONE_BY_ONE else each
        for each in named
    ]
    return list(dict.fromkeys(many))


def _member_name(cluster: Cluster, call: Call, request: Any) -> str:
    member_id = getattr(request, "member_id", None) or ""
    key = getattr(request, "group_instance_id", None) or member_id
    return cluster.journal.members.known(key, call.connection.name)


def _name(cluster: Cluster, topic: Any) -> str:
    """A topic that is named, or by its id."""
    topic_id = getattr(topic, "topic_id", b"")
    if topic.name or not topic_id:
        return str(topic.name)
    known = cluster.topics.by_id(topic_id)
    return "" if known is None else known.name
