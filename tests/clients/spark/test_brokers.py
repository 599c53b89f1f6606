"""Three brokers of which one stops or dies while Spark reads and writes: batch and stream are
complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek import Emulator, NewRecord, TopicView
from odradek.compat.clients import wait_until
from odradek.fixtures.spark import StreamTest

pytestmark = [pytest.mark.spark, pytest.mark.kafka(brokers=3)]

PARTITIONS = 3
CONFIG = {"min.insync.replicas": "2"}
# Kafka's admin client, which Spark asks for the latest offsets, keeps a request for a broker that
# has died and is not listed any more until this is over (60 s by default). Spark asks again then.
NOT_LONG = {"kafka.default.api.timeout.ms": "5000", "kafka.request.timeout.ms": "4000"}


def fill(topic: TopicView, numbers: range) -> None:
    """These numbers, over all partitions."""
    topic.produce_all(NewRecord(f"{number}", partition=number % PARTITIONS) for number in numbers)


def values(rows: list[Any]) -> list[int]:
    return sorted(int(row.value) for row in rows)


def test_batches_read_and_write_while_leaders_move(
    spark: Any, read: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    source = kafka.create_topic("source", PARTITIONS, CONFIG, replicas=3)
    copy = kafka.create_topic("copy", PARTITIONS, CONFIG, replicas=3)
    fill(source, range(300))
    frame = read(source.name)
    assert values(frame.collect()) == list(range(300))

    leader = source[0].leader
    kafka.brokers[leader].stop()  # Spark's clients are connected to it
    assert source[0].leader != leader
    assert values(frame.collect()) == list(range(300))
    kafka.brokers[leader].start()
    kafka.elect_leader(source.name)

    kafka.brokers[leader].kill()
    output = frame.selectExpr("value", "partition").write.format("kafka")
    output.options(**kafka_options).option("topic", copy.name).save()
    kafka.brokers[leader].start()
    assert sorted(int(record.value or b"") for record in copy.records()) == list(range(300))
    assert values(read(copy.name).collect()) == list(range(300))


def test_a_stream_goes_on_while_brokers_restart_and_one_dies(
    stream_test: Callable[..., StreamTest],
    spark: Any,
    read_stream: Any,
    kafka: Emulator,
    kafka_options: dict[str, str],
) -> None:
    source = kafka.create_topic("source", PARTITIONS, CONFIG, replicas=3)
    copy = kafka.create_topic("copy", PARTITIONS, CONFIG, replicas=3)
    stream = stream_test(
        read_stream(source.name, **NOT_LONG).select("value"),
        writer=lambda to: to.format("kafka").options(**kafka_options, topic=copy.name),
    )
    stream.start_stream()
    written = 0

    def write(count: int) -> None:
        nonlocal written
        fill(source, range(written, written + count))
        written += count

    for broker in kafka.brokers:
        write(50)
        broker.stop()
        write(50)
        stream.process_all_available()
        broker.start()
    kafka.brokers[1].kill()
    wait_until(lambda: kafka.brokers[1].is_fenced, "other brokers lead")
    write(50)
    stream.process_all_available()
    kafka.brokers[1].start()
    write(50)
    stream.process_all_available()
    found = sorted(int(record.value or b"") for record in copy.records())
    assert found == list(range(written))


def test_available_now_goes_on_from_its_checkpoint_after_an_election(
    stream_test: Callable[..., StreamTest], read_stream: Any, kafka: Emulator
) -> None:
    source = kafka.create_topic("source", PARTITIONS, CONFIG, replicas=3)
    stream = stream_test(read_stream(source.name, **NOT_LONG))
    fill(source, range(60))
    assert values(stream.run_to_end()) == list(range(60))
    leader = source[0].leader
    kafka.brokers[leader].stop()
    fill(source, range(60, 120))
    assert values(stream.run_to_end()) == list(range(60, 120))
    kafka.brokers[leader].start()
    kafka.elect_leader(source.name)
    fill(source, range(120, 150))
    assert values(stream.run_to_end()) == list(range(120, 150))
