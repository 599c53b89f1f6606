"""ShareFetch (semantics N9-N16): sessions, what is acquired, and waiting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.share.acquired_records import AcquireParams
from odradek.emulator.share.delayed_share_fetch import DelayedShareFetch, Fetched, Limits
from odradek.emulator.share.share_partition_manager import TopicIdPartition
from odradek.emulator.share.state import SharePartitionKey
from odradek.storage import StoredBytes
from odradek.wire import Buffer, Error
from odradek.wire.api.share_fetch import ShareFetchRequest, ShareFetchResponse
from odradek.wire.batch import HEADER_SIZE, batches

from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    RELEASE,
    RENEW,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
    share_fetch_request,
)
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last

_LOCK_MS = 30_000
_RENEWAL: dict[str, Any] = {
    "is_renew_ack": True,
    "max_bytes": 0,
    "max_records": 0,
    "batch_size": 0,
}


@pytest.fixture
def topic_id(cluster: Cluster, client: Client) -> bytes:
    """The id of t, of one partition, whose state is initialised for group g."""
    cluster.groups.ensure_topic()
    topic = cluster.create_topic("t", 1, {})
    share_beat(client)
    return topic.id


def _append(client: Client, count: int) -> None:
    produce(client, batch(*(b"%d" % number for number in range(count))))


@pytest.mark.parametrize("version", first_and_last(ShareFetchRequest))
def test_records_are_acquired_once(client: Client, topic_id: bytes, version: int) -> None:
    part = (topic_id, 0)
    first = share_fetch(client, {part: ()}, version=version)
    assert (first.error_code, first.acquisition_lock_timeout_ms) == (0, _LOCK_MS)
    assert acquired(first) == [], "the group begins at the end"
    _append(client, 3)
    assert acquired(share_fetch(client, epoch=1, version=version)) == [(0, 2, 1)]
    assert acquired(share_fetch(client, epoch=2, version=version)) == []
    acks = {part: [(0, 1, [ACCEPT]), (2, 2, [RELEASE])]}
    answer = share_fetch(client, acks, 3, version=version)
    (partition,) = answer.responses[0].partitions
    assert (partition.acknowledge_error_code, acquired(answer)) == (0, [])
    assert acquired(share_fetch(client, epoch=4, version=version)) == [(2, 2, 2)]


@pytest.mark.parametrize(
    ("epoch", "more", "error"),
    [
        (-1, {}, Error.SHARE_SESSION_NOT_FOUND),
        (5, {}, Error.SHARE_SESSION_NOT_FOUND),
        (-2, {}, Error.SHARE_SESSION_NOT_FOUND),
        (0, {"group_id": None}, Error.INVALID_REQUEST),
        (0, {"member_id": None}, Error.INVALID_REQUEST),
        (0, {"member_id": ""}, Error.INVALID_REQUEST),
        (0, {"member_id": "m" * 37}, Error.INVALID_REQUEST),
        (0, {"share_acquire_mode": 2}, Error.UNKNOWN_SERVER_ERROR),
        (0, {"is_renew_ack": True}, Error.INVALID_REQUEST),
    ],
)
def test_what_opens_no_session(
    client: Client, topic_id: bytes, epoch: int, more: dict[str, Any], error: Error
) -> None:
    assert share_fetch(client, {(topic_id, 0): ()}, epoch, **more).error_code == error


def test_an_epoch_follows_the_one_before(client: Client, topic_id: bytes) -> None:
    share_fetch(client, {(topic_id, 0): ()})
    assert share_fetch(client, epoch=2).error_code == Error.INVALID_SHARE_SESSION_EPOCH
    assert share_fetch(client, epoch=1).error_code == 0
    assert share_fetch(client, epoch=-1).error_code == 0
    assert share_fetch(client, epoch=2).error_code == Error.SHARE_SESSION_NOT_FOUND


def test_the_first_request_has_no_acknowledgements(client: Client, topic_id: bytes) -> None:
    answer = share_fetch(client, {(topic_id, 0): [(0, 0, [ACCEPT])]})
    assert answer.error_code == Error.INVALID_REQUEST


def test_partitions_and_topics_that_are_not_there(client: Client, topic_id: bytes) -> None:
    answer = share_fetch(client, {(topic_id, 0): (), (topic_id, 7): ()})
    errors = [each.error_code for each in answer.responses[0].partitions]
    assert errors == [0, Error.UNKNOWN_TOPIC_OR_PARTITION]
    unknown = share_fetch(client, {(bytes(15) + b"x", 0): ()})
    assert (unknown.error_code, unknown.responses) == (Error.UNKNOWN_SERVER_ERROR, [])


def test_a_deleted_topic_fails_the_answer_and_nothing_else(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    part, gone = (topic_id, 0), cluster.create_topic("gone", 1, {})
    share_fetch(client, {part: (), (gone.id, 0): ()})
    _append(client, 2)
    assert acquired(share_fetch(client, epoch=1)) == [(0, 1, 1)]
    cluster.topics.delete(gone)

    acks = {part: [(0, 0, [ACCEPT]), (1, 1, [RELEASE])]}
    client.send(share_fetch_request(acks, 2, max_wait_ms=500, min_bytes=100_000), 2)
    assert client.answers() == [], "it waits as if the topic were there"
    cluster.advance(500)
    (answer,) = client.answers()
    assert (answer.error_code, answer.responses) == (Error.UNKNOWN_SERVER_ERROR, [])

    again = share_acknowledge(client, {part: [(0, 0, [ACCEPT]), (1, 1, [ACCEPT])]}, 3)
    (partition,) = again.responses[0].partitions
    assert partition.error_code == 0, "0 was acknowledged, and 1 acquired by the failed answer"
    _append(client, 1)
    assert share_fetch(client, epoch=4).error_code == Error.UNKNOWN_SERVER_ERROR
    healed = share_fetch(client, epoch=5, forgotten={gone.id: [0]})
    assert (healed.error_code, acquired(healed)) == (0, [])
    cluster.advance(_LOCK_MS)
    assert acquired(share_fetch(client, epoch=6)) == [(2, 2, 2)]


def test_a_renewal_does_not_look_at_topics(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    part, gone = (topic_id, 0), cluster.create_topic("gone", 1, {})
    share_fetch(client, {part: (), (gone.id, 0): ()})
    _append(client, 2)
    share_fetch(client, epoch=1)
    cluster.topics.delete(gone)
    answer = share_fetch(client, {part: [(0, 1, [RENEW])]}, 2, **_RENEWAL)
    (partition,) = answer.responses[0].partitions
    assert (answer.error_code, partition.acknowledge_error_code) == (0, 0)


def test_a_fetch_waits_for_records(cluster: Cluster, client: Client, topic_id: bytes) -> None:
    share_fetch(client, {(topic_id, 0): ()})
    client.send(share_fetch_request(epoch=1, max_wait_ms=500, min_bytes=1), 2)
    assert client.answers() == []
    _append(client_of(cluster), 2)
    (answer,) = client.answers()
    assert acquired(answer) == [(0, 1, 1)]
    client.send(share_fetch_request(epoch=2, max_wait_ms=500, min_bytes=1), 2)
    cluster.advance(500)
    (answer,) = client.answers()
    assert (answer.error_code, acquired(answer)) == (0, [])


@pytest.mark.parametrize("by", ["acknowledgement", "fetch", "end of the session"])
@pytest.mark.parametrize(("first", "then"), [(RELEASE, 3), (ACCEPT, 2)])
def test_released_records_wake_no_fetch_that_waits_unless_the_start_moves(
    cluster: Cluster, client: Client, topic_id: bytes, by: str, first: int, then: int
) -> None:
    """As 4.3.1: it has them when its time is over."""
    part = (topic_id, 0)
    share_fetch(client, {part: ()})
    _append(client, 3)
    share_fetch(client, epoch=1)
    other = client_of(cluster)
    share_fetch(other, {part: ()}, member_id="b")
    other.send(share_fetch_request(None, 1, "b", max_wait_ms=500, min_bytes=1), 2)
    acks = {part: [(0, 0, [first]), (1, 2, [RELEASE])]}
    if by == "fetch":
        assert acquired(share_fetch(client, acks, 2)) == []
    elif by == "acknowledgement":
        share_acknowledge(client, acks, 2)
    else:
        share_acknowledge(client, {part: [(0, 0, [first])]}, -1)
    if first == RELEASE:
        assert other.answers() == []
        cluster.advance(500)
    (answer,) = other.answers()
    assert sum(last - low + 1 for low, last, _ in acquired(answer)) == then


def test_the_limit_is_reached_at_the_end_of_a_batch_or_exactly(
    client: Client, topic_id: bytes
) -> None:
    share_fetch(client, {(topic_id, 0): ()})
    for _ in range(3):
        _append(client, 4)
    assert acquired(share_fetch(client, epoch=1, max_records=0)) == []
    assert acquired(share_fetch(client, epoch=2, max_records=5)) == [(0, 7, 1)]
    exact = share_fetch(client, epoch=3, max_records=3, share_acquire_mode=1)
    assert acquired(exact) == [(8, 10, 1)]
    assert acquired(share_fetch(client, epoch=4)) == [(11, 11, 1)]


def test_sent_are_the_batches_with_what_is_acquired(client: Client, topic_id: bytes) -> None:
    def sent(answer: ShareFetchResponse) -> list[int]:
        (partition,) = answer.responses[0].partitions
        return [header.base_offset for _, header in batches(partition.records or b"")]

    share_fetch(client, {(topic_id, 0): ()})
    for _ in range(4):
        _append(client, 2)
    first = share_fetch(client, epoch=1, max_records=6)
    assert (acquired(first), sent(first)) == ([(0, 5, 1)], [0, 2, 4])
    rest = share_fetch(client, epoch=2)
    assert (acquired(rest), sent(rest)) == ([(6, 7, 1)], [6])


def test_ranges_are_whole_batches(client: Client, topic_id: bytes) -> None:
    share_fetch(client, {(topic_id, 0): ()})
    for _ in range(4):
        _append(client, 3)
    found = acquired(share_fetch(client, epoch=1, batch_size=4))
    assert found == [(0, 5, 1), (6, 11, 1)]


def test_a_lock_ends_and_a_record_is_delivered_so_often(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    share_fetch(client, {(topic_id, 0): ()})
    _append(client, 1)
    for delivery in range(1, 6):
        assert acquired(share_fetch(client, epoch=delivery)) == [(0, 0, delivery)]
        cluster.advance(_LOCK_MS)
    assert acquired(share_fetch(client, epoch=6)) == []
    (share,) = cluster.share_partition_managers.at(1).shares()
    assert share.start_offset == 1, "the record is archived"


def test_batches_that_were_delivered_often_are_split(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    share_fetch(client, {(topic_id, 0): ()})
    _append(client, 8)
    found = []
    for epoch in range(1, 6):
        found.append(acquired(share_fetch(client, epoch=epoch)))
        cluster.advance(_LOCK_MS)
    assert found == [[(0, 7, 1)], [(0, 7, 2)], [(0, 7, 3)], [(0, 3, 4)], [(0, 0, 5)]]


def test_what_a_member_has_is_free_when_its_connection_closes(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    other = client_of(cluster)
    share_fetch(client, {(topic_id, 0): ()}, member_id="b")
    share_fetch(other, {(topic_id, 0): ()})
    _append(client, 2)
    assert acquired(share_fetch(other, epoch=1)) == [(0, 1, 1)]
    assert acquired(share_fetch(client, epoch=1, member_id="b")) == []
    other.connection.close()
    assert acquired(share_fetch(client, epoch=2, member_id="b")) == [(0, 1, 2)]


def test_renewing_fetches_nothing(client: Client, topic_id: bytes) -> None:
    part = (topic_id, 0)
    share_fetch(client, {part: ()})
    _append(client, 2)
    share_fetch(client, epoch=1)
    answer = share_fetch(client, {part: [(0, 1, [RENEW])]}, 2, **_RENEWAL)
    (partition,) = answer.responses[0].partitions
    assert (partition.acknowledge_error_code, partition.records) == (0, b"")


def test_a_restart_keeps_what_was_acknowledged(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    part = (topic_id, 0)
    share_fetch(client, {part: ()})
    _append(client, 4)
    share_fetch(client, epoch=1)
    acks = [(0, 0, [ACCEPT]), (1, 1, [RELEASE]), (2, 2, [ACCEPT])]
    share_acknowledge(client, {part: acks}, 2)
    cluster.share_partition_managers.at(1).clear()
    answer = share_fetch(client, {part: ()}, member_id="b")
    assert acquired(answer) == [(1, 1, 2), (3, 3, 1)], "3 was acquired by nobody that counts"


def test_many_bytes_stay_in_the_log_until_they_are_sent(
    client_on_disk: tuple[Cluster, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, client = client_on_disk
    topic = cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()
    share_beat(client)
    part = TopicIdPartition(topic.id, 0)
    share_fetch(client, {part: ()}, max_records=1)
    for letter in (b"a", b"b", b"c", b"d"):
        produce(client, batch(letter * 100_000))
    sizes: list[int] = []
    read = StoredBytes.read

    def counted(stored: StoredBytes, position: int, most: int) -> Buffer:
        sizes.append(most)
        return read(stored, position, most)

    monkeypatch.setattr(StoredBytes, "read", counted)
    found: list[Mapping[TopicIdPartition, Fetched]] = []
    leader, limits = cluster.share_partition_managers.at(1), Limits(0, 0, 350_000, 2)
    params = AcquireParams("a", False, 500)
    fetch = DelayedShareFetch(cluster, leader, "g", params, limits, found.append, reads_later=True)
    fetch.begin({part: topic.partitions[0]})
    fetched = found[0][part]
    assert [tuple(each) for each in fetched.acquired] == [(0, 1, 1)]
    assert set(sizes) == {HEADER_SIZE}, "only headers were read"
    assert isinstance(fetched.records, StoredBytes)
    sent = b""
    while len(sent) < len(fetched.records):
        sent += bytes(fetched.records.read(len(sent), 1 << 20))
    assert [header.base_offset for _, header in batches(sent)] == [0, 1]
    assert b"b" * 100_000 in sent


def test_a_short_part_of_many_bytes_is_in_memory(
    client_on_disk: tuple[Cluster, Client],
) -> None:
    """A short answer is joined: it cannot be left in the log."""
    cluster, client = client_on_disk
    topic = cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()
    share_beat(client)
    part = TopicIdPartition(topic.id, 0)
    share_fetch(client, {part: ()}, max_records=1)
    produce(client, batch(b"short"))
    produce(client, batch(b"l" * 200_000))
    found: list[Mapping[TopicIdPartition, Fetched]] = []
    leader, limits = cluster.share_partition_managers.at(1), Limits(0, 0, 350_000, 1)
    params = AcquireParams("a", False, 500)
    fetch = DelayedShareFetch(cluster, leader, "g", params, limits, found.append, reads_later=True)
    fetch.begin({part: topic.partitions[0]})
    records = found[0][part].records
    assert not isinstance(records, StoredBytes)
    assert [header.base_offset for _, header in batches(records)] == [0]


@pytest.fixture
def client_on_disk(tmp_path: Path) -> Iterator[tuple[Cluster, Client]]:
    """A cluster with files."""
    cluster = open_cluster(tmp_path)
    yield cluster, client_of(cluster)
    cluster.close()


def test_after_a_fenced_acknowledgement_the_next_fetch_acquires(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    part = (topic_id, 0)
    share_fetch(client, {part: ()})
    _append(client, 3)
    assert acquired(share_fetch(client, epoch=1)) == [(0, 2, 1)]
    cluster.share_coordinators.initialize(SharePartitionKey("g", *part), 9, 0)
    asked = share_fetch_request({part: [(0, 0, [ACCEPT])]}, 2, max_wait_ms=500, min_bytes=1)
    client.send(asked, 2)
    cluster.advance(499)
    assert client.answers() == []
    cluster.advance(1)
    [answer] = client.answers()
    [partition] = answer.responses[0].partitions
    errors = partition.error_code, partition.acknowledge_error_code
    assert (errors, acquired(answer)) == ((0, Error.NOT_LEADER_OR_FOLLOWER), [])
    assert acquired(share_fetch(client, epoch=3)) == [(0, 2, 1)]


def test_a_state_that_cannot_be_loaded_is_no_error_of_a_fenced_acknowledgement(
    cluster: Cluster, client: Client, topic_id: bytes
) -> None:
    part, key = (topic_id, 0), SharePartitionKey("g", topic_id, 0)
    share_fetch(client, {part: ()})
    _append(client, 1)
    assert acquired(share_fetch(client, epoch=1)) == [(0, 0, 1)]
    cluster.share_coordinators.initialize(key, 9, 0)
    cluster.share_coordinators.read(key, 7)  # for a leader of a later epoch
    asked = share_fetch_request({part: [(0, 0, [ACCEPT])]}, 2, max_wait_ms=500, min_bytes=1)
    client.send(asked, 2)
    cluster.advance(500)
    [answer] = client.answers()
    [partition] = answer.responses[0].partitions
    assert (partition.error_code, partition.acknowledge_error_code) == (0, 6)
