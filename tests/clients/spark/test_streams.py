"""Streams: what a query reads from its checkpoint on, in which batches, and what it writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator, NewRecord, TopicView
from odradek.fixtures.spark import StreamTest, batch_offsets

pytestmark = pytest.mark.spark

StreamOf = Callable[..., StreamTest]
# An hour ago, so that retention keeps it; windows begin at it.
START_MS = (int(time.time()) - 3600) // 100 * 100_000
KILLED_TIMEOUT_S = 120.0


@pytest.fixture
def orders(kafka: Emulator) -> TopicView:
    return kafka.create_topic("orders", partitions=2)


def fill(topic: TopicView, *counts: int) -> None:
    """So many records to each partition."""
    for partition, count in enumerate(counts):
        topic.produce_all(NewRecord(f"{partition}-{n}", partition=partition) for n in range(count))


def values(rows: list[Any]) -> list[str]:
    return sorted(row.value for row in rows)


def test_available_now_goes_on_from_its_checkpoint(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name))
    fill(orders, 2, 1)
    assert values(stream.run_to_end()) == ["0-0", "0-1", "1-0"]
    orders.produce("new", partition=1)
    assert [tuple(row) for row in stream.run_to_end()] == [(1, 1, "new")]
    assert stream.run_to_end() == []


def test_available_now_in_batches_of_so_many_offsets(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name, maxOffsetsPerTrigger="6"))
    fill(orders, 10, 10)
    stream.run_to_end()
    batches = [[tuple(row)[:2] for row in rows] for rows in stream.batches().values()]
    assert [len(rows) for rows in batches] == [6, 6, 6, 2]
    for partition in range(2):
        read = [[offset for at, offset in rows if at == partition] for rows in batches]
        assert read == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


def test_so_many_offsets_are_shared_out_over_partitions(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    """In proportion to what each has."""
    stream = stream_test(read_stream(orders.name, maxOffsetsPerTrigger="20"))
    fill(orders, 30, 10)
    stream.run_to_end()
    counts = [Counter(row.partition for row in rows) for rows in stream.batches().values()]
    assert counts == [{0: 15, 1: 5}, {0: 15, 1: 5}]
    assert batch_offsets(stream.checkpoint, 0) == {orders.name: {0: 15, 1: 5}}


def test_from_topic_to_topic(
    stream_test: StreamOf,
    spark: Any,
    kafka: Emulator,
    kafka_options: dict[str, str],
    orders: TopicView,
) -> None:
    copy = kafka.create_topic("copy", partitions=2)
    orders.produce_all(
        NewRecord(f"v{n}", f"k{n}", {"trace": f"{n}"}, partition=n % 2) for n in range(20)
    )
    source = spark.readStream.format("kafka").options(**kafka_options, includeHeaders="true")
    frame = source.options(subscribe=orders.name, startingOffsets="earliest").load()
    columns = ["key", "value", "headers", "partition"]
    stream = stream_test(
        frame.select(*columns),
        writer=lambda to: to.format("kafka").options(
            **kafka_options, topic=copy.name, includeHeaders="true"
        ),
    )
    stream.start_stream()
    stream.process_all_available()
    orders.produce("later", key="k", partition=1)
    stream.process_all_available()

    def content(topic: TopicView) -> list[Any]:
        return [(each.partition, each.key, each.value, each.headers) for each in topic.records()]

    assert content(copy) == content(orders)
    assert len(copy.records()) == 21


def test_explicit_offsets_with_the_earliest_and_the_latest(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator
) -> None:
    topic = kafka.create_topic("explicit", partitions=3)
    fill(topic, 3, 3, 3)
    offsets = {topic.name: {"0": 1, "1": -1, "2": -2}}
    stream = stream_test(read_stream(topic.name, startingOffsets=json.dumps(offsets)))
    assert values(stream.run_to_end()) == ["0-1", "0-2", "2-0", "2-1", "2-2"]
    topic.produce("new", partition=1)
    assert values(stream.run_to_end()) == ["new"]


def test_latest_is_bound_by_the_first_batch(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    orders.produce("before", partition=0)
    stream = stream_test(read_stream(orders.name, startingOffsets="latest"))
    stream.start_stream()
    stream.process_all_available()  # the offsets are in the checkpoint now
    stream.stop_stream()
    orders.produce("while it is stopped", partition=0)
    assert values(stream.run_to_end()) == ["while it is stopped"]


JOB = """
import sys, time
from pathlib import Path
from odradek.compat.spark import spark_session

servers, topic, checkpoint, working = sys.argv[1:]
spark = spark_session("killed")
options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}

def work(frame, batch):
    frame.collect()
    Path(working).write_text(str(batch))
    time.sleep(600)

frame = spark.readStream.format("kafka").options(**options).load()
query = frame.writeStream.option("checkpointLocation", checkpoint).foreachBatch(work).start()
query.awaitTermination()
"""


@pytest.fixture
def killed_in_batch(
    kafka: Emulator, tmp_path: Path
) -> Iterator[Callable[[TopicView, StreamTest], None]]:
    """Runs a job in a process of its own, with Spark, and kills it in its first batch."""
    jobs: list[subprocess.Popen[bytes]] = []

    def kill(job: subprocess.Popen[bytes]) -> None:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()

    def run(topic: TopicView, stream: StreamTest) -> None:
        script, working = tmp_path / "job.py", tmp_path / "working"
        script.write_text(JOB)
        arguments = [kafka.bootstrap_servers, topic.name, stream.checkpoint, str(working)]
        job = subprocess.Popen([sys.executable, script, *arguments], start_new_session=True)
        jobs.append(job)
        for _ in range(int(KILLED_TIMEOUT_S * 10)):
            if working.exists():
                break
            try:
                job.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"the job ended by itself: {job.returncode}")
        assert working.read_text() == "0"
        kill(job)

    yield run
    for job in jobs:
        if job.poll() is None:
            kill(job)


def test_a_job_that_is_killed_in_mid_batch_runs_the_same_offsets_again(
    stream_test: StreamOf,
    read_stream: Any,
    orders: TopicView,
    killed_in_batch: Callable[[TopicView, StreamTest], None],
) -> None:
    stream = stream_test(read_stream(orders.name))
    fill(orders, 3, 2)
    killed_in_batch(orders, stream)
    assert batch_offsets(stream.checkpoint) == {orders.name: {0: 3, 1: 2}}
    orders.produce("after the crash", partition=0)
    stream.run_to_end()
    first, second = stream.batches().items()
    assert (first[0], values(first[1])) == (0, ["0-0", "0-1", "0-2", "1-0", "1-1"])
    assert (second[0], values(second[1])) == (1, ["after the crash"])


def test_a_pattern_picks_up_a_new_topic(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator
) -> None:
    first = kafka.create_topic("shop-a")
    frame = read_stream(subscribePattern=r".*shop-[a-z].*")
    stream = stream_test(frame.select("value"))
    first.produce("a")
    stream.start_stream()
    stream.check_new_answer("a")
    kafka.create_topic("other").produce("not read")
    kafka.create_topic("shop-b").produce("b")
    first.produce("c")
    stream.wait_for_rows(3)
    stream.check_new_answer("b", "c")


def test_partitions_that_are_added_are_read_from_their_start(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name).select("value"))
    fill(orders, 1, 1)
    stream.start_stream()
    stream.check_new_answer("0-0", "1-0")
    orders.add_partitions(1)
    orders.produce("new", partition=2)
    stream.wait_for_rows(3)
    stream.check_new_answer("new")
    stream.stop_stream()
    orders.add_partitions(1)
    orders.produce("newer", partition=3)
    assert values(stream.run_to_end()) == ["newer"]


def timed(spark: Any, kafka_options: dict[str, str], topic: TopicView) -> Any:
    """Value and timestamp of a stream, with a watermark of ten seconds."""
    source = spark.readStream.format("kafka").options(**kafka_options, subscribe=topic.name)
    frame = source.option("startingOffsets", "earliest").load()
    timed = frame.selectExpr("CAST(value AS STRING) AS value", "timestamp")
    return timed.withWatermark("timestamp", "10 seconds")


def at(topic: TopicView, second: int, value: str) -> None:
    topic.produce(value, timestamp=START_MS + second * 1000, partition=0)


def test_windows_are_closed_by_the_watermark(
    stream_test: StreamOf, spark: Any, kafka_options: dict[str, str], orders: TopicView
) -> None:
    from pyspark.sql import functions

    counts = timed(spark, kafka_options, orders).groupBy(
        functions.window("timestamp", "10 seconds"), "value"
    )
    frame = counts.count().selectExpr("CAST(window.start AS LONG) % 100 AS at", "value", "count")
    stream = stream_test(frame)  # append: a window comes out when it is closed
    for second, value in ((0, "a"), (1, "a"), (12, "a"), (13, "b")):
        at(orders, second, value)
    stream.run_to_end()
    stream.check_new_answer()
    at(orders, 21, "b")  # the watermark is at 11 s then: the first window is closed
    stream.run_to_end()
    stream.check_new_answer((0, "a", 2))
    at(orders, 2, "a")  # too late
    at(orders, 60, "b")
    stream.run_to_end()
    stream.check_new_answer((10, "a", 1), (10, "b", 1), (20, "b", 1))


def test_two_streams_are_joined(
    stream_test: StreamOf,
    spark: Any,
    kafka: Emulator,
    kafka_options: dict[str, str],
    orders: TopicView,
) -> None:
    payments = kafka.create_topic("payments")
    left = timed(spark, kafka_options, orders).selectExpr("value AS id", "timestamp AS ordered")
    right = timed(spark, kafka_options, payments).selectExpr("value AS of", "timestamp AS paid")
    soon = "id = of AND paid BETWEEN ordered AND ordered + INTERVAL 5 SECONDS"
    from pyspark.sql import functions

    joined = left.join(right, functions.expr(soon), "leftOuter")
    stream = stream_test(joined.selectExpr("id", "of IS NOT NULL AS is_paid"))
    for value in "abc":
        at(orders, 0, value)
    at(payments, 1, "a")
    at(payments, 9, "b")  # too late for b
    stream.run_to_end()
    stream.check_new_answer(("a", True))
    at(orders, 60, "d")
    at(payments, 60, "d")
    stream.run_to_end()
    # The watermark has passed: who has not paid comes out without.
    stream.check_new_answer(("d", True), ("b", False), ("c", False))


class TransactionalSink:
    """A sink of a job's own: each batch is one transaction, which has the batch's number in a topic
    beside. A batch that was committed, and is run again, is left out."""

    def __init__(self, servers: str, topic: str, done: str) -> None:
        from confluent_kafka import Producer

        self._topic, self._done = topic, done
        config = {"bootstrap.servers": servers, "transactional.id": f"sink-{topic}"}
        self._producer = Producer(config)
        self._producer.init_transactions()
        self._servers = servers

    def __call__(self, frame: Any, batch: int) -> None:
        if str(batch).encode() in self._batches():
            return
        self._producer.begin_transaction()
        for row in frame.toLocalIterator():
            self._producer.produce(self._topic, row.value.encode())
            if row.value == "poison":
                self._producer.flush()
                self._producer.abort_transaction()
                raise ValueError("a poisoned row")
        self._producer.produce(self._done, str(batch).encode())
        self._producer.commit_transaction()

    def _batches(self) -> list[bytes]:
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": "not used",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        consumer.assign([TopicPartition(self._done, 0, 0)])
        found: list[bytes] = []
        while (message := consumer.poll(30)) is not None and not message.error():
            found.append(message.value())
        consumer.close()
        return found


def texts(topic: TopicView) -> list[str]:
    return sorted(f"{record.text}" for record in topic.records())


def test_a_transactional_sink_of_the_jobs_own_writes_each_batch_once(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator, orders: TopicView
) -> None:
    pytest.importorskip("confluent_kafka")
    copy, done = (kafka.create_topic(name) for name in ("copy", "done"))
    sink = TransactionalSink(kafka.bootstrap_servers, copy.name, done.name)
    stream = stream_test(read_stream(orders.name), foreach_batch=sink)
    fill(orders, 2, 1)
    stream.crash_in_batch()  # after the transaction was committed, before the batch was
    stream.run_to_end()
    assert texts(copy) == ["0-0", "0-1", "1-0"]
    orders.produce("good", partition=0)
    orders.produce("poison", partition=0)
    stream.start_stream(availableNow=True)
    stream.expect_failure("a poisoned row")
    assert len(copy.values()) == 3
    stream.frame = read_stream(orders.name).where("value != 'poison'")
    stream.run_to_end()
    assert texts(copy) == ["0-0", "0-1", "1-0", "good"]
    assert done.values() == [b"0", b"1"]
    assert len(copy.values("read_uncommitted")) == 6


@pytest.fixture
def _old_offset_fetching(spark: Any) -> Iterator[None]:
    name = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
    spark.conf.set(name, "true")
    yield
    spark.conf.unset(name)


@pytest.mark.usefixtures("_old_offset_fetching")
def test_the_old_offset_fetching_is_a_consumer_in_a_group(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator, orders: TopicView
) -> None:
    group = kafka.group(f"stream-{orders.name}")
    quick = {"kafka.group.id": group.group_id, "kafka.metadata.max.age.ms": "100"}
    stream = stream_test(read_stream(orders.name, **quick).select("value"))
    fill(orders, 1, 1)
    stream.start_stream()
    stream.check_new_answer("0-0", "1-0")
    (member,) = group.wait_stable(members=1) or group.members
    assert member.assignment == ((orders.name, 0), (orders.name, 1))
    orders.add_partitions(1)
    orders.produce("new", partition=2)
    stream.wait_for_rows(3)
    stream.check_new_answer("new")
    stream.stop_stream()
    orders.produce("newer", partition=0)
    assert values(stream.run_to_end()) == ["newer"]
