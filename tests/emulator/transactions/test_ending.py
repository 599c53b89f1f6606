"""The tables of EndTxn, cell by cell, as a real broker answered them (semantics H5, H6)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.coordinator import (
    FIRST_GENERATION,
    RETRIED,
    SECOND_GENERATION,
    judged,
)
from odradek.emulator.transactions.transaction import (
    NEXT,
    TV1,
    TV2,
    Producer,
    State,
    Transaction,
    state_of,
)
from odradek.wire import Error, Refused

from tests.support.transactional_producer import TxnClient

Make = Callable[..., TxnClient]

# Abort retried | Abort | Commit retried | Commit; "bump" is an end, "0" one that was done before.
SECOND = """
Empty           90   bump  90   48
Ongoing         90   bump  90   bump
CompleteAbort   0    bump  48   48
CompleteCommit  48   bump  0    48
PrepareCommit   51   51    51   51
PrepareAbort    51   51    51   51
"""
# Abort | Commit, in the producer's own epoch; any other epoch is 90.
FIRST = """
Empty           48   48
Ongoing         bump bump
CompleteAbort   0    48
CompleteCommit  48   0
PrepareCommit   51   51
PrepareAbort    51   51
"""


def cells(table: str) -> list[tuple[State, int, str]]:
    rows = [line.split() for line in table.split("\n") if line]
    return [(State(row[0]), column, text) for row in rows for column, text in enumerate(row[1:])]


def outcome(state: State, *, epoch: int, commit: bool, version: int) -> str:
    known = Transaction("x", 5, 1000, previous_producer_id=5, epoch=7, state=state)
    try:
        found = judged(known, Producer(5, epoch), commit=commit, client_version=version)
    except Refused as refused:
        return str(int(refused.error))
    return {"prepare": "bump", "done": "0"}[found.value]


@pytest.mark.parametrize(("state", "column", "expected"), cells(SECOND))
def test_the_second_generation(state: State, column: int, expected: str) -> None:
    is_retry, commit = column % 2 == 0, column >= 2
    got = outcome(state, epoch=6 if is_retry else 7, commit=commit, version=TV2)
    assert got == expected


@pytest.mark.parametrize(("state", "column", "expected"), cells(FIRST))
def test_the_first_generation(state: State, column: int, expected: str) -> None:
    assert outcome(state, epoch=7, commit=column == 1, version=TV1) == expected
    for epoch in (5, 6, 8):
        assert outcome(state, epoch=epoch, commit=column == 1, version=TV1) == "90"


@pytest.mark.parametrize("epoch", [5, 8])
@pytest.mark.parametrize("commit", [True, False])
def test_an_epoch_too_old_or_too_new_is_fenced(epoch: int, commit: bool) -> None:
    for state in SECOND_GENERATION:
        assert outcome(state, epoch=epoch, commit=commit, version=TV2) == "90"


def test_every_state_has_a_row() -> None:
    living = set(State) - {State.DEAD}
    assert set(FIRST_GENERATION) == living
    assert set(RETRIED) == set(SECOND_GENERATION) == {s for s in living if not s.is_prepared}
    assert {state_of(state.number) for state in State} == set(NEXT) == set(State)


def test_a_retry_across_a_change_of_the_id_names_the_old_one() -> None:
    known = Transaction("x", 6, 1000, previous_producer_id=5, epoch=0, state=State.COMPLETE_COMMIT)
    old = Producer(5, 32766)
    assert judged(known, old, commit=True, client_version=TV2).value == "done"
    with pytest.raises(Refused) as refused:
        judged(known, Producer(5, 32765), commit=True, client_version=TV2)
    assert refused.value.error is Error.INVALID_PRODUCER_ID_MAPPING


def test_each_end_of_the_second_generation_raises_the_epoch(producer: Make) -> None:
    x = producer()
    for epoch in range(3):
        assert x.producer.epoch == epoch
        assert x.write(b"v") is Error.NONE
        assert x.end(epoch % 2 == 0) is Error.NONE
    assert x.state.state is State.COMPLETE_COMMIT


def test_the_first_generation_stays_in_its_epoch(producer: Make, cluster: Cluster) -> None:
    x = producer(generation=1)
    for _ in range(3):
        assert x.write(b"v") is Error.NONE
        assert x.end(True) is Error.NONE
        assert x.end(True) is Error.NONE
    assert x.state.epoch == x.producer.epoch == 0
    assert cluster.partition("t", 0).log_end_offset == 6


def test_an_end_that_was_lost_is_asked_for_again(producer: Make) -> None:
    x = producer()
    before = x.producer
    x.write(b"v")
    assert x.end(True) is Error.NONE
    after = x.producer
    assert x.end(True, asked=before) is Error.NONE
    assert x.producer == after
    assert x.end(False, asked=before) is Error.INVALID_TXN_STATE
    x.write(b"w")
    assert x.end(True, asked=before) is Error.PRODUCER_FENCED


def test_old_clients_are_answered_47_for_90(producer: Make) -> None:
    x = producer(generation=1)
    stranger = Producer(x.producer.producer_id, 9)
    assert x.end(True, asked=stranger, version=1) is Error.INVALID_PRODUCER_EPOCH
    assert x.end(True, asked=stranger, version=2) is Error.PRODUCER_FENCED


def test_the_last_epoch_is_followed_by_another_id(producer: Make, cluster: Cluster) -> None:
    x = producer()
    known = x.state
    last = known.initialized(32766, -1, 60_000, cluster.clock.now())
    cluster.transactions.coordinator_for("x").replay("x", last)
    x.producer = old = last.producer
    assert x.write(b"v") is Error.NONE
    assert x.end(True) is Error.NONE
    assert x.producer.epoch == 0
    assert x.producer.producer_id != old.producer_id
    assert cluster.partition("t", 0).log.producers.states[old.producer_id].epoch == 32767
    new = x.producer
    assert x.end(True, asked=old) is Error.NONE
    assert x.producer == new
    assert x.write(b"w") is Error.NONE
