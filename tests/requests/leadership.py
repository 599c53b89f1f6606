"""Who leads and where replicas are: ElectLeaders and AlterPartitionReassignments."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest

from tests.requests.asker import Asker

PREFERRED, UNCLEAN = 0, 1
Topics = list[tuple[str, list[int]]]


def elect(
    client: Asker, topics: Topics | None, kind: int = PREFERRED, version: int = 2, **more: int
) -> list[Any]:
    """Elect leaders; return the error of the whole, and topics with the errors of partitions."""
    asked = None
    if topics is not None:
        asked = [ElectLeadersRequest.Topic(topic=name, partitions=parts) for name, parts in topics]
    answer = client.ask(
        ElectLeadersRequest(election_type=kind, topic_partitions=asked, **more), version
    )
    return [
        answer.error_code,
        *(
            (t.topic, [p.error_code for p in t.partition_result])
            for t in answer.replica_election_results
        ),
    ]


def move(
    client: Asker, replicas: list[int] | None, version: int = 1, **more: Any
) -> tuple[int, str | None]:
    """Move the replicas of t-0; return error and message."""
    made = AlterPartitionReassignmentsRequest
    part = made.Topic.Partition(partition_index=0, replicas=replicas)
    answer = client.ask(made(topics=[made.Topic(name="t", partitions=[part])], **more), version)
    (found,) = answer.responses[0].partitions
    return found.error_code, found.error_message
