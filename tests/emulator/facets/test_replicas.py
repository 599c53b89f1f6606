"""Replicas that lag and are kept out of the ISR, by the verbs of a test; reads by rack."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from odradek.emulator import Emulator
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.markers import Marker, write_marker
from odradek.wire import Error
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.batch import read_header

from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.produce import batch, produce_request
from tests.support.connection import Connection

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
SLOW = {"replica.lag.time.max.ms": 60_000}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    """In which replicas may lag for as long as a test takes."""
    config = SLOW | {"replica.selector.class": RACK_AWARE}
    with Emulator(config, brokers=3, racks=["a", "b", "c"]) as kafka:
        yield kafka


def produce(kafka: Emulator, *contents: bytes, acks: int = 1, timeout_ms: int = 1000) -> Any:
    """At broker 1."""
    request: ProduceRequest = produce_request(batch(*contents), topic="orders", acks=acks)
    request.timeout_ms = timeout_ms
    with Connection(kafka.brokers[1].address) as client:
        return client.ask(request, 9).responses[0].partition_responses[0]


def fetch(kafka: Emulator, node_id: int, offset: int = 0, **more: Any) -> Any:
    request: FetchRequest = fetch_request(asked(offset=offset), topic="orders", **more)
    with Connection(kafka.brokers[node_id].address) as client:
        return only(client.ask(request, 12))


def test_a_replica_gets_nothing_more(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    orders.produce(b"first")
    kafka.brokers[3].lag(orders[0])
    assert produce(kafka, b"second").error_code == Error.NONE
    late = produce(kafka, b"third", acks=-1, timeout_ms=50)
    assert (late.error_code, late.base_offset) == (Error.REQUEST_TIMED_OUT, 2)

    assert orders[0].isr == [1, 2, 3]
    assert orders[0].high_watermark == 1
    assert [each.log_end_offset(orders[0]) for each in kafka.brokers] == [3, 3, 1]
    assert values(fetch(kafka, 2)) == values(fetch(kafka, 3)) == [b"first"]
    assert fetch(kafka, 3, offset=2).error_code == Error.OFFSET_OUT_OF_RANGE

    kafka.brokers[3].catch_up(orders[0])
    assert [each.high_watermark(orders[0]) for each in kafka.brokers] == [3, 3, 3]
    assert values(fetch(kafka, 3, offset=1)) == [b"second", b"third"]


def test_a_replica_stays_so_many_records_behind(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.brokers[3].lag(orders[0], records=2)
    ends = []
    for number in range(4):
        produce(kafka, b"%d" % number)
        ends.append(kafka.brokers[3].log_end_offset(orders[0]))
    produce(kafka, b"4", b"5", b"6")  # one batch, which is there whole or not at all
    ends.append(kafka.brokers[3].log_end_offset(orders[0]))
    assert ends == [0, 0, 1, 2, 4]
    kafka.brokers[3].catch_up()
    assert kafka.brokers[3].log_end_offset(orders[0]) == 7


def test_who_waits_for_a_lagging_replica_is_told_when_it_is_taken_out() -> None:
    with Emulator({"replica.lag.time.max.ms": 500}, brokers=3) as kafka, ThreadPoolExecutor() as do:
        orders = kafka.create_topic("orders", replicas=3)
        kafka.brokers[3].lag(orders[0])
        waits = do.submit(fetch, kafka, 2, max_wait_ms=30_000)
        produced = do.submit(produce, kafka, b"first", acks=-1, timeout_ms=30_000)
        assert produced.result().error_code == Error.NONE
        assert values(waits.result()) == [b"first"]
        assert orders[0].isr == [1, 2]
        kafka.brokers[3].catch_up(orders[0])
        assert orders[0].isr == [1, 2, 3]


def test_a_follower_is_kept_out(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    orders[0].shrink_isr(3)
    orders.produce(b"first")
    assert orders[0].isr == [1, 2]
    assert kafka.brokers[3].log_end_offset(orders[0]) == 1
    kafka.brokers[3].restart()
    assert orders[0].isr == [1, 2]
    orders[0].shrink_isr(3)  # again: nothing to do
    orders[0].grow_isr(3)
    assert orders[0].isr == [1, 2, 3]


def test_one_that_lags_is_in_sync_when_it_is_told_to(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    kafka.brokers[3].lag(orders[0])
    produce(kafka, b"first")
    orders[0].shrink_isr(3)
    assert (orders[0].isr, orders[0].high_watermark) == ([1, 2], 1)
    orders[0].grow_isr(3)
    assert orders[0].isr == [1, 2, 3]
    assert kafka.brokers[3].high_watermark(orders[0]) == 1


def test_committed_data_at_a_replica_that_lags(kafka: Emulator) -> None:
    """What it has of a transaction is not committed there, before it has the marker."""
    orders = kafka.create_topic("orders", replicas=3)
    data = batch(b"first", producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    marker = Marker(7, 0, commit=True, coordinator_epoch=0, transaction_version=1)

    def append(cluster: Cluster) -> None:
        cluster.partition("orders", 0).append(data, read_header(data), cluster.clock.now())

    kafka.run(append)
    kafka.brokers[3].lag(orders[0])
    kafka.run(lambda cluster: write_marker(cluster, cluster.partition("orders", 0), marker))
    orders[0].shrink_isr(3)
    committed = {"isolation_level": 1}
    assert values(fetch(kafka, 1, **committed)) == [b"first"]
    found = fetch(kafka, 3, **committed)
    assert (found.high_watermark, found.last_stable_offset, values(found)) == (1, 0, [])
    kafka.brokers[3].catch_up()
    assert values(fetch(kafka, 3, **committed)) == [b"first"]


def test_a_consumer_is_sent_to_the_replica_of_its_rack(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    orders.produce(b"first")
    assert fetch(kafka, 1, rack_id="c").preferred_read_replica == 3
    kafka.brokers[3].lag(orders[0])
    produce(kafka, b"second", b"third")
    assert fetch(kafka, 1, offset=1, rack_id="c").preferred_read_replica == 3
    behind = fetch(kafka, 1, offset=2, rack_id="c")
    assert behind.preferred_read_replica == -1


def test_wrong_arguments_are_refused(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    other: Any = "orders"
    two: Any = "two"
    with pytest.raises(ValueError, match="broker 3 has no replica of orders-0, which is on 1, 2"):
        kafka.brokers[3].lag(orders[0])
    with pytest.raises(ValueError, match="broker 1 leads orders-0"):
        kafka.brokers[1].lag(orders[0])
    with pytest.raises(ValueError, match="records is at least 1, not 0"):
        kafka.brokers[2].lag(orders[0], records=0)
    with pytest.raises(TypeError, match="records is a number of records, not 'two'"):
        kafka.brokers[2].lag(orders[0], records=two)
    with pytest.raises(TypeError, match="a partition is wanted, as kafka"):
        kafka.brokers[2].lag(other)
    with pytest.raises(TypeError, match="a partition is wanted"):
        kafka.brokers[2].catch_up(other)
    for verb in (kafka.brokers[3].catch_up, kafka.brokers[3].log_end_offset):
        with pytest.raises(ValueError, match="broker 3 has no replica"):
            verb(orders[0])
    for change in (orders[0].shrink_isr, orders[0].grow_isr):
        with pytest.raises(ValueError, match="broker 1 leads"):
            change(1)
        with pytest.raises(ValueError, match="broker 7 has no replica"):
            change(7)
    kafka.brokers[2].stop()
    with pytest.raises(RuntimeError, match="broker 2 is not running"):
        kafka.brokers[2].lag(orders[0])
    with pytest.raises(RuntimeError, match="broker 2 is not running"):
        orders[0].grow_isr(2)


def test_a_selector_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"replica\.selector\.class must be"):
        Emulator({"replica.selector.class": "com.example.Closest"})


def test_a_new_leader_sends_nobody_to_a_replica_that_it_has_not_heard_of(kafka: Emulator) -> None:
    """As a real one: broker 3 stands still, and has fetched nothing from the new leader."""
    orders = kafka.create_topic("orders", replicas=3)
    orders.produce(b"x")
    assert fetch(kafka, 1, rack_id="c").preferred_read_replica == 3
    kafka.brokers[3].lag(orders[0])
    assert fetch(kafka, 1, rack_id="c").preferred_read_replica == 3
    orders[0].move_leader(to=2)
    assert fetch(kafka, 2, rack_id="c").preferred_read_replica == -1
    state = kafka.snapshot()
    kafka.brokers[3].catch_up(orders[0])
    assert fetch(kafka, 2, rack_id="c").preferred_read_replica == 3
    kafka.restore(state)
    assert fetch(kafka, 2, rack_id="c").preferred_read_replica == -1
