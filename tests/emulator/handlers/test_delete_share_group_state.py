"""DeleteShareGroupState (semantics N24, N25): removing a state."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.wire import Error

from tests.requests.share_states import delete_state, initialize, state_topic, summary
from tests.support.cluster import Client


def test_a_state_is_gone(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    assert delete_state(client, topic_id).error_code == 0, "there is nothing to delete"
    initialize(client, topic_id, start_offset=4)
    assert summary(client, topic_id).start_offset == 4
    assert delete_state(client, topic_id).error_code == 0
    assert summary(client, topic_id).start_offset == -1
    assert initialize(client, topic_id, state_epoch=0).error_code == 0, "epochs are forgotten"
    missing = delete_state(client, topic_id, partition=9)
    assert missing.error_code == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_deleted_topic_has_no_states(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    initialize(client, topic_id)
    cluster.topics.delete(cluster.topic("t"))
    assert not cluster.share_coordinators.has_states
