"""What readers of committed data see, and when they are woken (semantics C7, D1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.wire.api.fetch import FetchRequest

from tests.requests.fetch import asked, fetch, fetch_request, only
from tests.requests.offsets import LATEST, look_up
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of
from tests.support.consumer import read
from tests.support.transactional_producer import TxnClient

UNCOMMITTED, COMMITTED = 0, 1
Make = Callable[..., TxnClient]


def waiting(isolation: int, offset: int = 0, min_bytes: int = 1, **more: Any) -> FetchRequest:
    settings = {"max_wait_ms": 10_000, "min_bytes": min_bytes, **more}
    return fetch_request(asked(offset=offset), isolation_level=isolation, **settings)


def latest(client: Client, isolation: int) -> int:
    return look_up(client, LATEST, isolation=isolation).offset


def test_the_last_stable_offset_stops_them(producer: Make, cluster: Cluster) -> None:
    client = client_of(cluster)
    produce(client, batch(b"before"))
    x = producer()
    x.write(b"open")
    produce(client, batch(b"behind"))
    answer = fetch(client, isolation_level=COMMITTED)
    assert (answer.last_stable_offset, answer.high_watermark) == (1, 3)
    assert (latest(client, UNCOMMITTED), latest(client, COMMITTED)) == (3, 1)
    assert read(cluster, committed=True) == [b"before"]
    x.end(True)
    assert read(cluster, committed=True) == [b"before", b"open", b"behind"]
    assert latest(client, COMMITTED) == 4


def test_aborted_transactions_are_listed_for_committed_readers_only(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    x.write(b"a", b"b")
    x.end(False)
    client = client_of(cluster)
    listed = fetch(client, isolation_level=COMMITTED).aborted_transactions
    assert [(a.producer_id, a.first_offset) for a in listed or ()] == [(x.producer.producer_id, 0)]
    uncommitted = fetch(client)
    assert uncommitted.aborted_transactions is None
    assert fetch(client, 3, isolation_level=COMMITTED).aborted_transactions == []
    assert read(cluster, committed=True) == []
    assert read(cluster, committed=False) == [b"a", b"b"]


def test_interleaved_transactions_are_distinguished(producer: Make, cluster: Cluster) -> None:
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
    committed.send(waiting(COMMITTED), 12)
    uncommitted.send(waiting(UNCOMMITTED), 12)
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
    reader.send(waiting(COMMITTED), 12)
    produce(client_of(cluster), batch(b"plain"))
    assert len(reader.answers()) == 1


def test_an_end_wakes_them_only_for_as_much_as_they_wait_for(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    reader = client_of(cluster)
    reader.send(waiting(COMMITTED, min_bytes=10_000), 12)
    x.write(b"small")
    x.end(True)
    assert reader.answers() == []
    x.write(bytes(12_000))
    assert reader.answers() == []
    x.end(True)
    assert len(reader.answers()) == 1


def test_one_above_the_last_stable_offset_is_answered_at_once(
    producer: Make, cluster: Cluster
) -> None:
    produce(client_of(cluster), batch(b"before"))
    producer().write(b"open")
    reader = client_of(cluster)
    answer = only(reader.ask(waiting(COMMITTED, 2), 12))
    assert (answer.error_code, answer.records) == (0, b"")
    reader.send(waiting(COMMITTED, 1), 12)
    assert reader.answers() == []


def test_what_became_stable_without_being_enough_counts_later(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    reader = client_of(cluster)
    reader.send(waiting(COMMITTED, min_bytes=1100), 12)
    x.write(bytes(600))
    x.end(True)
    assert reader.answers() == []
    produce(client_of(cluster), batch(bytes(300)))
    assert len(reader.answers()) == 1


def test_a_segment_that_rolls_in_a_transaction_wakes_them_at_its_end(
    producer: Make, cluster: Cluster
) -> None:
    cluster.create_topic("r", 1, {"segment.bytes": "1048576"})
    x = producer()
    x.write(b"open", topic="r")
    reader = client_of(cluster)
    reader.send(waiting(COMMITTED, topic="r", min_bytes=1 << 20), 12)
    for _ in range(2):
        produce(client_of(cluster), batch(bytes(600_000)), topic="r")
    assert reader.answers() == []
    x.end(True)
    assert len(reader.answers()) == 1
