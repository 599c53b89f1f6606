"""One transactional id: its states, as Kafka names and numbers them, and the steps between them.

    Empty ----------> Ongoing -------> PrepareCommit -------> CompleteCommit
                         |                                         |
                         +-----------> PrepareAbort --------> CompleteAbort

An id begins Empty, and is Empty again whenever its producer is initialized. From Empty and from
either Complete state a transaction begins with its first partition (Ongoing), or is aborted before
it began: the second generation of the protocol allows that, and raises the epoch. An id that was
not used for a week becomes Dead, and is then removed.

Kafka also has a number for a state PrepareEpochFence. There it exists in memory only, between two
steps that are one step here.

A `Transaction` is never changed. Each step (begin, add, prepare, complete) returns the one that
follows, which applies once it is written; whether a step is allowed is not decided here.

Epochs: the first generation of the protocol (Produce up to v11, EndTxn up to v4) raises the epoch
only when a producer is initialized or fenced; the second (Produce v12, EndTxn v5, KIP-890) with
every end, so that its markers carry the next epoch already. 32767 is never given to a client: an
id that has used 32766 gets another producer id, at the next initialization or at the end itself.

`previous_producer_id` is the id before the last step, for the one retry that may still send it.
`last_epoch` is the epoch that an initialization may repeat; it is not stored, so a restart loses
it, as on a real broker. Times are milliseconds.

Source: KIP-98, KIP-360, KIP-588, KIP-890; `__transaction_state` of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

OVERDUE = "open for longer than its timeout"


class State(Enum):
    """A state, by the name in answers."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"

    @property
    def number(self) -> int:
        return _NUMBERS[self]

    @property
    def is_prepared(self) -> bool:
        """Whether its end is decided, and markers are being written."""
        return self is State.PREPARE_COMMIT or self is State.PREPARE_ABORT

    @property
    def is_complete(self) -> bool:
        return self is State.COMPLETE_COMMIT or self is State.COMPLETE_ABORT

    @property
    def commits(self) -> bool:
        """Whether the transaction ends, or has ended, in a commit."""
        return self is State.PREPARE_COMMIT or self is State.COMPLETE_COMMIT


_NUMBERS = {state: number for number, state in enumerate(State)}
NAMES = {state.value: state for state in State}
KNOWN_NAMES = frozenset({*NAMES, "PrepareEpochFence"})
"""The names that ListTransactions accepts in a filter."""

_IDLE = {State.EMPTY, State.ONGOING, State.PREPARE_ABORT, State.DEAD}
NEXT: dict[State, frozenset[State]] = {
    State.EMPTY: frozenset(_IDLE),
    State.ONGOING: frozenset({State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT}),
    State.PREPARE_COMMIT: frozenset({State.COMPLETE_COMMIT}),
    State.PREPARE_ABORT: frozenset({State.COMPLETE_ABORT}),
    State.COMPLETE_COMMIT: frozenset(_IDLE),
    State.COMPLETE_ABORT: frozenset(_IDLE),
    State.DEAD: frozenset(),
}
"""Which states may follow a state."""


def state_of(number: int) -> State:
    """The state with this number in a record. Raises ValueError for an unknown number."""
    for state, known in _NUMBERS.items():
        if known == number:
            return state
    raise ValueError(f"no state of a transaction has the number {number}")


NO_PRODUCER_ID = -1
NO_EPOCH = -1
NO_START = -1
LAST_EPOCH = 32766
"""The highest epoch that a client may have."""

TV1 = 0
"""The first generation of the protocol, which records do not have."""
TV2 = 2

Key = tuple[str, int]
"""Topic and partition."""


class Producer(NamedTuple):
    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transactional id as of its last record."""

    transactional_id: str
    producer_id: int
    timeout_ms: int
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_EPOCH
    last_epoch: int = NO_EPOCH
    state: State = State.EMPTY
    partitions: tuple[Key, ...] = ()
    last_update_ms: int = NO_START
    start_ms: int = NO_START
    client_version: int = TV1

    @property
    def producer(self) -> Producer:
        return Producer(self.producer_id, self.epoch)

    @property
    def is_exhausted(self) -> bool:
        """Whether the producer id has no epoch left for a client."""
        return self.epoch >= LAST_EPOCH

    def is_overdue(self, now: int) -> bool:
        return self.state is State.ONGOING and self.start_ms + self.timeout_ms < now

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open or being ended."""
        return self.state is State.EMPTY or self.state.is_complete

    # Steps

    def initialized(self, epoch: int, last_epoch: int, timeout_ms: int, now: int) -> Transaction:
        return replace(
            self._to(State.EMPTY, now),
            epoch=epoch,
            last_epoch=last_epoch,
            timeout_ms=timeout_ms,
            partitions=(),
            start_ms=NO_START,
        )

    def renamed(self, producer_id: int, last_epoch: int, timeout_ms: int, now: int) -> Transaction:
        """The producer starts again under another id, whose first epoch is 0."""
        return replace(self.initialized(0, last_epoch, timeout_ms, now), producer_id=producer_id)

    def joined_by(self, partitions: Iterable[Key], client_version: int, now: int) -> Transaction:
        """Partitions are added; the first begin the transaction."""
        return replace(
            self._to(State.ONGOING, now),
            partitions=tuple(dict.fromkeys((*self.partitions, *partitions))),
            start_ms=self.start_ms if self.state is State.ONGOING else now,
            client_version=client_version,
        )

    def prepared(
        self, *, commit: bool, client_version: int, now: int, next_producer_id: int = NO_PRODUCER_ID
    ) -> Transaction:
        """Its end is decided. The second generation raises the epoch with it."""
        bumps = client_version == TV2
        return replace(
            self._to(State.PREPARE_COMMIT if commit else State.PREPARE_ABORT, now),
            next_producer_id=next_producer_id,
            epoch=self.epoch + 1 if bumps else self.epoch,
            last_epoch=self.epoch if bumps else self.last_epoch,
            start_ms=self.start_ms if self.state is State.ONGOING else now,
            client_version=client_version,
        )

    def fenced(
        self, *, client_version: int, now: int, next_producer_id: int = NO_PRODUCER_ID
    ) -> Transaction:
        """It is aborted under the next epoch. Only in the second generation may its producer repeat
        a request whose answer it has missed."""
        aborted = self.prepared(
            commit=False, client_version=TV2, now=now, next_producer_id=next_producer_id
        )
        if client_version == TV2:
            return aborted
        return replace(aborted, client_version=client_version, last_epoch=NO_EPOCH)

    def completed(self, now: int) -> Transaction:
        done = State.COMPLETE_COMMIT if self.state.commits else State.COMPLETE_ABORT
        complete = replace(self._to(done, now), partitions=(), next_producer_id=NO_PRODUCER_ID)
        if self.next_producer_id == NO_PRODUCER_ID:
            return complete
        return replace(complete, producer_id=self.next_producer_id, epoch=0)

    def _to(self, state: State, now: int) -> Transaction:
        if state not in NEXT[self.state]:
            raise AssertionError(f"{self.state} is not followed by {state}")
        return replace(
            self,
            state=state,
            previous_producer_id=self.producer_id,
            last_update_ms=now,
        )
