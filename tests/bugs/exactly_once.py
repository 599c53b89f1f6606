"""Bugs by which a service does its work twice, out of order, or with a wrong state, and services
without them."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from tests.bugs.parts import (
    COUNTS,
    ORDERS,
    Writer,
    commit,
    new_consumer,
    new_producer,
    new_transactional,
    taken,
    understood,
)


def _send_offsets(producer: Producer, consumer: Consumer, message: Message, more: int = 1) -> None:
    offset = message.offset() + more
    place = TopicPartition(message.topic(), message.partition(), offset)
    producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 30)


def _in_transactions(servers: str, more: int = 1) -> None:
    """Without a bug: whatever fails ends the process, and the next one goes on."""
    consumer, writer = new_consumer(servers), Writer(new_transactional(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is None:
            continue
        writer.producer.begin_transaction()
        writer.write(message)
        _send_offsets(writer.producer, consumer, message, more)
        writer.producer.commit_transaction(30)


def offset_not_the_next(servers: str, right: bool) -> None:
    """The offset of the last record is committed, and not the next one."""
    _in_transactions(servers, 1 if right else 0)


def no_transaction(servers: str, right: bool) -> None:
    """Write, and then commit."""
    if right:
        _in_transactions(servers)
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is not None:
            writer.write(message)
            writer.flush()
            commit(consumer, message)


def offsets_outside(servers: str, right: bool) -> None:
    """A transaction for what is written, and a commit after it."""
    if right:
        _in_transactions(servers)
    consumer, writer = new_consumer(servers), Writer(new_transactional(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is not None:
            writer.producer.begin_transaction()
            writer.write(message)
            writer.producer.commit_transaction(30)
            commit(consumer, message)


def fenced_producer_kept(servers: str, right: bool) -> None:
    """Errors are logged, and it goes on with the next record."""
    if right:
        _in_transactions(servers)
    consumer, writer = new_consumer(servers), Writer(new_transactional(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is None:
            continue
        try:
            writer.producer.begin_transaction()
            writer.write(message)
            _send_offsets(writer.producer, consumer, message)
            writer.producer.commit_transaction(30)
        except KafkaException as error:
            print("a transaction has failed:", error)
            try:
                writer.producer.abort_transaction(5)
            except KafkaException as again:
                print("nor is it aborted:", again)


def dedupe_in_memory(servers: str, right: bool) -> None:
    """What was written is known, as long as it lives."""
    if right:
        _in_transactions(servers)
    consumer, writer = new_consumer(servers), Writer(new_producer(servers))
    consumer.subscribe([ORDERS])
    done: set[int] = set()
    while True:
        message = taken(consumer)
        if message is None:
            continue
        order = understood(message)
        if order is not None and order["id"] not in done:
            writer.write(message)
            writer.flush()
            done.add(order["id"])
        commit(consumer, message)


def no_answer_in_0_3_seconds(servers: str, right: bool) -> None:
    """A commit that is late has failed: the same again, with a new producer."""
    if right:
        _in_transactions(servers)
    consumer, writer = new_consumer(servers), Writer(new_transactional(servers))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        while message is not None:
            writer.producer.begin_transaction()
            writer.write(message)
            _send_offsets(writer.producer, consumer, message)
            try:
                writer.producer.commit_transaction(0.3)
                message = None
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                print("once more:", error)
                writer = Writer(new_transactional(servers))


def own_retry(servers: str, right: bool) -> None:
    """What failed is produced again, behind what came after it."""
    more: dict[str, Any] = {"enable.idempotence": False, "retries": 0}
    producer = new_producer(servers, **({} if right else more))
    consumer, writer = new_consumer(servers), Writer(producer)
    consumer.subscribe([ORDERS])

    def delivered(error: Any, message: Message) -> None:
        if error is not None:
            producer.produce(message.topic(), message.value(), message.key(), on_delivery=delivered)

    read: list[Message] = []
    first = 0.0
    while True:
        message = taken(consumer, 0.02)
        if message is not None:
            first = first if read else time.monotonic()
            read.append(message)
            if right:
                writer.write(message)
            elif (order := understood(message)) is not None:
                value = json.dumps({"id": order["id"]})
                producer.produce("invoices", value, message.key(), on_delivery=delivered)
            producer.poll(0)
        if read and (time.monotonic() - first > 0.2 or len(read) > 50):
            writer.flush()
            for each in {each.partition(): each for each in read}.values():
                commit(consumer, each)
            read.clear()


def order_across_partitions(servers: str, right: bool) -> None:
    """Invoices have no key: they go wherever there is room."""
    consumer = new_consumer(servers)
    writer = Writer(new_producer(servers, **{"sticky.partitioning.linger.ms": 0}))
    consumer.subscribe([ORDERS])
    while True:
        message = taken(consumer)
        if message is not None:
            writer.write(message, keyed=right)
            writer.flush()
            commit(consumer, message)


def state_not_restored(servers: str, right: bool) -> None:
    """How many orders each customer has, counted in memory, and written with the offsets."""
    consumer, producer = new_consumer(servers), new_transactional(servers)
    counts: dict[bytes, int] = {}

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        known = consumer.committed(partitions, 30)  # waits for transactions that are open
        if right:
            counts.clear()
            counts.update(_restored(servers))
        for each in known:
            each.offset = max(each.offset, 0)
        consumer.assign(known)

    consumer.subscribe([ORDERS], on_assign=assigned)
    while True:
        message = taken(consumer)
        if message is None:
            continue
        producer.begin_transaction()
        if understood(message) is not None:
            key = message.key() or b""
            counts[key] = counts.get(key, 0) + 1
            producer.produce(COUNTS, json.dumps(counts[key]), key)
        _send_offsets(producer, consumer, message)
        producer.commit_transaction(30)


def _restored(servers: str) -> dict[bytes, int]:
    """What was written first, of each key."""
    config = {"group.id": f"restore-{os.getpid()}", "enable.partition.eof": True}
    reader = new_consumer(servers, **config)
    topic = reader.list_topics(COUNTS, 30).topics[COUNTS]
    reader.assign([TopicPartition(COUNTS, each, 0) for each in topic.partitions])
    found: dict[bytes, int] = {}
    left = set(topic.partitions)
    while left:
        message = reader.poll(1)
        if message is None:
            continue
        error = message.error()
        if error is not None:
            if error.name() == "_PARTITION_EOF":
                left.discard(message.partition())
            continue
        found[message.key() or b""] = int(message.value() or 0)
    reader.close()
    return found
