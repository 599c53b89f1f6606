"""Many records through a broker in a process of its own: same bytes, same order, all of them.

The throughput of each client is printed, and judged by nobody: it depends on the machine. Clients
keep their defaults, so librdkafka rests for a second whenever 100,000 records of a partition wait
to be taken (`fetch.queue.backoff.ms`), and reads several times slower than it could.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from odradek.compat import Client

from tests.clients.support.broker_process import Served

pytestmark = [pytest.mark.client, pytest.mark.slow]

COUNTS = [200_000, pytest.param(1_000_000, marks=pytest.mark.long)]
PARTITIONS = 4
TOPIC = "million"
FILLER = b"x" * 92
STALL_S = 60.0  # as long as that without any progress is a failure


class Million(NamedTuple):
    """Where the records are, and what producing them was like."""

    bootstrap: str
    sent: int
    seconds: float
    acknowledged: list[int]  # by partition
    misplaced: list[str]


def value(partition: int, offset: int) -> bytes:
    """What is at that place: record n goes to partition n % PARTITIONS, in order."""
    return b"%08d" % (offset * PARTITIONS + partition) + FILLER


@pytest.fixture(scope="module", params=COUNTS)
def million(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Million]:
    """Produce the records with confluent-kafka, which is the fastest."""
    confluent = pytest.importorskip("confluent_kafka")
    data_dir = tmp_path_factory.mktemp("million")
    with Served(data_dir, {"num.partitions": str(PARTITIONS)}, port=0) as served:
        producer = confluent.Producer(
            {
                "bootstrap.servers": served.bootstrap_servers,
                "enable.idempotence": True,
                "linger.ms": 20,
                "batch.size": 1_000_000,
            }
        )
        yield produce(producer, served.bootstrap_servers, data_dir, request.param)


def produce(producer: Any, bootstrap: str, data_dir: Path, count: int) -> Million:
    acknowledged = [0] * PARTITIONS
    misplaced: list[str] = []

    def delivered(error: Any, message: Any) -> None:
        if error is not None:
            misplaced.append(str(error))
            return
        partition, offset = message.partition(), message.offset()
        if (offset, message.value()) != (acknowledged[partition], value(partition, offset)):
            misplaced.append(f"{message.value()[:8]!r} at {partition}, {offset}")
        acknowledged[partition] += 1

    begin = time.perf_counter()
    for offset in range(count // PARTITIONS):
        for partition in range(PARTITIONS):
            while True:
                try:
                    producer.produce(
                        TOPIC, value(partition, offset), partition=partition, on_delivery=delivered
                    )
                    break
                except BufferError:  # the queue is full: wait for acknowledgements
                    producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(STALL_S)
    seconds = time.perf_counter() - begin
    assert left == 0, f"{left} records were not acknowledged"
    stored = sum(path.stat().st_size for path in data_dir.glob(f"{TOPIC}-*/*.log"))
    assert stored > count * 100
    return Million(bootstrap, count, seconds, acknowledged, misplaced)


def test_each_is_acknowledged_once_in_order(
    million: Million, capsys: pytest.CaptureFixture[str]
) -> None:
    show(capsys, "confluent-kafka produced", million.sent, million.seconds)
    assert million.misplaced == []
    assert million.acknowledged == [million.sent // PARTITIONS] * PARTITIONS


def test_a_client_reads_the_same_records_in_the_same_order(
    client: Client, million: Million, capsys: pytest.CaptureFixture[str]
) -> None:
    following = [0] * PARTITIONS
    ends = dict.fromkeys(range(PARTITIONS), million.sent // PARTITIONS)
    begin = moved = time.perf_counter()
    with client.consumer(million.bootstrap, TOPIC) as consumer:
        while (read := sum(following)) < million.sent:
            records = consumer.poll(client.poll_s, 10_000)
            now = time.perf_counter()
            moved = now if records else moved
            assert now - moved < STALL_S, f"no record after {read} of {million.sent}"
            for partition, offset, _, key, found, headers in records:
                assert offset == following[partition]
                assert found == value(partition, offset)
                assert key is None
                assert headers == ()
                following[partition] += 1
        seconds = time.perf_counter() - begin
        assert consumer.positions() == ends
    show(capsys, f"{client.name} read", million.sent, seconds)
    assert client.end_offsets(million.bootstrap, TOPIC) == ends


def show(capsys: pytest.CaptureFixture[str], what: str, count: int, seconds: float) -> None:
    with capsys.disabled():
        rate = count / seconds
        print(f"\n  {what} {count:,} records in {seconds:.1f} s: {rate:,.0f} a second")
