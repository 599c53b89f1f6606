"""One consumer in a process of its own, which others may kill and pause.

    python member.py '{"client": "aiokafka", "protocol": "classic", "bootstrap": ...}'

It commits what each poll returned, later if that fails, and says on standard output, in lines of
JSON, what happens to it: "assigned" (with the generation), "revoked", "lost", "records" (runs of
offsets), "error". What it has read it says before it commits it. It leaves the group when its
standard input ends, and then says "closed". Moments (`at`) are seconds of the machine's monotonic
clock.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

SESSION_MS, HEARTBEAT_MS, POLL_INTERVAL_MS = 6000, 500, 10_000
POLL_S, AT_ONCE = 0.1, 100


class Voice:
    """Says what happens, in order."""

    def __init__(self) -> None:
        self.owes_commit = False  # records were delivered that are not committed
        self._runs: list[list[int]] = []

    def saw(self, partition: int, offset: int, value: bytes | None) -> None:
        """A record was delivered; its value must be that of its place."""
        if value != b"%d:%d" % (partition, offset):
            self.tell("wrong", partition=partition, offset=offset, value=repr(value))
        self.owes_commit = True
        if self._runs and self._runs[-1][0] == partition and self._runs[-1][2] + 1 == offset:
            self._runs[-1][2] = offset
        else:
            self._runs.append([partition, offset, offset])

    def tell(self, what: str, **more: Any) -> None:
        """Say it, after the records that were delivered before it."""
        runs, self._runs = self._runs, []
        if runs:
            self._write("records", runs=runs)
        self._write(what, **more)

    def tell_records(self) -> None:
        """Say which records were delivered."""
        runs, self._runs = self._runs, []
        if runs:
            self._write("records", runs=runs)

    def assigned(self, partitions: Iterable[int], generation: int, member: str) -> None:
        """These came to the member."""
        self.tell("assigned", partitions=sorted(partitions), generation=generation, member=member)

    @staticmethod
    def _write(what: str, **more: Any) -> None:
        line = json.dumps({"at": time.monotonic(), "who": 0, "is": what, **more}).encode() + b"\n"
        while line:
            line = line[os.write(1, line) :]


def confluent(task: dict[str, Any], voice: Voice, is_over: Callable[[], bool]) -> None:
    """librdkafka, with either protocol. What ends a consumer for good begins another one."""
    while not is_over():
        _confluent(task, voice, is_over)
        voice.tell("closed")


def _confluent(task: dict[str, Any], voice: Voice, is_over: Callable[[], bool]) -> None:
    from confluent_kafka import Consumer, KafkaError, KafkaException

    options: dict[str, Any] = {
        "bootstrap.servers": task["bootstrap"],
        "group.id": task["group"],
        "group.protocol": task["protocol"],
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "max.poll.interval.ms": POLL_INTERVAL_MS,
        "log_level": 2,
    }
    if task["protocol"] == "classic":
        options |= {
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "partition.assignment.strategy": task.get("assignor", "cooperative-sticky"),
        }
    consumer = Consumer(options)

    def assigned(_: Any, partitions: Any) -> None:
        # "CGMDv2:", then the generation as the machine writes an int32.
        generation = int.from_bytes(consumer.consumer_group_metadata()[7:11], sys.byteorder)
        voice.assigned([each.partition for each in partitions], generation, consumer.memberid())

    def revoked(_: Any, partitions: Any) -> None:
        voice.tell("revoked", partitions=[each.partition for each in partitions])

    def lost(_: Any, partitions: Any) -> None:
        voice.tell("lost", partitions=[each.partition for each in partitions])

    consumer.subscribe([task["topic"]], on_assign=assigned, on_revoke=revoked, on_lost=lost)
    is_dead = False
    while not (is_over() or is_dead):
        # One by one: a rebalance may happen inside of `poll`, and what is returned comes after it.
        message = consumer.poll(POLL_S)
        count = 0
        while message is not None:
            if message.error() is None:
                voice.saw(message.partition(), message.offset(), message.value())
            else:
                voice.tell("error", text=str(message.error()))
                is_dead |= message.error().fatal()
            count += 1
            message = consumer.poll(0) if count < AT_ONCE else None
        if voice.owes_commit:
            voice.tell_records()
            try:
                consumer.commit(asynchronous=False)
                voice.owes_commit = False
            except KafkaException as error:
                # It may be that nothing is left to it that it could commit.
                voice.owes_commit = error.args[0].code() != KafkaError._NO_OFFSET
                voice.tell("error", text=str(error))
    consumer.close()


def kafka_python(task: dict[str, Any], voice: Voice, is_over: Callable[[], bool]) -> None:
    """kafka-python, which speaks the classic protocol."""
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.errors import KafkaError

    consumer = KafkaConsumer(
        bootstrap_servers=task["bootstrap"],
        group_id=task["group"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        max_poll_interval_ms=POLL_INTERVAL_MS,
    )

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Any) -> None:
            now = consumer._coordinator._generation
            voice.assigned([each.partition for each in assigned], now.generation_id, now.member_id)

        def on_partitions_revoked(self, revoked: Any) -> None:
            voice.tell("revoked", partitions=[each.partition for each in revoked])

        def on_partitions_lost(self, lost: Any) -> None:
            voice.tell("lost", partitions=[each.partition for each in lost])

    consumer.subscribe([task["topic"]], listener=Listener())
    while not is_over():
        try:
            found = consumer.poll(timeout_ms=int(POLL_S * 1000), max_records=AT_ONCE)
            for place, records in found.items():
                for record in records:
                    voice.saw(place.partition, record.offset, record.value)
            if voice.owes_commit:
                voice.tell_records()
                consumer.commit()
                voice.owes_commit = False
        except KafkaError as error:
            voice.tell("error", text=repr(error))
    consumer.close()


def aiokafka(task: dict[str, Any], voice: Voice, is_over: Callable[[], bool]) -> None:
    """aiokafka, which speaks the classic protocol."""
    asyncio.run(_aiokafka(task, voice, is_over))


async def _aiokafka(task: dict[str, Any], voice: Voice, is_over: Callable[[], bool]) -> None:
    from aiokafka import AIOKafkaConsumer
    from aiokafka.abc import ConsumerRebalanceListener
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.errors import KafkaError

    consumer = AIOKafkaConsumer(
        bootstrap_servers=task["bootstrap"],
        group_id=task["group"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        max_poll_interval_ms=POLL_INTERVAL_MS,
        partition_assignment_strategy=[RangePartitionAssignor],
    )

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        async def on_partitions_assigned(self, assigned: Any) -> None:
            now = consumer._coordinator
            voice.assigned([each.partition for each in assigned], now.generation, now.member_id)

        async def on_partitions_revoked(self, revoked: Any) -> None:
            voice.tell("revoked", partitions=[each.partition for each in revoked])

    consumer.subscribe([task["topic"]], listener=Listener())
    await consumer.start()
    while not is_over():
        try:
            found = await consumer.getmany(timeout_ms=int(POLL_S * 1000), max_records=AT_ONCE)
            for place, records in found.items():
                for record in records:
                    voice.saw(place.partition, record.offset, record.value)
            if voice.owes_commit:
                voice.tell_records()
                await consumer.commit()
                voice.owes_commit = False
        except KafkaError as error:
            voice.tell("error", text=repr(error))
    await consumer.stop()


CLIENTS = {"confluent-kafka": confluent, "kafka-python": kafka_python, "aiokafka": aiokafka}


def main() -> None:
    """Be a member until standard input ends."""
    task = json.loads(sys.argv[1])
    over = threading.Event()

    def wait_for_the_end() -> None:
        # Not through `sys.stdin`: its lock would be held when the interpreter ends.
        while os.read(0, 4096):
            continue
        over.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    voice = Voice()
    voice.tell("started")
    CLIENTS[task["client"]](task, voice, over.is_set)
    voice.tell("closed")


if __name__ == "__main__":
    main()
