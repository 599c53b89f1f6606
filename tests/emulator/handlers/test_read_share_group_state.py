"""ReadShareGroupState (semantics N24): the state, for the leader of a partition."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.wire import Error

from tests.requests.share_states import initialize, read_state, state_topic, summary, write_state
from tests.support.cluster import Client


def test_what_is_not_initialised_is_not_read(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    answer = read_state(client, topic_id)
    assert (answer.error_code, answer.error_message) == (
        Error.INVALID_REQUEST,
        "Read operation on uninitialized share partition not allowed.",
    )


def test_a_new_leader_is_noted(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    initialize(client, topic_id, start_offset=3)
    assert read_state(client, topic_id, 4).start_offset == 3
    assert summary(client, topic_id).leader_epoch == 4
    older = write_state(client, topic_id, leader_epoch=3)
    assert older.error_code == Error.FENCED_LEADER_EPOCH
    assert read_state(client, topic_id, -1).error_code == 0
