"""What a test does to a topic without a client, and what it is shown of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.seen.produced import NewRecord, murmur2
from odradek.wire import Error, Refused

from tests.emulator.seen.support.seen import Seen
from tests.support.clock import NOW
from tests.support.transactional_producer import TxnClient

DAY_MS = 86_400_000


def test_it_has_partitions(seen: Seen) -> None:
    topic = seen.topic(partitions=3)
    assert len(topic) == 3
    assert [each.index for each in topic] == [0, 1, 2]
    assert repr(topic[2]) == "<t-2: 0 records>"
    with pytest.raises(
        IndexError, match="topic t has 3 partitions, 0 to 2: there is no partition 3"
    ):
        _ = topic[3]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (b"\x00", b"\x00"),
        (bytearray(b"x"), b"x"),
        ("ü", "ü".encode()),
        (None, None),
        ({"a": ["ü"]}, '{"a": ["ü"]}'.encode()),
        ([1, None], b"[1, null]"),
        (1.5, b"1.5"),
        (True, b"true"),
    ],
)
def test_a_value_is_bytes_text_or_json(seen: Seen, given: object, stored: bytes | None) -> None:
    topic = seen.topic()
    assert topic.produce(given).value == stored
    assert topic.produce("x", given).key == stored


def test_what_is_none_of_these_is_refused_and_nothing_stored(seen: Seen) -> None:
    topic = seen.topic()
    with pytest.raises(TypeError, match=r"value is bytes, a str, None, or what JSON .*\{1\}"):
        topic.produce_all(["a", {1}])
    assert topic.values() == []


def test_the_record_is_returned_as_it_is_stored(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    topic.produce("before", partition=1)
    record = topic.produce(
        "v", "k", headers={"h": "1"}, timestamp=datetime(2020, 1, 1, tzinfo=UTC), partition=1
    )
    assert (record.partition, record.offset, record.key, record.value) == (1, 1, b"k", b"v")
    assert record.timestamp == 1577836800000
    assert record.headers == {"h": "1"}
    assert record == topic[1].last()
    assert topic[0].produce("w").timestamp == NOW


def test_keys_go_where_kafkas_clients_send_them() -> None:
    """Values of the Java client's own tests, and of its DefaultPartitioner."""
    known = {
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"a-little-bit-longer-string": -1486304829,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        b"abc": 479470107,
    }
    signed = {key: (murmur2(key) ^ 1 << 31) - (1 << 31) for key in known}
    assert signed == known


def test_records_without_a_key_take_turns(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    assert topic.produce_all(["a", "b", "c"]) == [(0, 0), (1, 0), (0, 1)]
    assert topic.produce_all(["d"]) == [(0, 2)]
    of_key = murmur2(b"key") % 2
    assert {topic.produce("e", "key").partition for _ in range(3)} == {of_key}


def test_a_partition_that_is_not_there(seen: Seen) -> None:
    with pytest.raises(IndexError, match="o has 1 partition, number 0: there is no partition 1"):
        seen.topic("o")[1]
    topic = seen.topic(partitions=2)
    with pytest.raises(ValueError, match="t has 2 partitions, 0 to 1: there is no partition 2"):
        topic.produce("a", partition=2)


@pytest.mark.parametrize("index", ["0", slice(0, 1), None])
def test_a_partition_has_a_number(seen: Seen, index: Any) -> None:
    with pytest.raises(TypeError, match="a partition of t is given by its number, not "):
        seen.topic()[index]


@pytest.mark.parametrize(
    ("timestamp", "kind", "text"),
    [
        ("now", TypeError, r"timestamp is ms since 1970 \(int\) or a datetime, not 'now'"),
        (1.5, TypeError, r"timestamp is ms since 1970 \(int\) or a datetime, not 1.5"),
        (-5, ValueError, "timestamp is not before 1970, as -5 is"),
    ],
)
def test_a_timestamp_that_cannot_be(
    seen: Seen, timestamp: Any, kind: type[Exception], text: str
) -> None:
    topic = seen.topic()
    with pytest.raises(kind, match=text):
        topic.produce("a", timestamp=timestamp)
    assert topic.records() == []


def test_one_value_is_not_many(seen: Seen) -> None:
    for one in ("abc", b"abc", {"a": 1}, NewRecord("abc"), 5):
        with pytest.raises(TypeError) as refused:
            seen.view().produce_all(one)  # type: ignore[arg-type]
        told = f"records is a list of records, not {one!r}: put a single one in a list"
        assert str(refused.value) == told


def test_many_go_in_batches_that_the_topic_takes(cluster: Cluster, seen: Seen) -> None:
    topic = seen.topic(max_message_bytes="2000")
    values = [str(n) * 100 for n in range(100)]
    places = topic.produce_all(values)
    assert places == [(0, offset) for offset in range(100)]
    assert [r.text for r in topic.records()] == values
    assert topic.produce_all([]) == []


def test_what_kafka_refuses_is_refused(seen: Seen) -> None:
    topic = seen.topic(max_message_bytes="100")
    with pytest.raises(Refused, match="producing 1 record to t-0") as refused:
        topic.produce("x" * 200)
    assert refused.value.error is Error.MESSAGE_TOO_LARGE
    compacted = seen.topic("c", cleanup_policy="compact")
    with pytest.raises(Refused, match=r"producing 1 record to c-0: .*") as refused:
        compacted.produce("without a key")
    assert str(refused.value).count("cannot accept message without key") == 1
    assert refused.value.error is Error.INVALID_RECORD


def test_truncate_and_empty(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    topic.produce_all(["a", "b", "c", "d"])
    topic[0].truncate(before=1)
    assert topic.values() == [b"c", b"b", b"d"]
    assert (topic[0].log_start_offset, topic[1].log_start_offset) == (1, 0)
    topic[1].empty()
    assert topic.values() == [b"c"]
    topic.empty()
    assert topic.values() == []
    assert topic[0].produce("e").offset == 2
    with pytest.raises(Refused, match="deleting the records before offset 9 of t-0") as refused:
        topic.truncate(before=9)
    assert refused.value.error is Error.OFFSET_OUT_OF_RANGE


def test_a_compacted_topic_is_not_truncated(seen: Seen) -> None:
    with pytest.raises(Refused, match="deleting all records of t-0") as refused:
        seen.topic(cleanup_policy="compact").empty()
    assert refused.value.error is Error.POLICY_VIOLATION


def test_partitions_are_added(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    assert topic.add_partitions(4) == len(topic) == 6
    assert topic[5].produce("x").partition == 5
    with pytest.raises(Refused, match="adding 0 partitions to t: ") as refused:
        topic.add_partitions(0)
    assert refused.value.error is Error.INVALID_PARTITIONS


def test_configs_are_set_and_go_back(cluster: Cluster, seen: Seen) -> None:
    topic = seen.topic(segment_ms="5")
    topic.set_config({"retention.ms": 7, "cleanup.policy": ["compact", "delete"]})
    config = cluster.topic("t").config
    assert config.overrides == {
        "segment.ms": "5",
        "retention.ms": "7",
        "cleanup.policy": "compact,delete",
    }
    topic.set_config({"retention.ms": None})
    assert "retention.ms" not in cluster.topic("t").config.overrides
    with pytest.raises(Refused, match="the configs of t: Unknown topic config name: x") as refused:
        topic.set_config({"segment.ms": 6, "x": 1})
    assert refused.value.error is Error.INVALID_CONFIG
    assert cluster.topic("t").config.overrides["segment.ms"] == "5"
    with pytest.raises(TypeError, match="configs is a mapping, name of a config -> value, not 5"):
        topic.set_config(5)  # type: ignore[arg-type]


def test_retention_now(cluster: Cluster, seen: Seen) -> None:
    topic, other = seen.topic(retention_ms=str(DAY_MS)), seen.topic("u", retention_ms=str(DAY_MS))
    topic.produce("old", timestamp=NOW - 2 * DAY_MS)
    other.produce("old", timestamp=NOW - 2 * DAY_MS)
    assert topic.retain() == 1
    assert (topic.values(), other.values()) == ([], [b"old"])
    assert topic[0].log_start_offset == 1
    assert topic.retain() == topic[0].retain() == 0


def test_compaction_now(seen: Seen) -> None:
    topic = seen.topic(partitions=2, cleanup_policy="compact")
    other = seen.topic("u", cleanup_policy="compact")
    for view in (*topic, other):
        view.produce("1", "k")
        view.produce("2", "k")
    assert topic[0].compact() == 1
    assert [len(each.values()) for each in (*topic, other)] == [1, 2, 2]
    assert topic.compact() == 2
    assert [len(each.values()) for each in (*topic, other)] == [1, 1, 2]


def test_only_compacted_topics_are_compacted(seen: Seen) -> None:
    with pytest.raises(Refused, match=r"has cleanup.policy=delete, so it is not compacted: create"):
        seen.topic().compact()


def test_segments_and_sizes(seen: Seen) -> None:
    topic = seen.topic(partitions=2, segment_bytes="1048576", max_message_bytes="1000000")
    topic[0].produce("x" * 900_000, timestamp=NOW + 1)
    topic[0].produce("y" * 900_000, timestamp=NOW + 2)
    first, second = topic[0].segments()
    assert (first.base_offset, first.next_offset, first.largest_timestamp) == (0, 1, NOW + 1)
    assert (second.base_offset, second.next_offset) == (1, 2)
    assert repr(first) == f"<segment 0 to 1, {first.size} bytes>"
    assert topic[0].size == first.size + second.size == topic.size
    assert topic[1].size == 0
    with pytest.raises(Refused, match="UNKNOWN_TOPIC_OR_PARTITION"):
        seen.segments("t", 9)


def test_producers_and_transactions(seen: Seen, cluster: Cluster) -> None:
    topic = seen.topic(partitions=2)
    assert topic.producers() == []
    txn = TxnClient(cluster, "x").begin()
    txn.write(b"a", b"b", partition=1)
    (found,) = topic.producers()
    assert (found.topic, found.partition, found.last_sequence) == ("t", 1, 1)
    assert (found.producer_id, found.producer_epoch) == txn.producer
    assert found.transaction_start_offset == 0
    assert repr(found).endswith("in t-1: last sequence 1, a transaction open since offset 0>")
    assert topic[0].producers() == []
    txn.end(commit=True)
    (found,) = topic.producers()
    assert found.transaction_start_offset is None
