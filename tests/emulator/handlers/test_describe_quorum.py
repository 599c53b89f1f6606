"""DescribeQuorum (semantics I17): the one voter, and no other log."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID
from odradek.wire.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse

from tests.requests.quorum import keep_voters_in_the_log
from tests.support.clock import NOW
from tests.support.cluster import Client
from tests.support.versions import first_and_last

LOG = "__cluster_metadata"


def describe(
    client: Client, *asked: tuple[str, list[int]], version: int = 2
) -> DescribeQuorumResponse:
    made = DescribeQuorumRequest.Topic
    topics = [
        made(topic_name=name, partitions=[made.Partition(partition_index=n) for n in indexes])
        for name, indexes in asked
    ]
    answer: DescribeQuorumResponse = client.ask(DescribeQuorumRequest(topics=topics), version)
    return answer


def test_the_only_voter_leads_and_has_everything(cluster: Cluster, client: Client) -> None:
    answer = describe(client, (LOG, [0]))
    ((found,),) = [topic.partitions for topic in answer.topics]
    end = cluster.metadata.end_offset
    assert (found.error_code, found.leader_id, found.leader_epoch) == (0, 1, 1)
    (voter,) = found.current_voters
    assert (voter.replica_id, voter.log_end_offset, found.high_watermark) == (1, end, end)
    assert (voter.last_fetch_timestamp, voter.last_caught_up_timestamp) == (NOW, NOW)
    assert (voter.replica_directory_id, found.observers) == (NO_ID, [])
    assert [node.node_id for node in answer.nodes] == [1]


@pytest.mark.parametrize("version", first_and_last(DescribeQuorumRequest))
def test_later_versions_tell_more(cluster: Cluster, client: Client, version: int) -> None:
    answer = describe(client, (LOG, [0]), version=version)
    ((found,),) = [topic.partitions for topic in answer.topics]
    (voter,) = found.current_voters
    assert (found.leader_id, voter.replica_id) == (1, 1)
    assert voter.last_fetch_timestamp == (NOW if version >= 1 else -1)
    assert [node.node_id for node in answer.nodes] == ([1] if version >= 2 else [])


def test_directories_are_reported_once_voters_are_in_the_log(
    cluster: Cluster, client: Client
) -> None:
    keep_voters_in_the_log(client)
    ((found,),) = [topic.partitions for topic in describe(client, (LOG, [0])).topics]
    expected = cluster.log_dir.properties.directory_id
    assert found.current_voters[0].replica_directory_id == expected


@pytest.mark.parametrize(
    "asked", [[(LOG, [1])], [(LOG, [0, 0])], [(LOG, [0]), ("t", [0])], [("t", [0])]], ids=str
)
def test_nothing_else_is_found(client: Client, asked: list[tuple[str, list[int]]]) -> None:
    answer = describe(client, *asked)
    codes = {part.error_code for topic in answer.topics for part in topic.partitions}
    assert (answer.error_code, codes, answer.nodes) == (0, {3}, [])
