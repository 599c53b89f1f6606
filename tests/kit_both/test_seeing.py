"""Views show what stock clients have produced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from odradek import Emulator, Error, Refused
from odradek.compat import Client, NewRecord

THEN = 1_700_000_000_000


@pytest.mark.kafka(topics={"orders": 3})
def test_values_of_a_marked_topic(kafka: Emulator, stock: Client) -> None:
    orders = kafka.topic("orders")
    records = [NewRecord(b"%d" % n, b"key") for n in range(5)]
    stock.produce(kafka.bootstrap_servers, orders.name, records)
    assert orders.values() == [b"0", b"1", b"2", b"3", b"4"]
    assert orders.keys() == [b"key"] * 5
    assert len(orders) == 3


def test_a_record_in_full(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders", partitions=2)
    sent = NewRecord(b'{"n": 1}', b"k", (("trace", b"abc"), ("trace", b"def")), THEN)
    stock.produce(kafka.bootstrap_servers, orders.name, [sent], partition=1)
    (record,) = orders.records()
    assert (record.topic, record.partition, record.offset) == (orders.name, 1, 0)
    assert (record.timestamp, record.timestamp_type) == (THEN, "CreateTime")
    assert (record.key, record.text, record.json()) == (b"k", '{"n": 1}', {"n": 1})
    assert record.headers == [("trace", b"abc"), ("trace", b"def")]
    assert orders[0].records() == []
    assert orders[1].records() == [record]


def test_a_tombstone(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    sent = [NewRecord(b"v", b"a"), NewRecord(b"w", b"b"), NewRecord(None, b"a")]
    stock.produce(kafka.bootstrap_servers, orders.name, sent)
    assert orders.values() == [b"v", b"w", None]
    assert orders.by_key() == {b"b": b"w"}


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches(kafka: Emulator, stock: Client, codec: str) -> None:
    orders = kafka.create_topic("orders")
    records = [NewRecord(b"x" * 1000) for _ in range(20)]
    stock.produce(kafka.bootstrap_servers, orders.name, records, compression=codec)  # type: ignore[arg-type]
    assert orders.values() == [b"x" * 1000] * 20
    assert 0 < orders.size < 20_000


def test_offsets_of_a_partition(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    stock.produce(kafka.bootstrap_servers, orders.name, [NewRecord(b"a"), NewRecord(b"b")])
    (only,) = orders
    assert (only.log_start_offset, only.log_end_offset) == (0, 2)
    assert (only.high_watermark, only.last_stable_offset) == (2, 2)
    assert stock.end_offsets(kafka.bootstrap_servers, orders.name) == {0: 2}


def test_since_an_offset_or_a_time(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    sent = [NewRecord(b"%d" % n, None, (), THEN + n * 1000) for n in range(4)]
    stock.produce(kafka.bootstrap_servers, orders.name, sent)
    assert [each.value for each in orders.since(2)] == [b"2", b"3"]
    second = datetime.fromtimestamp(THEN / 1000, UTC) + timedelta(seconds=1)
    assert [each.value for each in orders.since(second)] == [b"1", b"2", b"3"]
    assert orders.last().value == b"3"


def test_an_idempotent_producer(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    sent = [NewRecord(b"a"), NewRecord(b"b")]
    stock.produce(kafka.bootstrap_servers, orders.name, sent, idempotent=True)
    first, second = orders.records()
    assert first.producer_id == second.producer_id >= 0
    assert (first.sequence, second.sequence) == (0, 1)
    (producer,) = kafka.producers("orders")
    assert (producer.topic, producer.producer_id) == (orders.name, first.producer_id)
    assert (producer.last_sequence, producer.transaction_start_offset) == (1, None)


def test_decoded(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    stock.produce(kafka.bootstrap_servers, orders.name, [NewRecord(b'{"n": 1}', b"a")])
    assert orders.decoded("json", key="text").by_key() == {"a": {"n": 1}}


def test_names(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders")
    assert kafka.topics() == [orders.name]
    assert kafka.topic("orders").name == kafka.topic(orders.name).name == orders.name
    assert repr(orders) == f"<topic {orders.name}: 0 records>"


def test_a_topic_that_is_not_there(kafka: Emulator) -> None:
    with pytest.raises(Refused, match="there is no topic 'orders'") as refused:
        kafka.topic("orders")
    assert refused.value.error is Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_that_is_there(kafka: Emulator) -> None:
    kafka.create_topic("orders")
    with pytest.raises(Refused) as refused:
        kafka.create_topic("orders")
    assert refused.value.error is Error.TOPIC_ALREADY_EXISTS


def test_a_config_that_there_is_not(kafka: Emulator) -> None:
    with pytest.raises(Refused) as refused:
        kafka.create_topic("orders", configs={"retention": 1})
    assert refused.value.error is Error.INVALID_CONFIG
    assert kafka.topics() == []


def test_a_deleted_topic(kafka: Emulator) -> None:
    kafka.create_topic("orders")
    kafka.delete_topic("orders")
    assert kafka.topics() == []
    with pytest.raises(Refused):
        kafka.topic("orders")
    kafka.create_topic("orders")


def test_each_test_begins_with_no_topic_of_another(kafka: Emulator) -> None:
    assert kafka.topics() == []
    assert kafka.transactions() == []


def test_unique_topics_of_a_session(kafka_session: Emulator, stock: Client) -> None:
    orders, others = kafka_session.unique_topic("orders"), kafka_session.unique_topic("orders", 2)
    assert orders.name != others.name
    assert orders.name.startswith("orders-")
    stock.produce(kafka_session.bootstrap_servers, orders.name, [NewRecord(b"a")])
    assert (orders.values(), others.values(), len(others)) == ([b"a"], [], 2)


def test_two_brokers(make_kafka: type[Emulator], stock: Client) -> None:
    here, there = make_kafka(topics={"orders": 1}), make_kafka(topics={"orders": 1})
    stock.produce(here.bootstrap_servers, here.topic("orders").name, [NewRecord(b"a")])
    assert (here.topic("orders").values(), there.topic("orders").values()) == ([b"a"], [])


def test_the_address_alone(kafka: Emulator, kafka_bootstrap_servers: str, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    assert orders.name in stock.list_topics(kafka_bootstrap_servers)
