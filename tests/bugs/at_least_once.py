"""Bugs by which a service loses records, and services without them."""

from __future__ import annotations

import json
import queue
import signal
import threading
import time
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    Message,
    TopicPartition,
)

from tests.bugs.parts import (
    INVOICES,
    ORDERS,
    Writer,
    commit,
    new_consumer,
    new_producer,
    taken,
    understood,
)


def _copy(consumer: Consumer, writer: Writer) -> None:
    """Without a bug: write, flush, commit."""
    while True:
        message = taken(consumer)
        if message is not None:
            writer.write(message)
            writer.flush()
            commit(consumer, message)


def commit_before_processing(servers: str, right: bool) -> None:
    """A kill between the two loses a record."""
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is None:
            continue
        if not right:
            commit(consumer, message)
        writer.write(message)
        writer.flush()
        if right:
            commit(consumer, message)


def auto_commit_with_a_worker(servers: str, right: bool) -> None:
    """What poll() has returned is committed, whether the worker has done it or not."""
    config: dict[str, Any] = {"enable.auto.commit": True, "auto.commit.interval.ms": 30}
    consumer = new_consumer(servers, **config, **{"enable.auto.offset.store": not right})
    writer = Writer(new_producer(servers))
    work: queue.Queue[Message] = queue.Queue()
    done: queue.Queue[Message] = queue.Queue()

    def worker() -> None:
        while True:
            message = work.get()
            time.sleep(0.01)
            writer.write(message)
            writer.flush()
            done.put(message)

    thread = threading.Thread(target=worker, daemon=True)
    thread.start()
    consumer.subscribe([ORDERS])
    while thread.is_alive():
        message = taken(consumer, 0.02)
        if message is not None:
            work.put(message)
        while right and not done.empty():
            try:
                consumer.store_offsets(done.get())
            except KafkaException as error:  # it is another's by now
                print("not stored:", error)
    raise SystemExit("the worker has ended")


def buffer_not_flushed(servers: str, right: bool) -> None:
    """Written by fives; at a rebalance what is in the buffer is forgotten, and committed."""
    config = {"enable.auto.commit": True, "auto.commit.interval.ms": 600_000}
    consumer = new_consumer(servers, **config)
    writer = Writer(new_producer(servers))
    buffer: list[Message] = []

    def write() -> None:
        for each in buffer:
            writer.write(each)
        writer.flush()
        buffer.clear()

    def revoked(_: Consumer, __: list[TopicPartition]) -> None:
        if right:
            write()
        buffer.clear()

    consumer.subscribe([ORDERS], on_revoke=revoked)
    last = time.monotonic()
    while True:
        message = taken(consumer)
        if message is not None:
            buffer.append(message)
        if len(buffer) >= 5 or (buffer and time.monotonic() - last > 0.5):
            write()
            last = time.monotonic()


def position_at_revocation(servers: str, right: bool) -> None:
    """What the worker still has is committed when its partition goes, and then left to others."""
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    work: queue.Queue[Message] = queue.Queue()
    done: queue.Queue[Message] = queue.Queue()
    mine: set[tuple[str | None, int | None]] = set()

    def worker() -> None:
        while True:
            message = work.get()
            if (message.topic(), message.partition()) in mine:
                time.sleep(0.02)
                writer.write(message)
                writer.flush()
                done.put(message)
            work.task_done()

    def commit_done() -> None:
        while not done.empty():
            commit(consumer, done.get())

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        mine.update((each.topic, each.partition) for each in partitions)

    def revoked(_: Consumer, partitions: list[TopicPartition]) -> None:
        if right:
            work.join()
            commit_done()
        else:
            there = [each for each in consumer.position(partitions) if each.offset >= 0]
            if there:
                consumer.commit(offsets=there, asynchronous=False)
        mine.difference_update((each.topic, each.partition) for each in partitions)

    thread = threading.Thread(target=worker, daemon=True)
    thread.start()
    consumer.subscribe([ORDERS], on_assign=assigned, on_revoke=revoked)
    while thread.is_alive():
        message = taken(consumer, 0.02)
        if message is not None:
            work.put(message)
        commit_done()
    raise SystemExit("the worker has ended")


def delivery_errors_ignored(servers: str, right: bool) -> None:
    """Nobody looks whether an invoice was stored."""
    consumer, producer = new_consumer(servers), new_producer(servers)
    consumer.subscribe([ORDERS])
    if right:
        _copy(consumer, Writer(producer))
    while True:
        message = taken(consumer)
        if message is None:
            continue
        order = understood(message)
        if order is not None:
            producer.produce(INVOICES, json.dumps({"id": order["id"]}), message.key())
        producer.flush(30)
        commit(consumer, message)


def flush_for_a_moment_at_the_end(servers: str, right: bool) -> None:
    """It is told to end, and does not wait for what is on its way."""
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    consumer.subscribe([ORDERS])
    read: list[Message] = []
    while not is_over.is_set():
        message = taken(consumer, 0.05)
        if message is not None:
            writer.write(message)
            read.append(message)
        if read and (message is None or len(read) >= 8):
            while not is_over.is_set() and writer.producer.flush(0.05):
                continue
            if not is_over.is_set():
                writer.flush()
                _commit_all(consumer, read)
    if right:
        writer.flush()
    else:
        writer.producer.flush(0.3)
    _commit_all(consumer, read)
    consumer.close()


def _commit_all(consumer: Consumer, read: list[Message]) -> None:
    furthest: dict[int, Message] = {}
    for each in read:
        furthest[each.partition()] = each
    for each in furthest.values():
        commit(consumer, each)
    read.clear()


def reads_uncommitted(servers: str, right: bool) -> None:
    """An order of a transaction that is aborted gets an invoice."""
    level = "read_committed" if right else "read_uncommitted"
    consumer = new_consumer(servers, **{"isolation.level": level})
    consumer.subscribe([ORDERS])
    _copy(consumer, Writer(new_producer(servers)))


def partition_0_alone(servers: str, right: bool) -> None:
    """As it was on somebody's machine."""
    consumer = new_consumer(servers)
    if right:
        consumer.subscribe([ORDERS])
    else:
        consumer.assign([TopicPartition(ORDERS, 0)])
    _copy(consumer, Writer(new_producer(servers)))


def latest_for_a_new_group(servers: str, right: bool) -> None:
    """What was there before it is never read."""
    consumer = new_consumer(servers, **{"auto.offset.reset": "earliest" if right else "latest"})
    consumer.subscribe([ORDERS])
    _copy(consumer, Writer(new_producer(servers)))


def seek_to_the_end_on_assign(servers: str, right: bool) -> None:
    """To be up to date after a rebalance."""
    consumer = new_consumer(servers)

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        for each in partitions:
            each.offset = OFFSET_END
        consumer.assign(partitions)

    if right:
        consumer.subscribe([ORDERS])
    else:
        consumer.subscribe([ORDERS], on_assign=assigned)
    _copy(consumer, Writer(new_producer(servers)))


def poison(servers: str, right: bool) -> None:
    """A record that is no JSON: it dies of it, again and again."""
    _reads_values(servers, lambda message: right or message.value() is None)


def tombstones(servers: str, right: bool) -> None:
    """A record without a value: the same."""
    _reads_values(servers, lambda message: right or message.value() is not None)


def _reads_values(servers: str, is_careful: Any) -> None:
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is None:
            continue
        if not is_careful(message):
            json.loads(message.value())
        writer.write(message)
        writer.flush()
        commit(consumer, message)


def latest_after_retention(servers: str, right: bool) -> None:
    """A new group begins at the beginning, by hand; one whose offset is gone at the end."""
    consumer = new_consumer(servers, **{"auto.offset.reset": "earliest" if right else "latest"})

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        for each in (known := consumer.committed(partitions, 30)):
            each.offset = each.offset if each.offset >= 0 else OFFSET_BEGINNING
        consumer.assign(known)

    consumer.subscribe([ORDERS], on_assign=assigned)
    _copy(consumer, Writer(new_producer(servers)))


def retries_0(servers: str, right: bool) -> None:
    """So that nothing is there twice; what fails is written to a log."""
    if right:
        producer = new_producer(servers)
    else:
        producer = new_producer(servers, **{"enable.idempotence": False, "retries": 0})
    consumer, writer = new_consumer(servers), Writer(producer)
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is None:
            continue
        writer.write(message)
        if right:
            writer.flush()
        else:
            producer.flush(30)
            for each in writer.errors:
                print("not delivered:", each)
            writer.errors.clear()
        commit(consumer, message)


def longer_than_max_poll_interval(servers: str, right: bool) -> None:
    """Now and then an order takes its time."""
    times = {"session.timeout.ms": 1000, "max.poll.interval.ms": 60_000 if right else 1000}
    consumer, writer = new_consumer(servers, **times), Writer(new_producer(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = consumer.poll(0.1)
        if message is None:
            continue
        if message.error():
            print(message.error())
            continue
        order = understood(message)
        if order is not None and order["id"] % 10 == 3:
            time.sleep(1.8)
        writer.write(message)
        writer.flush()
        commit(consumer, message)


def one_static_id(servers: str, right: bool) -> None:
    """All instances have the same."""
    import os

    its_own = f"-{os.environ['SERVICE_INSTANCE']}" if right else ""
    consumer = new_consumer(servers, **{"group.instance.id": f"app{its_own}"})
    consumer.subscribe([ORDERS])
    _copy(consumer, Writer(new_producer(servers)))


def batch_half_done(servers: str, right: bool) -> None:
    """What fails in the middle of a batch is logged, and the batch committed."""
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    consumer.subscribe([ORDERS])
    while True:
        messages = [each for each in consumer.consume(8, 0.1) if not each.error()]
        done: list[Message] = []
        try:
            for each in messages:
                writer.write(each)
                writer.flush()
                done.append(each)
        except KafkaException as error:
            if right:
                raise
            print("a batch has failed:", error)
            writer.errors.clear()
            done = messages
        _commit_all(consumer, done)
