"""InitProducerId of a transactional id: which epoch, or why none (semantics H1).

Rules:
- A producer that names no epoch gets the next one: who had the id before is fenced.
- One that names its own epoch gets the next one too, and the same answer when it asks again with
  the epoch it had before: its first answer was lost. Any other id or epoch is fenced (90).
- While a transaction is open it is aborted under the next epoch, and the producer is told to come
  back (51); that is `must_fence`. While an end is being carried out it is told so as well.
- An id whose epochs are used up is exchanged for another, with epoch 0.

Source: KIP-360, KIP-588; run against Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable

from ...wire import Error, Refused
from .states import State
from .transaction import LAST_EPOCH, NO_EPOCH, Producer, Transaction


def must_fence(known: Transaction, asked: Producer | None) -> bool:
    """Whether an open transaction has to be aborted first. Raises Refused: PRODUCER_FENCED, or
    CONCURRENT_TRANSACTIONS while an end is being carried out."""
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
    elif asked.epoch == known.last_epoch:  # a retry of what was answered
        epoch, last = known.epoch, known.last_epoch
    else:
        raise Refused(Error.PRODUCER_FENCED)
    return known.initialized(epoch, last, timeout_ms, now)


def _may_ask(known: Transaction, asked: Producer) -> bool:
    """Whether the producer is this id's, its epoch aside, or was until the epochs were used up."""
    is_before = asked.producer_id == known.previous_producer_id and asked.epoch >= LAST_EPOCH
    return known.epoch == NO_EPOCH or asked.producer_id == known.producer_id or is_before
