"""EndTxn: the outcome by generation, state, result and retry (semantics H5, H6).

The tables are the rule. First generation: the epoch must be the producer's own; an end that is
repeated with the same result is done already.

Second generation: each end raises the epoch, so the epoch shows whether this is a new end (the
producer's own epoch) or one whose answer was lost (the epoch before). Aborting a transaction that
never began is allowed, and raises the epoch too. While an end is being completed every request is
refused with CONCURRENT_TRANSACTIONS.

A retry across a change of the producer id has the old id with its last epoch.

Source: KIP-890; every cell run against Kafka 4.3.1.
"""

from __future__ import annotations

from enum import Enum

from ...wire import Error, Refused
from .states import State
from .transaction import LAST_EPOCH, TV2, Producer, Transaction


class Outcome(Enum):
    """What to do about an end that is not refused."""

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
