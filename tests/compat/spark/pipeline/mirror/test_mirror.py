"""odradek mirror: a cluster into another one, each as ours and as a real Kafka."""

from __future__ import annotations

import uuid
from pathlib import Path

import confluent_kafka
import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.broker import Cluster, create_topic, find_topics, topic_configs
from odradek.compat.spark.pipeline.broker.coordinator import commit_offsets, committed_offsets
from odradek.compat.spark.pipeline.broker.offsets import delete_records
from odradek.compat.spark.pipeline.broker.topics import add_partitions

from tests.compat.spark.pipeline.clusters import (
    TIME,
    Writer,
    bounds,
    fill,
    mirror,
    options,
    seen,
    until,
)

Pair = tuple[str, str]


@pytest.fixture
def topic() -> str:
    return f"t-{uuid.uuid4().hex[:8]}"


def test_everything_is_at_its_offset(
    pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = pair
    writer = Writer(source)
    fill(writer, topic)
    found = mirror(capsys, source, target, *options(topic))
    assert (found["created"], found["lag"]) == ([topic], 0)
    assert found["filled"] == 9
    assert seen(target, topic) == seen(source, topic)
    assert bounds(target, topic) == bounds(source, topic)
    with Cluster(target) as cluster:
        assert topic_configs(cluster, [topic]) == {topic: {"max.message.bytes": "2000000"}}

    assert mirror(capsys, source, target, *options(topic))["records"] == 0
    writer.write((topic, 0), b"more")
    writer.transaction(f"{topic}.a", (topic, 1), b"even more", commit=True)
    assert mirror(capsys, source, target, *options(topic))["records"] == 2
    assert seen(target, topic) == seen(source, topic)
    writer.close()


def test_an_open_transaction_is_waited_for(
    pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = pair
    writer = Writer(source)
    create_topic(writer.cluster, topic, 1)
    writer.write((topic, 0), b"before")
    writer.transaction(f"{topic}.a", (topic, 0), b"open", commit=None)
    writer.write((topic, 0), b"after")
    assert mirror(capsys, source, target, *options(topic))["records"] == 1
    writer.transaction(f"{topic}.a", (topic, 0), commit=True)
    assert mirror(capsys, source, target, *options(topic))["records"] == 2
    assert seen(target, topic) == seen(source, topic)
    assert bounds(target, topic) == bounds(source, topic)
    writer.close()


def test_a_log_that_begins_later(
    pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = pair
    writer = Writer(source)
    create_topic(writer.cluster, topic, 1)
    for _ in range(300):
        writer.write((topic, 0), *[b"x"] * 400)
    delete_records(writer.cluster, (topic, 0), 119_999)
    assert mirror(capsys, source, target, *options(topic))["filled"] == 119_999
    assert bounds(target, topic) == bounds(source, topic) == [(119_999, 120_000)]
    assert seen(target, topic) == seen(source, topic)
    writer.close()


def test_a_compacted_topic(pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = pair
    writer = Writer(source)
    configs = {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.bytes": "1048576",
    }
    create_topic(writer.cluster, topic, 1, configs=configs)
    for number in range(60):
        writer.write((topic, 0), b"%d" % number, b"next", key=b"k%d" % (number % 7))
    writer.write((topic, 0), b"in a segment of its own", time=TIME + 1000)
    until(lambda: len(seen(source, topic)[0]) == 8)
    settings = ["--set", "min.compaction.lag.ms=9999999999"]
    assert main(["configs", source, "topic", topic, *settings]) == 0
    capsys.readouterr()
    found = mirror(capsys, source, target, *options(topic))
    assert found["filled"] > 0
    assert seen(target, topic) == seen(source, topic)
    assert bounds(target, topic) == bounds(source, topic)
    writer.close()


def test_times_that_the_broker_gave(
    pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = pair
    writer = Writer(source)
    configs = {"message.timestamp.type": "LogAppendTime", "retention.ms": "-1"}
    create_topic(writer.cluster, topic, 1, configs=configs)
    writer.write((topic, 0), b"a", b"b")
    writer.write((topic, 0), b"c")
    mirror(capsys, source, target, *options(topic))
    assert seen(target, topic) == seen(source, topic)
    with Cluster(target) as cluster:
        assert topic_configs(cluster, [topic]) == {topic: {"retention.ms": "-1"}}
    writer.close()


def test_new_offsets(pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = pair
    writer = Writer(source)
    fill(writer, topic)
    ignore = options(topic, "--offsets", "ignore")
    assert mirror(capsys, source, target, *ignore)["filled"] == 0
    writer.write((topic, 0), b"more")
    assert mirror(capsys, source, target, *ignore)["records"] == 1
    ours, theirs = seen(target, topic), seen(source, topic)
    for partition in (0, 1):
        assert [each[1:] for each in ours[partition]] == [each[1:] for each in theirs[partition]]
    writer.close()


def test_a_group_moves_over(pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = pair
    writer = Writer(source)
    fill(writer, topic)
    group = f"g-{topic}"
    commit_offsets(writer.cluster, group, {(topic, 0): 12, (topic, 1): 2})
    found = mirror(capsys, source, target, *options(topic, "--groups", "g-*"))
    assert found["groups"][group] == 2
    with Cluster(target) as cluster:
        assert committed_offsets(cluster, group) == {(topic, 0): 12, (topic, 1): 2}
    writer.close()


# What is refused.


def test_more_to_fill_than_allowed(
    ours: Emulator, our_target: Emulator, writer: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(writer, "orders")
    addresses = ours.bootstrap_servers, our_target.bootstrap_servers
    error = mirror(capsys, *addresses, *options("orders", "--fill-limit", "2"), status=2)["error"]
    assert "orders-0: 6 offsets without records are to be filled, and --fill-limit is 2" in error


def test_a_target_that_is_no_mirror(
    ours: Emulator, our_target: Emulator, writer: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(writer, "orders")
    other = Writer(our_target.bootstrap_servers)
    create_topic(other.cluster, "orders", 1)
    other.write(("orders", 0), b"something else")
    addresses = ours.bootstrap_servers, our_target.bootstrap_servers
    error = mirror(capsys, *addresses, *options("orders"), status=2)["error"]
    assert "orders-0: the target has another record than the source before offset 1" in error
    error = mirror(capsys, *addresses, *options("orders", "--offsets", "ignore"), status=2)["error"]
    assert "orders-0 of the target has records, but nothing tells up to where" in error
    for _ in range(30):
        other.write(("orders", 0), b"more")
    error = mirror(capsys, *addresses, *options("orders"), status=2)["error"]
    assert "orders-0: the target ends at 31, the source at 18: was the topic deleted" in error
    other.close()


def test_arguments_that_do_not_go_together(
    ours: Emulator, our_target: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = ours.bootstrap_servers, our_target.bootstrap_servers
    for target, more, expected in (
        (one, (), f"{one} and {one} are the same cluster"),
        (f"{other}/t", (), "a topic keeps its name, so give HOST:PORT alone"),
        (other, ("--groups", "*", "--offsets", "ignore"), "--groups needs the offsets"),
        ("./d", ("--offsets", "ignore"), "--offsets ignore is for a cluster"),
        (__file__, (), "is no directory"),
        (str(Path(__file__).parent), (), "is no data directory: it has no meta.properties, but "),
        (other, (), "no topic matches '*'"),
        (other, ("--engine", "spark", "--follow"), "one process writes, with --follow"),
        ("./d", ("--engine", "spark"), "one process writes, with a directory"),
    ):
        assert expected in mirror(capsys, one, target, *options("*", *more), status=2)["error"]


def test_partitions_that_are_added(
    ours: Emulator, our_target: Emulator, writer: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    create_topic(writer.cluster, "orders", 1)
    addresses = ours.bootstrap_servers, our_target.bootstrap_servers
    mirror(capsys, *addresses, *options("orders"))
    add_partitions(writer.cluster, "orders", 3)
    writer.write(("orders", 2), b"a")
    mirror(capsys, *addresses, *options("orders"))
    with Cluster(our_target.bootstrap_servers) as cluster:
        assert find_topics(cluster)[0].partitions == (0, 1, 2)
    assert seen(addresses[1], "orders") == seen(addresses[0], "orders")


def test_a_stock_consumer_goes_on_in_the_target(
    pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reads half of the source's partition, moves, and reads the rest: each record once."""
    source, target = pair
    writer = Writer(source)
    fill(writer, topic)
    group = f"g-{topic}"
    first = consumed(source, topic, group, 6)
    mirror(capsys, source, target, *options(topic, "--groups", group))
    rest = consumed(target, topic, group, 10)
    values = [each.value for part in seen(source, topic).values() for each in part]
    assert sorted(first + rest) == sorted(value or b"" for value in values)
    writer.close()


def test_a_group_that_has_moved_over_is_left_where_it_is(
    pair: Pair, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """While it has members in the target, and when it has none for a moment."""
    source, target = pair
    writer = Writer(source)
    fill(writer, topic)
    group = f"g-{topic}"
    asked = options(topic, "--groups", group, "none*")
    commit_offsets(writer.cluster, group, {(topic, 0): 2})
    assert mirror(capsys, source, target, *asked)["groups_unmatched"] == ["none*"]
    with Cluster(target) as cluster:
        commit_offsets(cluster, group, {(topic, 0): 12})
        mirror(capsys, source, target, *asked)
        assert committed_offsets(cluster, group) == {(topic, 0): 12}
        commit_offsets(writer.cluster, group, {(topic, 0): 14})
        consumer = confluent_kafka.Consumer({"bootstrap.servers": target, "group.id": group})
        consumer.subscribe([topic])
        until(lambda: bool(consumer.poll(0.1) or consumer.assignment()))
        assert mirror(capsys, source, target, *asked)["groups_in_use"] == [group]
        consumer.close()
    writer.close()


def consumed(address: str, topic: str, group: str, count: int) -> list[bytes]:
    """So many values, their offsets committed at the end."""
    settings = {
        "bootstrap.servers": address,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    consumer = confluent_kafka.Consumer(settings)
    consumer.subscribe([topic])
    found: list[bytes] = []
    while len(found) < count:
        (message,) = consumer.consume(1, 40) or [None]
        assert message is not None, f"{len(found)} of {count} records came"
        found.append(message.value())
        consumer.commit(message, asynchronous=False)
    consumer.close()
    return found
