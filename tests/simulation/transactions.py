"""Transactional producers of both generations, and a writer that commits and aborts.

What a stock client does about errors: a refusal that is retriable is sent again; a fence ends this
producer, and the application makes another; anything else aborts the transaction. A client of the
first generation asks for another epoch after a request that was lost, because one that is late
would else count for the next transaction (KIP-360).
"""

from __future__ import annotations

from typing import Any

from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.records import build_batch

from tests.requests.produce import produce_request
from tests.requests.transactions import (
    NOBODY,
    add_offsets_request,
    add_request,
    end_request,
    init_request,
    txn_commit_request,
)
from tests.simulation.actor import FENCED, Actor, Doing, Sleep
from tests.simulation.book import Broken, Fate, Place, Txn
from tests.simulation.world import World

TRANSACTION = 1
TIMEOUT_MS = 15_000


class Fenced(Exception):
    """Another producer has taken the place of this one, or the broker has ended its transaction."""


class Failed(Exception):
    """The transaction has to be aborted."""


class TransactionalProducer:
    """What an actor uses to write in transactions."""

    def __init__(self, actor: Actor, transactional_id: str, generation: int) -> None:
        self.actor, self.world = actor, actor.world
        self.transactional_id = transactional_id
        self.generation = generation
        self.txn: Txn | None = None
        self.is_committing = self.is_in_doubt = False
        self.reborn()

    def reborn(self) -> None:
        """Its process has died."""
        if self.txn is not None:
            self.world.book.ended(self.txn, self._fate(is_unclear=self.is_committing))
        self.producer = NOBODY
        self.sequences: dict[Place, int] = {}
        self.txn = None
        self.is_committing = self.is_in_doubt = self.may_be_late = False

    def _fate(self, *, is_unclear: bool) -> Fate:
        """What became of a transaction that was not acknowledged as committed. Once the answer to a
        commit was lost, no later refusal says that it was not carried out."""
        return Fate.UNKNOWN if is_unclear or self.is_in_doubt else Fate.ABORTED

    # Steps. Each raises Fenced or Failed.

    def init(self) -> Doing[None]:
        yield from self._find()
        request = init_request(self.transactional_id, self.producer, timeout_ms=TIMEOUT_MS)
        answer = yield from self._asked(request, 4, lambda each: each.error_code)
        self._becomes(answer)
        self.may_be_late = False

    def _find(self) -> Doing[None]:
        find = FindCoordinatorRequest(
            coordinator_keys=[self.transactional_id], key_type=TRANSACTION
        )
        yield from self.actor.until(lambda: find, 4, lambda each: each.coordinators[0].error_code)

    def begin(self) -> Doing[Txn]:
        """Begin a transaction, under a new epoch if need be."""
        if self.producer == NOBODY or (self.may_be_late and self.generation == 1):
            yield from self.init()
        self.txn, self.is_committing, self.is_in_doubt = Txn(self.actor.name), False, False
        return self.txn

    def write(self, place: Place, abouts: list[bytes]) -> Doing[None]:
        """Produce a batch within the transaction."""
        topic, index = place
        if self.generation == 1:
            adding = add_request(self.producer, [(topic, [index])], self.transactional_id)
            yield from self._asked(adding, 3, _added)
        producer, book, now = (
            f"{self.actor.name}/{self.actor.lives}",
            self.world.book,
            self.world.now,
        )
        names = [book.sends(place, producer, now, about=each, txn=self.txn) for each in abouts]
        first = self.sequences.get(place, 0)
        self.sequences[place] = first + len(names)
        data = build_batch(
            [(now, None, name, (("name", name),)) for name in names],
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            base_sequence=first,
            transactional=True,
        )
        request = produce_request(data, topic, index, transactional_id=self.transactional_id)
        version = 12 if self.generation == 2 else 11
        answer = yield from self._asked(request, version, _produced)
        base_offset = answer.responses[0].partition_responses[0].base_offset
        for at, name in enumerate(names):
            book.acknowledged(name, base_offset + at)

    def send_offset(self, group: str, place: Place, offset: int, identity: Any) -> Doing[None]:
        """The offset of a group, as part of the transaction."""
        assert self.txn is not None
        if self.generation == 1:
            adding = add_offsets_request(self.producer, group, self.transactional_id)
            yield from self._asked(adding, 3, lambda each: each.error_code)
        request = txn_commit_request(
            self.producer, (*place, offset), group=group, name=self.transactional_id, **identity
        )
        self.txn.offsets[group, place] = offset
        version = 5 if self.generation == 2 else 3
        yield from self._asked(
            request, version, lambda each: each.topics[0].partitions[0].error_code
        )

    def end(self, *, commit: bool) -> Doing[None]:
        """EndTxn. What became of the transaction is in the book."""
        assert self.txn is not None
        self.is_committing = commit
        version = 5 if self.generation == 2 else 4
        request = end_request(self.producer, commit, self.transactional_id)
        answer = yield from self._asked(request, version, lambda each: each.error_code)
        if self.generation == 2:
            self._becomes(answer)
        fate = Fate.COMMITTED if commit else self._fate(is_unclear=False)
        self.world.book.ended(self.txn, fate)
        self.txn, self.is_committing = None, False

    def check_failed(self, error: str) -> None:
        """Raises Broken if a transaction may not fail so."""
        is_out_of_order = error == Error.OUT_OF_ORDER_SEQUENCE_NUMBER.name
        if is_out_of_order and not self.world.may_forget_batches(""):
            raise Broken(f"{self.actor.name} is out of order in a transaction")

    def give_up(self) -> Doing[None]:
        """Abort what is open; a producer that is fenced becomes a new one."""
        try:
            if self.txn is not None:
                yield from self.end(commit=False)
            if self.generation == 1:  # whatever was refused may leave a gap in the sequence
                yield from self.init()
        except (Fenced, Failed):
            self.reborn()

    def _asked(self, request: Any, version: int, error_of: Any) -> Doing[Any]:
        while True:
            answer = yield from self.actor.ask(request, version)
            if answer is None:
                self.may_be_late = True
                self.is_in_doubt = self.is_in_doubt or self.is_committing
                yield from self.actor.pause()
                continue
            error = Error(error_of(answer))
            self.actor.tell(type(request).__name__, error.name, self.producer)
            if error is Error.NONE:
                return answer
            if error in FENCED:
                raise Fenced(error.name)
            if not error.retriable:
                raise Failed(error.name)
            if error is Error.NOT_COORDINATOR:  # a power cut may have taken its topic
                yield from self._find()
            yield from self.actor.pause()

    def _becomes(self, answer: Any) -> None:
        producer = Producer(answer.producer_id, answer.producer_epoch)
        if producer != self.producer:
            self.sequences.clear()
        self.producer = producer


def _added(answer: Any) -> int:
    return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code


def _produced(answer: Any) -> int:
    return answer.responses[0].partition_responses[0].error_code


class TransactionalWriter(Actor):
    """Writes `count` transactions of a few records each, and aborts some."""

    def __init__(
        self, world: World, name: str, topic: str, partitions: int, count: int, generation: int
    ) -> None:
        super().__init__(world, name)
        self.topic, self.partitions, self.left = topic, partitions, count
        self.producer = TransactionalProducer(self, name, generation)

    def reborn(self) -> None:
        self.producer.reborn()

    def play(self) -> Doing[None]:
        while self.left > 0:
            self.left -= 1
            try:
                yield from self._one()
            except Fenced:
                self.producer.reborn()
            except Failed as failed:
                self.producer.check_failed(str(failed))
                yield from self.producer.give_up()
            yield Sleep(self.random.choice((5, 100, 400)))

    def _one(self) -> Doing[None]:
        yield from self.producer.begin()
        for _ in range(self.random.choice((1, 2, 3))):
            place = self.topic, self.random.randrange(self.partitions)
            yield from self.producer.write(place, [b""] * self.random.choice((1, 2)))
            if self.random.random() < 0.3:
                yield Sleep(self.random.choice((5, 300)))
        yield from self.producer.end(commit=self.random.random() < 0.7)
