"""Metadata (3): brokers, topics, and who leads which partition.

Topics are asked for by name, from v12 on also by id; null (in v0 an empty list) means all of them.
Topics that exist come first, in the order of the request, then the missing ones. When one id is
asked for, entries with only a name do not count. A missing topic is created if request (v4+) and
broker allow it: it is answered with UNKNOWN_TOPIC_OR_PARTITION this once, as if the creation were
still going on, for that is what clients are used to (semantics I2).

The controller is said to be the first broker that is alive: each of them forwards what is for it.
Brokers have the addresses of the listener that was asked.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from ...wire import NO_ID, Error, Refused
from ...wire.api.metadata import MetadataRequest, MetadataResponse
from ..base.call import Call, principal_details
from ..base.event import AUTO_CREATED
from ..base.logger import log
from ..base.node import alive
from ..base.turns import Slices, each_of
from ..config.internal_topics import INTERNAL_TOPICS
from ..metadata.topic_rules import name_problem
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition, Topic


Answer = MetadataResponse.Topic

# Bits of the operations that exist for a resource; without an authorizer all are allowed.
TOPIC_OPERATIONS = 3576
CLUSTER_OPERATIONS = 8096
NOT_ASKED = -(2**31)

_IDS_SINCE = 12
_TOPICS_A_SLICE = 50
_PARTITIONS_A_SLICE = 100


@handler(MetadataRequest, cached=True)
def metadata(cluster: Cluster, call: Call, request: MetadataRequest) -> Slices[MetadataResponse]:
    asked, able = request.topics, alive(cluster.nodes)
    if asked is None or (call.version == 0 and not asked):
        topics = yield from _all_of([topic.id for topic in cluster.topics], cluster, able)
    else:
        by_id = [entry.topic_id for entry in asked if entry.topic_id != NO_ID]
        nameless = any(entry.name is None for entry in asked)
        if call.version < _IDS_SINCE and (by_id or nameless):
            return _refused(asked, Error.INVALID_REQUEST)
        if by_id:
            topics = yield from _by_id(cluster, by_id, able)
        elif nameless:
            return _refused(asked, Error.UNKNOWN_SERVER_ERROR)
        else:
            names = dict.fromkeys(entry.name or "" for entry in asked)
            may_create = request.allow_auto_topic_creation
            topics = yield from _by_name(cluster, call, names, able, may_create)
            if not cluster.release.refuses_names_one_by_one and _is_invalid(topics):
                return _refused(asked, Error.INVALID_TOPIC_EXCEPTION)
    if request.include_topic_authorized_operations:
        for topic in topics:
            if topic.error_code != Error.UNKNOWN_TOPIC_ID:
                topic.topic_authorized_operations = TOPIC_OPERATIONS
    if call.version == 0:
        _without_the_dead(topics, able)
    wanted = request.include_cluster_authorized_operations
    places = [(broker, *broker.at(call.listener)) for broker in able.values()]
    return MetadataResponse(
        brokers=[
            MetadataResponse.Broker(node_id=broker.node_id, host=host, port=port, rack=broker.rack)
            for broker, host, port in places
        ],
        cluster_id=cluster.cluster_id,
        controller_id=cluster.any_broker(),
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS if wanted else NOT_ASKED,
    )


def _all_of(ids: Iterable[bytes], cluster: Cluster, able: Container[int]) -> Slices[list[Answer]]:
    """The topics with these ids that there are, by the time they are looked at."""
    answers = []
    for number, topic_id in enumerate(ids, 1):
        topic = cluster.topics.by_id(topic_id)
        if topic is not None:
            answers.append((yield from _found(topic, able)))
        if not number % _TOPICS_A_SLICE:
            yield
    return answers


def _by_id(cluster: Cluster, asked: Iterable[bytes], able: Container[int]) -> Slices[list[Answer]]:
    ids = dict.fromkeys(asked)
    known = yield from _all_of(ids, cluster, able)
    found = {answer.topic_id for answer in known}
    unknown = [
        Answer(error_code=Error.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id, partitions=[])
        for topic_id in ids
        if topic_id not in found
    ]
    return unknown + known


def _by_name(
    cluster: Cluster, call: Call, asked: Iterable[str], able: Container[int], may_create: bool
) -> Slices[list[Answer]]:
    known, missing = [], []
    for number, name in enumerate(asked, 1):
        if not number % _TOPICS_A_SLICE:
            yield
        topic = cluster.topics.get(name)
        if topic is not None:
            known.append((yield from _found(topic, able)))
            continue
        error = Error.UNKNOWN_TOPIC_OR_PARTITION
        if (may_create or cluster.release.names_invalid_topics) and name_problem(name) is not None:
            error = Error.INVALID_TOPIC_EXCEPTION
            may_create &= cluster.release.refuses_names_one_by_one
        elif may_create and cluster.config.get("auto.create.topics.enable"):
            is_made = _create(cluster, call, name)
            if is_made and not cluster.release.creates_topics_unknown:
                error = Error.LEADER_NOT_AVAILABLE
            yield
        internal = name in INTERNAL_TOPICS
        missing.append(Answer(error_code=error, name=name, is_internal=internal, partitions=[]))
    return known + missing


def _is_invalid(topics: Iterable[Answer]) -> bool:
    return any(topic.error_code == Error.INVALID_TOPIC_EXCEPTION for topic in topics)


def _create(cluster: Cluster, call: Call, name: str) -> bool:
    """Create a topic on demand. Returns whether it is there: one that cannot be created stays
    unknown."""
    try:
        if name in INTERNAL_TOPICS:
            cluster.topics.ensure_internal(name)
        else:
            number = {"partitions": len(cluster.topics.create(name).partitions)}
            details = number | principal_details(call.principal)
            fields = {"client": call.connection.name, "topic": name, "reason": AUTO_CREATED}
            cluster.journal.add("topic created", **fields, details=details)
    except Refused as refused:
        log.info("topic %r is not created on demand: %s", name, refused)
        return False
    return True


def _found(topic: Topic, able: Container[int]) -> Slices[Answer]:
    one = partial(_partition, able=able)
    partitions = yield from each_of(list(topic.partitions), one, _PARTITIONS_A_SLICE)
    return Answer(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.is_internal,
        partitions=partitions,
    )


class Placement(TypedDict):
    """Who leads a partition, and who has replicas of it, as answers name it."""

    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    offline_replicas: list[int]


def placement(partition: Partition, able: Container[int]) -> Placement:
    """A partition's placement in answers while these nodes are alive."""
    is_led = partition.leader in able
    return {
        "error_code": Error.NONE if is_led else Error.LEADER_NOT_AVAILABLE,
        "partition_index": partition.index,
        "leader_id": partition.leader if is_led else -1,
        "leader_epoch": partition.leader_epoch,
        "replica_nodes": partition.replicas,
        "isr_nodes": partition.isr,
        "offline_replicas": [r for r in partition.replicas if r not in able],
    }


def _partition(partition: Partition, able: Container[int]) -> Answer.Partition:
    return Answer.Partition(**placement(partition, able))


def _without_the_dead(topics: Iterable[Answer], able: Container[int]) -> None:
    """Version 0 lists only replicas that are alive, and says that some are missing."""
    for topic in topics:
        for partition in topic.partitions:
            alive_replicas = [each for each in partition.replica_nodes if each in able]
            if partition.leader_id >= 0 and alive_replicas != partition.replica_nodes:
                partition.error_code = Error.REPLICA_NOT_AVAILABLE
            partition.replica_nodes = alive_replicas
            partition.isr_nodes = [each for each in partition.isr_nodes if each in able]


def _refused(asked: Iterable[MetadataRequest.Topic], error: Error) -> MetadataResponse:
    """What a real broker answers to a request that it cannot understand: the same for each topic,
    and no brokers."""
    return MetadataResponse(
        brokers=[],
        topics=[
            Answer(error_code=error, name=e.name or "", topic_id=e.topic_id, partitions=[])
            for e in asked
        ],
        error_code=error if error is Error.UNKNOWN_SERVER_ERROR else Error.NONE,
    )
