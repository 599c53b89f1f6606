"""InitializeShareGroupState (semantics N24): beginning a state, and beginning it anew."""

from __future__ import annotations

from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.initialize_share_group_state import InitializeShareGroupStateRequest

from tests.requests.share_states import initialize, read_state, state_topic, write_state
from tests.support.cluster import Client


def test_a_state_begins_anew(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    assert initialize(client, topic_id).error_code == 0
    write_state(client, topic_id, [(0, 4, 0, 1)])
    assert initialize(client, topic_id, state_epoch=2, start_offset=9).error_code == 0
    state = read_state(client, topic_id)
    assert (state.state_epoch, state.start_offset, state.state_batches) == (2, 9, [])
    older = initialize(client, topic_id, state_epoch=1)
    assert older.error_code == Error.FENCED_STATE_EPOCH


def test_what_is_not_there(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    assert initialize(client, bytes(15) + b"x").error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
    assert initialize(client, topic_id, partition=2).error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
    assert initialize(client, topic_id, partition=-1).error_code == Error.INVALID_REQUEST
    assert initialize(client, topic_id, group="") is None


def test_the_first_epoch_is_any(cluster: Cluster, client: Client) -> None:
    topic_id = state_topic(cluster)
    epochs = (-7, -5, -7, -1, 0, -2)
    refused = Error.FENCED_STATE_EPOCH
    answers = [initialize(client, topic_id, state_epoch=epoch).error_code for epoch in epochs]
    assert answers == [0, 0, refused, 0, 0, refused]
    missing = initialize(client, bytes(16), state_epoch=-9)
    assert missing.error_code == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_without_partitions_is_passed_over(cluster: Cluster, client: Client) -> None:
    """The other requests for states are answered with nothing then."""
    topic_id = state_topic(cluster)
    Topic = InitializeShareGroupStateRequest.Topic
    part = Topic.Partition(partition=1, state_epoch=0, start_offset=0)
    first = Topic.Partition(partition=0, state_epoch=0, start_offset=0)
    topics = [
        Topic(topic_id=topic_id, partitions=[]),
        Topic(topic_id=topic_id, partitions=[part, first]),
    ]
    answer = client.ask(InitializeShareGroupStateRequest(group_id="g", topics=topics), 0)
    (found,) = answer.results
    assert [each.partition for each in found.partitions] == [0, 1]
