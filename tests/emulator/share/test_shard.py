"""What one partition of the share coordinator's topic keeps, and what that takes."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from odradek.emulator.share.coordinators import ShareCoordinatorShard
from odradek.emulator.share.state import (
    Change,
    ShareGroupOffset,
    SharePartitionKey,
    StateBatch,
    StateRecord,
    Update,
)
from odradek.wire import Refused

NOW = 1_700_000_000_000
A, B, C = (SharePartitionKey("g", b"%016d" % number, number) for number in (0, 1, 300))


def shard() -> ShareCoordinatorShard:
    return ShareCoordinatorShard(lambda _: 1000, 500)


def snapshot(key: SharePartitionKey) -> StateRecord:
    return StateRecord(key, ShareGroupOffset(1, 2, 3, 2**40, 5, created=NOW, written=NOW + 1))


def test_a_state_without_batches_takes_little() -> None:
    states, count = shard(), 2000
    records = [
        snapshot(SharePartitionKey(f"group-{number}", bytes(16), 0)) for number in range(count)
    ]
    gc.collect()
    tracemalloc.start()
    try:
        for offset, record in enumerate(records):
            states.replay(record, offset)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken / count < 260


@pytest.mark.parametrize("key", [A, C, SharePartitionKey("grüße:\ud800", bytes(16), 7)])
def test_what_is_kept_is_what_was_written(key: SharePartitionKey) -> None:
    states = shard()
    record = snapshot(key)
    states.replay(record, 9)
    assert states.summary(key) == record.value
    batch = StateBatch(2**40, 2**40 + 3, 1, 0)
    states.replay(StateRecord(key, Update(1, 4, Change(2**40, 6, (batch,)))), 10)
    found = states.summary(key)
    assert (found.leader_epoch, found.complete_count, found.batches) == (4, 6, (batch,))
    with pytest.raises(Refused, match="older than the epoch"):
        states.write(key, 2, 3, Change(0, 0, ()), NOW)
    assert states.of_topics({key.topic_id}) == [StateRecord(key, None)]
    states.replay(StateRecord(key, None), 11)
    assert len(states) == 0


def test_nothing_is_needed_below_the_oldest_of_the_last_snapshots() -> None:
    states, found = shard(), []
    update = Update(1, 3, Change(2**40, 6, ()))
    for offset, record in enumerate(
        [
            *(snapshot(A), snapshot(B), snapshot(A), StateRecord(B, update), snapshot(B)),
            *(StateRecord(A, None), StateRecord(B, None), snapshot(C)),
        ]
    ):
        states.replay(record, offset)
        found.append(states.redundant_below())
    assert found == [0, 0, 1, 1, 2, 4, 6, 7]


@pytest.mark.parametrize(("counts", "offset", "complete"), [(True, 5, 0), (False, 5, -1)])
def test_what_is_completed_at_the_start(counts: bool, offset: int, complete: int) -> None:
    states = ShareCoordinatorShard(lambda _: 1, 500, counts_from_start=counts)
    record = states.initialize(A, 0, offset, NOW)
    assert isinstance(record.value, ShareGroupOffset)
    assert record.value.complete_count == complete
    states = ShareCoordinatorShard(lambda _: 1, 500, counts_from_start=counts, counts=counts)
    states.replay(states.initialize(A, 0, offset, NOW), 0)
    states.replay(states.write(A, 0, 0, Change(6, 4, ()), NOW), 1)
    assert states.summary(A).complete_count == (4 if counts else -1)


def test_who_may_read_without_an_epoch() -> None:
    for anybody in (True, False):
        states = ShareCoordinatorShard(lambda _: 1, 500, anybody_reads=anybody)
        states.replay(states.initialize(A, 0, 5, NOW), 0)
        states.replay(states.write(A, 0, 3, Change(6, 4, ()), NOW), 1)
        _, record = states.read(A, 4, NOW)
        assert record is not None
        states.replay(record, 2)
        if anybody:
            assert states.read(A, -1, NOW)[0].start_offset == 6
        else:
            with pytest.raises(Refused, match="older than the epoch"):
                states.read(A, -1, NOW)
