"""What readers of committed data see, and when they are woken (semantics C7, D1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest

from tests.emulator.handlers.test_produce import produce
from tests.support.cluster import Client, batch, client_of
from tests.support.transactional_producer import TxnClient, read

Make = Callable[..., TxnClient]


def fetch(offset: int = 0, *, isolation: int = 1, wait_ms: int = 0, min_bytes: int = 1) -> Any:
    part = FetchRequest.Topic.Partition(
        partition=0, fetch_offset=offset, partition_max_bytes=1 << 20
    )
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=1 << 20,
        isolation_level=isolation,
        topics=[FetchRequest.Topic(topic="t", partitions=[part])],
    )


def latest(client: Client, isolation: int) -> int:
    part = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)
    asked = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[ListOffsetsRequest.Topic(name="t", partitions=[part])],
    )
    return int(client.ask(asked, 5).topics[0].partitions[0].offset)


def test_the_last_stable_offset_stops_them(producer: Make, cluster: Cluster) -> None:
    client = client_of(cluster)
    produce(client, batch(b"before"))
    x = producer()
    x.write(b"open")
    produce(client, batch(b"behind"))
    answer = client.ask(fetch(), 12).responses[0].partitions[0]
    assert (answer.last_stable_offset, answer.high_watermark) == (1, 3)
    assert (latest(client, 0), latest(client, 1)) == (3, 1)
    assert read(cluster, committed=True) == [b"before"]
    x.end(True)
    assert read(cluster, committed=True) == [b"before", b"open", b"behind"]
    assert latest(client, 1) == 4


def test_aborted_transactions_are_listed_for_committed_readers_only(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    x.write(b"a", b"b")
    x.end(False)
    client = client_of(cluster)
    listed = client.ask(fetch(), 12).responses[0].partitions[0].aborted_transactions
    assert [(a.producer_id, a.first_offset) for a in listed] == [(x.producer.producer_id, 0)]
    uncommitted = client.ask(fetch(isolation=0), 12).responses[0].partitions[0]
    assert uncommitted.aborted_transactions is None
    assert client.ask(fetch(3), 12).responses[0].partitions[0].aborted_transactions == []
    assert read(cluster, committed=True) == []
    assert read(cluster, committed=False) == [b"a", b"b"]


def test_interleaved_transactions_are_told_apart(producer: Make, cluster: Cluster) -> None:
    x, y = producer("x"), producer("y")
    for n in range(3):
        x.write(b"x%d" % n)
        y.write(b"y%d" % n)
    x.end(False)
    assert read(cluster, committed=True) == []
    y.end(True)
    assert read(cluster, committed=True) == [b"y0", b"y1", b"y2"]


def test_open_data_wakes_no_committed_reader_but_its_end_does(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    committed, uncommitted = client_of(cluster), client_of(cluster)
    committed.send(fetch(wait_ms=10_000), 12)
    uncommitted.send(fetch(wait_ms=10_000, isolation=0), 12)
    x.write(b"open")
    assert committed.answers() == []
    assert len(uncommitted.answers()) == 1
    produce(client_of(cluster), batch(b"plain"))
    assert committed.answers() == []
    x.end(False)
    (answer,) = committed.answers()
    assert len(answer.responses[0].partitions[0].aborted_transactions) == 1


def test_plain_data_wakes_them_while_nothing_is_open(cluster: Cluster) -> None:
    reader = client_of(cluster)
    reader.send(fetch(wait_ms=10_000), 12)
    produce(client_of(cluster), batch(b"plain"))
    assert len(reader.answers()) == 1


def test_an_end_wakes_them_only_for_as_much_as_they_wait_for(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    reader = client_of(cluster)
    reader.send(fetch(wait_ms=10_000, min_bytes=10_000), 12)
    x.write(b"small")
    x.end(True)
    assert reader.answers() == []
    x.write(bytes(12_000))
    assert reader.answers() == []
    x.end(True)
    assert len(reader.answers()) == 1
