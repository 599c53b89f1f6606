"""`python -m tests.bench.bench_share`: share groups (KIP-932).

    python -m tests.bench.bench_share [--quick] [--only odradek|kafka] [--case NAME]

Against Odradek and, where it can be started, a real Kafka, each a fresh process:

- one KafkaShareConsumer of Kafka's Java client takes and accepts records of 100 bytes from four
  partitions, with implicit and with explicit acknowledgement, after a tenth to warm up;
- 100 groups of 10 members heartbeat as fast as they are answered, some in flight at once;
- one member acquires 2,000 records of each of 50 partitions. Memory is what the process has more
  then than before it came: with batches acquired whole, and when one record of each batch is
  accepted, so that every record has a state of its own.

The load generator shares the machine, so the broker's own CPU time says more than the rate.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from odradek.compat import Unavailable
from odradek.compat.java.jars import classpath, jars, java
from odradek.compat.java.process import JVM, QUIET, compiled
from odradek.compat.real_kafka import VERSION
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest

from tests.requests.configs import change_request
from tests.requests.share_groups import ACCEPT, share_acknowledge, share_beat, share_fetch
from tests.support.connection import Connection
from tests.support.processes import cpu_seconds, describe_machine, memory

from .bench_groups import Group, GroupsKafka, GroupsOdradek, Line, Member, _heartbeats, framed
from .brokers import Broker

CASES = ("implicit", "explicit", "heartbeats", "flight")
_RECORD = bytes(100)
_LOCKS = 2000
_GROUP, _SET = 32, 0
_LOADED_S = 3.0


class Sharing(Member):
    """A member of a share group that has joined."""

    async def run(self, over: asyncio.Event, pause_s: float) -> None:
        self.id = f"{self.group.name}-{self.number}"
        request = ShareGroupHeartbeatRequest(
            group_id=self.group.name,
            member_id=self.id,
            member_epoch=0,
            subscribed_topic_names=["beats"],
        )
        answer = await self.line.ask(request, 1)
        if answer.error_code:
            raise ValueError(f"{self.id}: {answer.error_code} {answer.error_message}")
        self.generation = answer.member_epoch

    def heartbeat(self) -> bytes:
        request = ShareGroupHeartbeatRequest(
            group_id=self.group.name, member_id=self.id, member_epoch=self.generation
        )
        return framed(request, 1)


def throughput(broker: Broker, mode: str, count: int) -> dict[str, float]:
    """One Java consumer."""
    topic = f"records-{mode}"
    _create(broker, topic, 4)
    _begins_at_first(broker, mode)
    _write(broker, topic, 4, count)
    sources = {"ShareBench.java": Path(__file__).with_name("share").joinpath("ShareBench.java")}
    texts = {name: path.read_text("utf-8") for name, path in sources.items()}
    path = os.pathsep.join([str(compiled("sharebench", VERSION, texts)), classpath(jars(VERSION))])
    arguments = [broker.address, topic, mode, mode, str(count), str(count // 10)]
    command = [java(), *JVM, QUIET, "-cp", path, "ShareBench", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = []
        for _ in range(2):
            got = int(process.stdout.readline().split()[1])
            found.append((got, time.perf_counter(), _cpu(broker)))
    finally:
        process.kill()
        process.wait()
    records, seconds, cpu = (found[1][at] - found[0][at] for at in range(3))
    return {
        f"{mode}: records/s": records / seconds,
        f"{mode}: CPU per record, us": cpu / records * 1e6,
    }


async def heartbeats(broker: Broker, groups: int, seconds: float) -> dict[str, float]:
    """Members that say nothing new."""
    _create(broker, "beats", 10)
    with Connection(broker.address) as client:
        _coordinated(client, "beats-0")
    host, _, port = broker.address.rpartition(":")
    loop = asyncio.get_running_loop()
    members = []
    for number in range(groups):
        group = Group(f"beats-{number}", 10, 10)
        for at in range(10):
            _, line = await loop.create_connection(Line, host, int(port))
            members.append(Sharing(line, group, at))
    for _ in range(3):  # until the epochs do not change any more
        for member in members:
            await member.run(asyncio.Event(), 0)
        await asyncio.sleep(_LOADED_S)
    assert broker.pid is not None
    found = await _heartbeats(members, broker.pid, seconds)
    for member in members:
        member.line.transport.abort()
    return found


def in_flight(broker: Broker, partitions: int) -> dict[str, float]:
    """Much memory, perhaps."""
    topic, group = "flight", "flight"
    _create(broker, topic, partitions)
    _begins_at_first(broker, group)
    _write(broker, topic, partitions, partitions * _LOCKS)
    with Connection(broker.address) as client:
        topic_id = _joined(client, group, topic)
        before = _memory(broker)
        parts: dict[tuple[bytes, int], Any] = {(topic_id, at): () for at in range(partitions)}
        epoch, ranges, began = 0, {}, time.perf_counter()
        more = {"max_wait_ms": 500, "min_bytes": 1, "max_records": 100_000, "batch_size": 100}
        while sum(last - first + 1 for _, first, last in ranges.values()) < partitions * _LOCKS:
            answer = share_fetch(client, parts, epoch, "a", group_id=group, **more)
            assert answer.error_code == 0, answer
            for found in answer.responses:
                for each in found.partitions:
                    for got in each.acquired_records:
                        at = each.partition_index
                        ranges[at, got.first_offset] = at, got.first_offset, got.last_offset
            parts, epoch = {}, epoch + 1
        rows = {"in flight: time to acquire, s": time.perf_counter() - began}
        rows["in flight: memory, MB"] = (_memory(broker) - before) / 1e6
        acks: dict[tuple[bytes, int], list[tuple[int, int, list[int]]]] = {}
        for at, first, last in sorted(ranges.values()):
            middle = (first + last) // 2
            acks.setdefault((topic_id, at), []).append((middle, middle, [ACCEPT]))
        began = time.perf_counter()
        done = share_acknowledge(client, acks, epoch, "a", group_id=group)
        assert not any(each.error_code for each in done.responses[0].partitions)
        rows["in flight: one of each batch accepted, s"] = time.perf_counter() - began
        rows["in flight: memory then, MB"] = (_memory(broker) - before) / 1e6
    return rows


def _joined(client: Connection, group: str, topic: str) -> bytes:
    """Join, and wait until every partition has a state; the topic's id."""
    _coordinated(client, group)
    named: dict[str, Any] = {"group_id": group, "subscribed_topic_names": [topic]}
    deadline = time.monotonic() + 60
    while True:
        answer = share_beat(client, "a", **named)
        given = [] if answer.assignment is None else answer.assignment.topic_partitions
        if given:
            time.sleep(_LOADED_S)
            return given[0].topic_id
        assert time.monotonic() < deadline, answer
        time.sleep(0.5)


def _coordinated(client: Connection, group: str) -> None:
    """Wait for the group's coordinator."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
    while client.ask(request, 6).coordinators[0].error_code:
        time.sleep(0.1)
    time.sleep(_LOADED_S)


def _create(broker: Broker, name: str, partitions: int) -> None:
    topic = CreateTopicsRequest.Topic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
    )
    with Connection(broker.address) as client:
        client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7)
    time.sleep(_LOADED_S)


def _begins_at_first(broker: Broker, group: str) -> None:
    change = ("share.auto.offset.reset", _SET, "earliest")
    with Connection(broker.address) as client:
        client.ask(change_request((_GROUP, group, [change])), 1)


def _write(broker: Broker, topic: str, partitions: int, count: int) -> None:
    """Batches of a hundred records."""
    settings = {"linger.ms": 50, "batch.num.messages": 100, "queue.buffering.max.messages": 0}
    producer = Producer({"bootstrap.servers": broker.address, "log_level": 0, **settings})
    for number in range(count):
        producer.produce(topic, _RECORD, partition=number // 100 % partitions)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(120) == 0


def _cpu(broker: Broker) -> float:
    assert broker.pid is not None
    return cpu_seconds(broker.pid) or 0.0


def _memory(broker: Broker) -> int:
    assert broker.pid is not None
    return memory(broker.pid).resident


def measured(
    kind: Callable[[dict[str, str]], Broker], cases: Sequence[str], *, quick: bool
) -> dict[str, float]:
    """Its rows, by label. Raises Unavailable."""
    count, groups, partitions, seconds = (50_000, 10, 5, 2.0) if quick else (500_000, 100, 50, 5.0)
    rows: dict[str, float] = {}
    works: dict[str, Callable[[Broker], dict[str, float]]] = {
        "implicit": lambda broker: throughput(broker, "implicit", count),
        "explicit": lambda broker: throughput(broker, "explicit", count),
        "heartbeats": lambda broker: asyncio.run(heartbeats(broker, groups, seconds)),
        "flight": lambda broker: in_flight(broker, partitions),
    }
    for name in cases:
        broker = kind({})
        broker.prepare()
        broker.start()
        try:
            rows |= works[name](broker)
        finally:
            broker.stop()
    return rows


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_share")
    parser.add_argument("--quick", action="store_true", help="a tenth of all that")
    parser.add_argument("--only", choices=("odradek", "kafka"))
    parser.add_argument("--case", choices=CASES)
    given = parser.parse_args(arguments)
    kinds: dict[str, Callable[[dict[str, str]], Broker]] = {
        "odradek": GroupsOdradek,
        "kafka": GroupsKafka,
    }
    print(describe_machine())
    found: dict[str, dict[str, float]] = {}
    for name, kind in kinds.items():
        if given.only in (None, name):
            try:
                cases = CASES if given.case is None else (given.case,)
                found[name] = measured(kind, cases, quick=given.quick)
            except Unavailable as reason:
                print(f"{name} unavailable: {reason}", file=sys.stderr)
    print(f"{'':46}" + "".join(f"{name:>12}" for name in found))
    for row in next(iter(found.values()), {}):
        print(f"{row:46}" + "".join(f"{rows[row]:12.2f}" for rows in found.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
