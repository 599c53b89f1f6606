"""ElectLeaders and AlterPartitionReassignments as controllers with ZooKeeper answer them, to 2.8.

A partition is answered once, however often it is named, and a topic without partitions not at all.
The brokers that a partition is to move to are judged before it is looked for. The timeout counts
where something has to be waited for, which is never here.

Source: Kafka's KafkaController of 2.4 to 2.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ...wire.api.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ...wire.stored.cluster import PartitionChangeRecord
from ..replication.controller import PREFERRED, UNCLEAN
from .one_change import write_together

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Topic

Moved = AlterPartitionReassignmentsResponse.Topic
Elected = ElectLeadersResponse.Topic

_UNKNOWN = "The partition does not exist."


def reassign_old(cluster: Cluster, request: AlterPartitionReassignmentsRequest) -> list[Moved]:
    """Move partitions; what each is answered."""
    wanted = {
        (topic.name, each.partition_index): each.replicas
        for topic in request.topics
        for each in topic.partitions
    }
    planned = []
    answers: dict[str, Moved] = {}
    for (name, index), replicas in wanted.items():
        answer = Moved.Partition(partition_index=index, error_message=None)
        answers.setdefault(name, Moved(name=name, partitions=[])).partitions.append(answer)
        try:
            if replicas is not None:
                _check_target(cluster, name, index, replicas)
            topic = _known(cluster, name, index)
            controller = cluster.replication.controller
            if replicas is not None and topic is None:
                raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)
            if topic is None:
                raise Refused(Error.NO_REASSIGNMENT_IN_PROGRESS)
            if replicas is None:
                records = controller.cancel(topic.id, index)
            else:
                records = controller.reassign(topic.id, index, replicas, may_change_number=True)
                records = records or _same_again(topic, index)
            planned.append((answer, records))
        except Refused as refused:
            answer.error_code, answer.error_message = refused.error, refused.message
    write_together(cluster, planned)
    cluster.replication.settle()
    return list(answers.values())


def _same_again(topic: Topic, index: int) -> list[PartitionChangeRecord]:
    """What a move to where a partition is already writes: a new epoch of its leader."""
    leader = topic.partitions[index].leader
    if leader < 0:
        return []
    return [PartitionChangeRecord(partition_id=index, topic_id=topic.id, leader=leader)]


def _check_target(cluster: Cluster, name: str, index: int, replicas: list[int]) -> None:
    """Whether a partition may move to these brokers. Raises Refused."""
    message = None
    topic = _known(cluster, name, index)
    has = [] if topic is None else topic.partitions[index].replicas
    if not replicas:
        message = "Empty replica list specified in partition reassignment."
    elif len({*replicas}) < len(replicas):
        message = f"Duplicate replica ids in partition reassignment replica list: {replicas}"
    elif min(replicas) < 0:
        message = f"Invalid broker id in replica list: {replicas}"
    elif not {*replicas} - {*has} <= {*cluster.replication.registered().active}:
        message = f"Replica assignment has brokers that are not alive. Replica list: {replicas}"
    if message is not None:
        raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)


def elect_old(cluster: Cluster, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Give partitions their preferred leader, or any; null asks for all, and names those for which
    something is to be said."""
    if request.election_type not in (PREFERRED, UNCLEAN):
        return _failed(request)
    wanted = [
        (topic.topic, index)
        for topic in request.topic_partitions or ()
        for index in topic.partitions
    ]
    if request.topic_partitions is None:
        wanted = [(t.name, index) for t in cluster.topics for index in range(len(t.partitions))]
    planned = []
    answers: dict[str, Elected] = {}
    for name, index in dict.fromkeys(wanted):
        answer = Elected.Partition(partition_id=index, error_message=None)
        try:
            topic = _known(cluster, name, index)
            if topic is None:
                raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)
            controller = cluster.replication.controller
            planned.append((answer, controller.elect(topic.id, index, request.election_type)))
        except Refused as refused:
            answer.error_code, answer.error_message = refused.error, refused.message
            if refused.error is Error.ELECTION_NOT_NEEDED:
                answer.error_message = "Leader election not needed for topic partition."
                if request.topic_partitions is None:
                    continue
        topics = answers.setdefault(name, Elected(topic=name, partition_result=[]))
        topics.partition_result.append(answer)
    write_together(cluster, planned)
    cluster.replication.settle()
    return ElectLeadersResponse(replica_election_results=list(answers.values()))


def _failed(request: ElectLeadersRequest) -> ElectLeadersResponse:
    """The answer to an unknown type of election."""
    error = Error.UNKNOWN_SERVER_ERROR
    return ElectLeadersResponse(
        error_code=error,
        replica_election_results=[
            Elected(
                topic=topic.topic,
                partition_result=[
                    Elected.Partition(partition_id=index, error_code=error, error_message=None)
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions or ()
        ],
    )


def _known(cluster: Cluster, name: str, index: int) -> Topic | None:
    """The topic of a partition, if there is that partition."""
    topic = cluster.topics.get(name)
    return topic if topic is not None and 0 <= index < len(topic.partitions) else None
