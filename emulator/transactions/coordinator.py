"""The transaction coordinator of a broker, as a state machine without IO.

Rules:
- A step is written first, and applies then: a refused write changes nothing, and its error is
  answered.
- An end is answered once it is decided and written (Prepare*). Right after the answer, or with
  `timing="kafka"` some milliseconds later, the markers are written, and then that the transaction
  is complete; requests in between are refused with 51. Markers that cannot be written are retried,
  also when partitions change; if a partition refuses them because it knows a newer producer or
  coordinator, the transaction stays as it is until it is loaded again.
- An end that a crash interrupted is completed when the log is loaded (`recover`).
- Every `abort_interval_ms` transactions that have been open for too long are aborted, under the
  next epoch, so that their producers are fenced. Every `expiry_interval_ms` ids are removed that
  were not used for `expiration_ms`. Timers are set only while there is something to watch.

InitProducerId of a transactional id: which epoch it gets, or why none (semantics H1):
- A producer that sends no epoch gets the next one: the producer before it is fenced.
- One that sends its current epoch gets the next one too, and the same answer if it repeats the
  request with the epoch before: its first answer was lost. Any other id or epoch is fenced (90).
- An open transaction is aborted under the next epoch, and the producer shall retry (51); that is
  `must_fence`. It shall also retry while an end is being completed.
- A producer id whose epochs are used up is replaced by another, with epoch 0.

EndTxn: the outcome by generation, state, result and retry (semantics H5, H6). The tables are the
rule. First generation: the epoch must be the producer's own; an end that is repeated with the same
result is done already.

Second generation: each end raises the epoch, so the epoch shows whether this is a new end (the
producer's own epoch) or one whose answer was lost (the epoch before). Aborting a transaction that
never began is allowed, and raises the epoch too. While an end is being completed every request is
refused with CONCURRENT_TRANSACTIONS.

A retry across a change of the producer id has the old id with its last epoch.

Everything outside is reached through its `Environment` (store.py).
Source: KIP-98, KIP-360, KIP-447, KIP-588, KIP-890; run side by side with Kafka 4.3.1 (semantics H).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from .transaction import (
    LAST_EPOCH,
    NO_EPOCH,
    NO_PRODUCER_ID,
    OVERDUE,
    TV1,
    TV2,
    Key,
    Producer,
    State,
    Transaction,
)

if TYPE_CHECKING:
    from .store import Environment


class Outcome(Enum):
    """The outcome of an end that is not refused."""

    PREPARE = "prepare"
    DONE = "done"


COMMIT, ABORT = True, False
PREPARE, DONE = Outcome.PREPARE, Outcome.DONE
_WRONG = Error.INVALID_TXN_STATE
_BUSY = Error.CONCURRENT_TRANSACTIONS
_FENCED = Error.PRODUCER_FENCED

Cells = dict[bool, Outcome | Error]
FIRST_GENERATION: dict[State, Cells] = {
    State.EMPTY: {COMMIT: _WRONG, ABORT: _WRONG},
    State.ONGOING: {COMMIT: PREPARE, ABORT: PREPARE},
    State.PREPARE_COMMIT: {COMMIT: _BUSY, ABORT: _BUSY},
    State.PREPARE_ABORT: {COMMIT: _BUSY, ABORT: _BUSY},
    State.COMPLETE_COMMIT: {COMMIT: DONE, ABORT: _WRONG},
    State.COMPLETE_ABORT: {COMMIT: _WRONG, ABORT: DONE},
}
SECOND_GENERATION: dict[State, Cells] = {
    State.EMPTY: {COMMIT: _WRONG, ABORT: PREPARE},
    State.ONGOING: {COMMIT: PREPARE, ABORT: PREPARE},
    State.COMPLETE_COMMIT: {COMMIT: _WRONG, ABORT: PREPARE},
    State.COMPLETE_ABORT: {COMMIT: _WRONG, ABORT: PREPARE},
}
RETRIED: dict[State, Cells] = {
    State.EMPTY: {COMMIT: _FENCED, ABORT: _FENCED},
    State.ONGOING: {COMMIT: _FENCED, ABORT: _FENCED},
    State.COMPLETE_COMMIT: {COMMIT: DONE, ABORT: _WRONG},
    State.COMPLETE_ABORT: {COMMIT: _WRONG, ABORT: DONE},
}


def judged(known: Transaction, asked: Producer, *, commit: bool, client_version: int) -> Outcome:
    """Whether to prepare an end, or it is done already. Raises Refused:
    INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, INVALID_TXN_STATE, CONCURRENT_TRANSACTIONS."""
    if client_version == TV2:
        cells = _of_second_generation(known, asked)
    elif asked.producer_id != known.producer_id:
        raise Refused(Error.INVALID_PRODUCER_ID_MAPPING)
    elif asked.epoch != known.epoch:
        raise Refused(Error.PRODUCER_FENCED)
    else:
        cells = FIRST_GENERATION[known.state]
    cell = cells[commit]
    if isinstance(cell, Error):
        raise Refused(cell)
    return cell


def _of_second_generation(known: Transaction, asked: Producer) -> Cells:
    if known.state.is_prepared:  # the producer is not known until it is complete
        raise Refused(Error.CONCURRENT_TRANSACTIONS)
    was_renamed = asked == (known.previous_producer_id, LAST_EPOCH) and known.epoch == 0
    if asked.producer_id != known.producer_id and not was_renamed:
        raise Refused(Error.INVALID_PRODUCER_ID_MAPPING)
    if was_renamed or asked.epoch + 1 == known.epoch:
        return RETRIED[known.state]
    if asked.epoch != known.epoch:
        raise Refused(Error.PRODUCER_FENCED)
    return SECOND_GENERATION[known.state]


def must_fence(known: Transaction, asked: Producer | None) -> bool:
    """Whether an open transaction has to be aborted first. Raises Refused: PRODUCER_FENCED, or
    CONCURRENT_TRANSACTIONS while an end is being completed."""
    if known.state.is_prepared:
        raise Refused(Error.CONCURRENT_TRANSACTIONS)
    if asked is not None and not _may_ask(known, asked):
        raise Refused(Error.PRODUCER_FENCED)
    return known.state is State.ONGOING


def begun(
    known: Transaction,
    asked: Producer | None,
    timeout_ms: int,
    now: int,
    new_producer_id: Callable[[], int],
) -> Transaction:
    """The producer's new state, with nothing open. Raises Refused(PRODUCER_FENCED)."""
    if known.is_exhausted and (asked is None or asked.epoch == known.epoch):
        last = NO_EPOCH if asked is None else known.epoch
        return known.renamed(new_producer_id(), last, timeout_ms, now)
    if asked is None:
        epoch, last = known.epoch + 1, NO_EPOCH
    elif known.epoch in (NO_EPOCH, asked.epoch):
        epoch, last = known.epoch + 1, known.epoch
    elif asked.epoch == known.last_epoch:  # a retry of a request that was answered
        epoch, last = known.epoch, known.last_epoch
    else:
        raise Refused(Error.PRODUCER_FENCED)
    return known.initialized(epoch, last, timeout_ms, now)


def _may_ask(known: Transaction, asked: Producer) -> bool:
    """Whether the producer id, whatever its epoch, is the current one of the transactional id, or
    was until its epochs were used up."""
    is_before = asked.producer_id == known.previous_producer_id and asked.epoch >= LAST_EPOCH
    return known.epoch == NO_EPOCH or asked.producer_id == known.producer_id or is_before


# Errors of a partition that has seen a newer producer or coordinator: do not retry.
_NOT_RETRIED = (Error.INVALID_PRODUCER_EPOCH, Error.TRANSACTION_COORDINATOR_FENCED)
RETRY_MS = 1000
"""How long to wait before trying again to write markers, or that they are written."""


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """The broker's configs of transactions; times in milliseconds. What a release of Kafka can do
    has the name of its capability (base/release.py)."""

    timeout_ms_max: int = 900_000
    abort_interval_ms: int = 10_000
    expiry_interval_ms: int = 3_600_000
    expiration_ms: int = 604_800_000
    forgets_starts: bool = True
    fences_by_one_epoch: bool = True
    looks_at_level_first: bool = True


class TransactionCoordinator:
    def __init__(self, environment: Environment, settings: TransactionSettings) -> None:
        self.settings = settings
        self._environment = environment
        self._known: dict[str, Transaction] = {}
        self._opened_ms = environment.now()
        self._unmarked: set[str] = set()  # those that wait to have their markers written
        # Those that are to change, and never do (`looks_at_level_first`).
        self._in_transition: set[str] = set()
        self._abort_at: int | None = None
        self._expire_at: int | None = None

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        """Transactional id -> its state, read-only."""
        return self._known

    # Requests of clients

    def begin(self, transactional_id: str, timeout_ms: int, asked: Producer | None) -> Producer:
        """InitProducerId. Raises Refused: INVALID_REQUEST, INVALID_TRANSACTION_TIMEOUT,
        PRODUCER_FENCED, CONCURRENT_TRANSACTIONS."""
        if not transactional_id:
            raise Refused(Error.INVALID_REQUEST)
        if not 0 < timeout_ms <= self.settings.timeout_ms_max:
            raise Refused(Error.INVALID_TRANSACTION_TIMEOUT)
        known = self._known.get(transactional_id)
        if known is None:
            new_id = self._environment.new_producer_id()
            known = Transaction(transactional_id, new_id, timeout_ms)
        if transactional_id in self._in_transition:
            raise Refused(Error.CONCURRENT_TRANSACTIONS)
        if must_fence(known, asked):
            self._fence(known, "its producer has started anew")
            raise Refused(Error.CONCURRENT_TRANSACTIONS)
        now, new_producer_id = self._environment.now(), self._environment.new_producer_id
        following = begun(known, asked, timeout_ms, now, new_producer_id)
        self._write(following)
        if not self.settings.forgets_starts:  # in memory alone
            self._known[transactional_id] = replace(following, start_ms=known.start_ms)
        return following.producer

    def add(
        self,
        transactional_id: str,
        asked: Producer,
        partitions: Iterable[Key],
        client_version: int = TV1,
    ) -> None:
        """AddPartitionsToTxn and what does the same. Raises Refused: INVALID_REQUEST,
        INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, UNSUPPORTED_VERSION
        (the second generation where transaction.version is 0)."""
        known = self._of(transactional_id)
        if known.state.is_prepared or transactional_id in self._in_transition:
            raise Refused(Error.CONCURRENT_TRANSACTIONS)
        _check_producer(known, asked)
        wanted = list(partitions)
        if known.state is State.ONGOING and all(key in known.partitions for key in wanted):
            return
        self._check_level(transactional_id, client_version)
        self._write(known.joined_by(wanted, client_version, self._environment.now()))

    def verify(
        self, transactional_id: str, asked: Producer, partitions: Iterable[Key]
    ) -> list[Error]:
        """Whether each of these partitions is in the transaction: NONE or TRANSACTION_ABORTABLE.
        Raises Refused as `add` does, and changes nothing."""
        known = self._of(transactional_id)
        _check_producer(known, asked)
        if known.state.is_prepared:
            raise Refused(Error.CONCURRENT_TRANSACTIONS)
        return [
            Error.NONE if key in known.partitions else Error.TRANSACTION_ABORTABLE
            for key in partitions
        ]

    def end(
        self, transactional_id: str, asked: Producer, *, commit: bool, client_version: int
    ) -> Producer:
        """EndTxn; returns the producer for the next transaction. Raises Refused as `judged` does,
        and UNSUPPORTED_VERSION as `add` does."""
        known = self._of(transactional_id)
        if transactional_id in self._in_transition:
            if client_version != TV2:
                _check_producer(known, asked)
            raise Refused(Error.CONCURRENT_TRANSACTIONS)
        outcome = judged(known, asked, commit=commit, client_version=client_version)
        if outcome is Outcome.DONE:
            return known.producer
        self._check_level(transactional_id, client_version)
        now = self._environment.now()
        prepared = known.prepared(
            commit=commit,
            client_version=client_version,
            now=now,
            next_producer_id=self._following(known, client_version),
        )
        self._write(prepared)
        self._complete_soon(prepared)
        return prepared.completed(now).producer

    def time_out(self, transactional_id: str) -> None:
        """End an open transaction now as if it had been open for longer than its timeout. Raises
        Refused: TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if none is open."""
        known = self.find(transactional_id)
        if known.state is not State.ONGOING:
            text = f"no transaction of {transactional_id!r} is open: it is {known.state.value}"
            raise Refused(Error.INVALID_TXN_STATE, text)
        self._time_out(known)

    def find(self, transactional_id: str) -> Transaction:
        """The state of an id. Raises Refused: INVALID_REQUEST, TRANSACTIONAL_ID_NOT_FOUND."""
        if not transactional_id:
            raise Refused(Error.INVALID_REQUEST)
        known = self._known.get(transactional_id)
        if known is None:
            raise Refused(Error.TRANSACTIONAL_ID_NOT_FOUND)
        return known

    # The log

    def replay(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Take over a record of the log, in its order; None for a tombstone."""
        if transaction is None:
            self._known.pop(transactional_id, None)
        else:
            self._known[transactional_id] = transaction

    def recover(self) -> None:
        """The log is replayed: complete what was decided in it, and watch over what is open."""
        for transaction in list(self._prepared()):
            self._complete(transaction.transactional_id)
        self._watch()

    def resign(self, is_resigned: Callable[[str], bool]) -> None:
        """Drop ids from memory, which are no longer coordinated here."""
        for transactional_id in list(filter(is_resigned, self._known)):
            del self._known[transactional_id]

    def _prepared(self) -> Iterator[Transaction]:
        return (each for each in self._known.values() if each.state.is_prepared)

    # Ends

    def _time_out(self, known: Transaction) -> None:
        self._fence(known, f"{OVERDUE}, {known.timeout_ms} ms")

    def _fence(self, known: Transaction, why: str) -> None:
        """Abort an open transaction under the next epoch. Raises Refused."""
        version = TV2 if self._environment.level() >= TV2 else TV1
        fenced = known.fenced(
            client_version=version,
            now=self._environment.now(),
            next_producer_id=self._following(known, version),
        )
        if version == TV2 and not self.settings.fences_by_one_epoch:
            fenced = replace(fenced, epoch=fenced.epoch + 1, last_epoch=fenced.epoch)
        self._write(fenced, why)
        self._complete_soon(fenced)

    def _following(self, known: Transaction, client_version: int) -> int:
        """The producer id after an end that uses up the epochs; -1 for the same id."""
        if client_version == TV2 and known.is_exhausted:
            return self._environment.new_producer_id()
        return NO_PRODUCER_ID

    def _complete_soon(self, prepared: Transaction) -> None:
        transactional_id = prepared.transactional_id
        self._environment.soon(lambda: self._complete(transactional_id))

    def try_again(self) -> None:
        """Partitions have changed: markers that could not be written may be now."""
        while self._unmarked:
            transactional_id = self._unmarked.pop()
            self._environment.soon(partial(self._complete, transactional_id))

    def _complete(self, transactional_id: str) -> None:
        """Write the markers, and then that the transaction is complete."""
        self._unmarked.discard(transactional_id)
        known = self._known.get(transactional_id)
        if known is None or not known.state.is_prepared:
            return
        left, error = self._write_markers(known)
        if left:  # kept in memory only: these partitions have no marker yet
            self._known[transactional_id] = replace(known, partitions=left)
        elif not error:
            try:
                self._write(known.completed(self._environment.now()))
            except Refused as refused:
                error = refused.error
        if error and error not in _NOT_RETRIED:
            self._unmarked.add(transactional_id)
            when = self._environment.now() + RETRY_MS
            self._environment.at(when, lambda: self._complete(transactional_id))

    def _write_markers(self, known: Transaction) -> tuple[tuple[Key, ...], Error]:
        """Write a marker to each partition. Returns those that have none yet, and an error."""
        left: list[Key] = []
        error = Error.NONE
        for key in known.partitions:
            try:
                self._environment.write_marker(known, key)
            except Refused as refused:
                left.append(key)
                if not error or error in _NOT_RETRIED:
                    error = refused.error
        return tuple(left), error

    # Time

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time, and timers are due as long from now as before.
        Transactions have been open by the clock: they may be overdue at the next check."""
        if self._abort_at is not None:
            self._abort_at += milliseconds
        if self._expire_at is not None:
            self._expire_at += milliseconds
        self._watch()

    def _watch(self) -> None:
        """Set timers for what is open or may expire."""
        for transaction in self._known.values():
            if transaction.state is State.ONGOING:
                self._watch_over(transaction)
        idle = [each for each in self._known.values() if each.is_idle]
        if idle:
            self._watch_over(min(idle, key=lambda each: each.last_update_ms))

    def _watch_over(self, transaction: Transaction) -> None:
        settings = self.settings
        if transaction.state is State.ONGOING:
            overdue = transaction.start_ms + transaction.timeout_ms + 1
            when = self._tick(overdue, settings.abort_interval_ms)
            if self._abort_at is None or when < self._abort_at:
                self._abort_at = when
                self._environment.at(when, self._abort_overdue)
        elif transaction.is_idle and self._expire_at is None:
            unused = transaction.last_update_ms + settings.expiration_ms
            self._expire_at = self._tick(unused, settings.expiry_interval_ms)
            self._environment.at(self._expire_at, self._expire)

    def _tick(self, time_ms: int, interval_ms: int) -> int:
        """The first of the checks every `interval_ms` that is at or after `time_ms`."""
        earliest = max(time_ms, self._environment.now() + 1)
        return earliest + (self._opened_ms - earliest) % interval_ms

    def _abort_overdue(self) -> None:
        now = self._environment.now()
        if self._abort_at is None or now < self._abort_at:
            return  # stale: an earlier timer ran
        self._abort_at = None
        for transaction in list(self._known.values()):
            if transaction.is_overdue(now):
                self._try(self._time_out, transaction)
        self._watch()

    def _expire(self) -> None:
        self._expire_at = None
        limit = self._environment.now() - self.settings.expiration_ms
        for transaction in list(self._known.values()):
            if transaction.is_idle and transaction.last_update_ms <= limit:
                self._try(self._forget, transaction)
        self._watch()

    def _forget(self, transaction: Transaction) -> None:
        self._environment.write(transaction.transactional_id, None)
        del self._known[transaction.transactional_id]

    def _try(self, step: Callable[[Transaction], None], transaction: Transaction) -> None:
        """Take a step that no request waits for: a refused write is retried at the next check."""
        try:
            step(transaction)
        except Refused:
            return

    # Within

    def _of(self, transactional_id: str) -> Transaction:
        if not transactional_id:
            raise Refused(Error.INVALID_REQUEST)
        known = self._known.get(transactional_id)
        if known is None:
            raise Refused(Error.INVALID_PRODUCER_ID_MAPPING)
        return known

    def _check_level(self, transactional_id: str, client_version: int) -> None:
        """Raises Refused: without the feature, records have no client's generation."""
        if client_version and not self._environment.level():
            if not self.settings.looks_at_level_first:
                self._in_transition.add(transactional_id)
            raise Refused(Error.UNSUPPORTED_VERSION)

    def _write(self, transaction: Transaction, why: str = "") -> None:
        self._environment.write(transaction.transactional_id, transaction)
        before = self._known.get(transaction.transactional_id)
        self._known[transaction.transactional_id] = transaction
        self._environment.tell(before, transaction, why)
        self._watch_over(transaction)


def _check_producer(known: Transaction, asked: Producer) -> None:
    if asked.producer_id != known.producer_id:
        raise Refused(Error.INVALID_PRODUCER_ID_MAPPING)
    if asked.epoch != known.epoch:
        raise Refused(Error.PRODUCER_FENCED)
