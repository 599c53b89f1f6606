"""What is done by verbs, stock clients see."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator, Error, NewRecord, Refused
from odradek.compat import Client


def consumed(kafka: Emulator, stock: Client, topic: str) -> list[bytes | None]:
    return [each.value for each in stock.consume(kafka.bootstrap_servers, topic)]


def test_produced_records_are_read(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    orders.produce({"n": 1}, key="a", headers={"trace": "abc"}, timestamp=1_700_000_000_000)
    (read,) = stock.consume(kafka.bootstrap_servers, orders.name)
    assert (read.key, read.value) == (b"a", b'{"n": 1}')
    assert (read.headers, read.timestamp) == ((("trace", b"abc"),), 1_700_000_000_000)


def test_many_are_produced(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    places = orders.produce_all([b"bytes", "text", {"n": 1}, None])
    assert places == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert consumed(kafka, stock, orders.name) == [b"bytes", b"text", b'{"n": 1}', None]


def test_keys_go_where_a_client_sends_them(kafka: Emulator, stock: Client) -> None:
    from odradek.compat import NewRecord as ClientsRecord

    orders = kafka.create_topic("orders", partitions=5)
    record = orders.produce("here", key="some key")
    if stock.name != "confluent-kafka":  # whose default is another hash
        sent = [ClientsRecord(b"there", b"some key")]
        assert stock.produce(kafka.bootstrap_servers, orders.name, sent) == [(record.partition, 1)]
    assert orders[record.partition].values()[0] == b"here"


def test_a_partition_is_produced_to(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", partitions=3)
    assert orders[2].produce("a").partition == 2
    with pytest.raises(ValueError, match="has 3 partitions"):
        orders.produce("b", partition=3)


def test_what_kafka_refuses(kafka: Emulator) -> None:
    table = kafka.create_topic("table", configs={"cleanup.policy": "compact"})
    with pytest.raises(Refused) as refused:
        table.produce("without a key")
    assert refused.value.error is Error.INVALID_RECORD


def test_a_large_record(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders", configs={"max.message.bytes": 1000})
    with pytest.raises(Refused) as refused:
        orders.produce("x" * 2000)
    assert refused.value.error is Error.MESSAGE_TOO_LARGE


def test_seeds(kafka: Emulator, stock: Client) -> None:
    assert kafka.seed({"orders": ["a", NewRecord("b", partition=1)]}) == {"orders": 2}
    orders = kafka.topic("orders")
    assert len(orders) == 2
    assert sorted(map(bytes, filter(None, consumed(kafka, stock, orders.name)))) == [b"a", b"b"]


def test_seeds_of_a_file(kafka: Emulator, tmp_path: Path) -> None:
    lines = tmp_path / "orders.jsonl"
    lines.write_text('{"topic": "orders", "key": "7", "value": {"n": 2}}\n')
    assert kafka.seed(lines) == {"orders": 1}
    assert kafka.seed(lines) == {"orders": 1}
    assert kafka.topic("orders").decoded("json").values() == [{"n": 2}, {"n": 2}]


def test_deleted_records_are_gone(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    orders.produce_all(["a", "b", "c"])
    orders.truncate(before=1)
    assert consumed(kafka, stock, orders.name) == [b"b", b"c"]
    orders.empty()
    assert (orders.values(), orders[0].log_start_offset) == ([], 3)


def test_records_after_the_end_are_not_deleted(kafka: Emulator) -> None:
    orders = kafka.create_topic("orders")
    with pytest.raises(Refused) as refused:
        orders.truncate(before=1)
    assert refused.value.error is Error.OFFSET_OUT_OF_RANGE


def test_partitions_are_added(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    assert orders.add_partitions(2) == len(orders) == 3
    assert stock.partitions(kafka.bootstrap_servers, orders.name) == [0, 1, 2]
    orders.produce("a", partition=2)
    assert orders[2].values() == [b"a"]


def test_reading_by_a_time(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders")
    orders.produce("a", timestamp=1_700_000_000_000)
    orders.produce("b", timestamp=1_700_000_001_000)
    found = stock.offsets_for_time(kafka.bootstrap_servers, orders.name, 1_700_000_000_500)
    assert found == {0: 1}


def test_a_topic_is_created_again(kafka: Emulator, stock: Client) -> None:
    orders = kafka.create_topic("orders", partitions=2)
    orders.produce_all(["a", "b"])
    again = kafka.recreate_topic("orders")
    assert (again.name, len(again), again.values()) == (orders.name, 2, [])
    assert len(kafka.recreate_topic(orders.name, partitions=1)) == 1
    orders.produce("c")
    assert consumed(kafka, stock, orders.name) == [b"c"]
