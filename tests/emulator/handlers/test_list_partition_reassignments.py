"""ListPartitionReassignments: those that wait for a broker (semantics O)."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest

from tests.requests.leadership import move
from tests.support.cluster import client_of
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(ListPartitionReassignmentsRequest))
@pytest.mark.parametrize("named", [True, False])
def test_a_move_that_began_is_over(three: Cluster, version: int, named: bool) -> None:
    client = client_of(three)
    assert move(client, [3, 1]) == (0, None)
    Topic = ListPartitionReassignmentsRequest.Topic
    topics = [Topic(name="t", partition_indexes=[0, 9]), Topic(name="none", partition_indexes=[0])]
    request = ListPartitionReassignmentsRequest(topics=topics if named else None)
    answer = client.ask(request, version)
    assert (answer.error_code, answer.error_message, answer.topics) == (0, None, [])


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time_is_enough_as_for_a_real_broker(three: Cluster, timeout_ms: int) -> None:
    request = ListPartitionReassignmentsRequest(topics=None, timeout_ms=timeout_ms)
    assert client_of(three).ask(request, 0).error_code == 0


def test_a_move_to_a_broker_that_is_down_goes_on(three: Cluster) -> None:
    three.replication.stop(3)
    assert move(client_of(three), [3, 1]) == (0, None)
    made = ListPartitionReassignmentsRequest.Topic

    def listed(*indexes: int) -> list[tuple[str, int, list[int]]]:
        topics = [made(name="t", partition_indexes=list(indexes))] if indexes else None
        request = ListPartitionReassignmentsRequest(topics=topics)
        return [
            (topic.name, each.partition_index, each.adding_replicas)
            for topic in client_of(three).ask(request, 0).topics
            for each in topic.partitions
        ]

    assert listed() == listed(0, 9) == [("t", 0, [3])]
    assert listed(9) == []
    three.replication.start(3)
    assert listed() == []
