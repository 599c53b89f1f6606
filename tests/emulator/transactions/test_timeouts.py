"""What happens by itself: transactions that take too long, and ids that nobody uses (H9, H10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, State
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.support.cluster import open_cluster
from tests.support.consumer import read
from tests.support.transactional_producer import TxnClient

Make = Callable[..., TxnClient]
HOUR, DAY = 3_600_000, 86_400_000


@pytest.mark.parametrize("generation", [1, 2])
def test_one_that_takes_too_long_is_aborted_at_the_next_look(
    producer: Make, cluster: Cluster, generation: int
) -> None:
    x = producer(generation=generation, timeout_ms=12_000)
    x.write(b"lost")
    cluster.advance(19_999)
    assert x.state.state is State.ONGOING
    cluster.advance(1)
    assert (x.state.state, x.state.epoch) == (State.COMPLETE_ABORT, 1)
    assert read(cluster, committed=True) == []
    assert x.write(b"zombie", sequence=1, version=11) is Error.INVALID_PRODUCER_EPOCH


def test_its_producer_may_abort_it_again_but_not_commit(producer: Make, cluster: Cluster) -> None:
    x = producer(timeout_ms=5_000)
    own = x.producer
    x.write(b"lost")
    cluster.advance(10_000)
    assert x.end(True, asked=own) is Error.INVALID_TXN_STATE
    assert x.end(True, asked=own, version=4) is Error.PRODUCER_FENCED
    assert x.end(False, asked=own) is Error.NONE
    assert x.producer == Producer(own.producer_id, 1)


def test_time_counts_from_the_first_partition(producer: Make, cluster: Cluster) -> None:
    x = producer(timeout_ms=9_000)
    cluster.advance(DAY)
    assert x.state.state is State.EMPTY
    x.write(b"a")
    cluster.advance(8_000)
    x.write(b"b")
    cluster.advance(2_000)
    assert x.state.state is State.COMPLETE_ABORT


def test_several_are_watched_over_at_once(producer: Make, cluster: Cluster) -> None:
    slow, quick = producer("slow", timeout_ms=100_000), producer("quick", timeout_ms=1_000)
    slow.write(b"slow")
    cluster.advance(15_000)
    quick.write(b"quick", partition=1)
    cluster.advance(5_000)
    assert (slow.state.state, quick.state.state) == (State.ONGOING, State.COMPLETE_ABORT)
    cluster.advance(80_001)
    assert slow.state.state is State.ONGOING
    cluster.advance(10_000)
    assert slow.state.state is State.COMPLETE_ABORT


def test_an_id_is_forgotten_after_a_week(producer: Make, cluster: Cluster) -> None:
    x = producer()
    cluster.advance(7 * DAY - 1)
    assert x.state.state is State.EMPTY
    cluster.advance(HOUR)
    assert cluster.transactions.all() == []
    again = x.producer
    assert x.init(again) is Error.NONE
    assert x.producer.producer_id != again.producer_id


def test_one_that_is_used_is_not(producer: Make, cluster: Cluster) -> None:
    x = producer()
    cluster.advance(6 * DAY)
    x.write(b"v")
    x.end(True)
    cluster.advance(6 * DAY)
    assert x.state.state is State.COMPLETE_COMMIT
    cluster.advance(DAY + HOUR)
    assert cluster.transactions.all() == []


def test_after_a_restart_time_goes_on(cluster: Cluster, producer: Make, disk: MemoryDisk) -> None:
    x = producer(timeout_ms=30_000)
    x.write(b"lost")
    cluster.advance(20_000)
    cluster.close()
    again = open_cluster(disk, cluster.clock.now())
    try:
        assert again.transactions.coordinator_for("x").find("x").state is State.ONGOING
        again.advance(20_000)
        assert again.transactions.coordinator_for("x").find("x").state is State.COMPLETE_ABORT
        assert read(again, committed=True) == []
    finally:
        again.close()
