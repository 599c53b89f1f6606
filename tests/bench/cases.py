"""The rows of the table, and the case that measures each.

A case is a function of one broker that returns one number for each of its rows, or None where a
repetition has nothing to say. In the order they run:

- ready: from the start of the process to the first ApiVersions answer.
- memory: resident set two seconds after that, and at the end with everything produced still
  there; and the part of it that is anonymous (no file behind it), the only part that the system
  cannot simply drop.
- group: from subscribe to the first record of a topic with data, in a group of a new name, for a
  client that is connected already; the first group of a broker's life (Kafka then creates
  `__consumer_offsets`), and the median of nine more.
- (a warm-up of 100 B records, not counted, so that a JVM has compiled what it will.)
- produce and consume: thousands of records a second, values of one size without key, uncompressed,
  acks all; over 1 partition and over 12. Consuming begins when producing has ended.
- lz4: the same with values of 100 B, compressed by the client, 1 partition.
- latency: one record of 100 B in flight, acks all, no linger; half are faster than p50.
- requests: thousands of Metadata requests a second, for one topic, one in flight on each
  connection; over 1 and over 50 connections.

Left out: several producers or consumers at a time, transactions, TLS.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.support import processes

from . import client
from .brokers import Broker
from .client import Load
from .frames import requests_per_second

IDLE_AFTER_S = 2.0
GROUPS = 9
LATENCY_RECORDS = 5000
REQUESTS_S = 3.0
WARM_UP_RECORDS = 100_000
MB = 1e6
# What a case is made to find in use already (see touch_memory): a heap that has grown to three
# times its data, or a file cache; and the client's queues.
MEMORY_FACTOR = 3
MEMORY_OF_CLIENT = 512 * 1024 * 1024


@dataclass(frozen=True)
class Row:
    """A line of the table. `name` is what --rows selects it by."""

    name: str
    label: str
    unit: str
    higher_is_better: bool = False


@dataclass(frozen=True)
class Case:
    """What yields the values of some rows. `repeats` is false if a second time says nothing."""

    rows: Sequence[Row]
    measure: Callable[[Broker], Sequence[float | None]]
    repeats: bool = field(default=True)


READY = Row("ready", "time to ready", "s")


def cases(sizes: Sequence[tuple[int, int]], partitions: Sequence[int], scale: float) -> list[Case]:
    """All cases but `ready`. `sizes` are (bytes, records), the records before scaling."""
    scaled = [(size, max(1, round(count * scale))) for size, count in sizes]
    loads = [Load(size, count, parts) for size, count in scaled for parts in partitions]
    return [
        _memory("idle", settle_s=IDLE_AFTER_S),
        _group(),
        _warm_up(max(1, round(WARM_UP_RECORDS * scale))),
        *(_throughput(load) for load in loads),
        *(_throughput(Load(size, count, 1, "lz4")) for size, count in scaled if size == 100),
        _latency(max(100, round(LATENCY_RECORDS * scale))),
        *(_requests(count, max(0.5, REQUESTS_S * scale)) for count in (1, 50)),
        _memory("after the run", settle_s=0.0),
    ]


def _memory(when: str, settle_s: float) -> Case:
    rows = [
        Row("memory", f"memory {when}", "MB"),
        Row("memory", f"memory {when}, anonymous", "MB"),
    ]

    def measure(broker: Broker) -> Sequence[float | None]:
        time.sleep(settle_s)
        assert broker.pid is not None
        used = processes.memory(broker.pid)
        anonymous = used.anonymous / MB if used.anonymous is not None else None
        return [used.resident / MB, anonymous]

    return Case(rows, measure, repeats=False)


def _group() -> Case:
    rows = [
        Row("group", "first group of all to its first record", "ms"),
        Row("group", "a new group to its first record", "ms"),
    ]

    def measure(broker: Broker) -> Sequence[float | None]:
        client.create_topic(broker.address, "bench-group", 1)
        client.produce(broker.address, "bench-group", Load(100, 1000, 1))
        first, *others = (
            client.seconds_to_first_record(broker.address, "bench-group") * 1e3
            for _ in range(1 + GROUPS)
        )
        return [first, statistics.median(others)]

    return Case(rows, measure, repeats=False)


def _warm_up(records: int) -> Case:
    def measure(broker: Broker) -> Sequence[float | None]:
        load = Load(100, records, 1)
        client.create_topic(broker.address, "bench-warm-up", load.partitions)
        client.produce(broker.address, "bench-warm-up", load)
        client.consume(broker.address, "bench-warm-up", load)
        return []

    return Case([], measure, repeats=False)


def _throughput(load: Load) -> Case:
    compressed = load.codec != "none"
    size = f"{load.size // 1000} KB" if load.size % 1000 == 0 else f"{load.size} B"
    what = f"{size}{f' {load.codec}' if compressed else ''}, {load.partitions} partition"
    what += "s" * (load.partitions > 1)
    names = (load.codec, load.codec) if compressed else ("produce", "consume")
    rows = [
        Row(names[0], f"produce {what}", "k/s", higher_is_better=True),
        Row(names[1], f"consume {what}", "k/s", higher_is_better=True),
    ]
    topic = f"bench-{load.size}-{load.partitions}-{load.codec}"

    def measure(broker: Broker) -> Sequence[float | None]:
        client.create_topic(broker.address, topic, load.partitions)
        processes.touch_memory(MEMORY_FACTOR * load.total * load.size + MEMORY_OF_CLIENT)
        produced = client.produce(broker.address, topic, load)
        return [produced / 1e3, client.consume(broker.address, topic, load) / 1e3]

    return Case(rows, measure)


def _latency(records: int) -> Case:
    rows = [
        Row("latency", "one record in flight, p50", "ms"),
        Row("latency", "one record in flight, p99", "ms"),
    ]

    def measure(broker: Broker) -> Sequence[float | None]:
        client.create_topic(broker.address, "bench-latency", 1)
        times = sorted(client.latencies(broker.address, "bench-latency", records))
        return [times[len(times) * percent // 100] * 1e3 for percent in (50, 99)]

    return Case(rows, measure)


def _requests(connections: int, seconds: float) -> Case:
    label = f"small requests, {connections} connection{'s' * (connections > 1)}"

    def measure(broker: Broker) -> Sequence[float | None]:
        client.create_topic(broker.address, "bench-requests", 1)
        rate = requests_per_second(broker.address, "bench-requests", connections, seconds)
        return [rate / 1e3]

    return Case([Row("requests", label, "k/s", higher_is_better=True)], measure)
