"""The states of a transactional id, as Kafka names and numbers them, and how one follows another.

    Empty ----------> Ongoing -------> PrepareCommit -------> CompleteCommit
                         |                                         |
                         +-----------> PrepareAbort --------> CompleteAbort

An id begins Empty, and is Empty again whenever its producer is initialized. From Empty and from
either Complete state a transaction begins with its first partition (Ongoing), or is aborted before
it began: the second generation of the protocol allows that, and bumps the epoch. An id that nobody
has used for a week is Dead, and then forgotten.

Kafka numbers a state PrepareEpochFence too. It is only ever in memory there, between two steps
that are one step here.

Source: KIP-98, KIP-890; `__transaction_state` of Kafka 4.3.1.
"""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """A state, by the name that clients are shown."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"

    @property
    def number(self) -> int:
        """What stands for the state in a record."""
        return _NUMBERS[self]

    @property
    def is_prepared(self) -> bool:
        """Whether the end is decided, and markers are being written."""
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
"""The names ListTransactions does not call unknown."""

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
    """The state that a record names. Raises ValueError for a number of none."""
    for state, known in _NUMBERS.items():
        if known == number:
            return state
    raise ValueError(f"no state of a transaction has the number {number}")
