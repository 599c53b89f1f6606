"""Idempotent producers: batches under way, retried in their order until they are acknowledged."""

from __future__ import annotations

from typing import NamedTuple

from odradek.wire import Error
from odradek.wire.records import build_batch

from tests.requests.produce import produce_request
from tests.requests.transactions import init_request
from tests.simulation.actor import Actor, Ask, Doing, Sleep
from tests.simulation.book import Broken, Place
from tests.simulation.world import World

MOST_IN_FLIGHT = 5
"""`max.in.flight.requests.per.connection`, up to which order is promised."""
ACKS_ALL, PRODUCE = -1, 11


class GivesUp(Exception):
    """It is unknown whether a batch is stored: the application is told so."""


class Batch(NamedTuple):
    """A batch with its sequence; retries send the same bytes."""

    names: list[bytes]
    data: bytes


class IdempotentProducer(Actor):
    """Writes `count` batches to the partitions of a topic, several under way at a time."""

    def __init__(
        self, world: World, name: str, topic: str, partitions: int, count: int, keys: int = 0
    ) -> None:
        super().__init__(world, name)
        self.topic, self.partitions, self.left, self.keys = topic, partitions, count, keys
        self.ids = 0
        self.reborn()

    def reborn(self) -> None:
        self.producer_id, self.epoch = -1, -1
        self.sequences: dict[int, int] = {}

    def play(self) -> Doing[None]:
        while self.left > 0:
            if self.producer_id < 0:
                yield from self._init()
            index = self.random.randrange(self.partitions)
            # Its first batch goes alone: a broker that knows nothing of it accepts any sequence.
            most = self.random.choice((1, 1, 2, MOST_IN_FLIGHT)) if index in self.sequences else 1
            count = min(self.left, most)
            self.left -= count
            try:
                yield from self.deliver(index, [self.batch(index) for _ in range(count)])
            except GivesUp:
                self.reborn()
                self.ids += 1
            yield Sleep(self.random.choice((5, 100, 400)))

    def _init(self) -> Doing[None]:
        request = init_request(None, timeout_ms=0)
        answer = yield from self.until(lambda: request, 4, lambda each: each.error_code)
        if answer.error_code:
            raise Broken(f"{self.name} gets no producer id: {Error(answer.error_code).name}")
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch

    def batch(self, index: int) -> Batch:
        place: Place = self.topic, index
        now, records, names = self.world.now, [], []
        for _ in range(self.random.choice((1, 1, 3))):
            key = b"k%d" % self.random.randrange(self.keys) if self.keys else None
            name = self.world.book.sends(
                place, f"{self.name}/{self.lives}.{self.ids}", now, key=key
            )
            removes = self.keys and self.random.random() < 0.2
            if removes:
                self.world.book.sent[name].value = None
            records.append((now, key, None if removes else name, (("name", name),)))
            names.append(name)
        first = self.sequences.get(index, 0)
        self.sequences[index] = first + len(records)
        data = build_batch(
            records,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=first,
        )
        return Batch(names, bytes(data))

    def deliver(self, index: int, batches: list[Batch]) -> Doing[None]:
        """Send until each is acknowledged."""
        left = batches
        while left:
            requests = [produce_request(each.data, self.topic, index, ACKS_ALL) for each in left]
            answers = yield Ask([(request, PRODUCE) for request in requests])
            refused = []
            for batch, answer in zip(left, answers, strict=True):
                if not self._is_stored(batch, answer, is_first=not refused):
                    refused.append(batch)
            left = refused
            if left:
                yield from self.pause()

    def _is_stored(self, batch: Batch, answer: object, *, is_first: bool) -> bool:
        """Whether a batch was acknowledged; else it is sent again."""
        if answer is None:
            return False
        result = answer.responses[0].partition_responses[0]  # type: ignore[attr-defined]
        error = Error(result.error_code)
        self.tell("produced", result.index, error.name, result.base_offset, len(batch.names))
        if error is Error.NONE:
            for at, name in enumerate(batch.names):
                self.world.book.acknowledged(name, result.base_offset + at)
            return True
        behind_another = error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER and not is_first
        is_forgotten = error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER and is_first
        if is_forgotten and self.world.may_forget_batches(self.topic):
            raise GivesUp
        if not (error.retriable or behind_another):
            raise Broken(f"{self.name} is refused for ever: {error.name}")
        return False
