"""ElectLeaders (43): give partitions their preferred leader, or any (semantics I7).

Null asks for all partitions: then every topic is listed, with those partitions where something was
done or went wrong.

Not emulated: waiting (`timeout_ms`), but a limit of 0 or less is over at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ...wire.stored.cluster import PartitionChangeRecord
from ..base.call import Call
from ..replication.controller import PREFERRED, UNCLEAN
from .one_change import write_together
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Topic = ElectLeadersResponse.Topic
Answer = Topic.Partition


class Election:
    """One request on its way: answers, and the records that they stand for."""

    def __init__(self, cluster: Cluster, election_type: int) -> None:
        self.planned: list[tuple[Answer, list[PartitionChangeRecord]]] = []
        self._cluster = cluster
        self._type = election_type

    def of_all(self, name: str, partitions: int) -> Topic:
        """The partitions of a topic for which something is to be said."""
        answers = [self.of(name, index) for index in range(partitions)]
        worth_saying = [each for each in answers if each.error_code != Error.ELECTION_NOT_NEEDED]
        return Topic(topic=name, partition_result=worth_saying)

    def of(self, name: str, index: int) -> Answer:
        answer = Answer(partition_id=index, error_message=None)
        try:
            topic = self._cluster.topics.get(name)
            if topic is None:
                raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
            if not 0 <= index < len(topic.partitions):
                message = f"No such partition as {name}-{index}"
                raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)
            records = self._cluster.replication.controller.elect(topic.id, index, self._type)
            self.planned.append((answer, records))
        except Refused as refused:
            answer.error_code, answer.error_message = refused.error, refused.message
        return answer


@handler(ElectLeadersRequest)
def elect_leaders(
    cluster: Cluster, call: Call, request: ElectLeadersRequest
) -> ElectLeadersResponse:
    if not cluster.release.has_kraft:
        from .moves_old import elect_old

        return elect_old(cluster, request)
    if request.topic_partitions == []:
        return ElectLeadersResponse(replica_election_results=[])
    if request.timeout_ms <= 0:
        return _failed(request, Error.REQUEST_TIMED_OUT, None)
    if request.election_type not in (PREFERRED, UNCLEAN):
        message = f"Unknown election type {request.election_type}"
        return _failed(request, Error.INVALID_REQUEST, message)
    election = Election(cluster, request.election_type)
    if request.topic_partitions is None:
        topics = [election.of_all(topic.name, len(topic.partitions)) for topic in cluster.topics]
    else:
        topics = [
            Topic(
                topic=asked.topic,
                partition_result=[election.of(asked.topic, index) for index in asked.partitions],
            )
            for asked in request.topic_partitions
        ]
    write_together(cluster, election.planned)
    cluster.replication.settle()
    return ElectLeadersResponse(replica_election_results=topics)


def _failed(
    request: ElectLeadersRequest, error: Error, message: str | None
) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=error,
        replica_election_results=[
            Topic(
                topic=asked.topic,
                partition_result=[
                    Answer(partition_id=index, error_code=error, error_message=message)
                    for index in asked.partitions
                ],
            )
            for asked in request.topic_partitions or ()
        ],
    )
