"""DeleteShareGroupOffsets (semantics N21), and DeleteGroups of share groups (N7)."""

from __future__ import annotations

from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest

from tests.requests.share_groups import LEAVES, share_beat, share_fetch_request
from tests.support.cluster import Client


def _delete(client: Client, group: str, *names: str) -> Any:
    topics = [DeleteShareGroupOffsetsRequest.Topic(topic_name=name) for name in names]
    return client.ask(DeleteShareGroupOffsetsRequest(group_id=group, topics=topics), 0)


def test_offsets_are_forgotten(cluster: Cluster, client: Client) -> None:
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 1, {})
    assert _delete(client, "").error_code == Error.INVALID_GROUP_ID
    assert _delete(client, "g", "t").error_code == Error.GROUP_ID_NOT_FOUND
    share_beat(client)
    assert _delete(client, "g", "t").error_code == Error.NON_EMPTY_GROUP
    share_beat(client, epoch=LEAVES)
    answer = _delete(client, "g", "t", "none")
    found = [(each.topic_name, each.topic_id, each.error_code) for each in answer.responses]
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert found == [("t", topic.id, 0), ("none", bytes(16), unknown)]
    client.send(share_fetch_request({(topic.id, 0): ()}, max_wait_ms=100), 2)
    cluster.advance(100)
    (answer,) = client.answers()
    assert answer.responses[0].partitions[0].error_code == Error.UNKNOWN_SERVER_ERROR
    assert _delete(client, "g", "t").responses[0].error_code == unknown


def test_a_group_is_deleted_with_its_states(cluster: Cluster, client: Client) -> None:
    def delete() -> int:
        answer = client.ask(DeleteGroupsRequest(groups_names=["g"]), 2)
        error: int = answer.results[0].error_code
        return error

    cluster.groups.ensure_topic()
    cluster.create_topic("t", 2, {})
    share_beat(client)
    assert delete() == Error.NON_EMPTY_GROUP
    share_beat(client, epoch=LEAVES)
    assert cluster.share_coordinators.has_states
    assert delete() == 0
    assert not cluster.share_coordinators.has_states
    assert delete() == Error.GROUP_ID_NOT_FOUND
