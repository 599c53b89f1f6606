"""What the journal costs: `python -m tests.bench.bench_journal [--rounds N]`.

One broker in this process is asked the same over a socket, in turn keeping events and keeping none,
ABBA: two brokers would differ by more than what is measured. A row is one request of a stock client
in its smallest form, and a batch of a thousand records; shown is the CPU time of the broker's
thread for one request, in microseconds (medians of the rounds), and the median of the ratios of
neighbouring rounds. `one by one` waits for each answer as a test does, `in a row` sends a hundred
at once, which leaves out what a wait costs.

Then the throughput of a stock client, confluent-kafka with its defaults: so many records produced,
then read, on against off in turn, in records a second of wall time.

Then what events take of memory: a full journal, and a busy hour (12 partitions, a hundred requests
a second, a commit each second, a rebalance each minute).
"""

from __future__ import annotations

import argparse
import socket
import statistics
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterator

from odradek import Emulator
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.journal import Journal
from odradek.emulator.cluster import Cluster
from odradek.wire import Request
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.headers import RequestHeader, write_request_header
from odradek.wire.records import NewRecord, build_batch

REQUESTS = 200
IN_A_ROW = 100
RECORDS = 100_000
VALUE = b"x" * 100
CONFIG = {"log.retention.check.interval.ms": 2**31 - 1}


def frame(request: Request, version: int) -> bytes:
    header = write_request_header(RequestHeader(request.api_key, version, 1, "bench"))
    body = header + request.encode(version)
    return struct.pack(">i", len(body)) + body


def produced(size: int, records: int = 1) -> bytes:
    now = int(time.time() * 1000)
    data = build_batch([NewRecord(now, None, b"x" * size)] * records)
    entry = ProduceRequest.Topic.Partition(index=0, records=data)
    topic = ProduceRequest.Topic(name="t", partition_data=[entry])
    return frame(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic]), 9)


def fetched(offset: int) -> bytes:
    partition = FetchRequest.Topic.Partition(
        partition=0, fetch_offset=offset, partition_max_bytes=200
    )
    topic = FetchRequest.Topic(topic="t", partitions=[partition])
    asked = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, session_id=0, session_epoch=-1,
        topics=[topic],
    )  # fmt: skip
    return frame(asked, 12)


def committed() -> bytes:
    partition = OffsetCommitRequest.Topic.Partition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    topic = OffsetCommitRequest.Topic(name="t", partitions=[partition])
    asked = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1, topics=[topic])
    return frame(asked, 8)


def looked_for() -> bytes:
    return frame(FindCoordinatorRequest(coordinator_keys=["g"], key_type=0), 4)


def beaten() -> bytes:
    return frame(HeartbeatRequest(group_id="none", generation_id=1, member_id="m"), 4)


def rows() -> dict[str, bytes]:
    return {
        "produce 100 B": produced(100),
        "fetch 100 B": fetched(0),
        "produce 1000 x 100 B": produced(100, 1000),
        "fetch nothing": fetched(-1),
        "commit an offset": committed(),
        "heartbeat, refused": beaten(),
    }


class Side:
    """The broker, and a connection to it."""

    def __init__(self) -> None:
        self.kafka = Emulator(CONFIG, topics={"t": 1}).start()
        host, port = self.kafka.bootstrap_servers.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")

    def ask(self, data: bytes, count: int) -> None:
        self.socket.sendall(data * count)
        for _ in range(count):
            (size,) = struct.unpack(">i", self.stream.read(4))
            self.stream.read(size)

    def keep(self, is_on: bool) -> None:
        def switch(cluster: Cluster) -> None:
            cluster.journal.is_on = is_on

        self.kafka.run(switch)

    def cost(self, data: bytes, at_once: int, *, is_on: bool) -> float:
        """The CPU time of the broker's thread for one request, in seconds."""
        self.keep(is_on)
        begin = self.kafka.run(lambda _: time.thread_time())
        for _ in range(0, REQUESTS, at_once):
            self.ask(data, at_once)
        return (self.kafka.run(lambda _: time.thread_time()) - begin) / REQUESTS

    def close(self) -> None:
        self.stream.close()
        self.socket.close()
        self.kafka.stop()


def measure(side: Side, data: bytes, at_once: int, rounds: int) -> tuple[float, float, float]:
    """Microseconds with the side switched on and off, and the ratio."""
    if data == fetched(-1):  # at the end, which the log has to have
        data = fetched(0)
    else:
        side.ask(produced(100), 3)
        side.ask(looked_for(), 1)
    costs: list[tuple[float, float]] = []
    try:
        for number in range(rounds + 2):
            first = bool(number % 2)
            cost = {on: side.cost(data, at_once, is_on=on) for on in (first, not first)}
            costs.append((cost[True], cost[False]))
    finally:
        side.close()
    del costs[:2]
    ons, offs = zip(*costs, strict=True)
    ratio = statistics.median(a / b for a, b in costs)
    return statistics.median(ons) * 1e6, statistics.median(offs) * 1e6, ratio


def table(rounds: int) -> Iterator[str]:
    yield f"{'':20} {'':12} {'on':>8} {'off':>8} {'more':>8}"
    for name, data in rows().items():
        for how, at_once in (("one by one", 1), ("in a row", IN_A_ROW)):
            with_events, without, ratio = measure(Side(), data, at_once, rounds)
            percent = (ratio - 1) * 100
            yield f"{name:20} {how:12} {with_events:6.1f} us {without:5.1f} us {percent:+6.1f} %"


def throughput(rounds: int) -> Iterator[str]:
    """A stock client's records a second, on and off, and the median of neighbours' ratios."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    side = Side()
    address = {"bootstrap.servers": side.kafka.bootstrap_servers}
    producer = Producer({**address, "queue.buffering.max.messages": 2 * RECORDS})
    consumer = Consumer({**address, "group.id": "bench", "enable.auto.commit": False})

    def produce() -> None:
        for _ in range(RECORDS):
            producer.produce("t", VALUE)
        assert producer.flush(60) == 0

    def read() -> None:
        consumer.assign([TopicPartition("t", 0, 0)])
        left = RECORDS
        while left > 0:
            left -= len(consumer.consume(min(left, 10_000), 10))

    def rate(work: Callable[[], None], *, is_on: bool) -> float:
        side.keep(is_on)
        begin = time.perf_counter()
        work()
        return RECORDS / (time.perf_counter() - begin)

    try:
        for name, work in (("produce", produce), ("read", read)):
            rates = []
            for number in range(rounds + 2):
                first = bool(number % 2)
                found = {on: rate(work, is_on=on) for on in (first, not first)}
                rates.append((found[True], found[False]))
            on, off = (statistics.median(side) for side in zip(*rates[2:], strict=True))
            less = 1 - statistics.median(a / b for a, b in rates[2:])
            yield f"confluent-kafka {name:8} {on:10,.0f} /s {off:10,.0f} /s {less:+7.1%} less"
    finally:
        consumer.close()
        side.close()


def memory() -> Iterator[str]:
    def full(journal: Journal) -> None:
        for number in range(10_000):
            journal.add("joined", client=f"app-{number}", group="g", member=f"member-{number}")

    def busy(journal: Journal) -> None:
        offset = 0
        for second in range(3600):
            if second % 60 == 0:
                for kind in ("joined", "rebalance begun", "rebalance finished"):
                    journal.add(kind, client="app", group="g", details={"members": 2})
            for request in range(100):
                partition = request % 12
                journal.run("appended", "shop", "orders", partition, offset, offset)
                journal.run("fetched", "app", "orders", partition, offset, offset)
                offset += 1
            journal.again("committed", offset, "app", "orders", 0, "g")

    for name, fill in (("10,000 events", full), ("a busy hour", busy)):
        tracemalloc.start()
        journal = Journal(ManualClock(0))
        fill(journal)
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        yield f"{name}: {len(journal.events()):,} events, {size / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    for lines in (table(options.rounds), throughput(options.rounds), memory()):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
