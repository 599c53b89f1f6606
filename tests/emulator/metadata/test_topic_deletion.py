"""A topic goes, and comes again under its name, while clients are at it (semantics I3, C9, I18)."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire import Error, Refused
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.records import NewRecord, build_batch, read_records

from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import join_request
from tests.requests.produce import produce
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster

OFFSETS = "__consumer_offsets"


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.topics.create("t")


def record(value: bytes, sequence: int = -1, producer: int = -1) -> bytes:
    options: dict[str, Any] = {
        "producer_id": producer,
        "producer_epoch": 0,
        "base_sequence": sequence,
    }
    return bytes(build_batch([NewRecord(NOW, b"k", value)], **(options if producer >= 0 else {})))


def fetch(
    topic_id: bytes, *, wait_ms: int = 0, session: int = 0, epoch: int = -1, of_all: bool = True
) -> FetchRequest:
    return fetch_request(
        *([asked()] if of_all else []),
        topic_id=topic_id,
        max_wait_ms=wait_ms,
        session_id=session,
        session_epoch=epoch,
    )


def made_again(cluster: Cluster) -> bytes:
    """Delete the topic and make it again; return the new id."""
    cluster.topics.delete(cluster.topic("t"))
    return cluster.topics.create("t").id


def test_a_parked_fetch_is_answered_when_its_topic_goes_and_sees_nothing_of_the_next(
    client: Client, cluster: Cluster
) -> None:
    client.send(fetch(cluster.topic("t").id, wait_ms=60_000), 17)
    assert client.answers() == []
    made_again(cluster)
    cluster.settle()
    (answer,) = client.answers()
    (partition,) = answer.responses[0].partitions
    assert partition.error_code in (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID)
    assert not partition.records


def test_a_session_tells_a_topic_that_is_gone_from_one_that_was_made_again(
    client: Client, cluster: Cluster
) -> None:
    opened = client.ask(fetch(cluster.topic("t").id, epoch=0), 17)

    def next_error(epoch: int) -> int:
        request = fetch(b"", session=opened.session_id, epoch=epoch, of_all=False)
        answer = client.ask(request, 17)
        found: int = answer.responses[0].partitions[0].error_code
        return found

    cluster.topics.delete(cluster.topic("t"))
    assert next_error(1) == Error.UNKNOWN_TOPIC_OR_PARTITION
    cluster.topics.create("t")
    assert produce(client, record(b"new")).error_code == 0
    assert next_error(2) == Error.INCONSISTENT_TOPIC_ID


def test_what_a_producer_sends_under_the_old_id_is_refused(
    client: Client, cluster: Cluster
) -> None:
    old = cluster.topic("t").id
    new = made_again(cluster)
    assert produce(client, record(b"x"), version=13, topic_id=old).error_code == 100
    assert produce(client, record(b"x"), version=13, topic_id=new).error_code == 0


def test_a_topic_made_again_knows_no_producer_of_the_old_one(
    client: Client, cluster: Cluster
) -> None:
    for sequence in range(3):
        assert produce(client, record(b"old", sequence, 7)).error_code == 0
    made_again(cluster)
    assert produce(client, record(b"new", 0, 7)).base_offset == 0
    log = cluster.partition("t", 0).log
    assert [r.value for r in read_records(log.read(0, 1 << 20))] == [b"new"]


def test_nobody_coordinates_groups_while_their_topic_is_gone(
    client: Client, cluster: Cluster
) -> None:
    cluster.groups.ensure_topic()
    member = client.ask(join_request(), 3).member_id
    parked = client_of(cluster)
    parked.send(join_request(), 3)
    assert parked.answers() == []

    cluster.topics.delete(cluster.topic(OFFSETS))
    cluster.settle()

    assert [answer.error_code for answer in parked.answers()] == [Error.NOT_COORDINATOR]
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id=member)
    assert client.ask(beat, 3).error_code == Error.NOT_COORDINATOR
    assert client.ask(ListGroupsRequest(), 3).groups == []

    cluster.groups.ensure_topic()
    assert client.ask(beat, 3).error_code == Error.UNKNOWN_MEMBER_ID
    assert client.ask(join_request(), 3).error_code == 0


def test_a_thousand_topics_are_one_batch_of_the_metadata_log() -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk)
    before = cluster.metadata.end_offset
    cluster.topics.add_all([cluster.topics.plan(f"n{number}") for number in range(1000)])
    assert cluster.metadata.end_offset == before + 2000
    cluster.close()

    cluster = open_cluster(disk)
    assert len(cluster.topics) == 1000
    with pytest.raises(Refused):
        cluster.topics.create("n7")
    cluster.close()
