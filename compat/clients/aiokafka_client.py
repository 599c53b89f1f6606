"""aiokafka with the common verbs.

The client needs a running event loop for its heartbeats, so one loop in a daemon thread serves
every call and every open consumer; a call waits for its coroutine, for TIMEOUT_S at most.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiokafka
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from .time_limits import TIMEOUT_S, asked_until
from .verbs import (
    BROKERS_DEFAULT,
    HEARTBEAT_MS,
    SESSION_TIMEOUT_MS,
    Acks,
    Client,
    Codec,
    Consumer,
    Isolation,
    NewRecord,
    Record,
    headers_of,
)

T = TypeVar("T")


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="aiokafka-loop", daemon=True).start()
    return loop


def _is_passing(error: Exception) -> bool:
    return isinstance(error, KafkaError) and error.retriable


def _run(work: Coroutine[Any, Any, T], seconds: float = TIMEOUT_S) -> T:
    limited = asyncio.wait_for(work, seconds)
    return asyncio.run_coroutine_threadsafe(limited, _loop()).result(seconds + 5)


@asynccontextmanager
async def _open(kind: Any, bootstrap: str, **options: Any) -> AsyncIterator[Any]:
    """Start a producer, consumer or admin client; close it afterwards."""
    opened = kind(bootstrap_servers=bootstrap, **options)
    try:
        await opened.start()
        yield opened
    finally:
        await (opened.close() if kind is AIOKafkaAdminClient else opened.stop())


class AiokafkaConsumer(Consumer):
    """One AIOKafkaConsumer on the shared loop."""

    def __init__(self, bootstrap: str, topic: str, **options: Any) -> None:
        async def start() -> Any:
            consumer = aiokafka.AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, **options)
            try:
                await consumer.start()
            except BaseException:
                await consumer.stop()
                raise
            return consumer

        self._consumer = _run(start())

    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        batches = _run(
            self._consumer.getmany(timeout_ms=int(seconds * 1000), max_records=max_records)
        )
        return [
            Record(m.partition, m.offset, m.timestamp, m.key, m.value, headers_of(m.headers))
            for messages in batches.values()
            for m in messages
        ]

    def positions(self) -> dict[int, int]:
        async def ask() -> dict[int, int]:
            return {
                partition.partition: await self._consumer.position(partition)
                for partition in self._consumer.assignment()
            }

        return _run(ask())

    def commit(self) -> None:
        _run(self._consumer.commit())

    def close(self) -> None:
        _run(_stopped(self._consumer))


async def _stopped(consumer: Any) -> None:
    """Where a fetch waits to be tried again, aiokafka 0.14.0 raises CancelledError, and leaves its
    connections open."""
    try:
        await consumer.stop()
    except asyncio.CancelledError:
        this = asyncio.current_task()
        if this is None or this.cancelling():
            raise
        await consumer._client.close()


class Aiokafka(Client):
    """The adapter; see Client for the verbs."""

    name = "aiokafka"

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Iterable[NewRecord],
        *,
        acks: Acks = "all",
        compression: Codec | None = None,
        idempotent: bool = False,
        partition: int | None = None,
        transactional_id: str | None = None,
        abort: bool = False,
    ) -> list[tuple[int, int]]:
        async def send(producer: Any) -> list[Any]:
            sent = [
                await producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    timestamp_ms=record.timestamp,
                    partition=partition,
                )
                for record in records
            ]
            return await asyncio.gather(*sent)

        async def work() -> list[Any]:
            async with _open(
                aiokafka.AIOKafkaProducer,
                bootstrap,
                acks=acks,
                compression_type=compression,
                enable_idempotence=idempotent or transactional_id is not None,
                transactional_id=transactional_id,
            ) as producer:
                if transactional_id is None:
                    return await send(producer)
                await producer.begin_transaction()
                done = await send(producer)
                await (producer.abort_transaction() if abort else producer.commit_transaction())
                return done

        unknown = -1 if partition is None else partition  # acks=0 resolves to no metadata
        return [
            (done.partition, done.offset) if done is not None else (unknown, -1)
            for done in _run(work())
        ]

    def consumer(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
    ) -> Consumer:
        return AiokafkaConsumer(
            bootstrap,
            topic,
            group_id=group,
            auto_offset_reset="earliest" if from_beginning else "latest",
            isolation_level=isolation,
            enable_auto_commit=False,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
        )

    def committed(self, bootstrap: str, group: str, topic: str) -> dict[int, int]:
        async def work() -> dict[int, int]:
            async with _open(AIOKafkaAdminClient, bootstrap) as admin:
                offsets = await admin.list_consumer_group_offsets(group)
            return {
                partition.partition: committed.offset
                for partition, committed in offsets.items()
                if partition.topic == topic and committed.offset >= 0
            }

        return _run(work())

    def list_topics(self, bootstrap: str) -> set[str]:
        async def work() -> set[str]:
            async with _open(AIOKafkaAdminClient, bootstrap) as admin:
                return set(await admin.list_topics())

        return _run(work())

    def partitions(self, bootstrap: str, topic: str) -> list[int]:
        async def work() -> list[int]:
            async with _open(AIOKafkaAdminClient, bootstrap) as admin:
                [found] = await admin.describe_topics([topic])
            return sorted(partition["partition"] for partition in found["partitions"])

        return asked_until(lambda: _run(work()), _is_passing)

    def end_offsets(self, bootstrap: str, topic: str) -> dict[int, int]:
        async def work() -> dict[int, int]:
            async with _open(aiokafka.AIOKafkaConsumer, bootstrap) as consumer:
                ends = await consumer.end_offsets(wanted)
            return {partition.partition: offset for partition, offset in ends.items()}

        wanted = self._all(bootstrap, topic)
        return asked_until(lambda: _run(work()), _is_passing)

    def offsets_for_time(
        self, bootstrap: str, topic: str, timestamp_ms: int
    ) -> dict[int, int | None]:
        async def work() -> dict[int, int | None]:
            async with _open(aiokafka.AIOKafkaConsumer, bootstrap) as consumer:
                found = await consumer.offsets_for_times(dict.fromkeys(wanted, timestamp_ms))
            return {p.partition: entry and entry.offset for p, entry in found.items()}

        wanted = self._all(bootstrap, topic)
        return _run(work())

    def _all(self, bootstrap: str, topic: str) -> list[Any]:
        return [aiokafka.TopicPartition(topic, p) for p in self.partitions(bootstrap, topic)]

    def _create_topic(
        self, bootstrap: str, topic: str, partitions: int, configs: dict[str, str]
    ) -> None:
        async def work() -> None:
            new = NewTopic(topic, partitions, 1, topic_configs=configs)
            new.replication_factor = BROKERS_DEFAULT  # which its constructor does not take
            async with _open(AIOKafkaAdminClient, bootstrap) as admin:
                answer = await admin.create_topics([new])
            _check(answer.topic_errors)

        _run(work())

    def _delete_topic(self, bootstrap: str, topic: str) -> None:
        async def work() -> None:
            async with _open(AIOKafkaAdminClient, bootstrap) as admin:
                answer = await admin.delete_topics([topic])
            _check(answer.topic_error_codes)

        _run(work())


def _check(errors: Iterable[tuple[Any, ...]]) -> None:
    """Raise the first error among (topic, code, ...), which this admin client only returns."""
    for topic, code, *_ in errors:
        if code:
            raise aiokafka.errors.for_code(code)(topic)
