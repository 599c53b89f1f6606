"""With aiokafka, on an event loop that runs while a step is taken, and between steps.

Its consumer rebalances by itself, at any time, and its producer names only the group whose offsets
it commits. So that no transaction is under way while the group's offsets are read anew, a rebalance
waits for its end, as aiokafka's documentation has it.

Its consumer (0.14.0) takes an OffsetFetch that a coordinator refuses as a whole, while it loads,
for a group without offsets. So that it does not begin anew then, the group has offsets from the
start, and `auto_offset_reset="none"` makes an error of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from aiokafka import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    TopicPartition,
)
from aiokafka.errors import IllegalOperation, KafkaError, ProducerFenced
from odradek import Emulator

from tests.schedules.pipes.pipe import (
    BATCH,
    GROUP,
    NAME,
    POLL_S,
    SESSION_MS,
    SOURCE,
    STEP_S,
    TARGET,
    Batch,
    Broken,
    Failed,
    Pipe,
)

T = TypeVar("T")


class _Waits(ConsumerRebalanceListener):  # type: ignore[misc]
    """A rebalance waits until no batch is under way."""

    def __init__(self, under_way: asyncio.Lock) -> None:
        self._under_way = under_way

    async def on_partitions_revoked(self, revoked: Any) -> None:
        async with self._under_way:
            return

    async def on_partitions_assigned(self, assigned: Any) -> None:
        return


class Aiokafka(Pipe):
    """Between two polls the lock is held while there are records."""

    @classmethod
    def prepare(cls, kafka: Emulator) -> None:
        kafka.group(GROUP).commit({(SOURCE, each.index): 0 for each in kafka.topic(SOURCE)})

    def start(self) -> None:
        self.runner = asyncio.Runner()
        self.producer: Any = None
        self.consumer: Any = None
        self._run(self._start())

    async def _start(self) -> None:
        self.under_way = asyncio.Lock()
        more: dict[str, Any] = {"enable_idempotence": self.idempotent, "acks": "all"}
        if self.transactional:
            more = {"transactional_id": NAME, "transaction_timeout_ms": 20_000}
        self.producer = AIOKafkaProducer(
            **self.kafka.client_config("aiokafka", "producer"), request_timeout_ms=5000, **more
        )
        await self.producer.start()
        self.consumer = AIOKafkaConsumer(
            **self.kafka.client_config("aiokafka", "consumer"),
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            request_timeout_ms=5000,
        )
        self.consumer.subscribe([SOURCE], listener=_Waits(self.under_way))
        await self.consumer.start()

    def poll(self) -> Batch | None:
        return self._run(self._poll())

    async def _poll(self) -> Batch | None:
        if self.under_way.locked():
            self.under_way.release()
            await asyncio.sleep(0)
        await self.under_way.acquire()
        found = await self.consumer.getmany(timeout_ms=int(POLL_S * 1000), max_records=BATCH)
        records = [record for each in found.values() for record in each]
        if not records:
            self.under_way.release()
            await asyncio.sleep(0)
            return None
        positions = {each.partition: each.offset + 1 for each in records}
        return Batch([each.value for each in records], positions)

    def begin(self) -> None:
        self._run(self.producer.begin_transaction())

    def send(self, values: list[bytes]) -> None:
        self._run(self._send(values))

    async def _send(self, values: list[bytes]) -> None:
        await asyncio.gather(*[self.producer.send_and_wait(TARGET, value) for value in values])

    def send_offsets(self, positions: dict[int, int]) -> None:
        self._run(self.producer.send_offsets_to_transaction(_places(positions), GROUP))

    def commit(self) -> None:
        self._run(self.producer.commit_transaction())

    def abort(self) -> None:
        self._run(self.producer.abort_transaction())

    def commit_offsets(self, positions: dict[int, int]) -> None:
        self._run(self.consumer.commit(_places(positions)))

    def rewind(self) -> None:
        self._run(self._rewind())

    async def _rewind(self) -> None:
        for place in self.consumer.assignment():
            offset = await self.consumer.committed(place)
            if offset is None:
                raise Broken("the group has lost its offsets")
            self.consumer.seek(place, offset)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self.runner.run(asyncio.wait_for(work, STEP_S))
        except (TimeoutError, ProducerFenced, IllegalOperation) as error:
            raise Broken(repr(error)) from error
        except asyncio.CancelledError as error:
            # A consumer that is stopped between two tries to fetch lets this pass.
            raise Broken(repr(error)) from error
        except (KafkaError, AssertionError) as error:
            kind = Failed if self.transactional else Broken
            raise kind(repr(error)) from error

    def stop(self) -> None:
        self._run(self._stop())
        self.runner.close()

    async def _stop(self) -> None:
        if self.under_way.locked():
            self.under_way.release()
        if self.consumer is not None:
            await self.consumer.stop()
        if self.producer is not None:
            await self.producer.stop()

    def drop(self) -> None:
        with suppress(Failed, Broken):
            # A producer that cannot end its transaction waits for ever to be stopped.
            self._run(_briefly(self._stop()))
        with suppress(Exception):
            self.runner.close()


async def _briefly(work: Coroutine[Any, Any, None]) -> None:
    await asyncio.wait([asyncio.ensure_future(work)], timeout=1)


def _places(positions: dict[int, int]) -> dict[Any, int]:
    return {TopicPartition(SOURCE, index): offset for index, offset in positions.items()}
