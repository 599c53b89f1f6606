"""InitProducerId of a transactional id: which epoch it gets, or why none (semantics H1).

Rules:
- A producer that sends no epoch gets the next one: the producer before it is fenced.
- One that sends its current epoch gets the next one too, and the same answer if it repeats the
  request with the epoch before: its first answer was lost. Any other id or epoch is fenced (90).
- An open transaction is aborted under the next epoch, and the producer shall retry (51); that is
  `must_fence`. It shall also retry while an end is being completed.
- A producer id whose epochs are used up is replaced by another, with epoch 0.

Source: KIP-360, KIP-588; run against Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable

from ...wire import Error, Refused
from .states import State
from .transaction import LAST_EPOCH, NO_EPOCH, Producer, Transaction


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
