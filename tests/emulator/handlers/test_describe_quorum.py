"""DescribeQuorum, AddRaftVoter, RemoveRaftVoter: one voter, and no other (semantics I17, J)."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID
from odradek.wire.api.add_raft_voter import AddRaftVoterRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from odradek.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

from tests.support.clock import NOW
from tests.support.cluster import Client

LOG = "__cluster_metadata"
SOME = bytes(15) + b"\7"


def describe(client: Client, *asked: tuple[str, list[int]]) -> DescribeQuorumResponse:
    made = DescribeQuorumRequest.Topic
    topics = [
        made(topic_name=name, partitions=[made.Partition(partition_index=n) for n in indexes])
        for name, indexes in asked
    ]
    answer: DescribeQuorumResponse = client.ask(DescribeQuorumRequest(topics=topics), 2)
    return answer


def keep_voters_in_the_log(client: Client) -> None:
    update = UpdateFeaturesRequest.FeatureUpdate(feature="kraft.version", max_version_level=1)
    client.ask(UpdateFeaturesRequest(feature_updates=[update], validate_only=False), 1)


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


def test_directories_are_told_once_voters_are_in_the_log(cluster: Cluster, client: Client) -> None:
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


def add(client: Client, voter: int = 2, directory: bytes = SOME, **more: Any) -> tuple[int, str]:
    listener = AddRaftVoterRequest.Listener(name="controller", host="h", port=1)
    fields: dict[str, Any] = {"cluster_id": None, "timeout_ms": 1, "listeners": [listener], **more}
    request = AddRaftVoterRequest(voter_id=voter, voter_directory_id=directory, **fields)
    answer = client.ask(request, 1)
    return answer.error_code, answer.error_message


def remove(client: Client, voter: int, directory: bytes = SOME) -> int:
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter, voter_directory_id=directory)
    code: int = client.ask(request, 0).error_code
    return code


def test_voters_in_configs_cannot_change(client: Client) -> None:
    sentence = "Cluster doesn't support adding voter because the kraft.version feature is 0"
    assert add(client) == (35, sentence)
    assert remove(client, 1) == 35


def test_voters_that_cannot_be(cluster: Cluster, client: Client) -> None:
    assert add(client, -1) == (42, "Add voter request didn't include a valid voter")
    assert add(client, 2, NO_ID)[0] == 42
    assert add(client, listeners=[])[1] == (
        "Add voter request didn't include the endpoint (Endpoints(endpoints={})) for the default "
        "listener ListenerName(CONTROLLER)"
    )
    code, message = add(client, cluster_id="another")
    sentence = f'The given id "another" doesn\'t match the cluster id "{cluster.cluster_id}"'
    assert (code, message) == (104, sentence)


def test_voters_in_the_log_stay_as_they_are(client: Client) -> None:
    keep_voters_in_the_log(client)
    assert add(client)[0] == 7
    assert add(client, 1)[0] == 126
    assert remove(client, 2) == 127
