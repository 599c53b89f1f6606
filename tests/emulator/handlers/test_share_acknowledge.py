"""ShareAcknowledge (semantics N17-N19): types, sessions, renewing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.share.state import SharePartitionKey
from odradek.wire import Error
from odradek.wire.api.share_acknowledge import ShareAcknowledgeRequest

from tests.requests.offsets import delete_before
from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last


@pytest.fixture
def part(cluster: Cluster, client: Client) -> tuple[bytes, int]:
    """Partition 0 of t, of which member a has acquired 0 to 5."""
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 1, {})
    share_beat(client)
    share_fetch(client, {(topic.id, 0): ()})
    produce(client, batch(*(b"%d" % number for number in range(6))))
    share_fetch(client, epoch=1)
    return topic.id, 0


@pytest.mark.parametrize("version", first_and_last(ShareAcknowledgeRequest))
def test_each_offset_has_its_type(client: Client, part: tuple[bytes, int], version: int) -> None:
    types = [ACCEPT, RELEASE, REJECT, GAP, RELEASE, ACCEPT]
    answer = share_acknowledge(client, {part: [(0, 5, types)]}, 2, version=version)
    assert (answer.error_code, answer.responses[0].partitions[0].error_code) == (0, 0)
    assert answer.acquisition_lock_timeout_ms == (30_000 if version >= 2 else 0)
    assert acquired(share_fetch(client, epoch=3)) == [(1, 1, 2), (4, 4, 2)]


@pytest.mark.parametrize(
    ("acks", "error"),
    [
        ([(0, 5, [5])], Error.INVALID_REQUEST),
        ([(0, 5, [-1])], Error.INVALID_REQUEST),
        ([(0, 5, [])], Error.INVALID_REQUEST),
        ([(0, 5, [ACCEPT, ACCEPT])], Error.INVALID_REQUEST),
        ([(3, 2, [ACCEPT])], Error.INVALID_REQUEST),
        ([(3, 4, [ACCEPT]), (0, 1, [ACCEPT])], Error.INVALID_REQUEST),
        ([(0, 6, [ACCEPT])], Error.INVALID_REQUEST),
        ([(7, 8, [ACCEPT])], Error.INVALID_REQUEST),
        ([(0, 5, [RENEW])], Error.INVALID_REQUEST),
        ([(0, 3, [ACCEPT]), (3, 3, [ACCEPT])], Error.INVALID_RECORD_STATE),
    ],
)
def test_one_bad_batch_refuses_all(
    client: Client,
    part: tuple[bytes, int],
    acks: list[tuple[int, int, Sequence[int]]],
    error: Error,
) -> None:
    answer = share_acknowledge(client, {part: acks}, 2)
    assert answer.responses[0].partitions[0].error_code == error
    fine = share_acknowledge(client, {part: [(0, 5, [ACCEPT])]}, 3)
    assert fine.responses[0].partitions[0].error_code == 0, "nothing was acknowledged before"


def test_another_member_s_records(
    cluster: Cluster, client: Client, part: tuple[bytes, int]
) -> None:
    other = client_of(cluster)
    share_fetch(other, {part: ()}, member_id="b")
    answer = share_acknowledge(other, {part: [(0, 5, [ACCEPT])]}, 1, "b")
    assert answer.responses[0].partitions[0].error_code == Error.INVALID_RECORD_STATE


def test_the_session_of_a_request(client: Client, part: tuple[bytes, int]) -> None:
    acks = {part: [(0, 0, [ACCEPT])]}
    assert share_acknowledge(client, acks, 0).error_code == Error.INVALID_SHARE_SESSION_EPOCH
    assert share_acknowledge(client, acks, 9).error_code == Error.INVALID_SHARE_SESSION_EPOCH
    nobody = share_acknowledge(client, acks, 1, "nobody")
    assert nobody.error_code == Error.SHARE_SESSION_NOT_FOUND
    unknown = {(bytes(15) + b"x", 0): [(0, 0, [ACCEPT])], (part[0], 9): [(0, 0, [ACCEPT])]}
    answer = share_acknowledge(client, acks | unknown, 2)
    errors = {each.error_code for topic in answer.responses for each in topic.partitions}
    assert errors == {0, Error.UNKNOWN_TOPIC_ID, Error.UNKNOWN_TOPIC_OR_PARTITION}
    assert share_acknowledge(client, {part: [(1, 1, [ACCEPT])]}, -1).error_code == 0
    again = share_fetch(client, {part: ()})
    assert acquired(again) == [(2, 5, 2)], "closing released the rest"


_RPC = "Error in write state RPC. "


@pytest.mark.parametrize(
    ("refuse", "error", "message"),
    [
        (
            lambda cluster, key: cluster.share_coordinators.delete(key),
            Error.UNKNOWN_SERVER_ERROR,
            f"{_RPC}Write operation on uninitialized share partition not allowed.",
        ),
        (
            lambda cluster, key: cluster.share_coordinators.initialize(key, 9, 0),
            Error.NOT_LEADER_OR_FOLLOWER,
            f"{_RPC}The share coordinator rejected the request because the share-group state"
            " epoch did not match.",
        ),
        (
            lambda cluster, key: cluster.share_coordinators.read(key, 9),
            Error.NOT_LEADER_OR_FOLLOWER,
            f"{_RPC}The leader epoch in the request is older than the epoch on the broker.",
        ),
    ],
)
def test_what_the_share_coordinator_refuses_is_of_one_partition(
    cluster: Cluster,
    client: Client,
    part: tuple[bytes, int],
    refuse: Callable[[Cluster, SharePartitionKey], object],
    error: Error,
    message: str,
) -> None:
    refuse(cluster, SharePartitionKey("g", *part))
    answer = share_acknowledge(client, {part: [(0, 0, [ACCEPT])]}, 2)
    (found,) = answer.responses[0].partitions
    assert (answer.error_code, found.error_code, found.error_message) == (0, error, message)


def test_the_locks_of_a_deleted_topic_end_with_it(
    cluster: Cluster,
    client: Client,
    part: tuple[bytes, int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    (share,) = cluster.share_partition_managers.at(1).shares()
    cluster.topics.delete(cluster.topic("t"))
    assert not any(state.lock for batch in share.batches for *_, state in batch.ranges())
    cluster.advance(60_000)
    assert not caplog.records, "nobody asks the coordinator to note what it has forgotten"


def test_a_range_across_a_start_that_nobody_read_fails_as_a_whole(
    cluster: Cluster, client: Client
) -> None:
    topic = cluster.create_topic("u", 1, {})
    cluster.groups.ensure_topic()
    share_beat(client, subscribed_topic_names=["u"])
    part = (topic.id, 0)
    share_fetch(client, {part: ()})
    produce(client, batch(b"a", b"b"), topic="u")
    delete_before(client, 2, "u")
    share_fetch(client, epoch=1)
    answer = share_acknowledge(client, {part: [(0, 4, [ACCEPT])]}, 2)
    assert (answer.error_code, answer.responses) == (Error.UNKNOWN_SERVER_ERROR, [])
    fetched = share_fetch(client, {part: [(0, 4, [ACCEPT])]}, 3)
    assert (fetched.error_code, fetched.responses) == (Error.UNKNOWN_SERVER_ERROR, [])


def test_renewing_keeps_a_record(cluster: Cluster, client: Client, part: tuple[bytes, int]) -> None:
    cluster.advance(20_000)
    share_acknowledge(client, {part: [(0, 2, [RENEW])]}, 2, is_renew_ack=True)
    cluster.advance(10_000)
    other = client_of(cluster)
    assert acquired(share_fetch(other, {part: ()}, member_id="b")) == [(3, 5, 2)]
    cluster.advance(20_000)
    assert acquired(share_fetch(other, epoch=1, member_id="b")) == [(0, 2, 2)]
