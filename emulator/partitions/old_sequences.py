"""The sequence of a producer's batch, as brokers up to 2.4 check it.

What later ones take from a producer that they do not know, or that has no epoch (KIP-360), is
refused here; storage/producers.py checks what is left.

    epoch       sequence                                   refused
    a new one   not 0                                      45; of an unknown one 59 (45 in 0.11)
    the same    not 0, and nothing is known but a marker   59 (45 up to 1.1)
    the same    not the next one, and not a duplicate      45

Source: Kafka's ProducerStateManager of 0.11.0.3, 1.1.1, 2.0.1 and 2.4.1.
"""

from __future__ import annotations

from ...storage.producers import MAX_SEQUENCE, NONE, ProducerState, ProducerStates
from ...wire import Error, Refused
from ...wire.batch import BatchHeader
from ..base.release import Release


def check_sequence(release: Release, producers: ProducerStates, header: BatchHeader) -> None:
    """Raises Refused."""
    state = producers.states.get(header.producer_id)
    epoch, first = header.producer_epoch, header.base_sequence
    known_epoch = NONE if state is None else state.epoch
    if epoch < known_epoch:
        return  # it is fenced
    if epoch > known_epoch:
        if first:
            is_unknown = known_epoch == NONE and release.knows_unknown_producers
            raise _refused(is_unknown=is_unknown)
        return
    last = NONE if state is None else state.last_sequence
    if last == NONE and first:
        raise _refused(is_unknown=release.names_unknown_sequences)
    is_next = first == last + 1 or (first == 0 and last == MAX_SEQUENCE)
    if not is_next and (state is None or not _is_repeated(release, state, header)):
        raise _refused(is_unknown=False)


def _is_repeated(release: Release, state: ProducerState, header: BatchHeader) -> bool:
    known = state.batches if release.remembers_batches else state.batches[-1:]
    return any(each[:2] == (header.base_sequence, header.last_sequence) for each in known)


def _refused(*, is_unknown: bool) -> Refused:
    return Refused(Error.UNKNOWN_PRODUCER_ID if is_unknown else Error.OUT_OF_ORDER_SEQUENCE_NUMBER)
