"""A coordinator that dies between any two writes: the next one brings every transaction to its end,
and its records and offsets are there together or not at all (semantics F7, K5)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.store import partition_of
from odradek.emulator.transactions.transaction import State
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.support.cluster import open_cluster
from tests.support.consumer import committed_offset, read
from tests.support.transactional_producer import TxnClient

CONFIGS = {
    "transaction_state_log_num_partitions": "1",
    "offsets_topic_num_partitions": "1",
}


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


@pytest.fixture
def cluster(disk: MemoryDisk) -> Iterator[Cluster]:
    cluster = open_cluster(disk.directory(), **CONFIGS)
    cluster.create_topic("t", 2, {})
    yield cluster
    disk.on_change = None
    cluster.close()


def transaction(x: TxnClient, *, commit: bool) -> None:
    """Two partitions and an offset, in one transaction."""
    assert x.write(b"a", partition=0) is Error.NONE
    assert x.write(b"b", partition=1) is Error.NONE
    assert x.commit_offset(7) is Error.NONE
    assert x.end(commit) is Error.NONE


@pytest.mark.slow
@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("commit", [True, False])
def test_it_is_complete_after_a_crash_at_any_moment(
    disk: MemoryDisk, cluster: Cluster, generation: int, commit: bool
) -> None:
    x = TxnClient(cluster, generation=generation).begin()
    cluster.groups.ensure_topic()
    crashes: list[MemoryDisk] = []
    disk.on_change = lambda _: crashes.append(disk.kill())
    transaction(x, commit=commit)
    disk.on_change = None
    seen = [after_crash(each) for each in crashes]

    ended = [State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT]
    whole = ([b"a"], [b"b"], 7) if commit else ([], [], -1)
    states = [state for state, *_ in seen]
    decided = states.index(ended[0])
    assert set(states[:decided]) <= {State.EMPTY, State.ONGOING}
    assert set(states[decided:]) == set(ended)
    for _, *found in seen[decided:]:
        assert tuple(found) == whole
    for _, first, second, offset in seen[:decided]:
        assert (first, second) == ([], [])
        assert offset in (-1, Error.UNSTABLE_OFFSET_COMMIT)
    # Between the decision and the record that says it is complete lie three markers.
    assert len(crashes) - decided >= 5


def after_crash(
    disk: MemoryDisk,
) -> tuple[State, list[bytes | None], list[bytes | None], int | Error]:
    """What the next cluster on the disk shows: state, committed values, the group's offset."""
    cluster = open_cluster(disk.directory(), **CONFIGS)
    try:
        first, second = (read(cluster, committed=True, partition=index) for index in (0, 1))
        state = cluster.transactions.coordinator_for("x").find("x").state
        return state, first, second, committed_offset(cluster)
    finally:
        cluster.close()


def test_an_open_transaction_goes_on_after_a_crash(disk: MemoryDisk, cluster: Cluster) -> None:
    x = TxnClient(cluster).begin()
    x.write(b"a")
    x.commit_offset(7)
    again = open_cluster(disk.kill().directory(), **CONFIGS)
    y = TxnClient(again)
    y.producer, y.sequences = x.producer, x.sequences
    assert read(again, committed=True) == []
    assert again.partition("t", 0).last_stable_offset == 0
    assert committed_offset(again) is Error.UNSTABLE_OFFSET_COMMIT
    assert y.write(b"b") is Error.NONE
    assert y.end(True) is Error.NONE
    assert read(again, committed=True) == [b"a", b"b"]
    assert committed_offset(again) == 7
    again.close()


def test_the_epoch_before_is_still_a_retry_after_a_restart(
    disk: MemoryDisk, cluster: Cluster
) -> None:
    x = TxnClient(cluster).begin()
    x.write(b"a")
    before = x.producer
    x.end(True)
    again = open_cluster(disk.kill().directory(), **CONFIGS)
    y = TxnClient(again)
    assert y.end(True, asked=before) is Error.NONE
    assert y.producer == x.producer
    again.close()


def test_producer_ids_are_not_given_twice(disk: MemoryDisk, cluster: Cluster) -> None:
    given = [TxnClient(cluster, f"x{n}").begin().producer.producer_id for n in range(3)]
    again = open_cluster(disk.kill().directory(), **CONFIGS)
    given += [TxnClient(again, f"y{n}").begin().producer.producer_id for n in range(3)]
    assert len(set(given)) == 6
    again.close()


def test_what_cannot_be_written_changes_nothing(disk: MemoryDisk, cluster: Cluster) -> None:
    x = TxnClient(cluster).begin()
    x.write(b"a")
    disk.fill()
    assert x.end(True) is Error.NOT_COORDINATOR
    assert x.state.state is State.ONGOING
    assert x.init() is Error.NOT_COORDINATOR
    disk.heal()
    assert x.end(True) is Error.NONE
    assert read(cluster, committed=True) == [b"a"]


def test_markers_that_cannot_be_written_are_tried_again(disk: MemoryDisk, cluster: Cluster) -> None:
    x = TxnClient(cluster).begin()
    x.write(b"a")

    def fill(_: str) -> None:  # after the decision is written
        disk.on_change = None
        disk.fill()

    disk.on_change = fill
    assert x.end(True) is Error.NONE
    assert x.state.state is State.PREPARE_COMMIT
    assert x.init() is Error.CONCURRENT_TRANSACTIONS
    assert x.write(b"b", sequence=0) is Error.CONCURRENT_TRANSACTIONS
    assert x.write(b"b", sequence=0, partition=1, version=11) is Error.NOT_ENOUGH_REPLICAS
    cluster.advance(5_000)
    assert x.state.state is State.PREPARE_COMMIT
    disk.heal()
    cluster.advance(1_000)
    assert x.state.state is State.COMPLETE_COMMIT
    assert read(cluster, committed=True) == [b"a"]


def test_damaged_records_are_passed_over(disk: MemoryDisk, cluster: Cluster) -> None:
    from odradek.wire.batch import read_header
    from odradek.wire.records import build_batch

    x = TxnClient(cluster).begin()
    partition = partition_of(cluster.topics, "x")
    for key, value in ((b"\0\0\0\1y", b"\0\7"), (b"\0\5", b""), (None, b"x"), (b"\0\0\0\1x", b"")):
        batch = build_batch([(0, key, value, ())])
        partition.append(batch, read_header(batch), cluster.clock.now())
    again = open_cluster(disk.kill().directory(), **CONFIGS)
    assert [each.transactional_id for each in again.transactions.all()] == ["x"]
    assert again.transactions.all()[0].producer == x.producer
    again.close()
