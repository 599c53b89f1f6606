"""The states of a transactional id, as Kafka names and numbers them, and how one follows another.

    Empty ----------> Ongoing -------> PrepareCommit -------> CompleteCommit
                         |                                         |
                         +-----------> PrepareAbort --------> CompleteAbort

An id begins Empty, and is Empty again whenever its producer is initialized. From Empty and from
either Complete state a transaction begins with its first partition (Ongoing), or is aborted before
it began: the second generation of the protocol allows that, and raises the epoch. An id that was
not used for a week becomes Dead, and is then removed.

Kafka also has a number for a state PrepareEpochFence. There it exists in memory only, between two
steps that are one step here.

Source: KIP-98, KIP-890; `__transaction_state` of Kafka 4.3.1.
"""

from __future__ import annotations

from enum import Enum


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
        """The number of the state in a record."""
        return _NUMBERS[self]

    @property
    def is_prepared(self) -> bool:
        """Whether its end is decided, and markers are being written."""
        return self is State.PREPARE_COMMIT or self is State.PREPARE_ABORT

    @property
    def is_complete(self) -> bool:
        """Whether the last transaction is over."""
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
