"""Records of partitions, and whether their transactions were committed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error, Refused

from tests.emulator.seen.support.seen import Seen
from tests.requests.produce import batch, produce_request
from tests.support.clock import NOW
from tests.support.cluster import Client
from tests.support.transactional_producer import TxnClient

Producers = Callable[..., TxnClient]
ALL = "read_uncommitted"


def test_an_empty_topic_has_no_records(seen: Seen) -> None:
    topic = seen.topic(partitions=3)
    assert topic.records() == topic.values() == topic.keys() == []
    assert topic.by_key() == {}
    assert repr(topic) == "<topic t: 0 records>"
    with pytest.raises(LookupError, match="t has no records for a read_committed reader"):
        topic.last()


def test_all_there_is_to_know_of_a_record(seen: Seen, client: Client) -> None:
    topic = seen.topic()
    data = batch(b"a", b"b", producer_id=7, producer_epoch=2, base_sequence=2**31 - 1)
    client.ask(produce_request(data, "t"), 9)
    first, second = topic.records()
    assert (first.topic, first.partition, first.offset) == ("t", 0, 0)
    assert (first.timestamp, first.timestamp_type) == (NOW, "CreateTime")
    assert (first.key, first.value, first.headers) == (b"k", b"a", [])
    assert (first.producer_id, first.producer_epoch, first.sequence) == (7, 2, 2**31 - 1)
    assert second.sequence == 0  # which follows the highest
    assert (first.is_transactional, first.state) == (False, "committed")


def test_a_plain_record_has_no_producer(seen: Seen) -> None:
    record = seen.topic(message_timestamp_type="LogAppendTime").produce("a", timestamp=5)
    assert (record.producer_id, record.producer_epoch, record.sequence) == (-1, -1, -1)
    assert (record.timestamp, record.timestamp_type) == (NOW, "LogAppendTime")


def test_open_then_committed(seen: Seen, producer: Producers) -> None:
    topic = seen.topic()
    topic.produce("before")
    txn = producer()
    txn.write(b"in it")
    topic.produce("after")
    assert [(r.value, r.state) for r in topic.records(ALL)] == [
        (b"before", "committed"),
        (b"in it", "open"),
        (b"after", "committed"),
    ]
    assert topic.values() == [b"before"]  # a committed reader waits for the transaction
    assert (topic[0].last_stable_offset, topic[0].high_watermark) == (1, 3)
    assert repr(topic) == "<topic t: 3 records, 2 of them not committed>"
    txn.end(commit=True)
    assert topic.values() == [b"before", b"in it", b"after"]
    assert {r.state for r in topic.records()} == {"committed"}
    assert [r.is_transactional for r in topic.records()] == [False, True, False]
    assert topic[0].last_stable_offset == topic[0].high_watermark == 4  # the marker is one too


def test_aborted_records_are_left_out(seen: Seen, producer: Producers) -> None:
    topic = seen.topic()
    first, second = producer("x"), producer("y")
    first.write(b"x1")
    second.write(b"y1")
    first.write(b"x2")
    first.end(commit=False)
    second.end(commit=True)
    first.write(b"x3")
    first.end(commit=True)
    assert [(r.value, r.state) for r in topic.records(ALL)] == [
        (b"x1", "aborted"),
        (b"y1", "committed"),
        (b"x2", "aborted"),
        (b"x3", "committed"),
    ]
    assert topic.values() == [b"y1", b"x3"]
    assert topic.last().value == b"x3"


def test_a_read_from_within_a_transaction_knows_how_it_ended(
    seen: Seen, producer: Producers
) -> None:
    topic = seen.topic()
    txn = producer()
    txn.write(b"1", b"2", b"3")
    txn.end(commit=False)
    found = topic.since(1, ALL)
    assert [(r.offset, r.state) for r in found] == [(1, "aborted"), (2, "aborted")]


def test_another_isolation_is_refused(seen: Seen) -> None:
    with pytest.raises(ValueError, match=r"isolation is 'read_committed' or .*, not 'committed'"):
        seen.topic().values("committed")


def test_more_than_one_fetch_holds(seen: Seen) -> None:
    topic = seen.topic(partitions=2, max_message_bytes="4000000")
    values = [bytes([n]) * 700_000 for n in range(6)]
    topic.produce_all(values)
    assert topic.values() == values[::2] + values[1::2]


def test_since_an_offset(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    topic.produce_all(["a", "b", "c", "d"])
    assert [r.value for r in topic.since(1)] == [b"c", b"d"]
    assert topic.since(2) == topic.since(9) == []
    topic.truncate(1)
    assert [r.value for r in topic.since(0)] == [b"c", b"d"]


def test_since_a_time(seen: Seen) -> None:
    topic = seen.topic(partitions=3)
    noon = datetime(2020, 5, 1, 12, tzinfo=UTC)
    for minute, value in enumerate(["a", "b", "c"]):
        topic.produce(value, timestamp=noon + timedelta(minutes=minute), partition=minute % 2)
    assert [r.value for r in topic.since(noon + timedelta(seconds=30))] == [b"c", b"b"]
    assert topic.since(noon + timedelta(hours=1)) == []
    with pytest.raises(TypeError, match=r"an offset \(int\) or a time \(datetime\), not '1'"):
        topic.since("1")  # type: ignore[arg-type]


def test_the_last_of_several_partitions_is_the_latest(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    topic.produce("late", timestamp=NOW + 5, partition=0)
    topic.produce("early", timestamp=NOW, partition=1)
    assert topic.last().value == b"late"
    assert topic[1].last().value == b"early"


def test_by_key_is_a_table(seen: Seen) -> None:
    topic = seen.topic(partitions=3)
    for key, value in [("a", "1"), ("b", "1"), ("a", "2"), ("b", None), (None, "x")]:
        topic.produce(value, key)
    assert topic.by_key() == {b"a": b"2"}


def test_decoded(seen: Seen) -> None:
    topic = seen.topic()
    topic.produce({"n": 1}, "a")
    topic.produce(None, "b")
    orders = topic.decoded(value="json", key="text")
    assert orders.values() == [{"n": 1}, None]
    assert orders.keys() == ["a", "b"]
    assert orders.by_key() == {"a": {"n": 1}}
    assert orders.last().offset == 1
    assert [r.value for r in orders.since(1)] == [None]
    assert topic[0].decoded(len).values() == [8, None]
    assert repr(orders) == "<t, decoded>"


def test_what_is_not_decoded_is_named(seen: Seen) -> None:
    topic = seen.topic()
    topic.produce("no json")
    with pytest.raises(ValueError, match="the value of <t-0@0 value=b'no json'> was not decoded"):
        topic.decoded("json").values()
    with pytest.raises(ValueError, match="value is 'json' or 'text' or a function of bytes, not"):
        topic.decoded("avro")
    with pytest.raises(TypeError, match="key is a function of bytes, or the name of one, not 5"):
        topic.decoded(key=5)  # type: ignore[arg-type]


def test_a_compacted_log_is_read_over_its_gaps(
    cluster: Cluster, seen: Seen, producer: Producers
) -> None:
    topic = seen.topic(cleanup_policy="compact")
    txn = producer()
    txn.write(b"1", b"2", b"3")  # all of one key
    txn.end(commit=True)
    topic.produce("4", "k")
    assert topic.compact() == 1
    assert [(r.offset, r.value) for r in topic.records()] == [(4, b"4")]


def test_a_topic_that_is_gone(cluster: Cluster, seen: Seen) -> None:
    topic = seen.topic()
    partition = topic[0]
    cluster.topics.delete(cluster.topic("t"))
    with pytest.raises(Refused, match="there is no topic 't'") as refused:
        topic.values()
    assert refused.value.error is Error.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(Refused, match="reading t-0"):
        partition.values()
    assert repr(topic) == "<topic t>"
    assert repr(partition) == "<t-0>"
