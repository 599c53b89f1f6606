"""A share partition under drawn sequences, against what must hold whatever happens."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from odradek.emulator.base.timers import Timer, Timers
from odradek.emulator.share.acquired_records import (
    AcquiredRecords,
    AcquireParams,
    ShareAcknowledgementBatch,
    acknowledge,
    acquire,
    release,
)
from odradek.emulator.share.coordinators import ShareCoordinatorShard
from odradek.emulator.share.in_flight_batches import RecordState
from odradek.emulator.share.share_partition import RangeEvent, SharePartition, ShareSettings
from odradek.emulator.share.state import Change, SharePartitionKey
from odradek.wire import Error, Refused
from odradek.wire.batch import BatchHeader, read_header
from odradek.wire.records import NewRecord, build_batch

KEY = SharePartitionKey("g", bytes(16), 0)
LOCK_MS, MOST = 1000, 5


class Broker:
    """What a share partition needs, and the log that it reads."""

    def __init__(self) -> None:
        self.time = 0
        self.timers = Timers()
        self.shard = ShareCoordinatorShard(lambda topic_id: 1, 500)
        self.fails = False
        self.events: list[RangeEvent] = []
        self.headers: list[BatchHeader] = []
        self.limit, self.isolates = 100, True
        self._apply(self.shard.initialize(KEY, 1, 0, 0))

    def _apply(self, record: object) -> None:
        if record is not None:
            self.shard.replay(record, 0)  # type: ignore[arg-type]

    def now(self) -> int:
        return self.time

    def settings(self, group_id: str) -> ShareSettings:
        return ShareSettings(LOCK_MS, MOST, self.limit, True, self.isolates)

    def start_timer(self, when: int, callback: Callable[[], None]) -> Timer:
        return self.timers.at(when, callback)

    def soon(self, callback: Callable[[], None]) -> None:
        callback()

    def write(
        self, key: SharePartitionKey, state_epoch: int, leader_epoch: int, change: Change
    ) -> None:
        if self.fails:
            raise Refused(Error.COORDINATOR_NOT_AVAILABLE)
        self._apply(self.shard.write(key, state_epoch, leader_epoch, change, self.time))

    def tell(self, key: SharePartitionKey, event: RangeEvent) -> None:
        self.events.append(event)

    def poison(self, key: SharePartitionKey) -> set[int]:
        return set()

    def share(self) -> SharePartition:
        state, record = self.shard.read(KEY, 0, self.time)
        self._apply(record)
        return SharePartition(KEY, 0, state, lambda: 0, self)

    def append(self, count: int) -> None:
        base = self.headers[-1].last_offset + 1 if self.headers else 0
        batch = build_batch([NewRecord(0, None, b"v")] * count, base_offset=base)
        self.headers.append(read_header(batch))

    def fetch(
        self, share: SharePartition, member: str, limit: int = 500, *, exact: bool = False
    ) -> list[AcquiredRecords]:
        if not share.may_acquire:
            return []
        offset = share.next_offset()
        read = [each for each in self.headers if each.last_offset >= offset]
        return acquire(share, AcquireParams(member, exact, 10), limit, offset, read)

    def advance(self, milliseconds: int) -> None:
        self.time += milliseconds
        self.timers.fire(self.time)


def test_a_failed_write_changes_nothing() -> None:
    broker = Broker()
    broker.append(6)
    share = broker.share()
    assert broker.fetch(share, "a") == [(0, 5, 1)]
    broker.fails = True
    with pytest.raises(Refused) as refused:
        acknowledge(
            share, "a", [ShareAcknowledgementBatch(0, 2, [1]), ShareAcknowledgementBatch(4, 4, [2])]
        )
    assert refused.value.error is Error.COORDINATOR_NOT_AVAILABLE
    assert (share.start_offset, share.complete_count) == (0, 0)
    broker.fails = False
    acknowledge(share, "a", [ShareAcknowledgementBatch(0, 5, [1])])
    assert (share.start_offset, share.end_offset, len(share.batches)) == (6, 6, 0)


def test_a_lock_that_ends_while_nothing_can_be_written() -> None:
    broker = Broker()
    broker.append(2)
    share = broker.share()
    broker.fetch(share, "a")
    broker.fails = True
    broker.advance(LOCK_MS)
    assert broker.fetch(share, "b") == [(0, 1, 2)]


def test_what_somebody_had_when_the_leader_changed_is_new() -> None:
    broker = Broker()
    broker.append(10)
    share = broker.share()
    broker.fetch(share, "a")
    acknowledge(
        share, "a", [ShareAcknowledgementBatch(2, 3, [1]), ShareAcknowledgementBatch(6, 6, [2])]
    )
    again = broker.share()
    assert broker.fetch(again, "b") == [(0, 1, 1), (4, 5, 1), (6, 6, 2), (7, 9, 1)]


@pytest.mark.parametrize(
    ("isolates", "found"),
    [(True, [(0, 1, 2), (3, 3, 2)]), (False, [(0, 0, 1), (1, 1, 1), (3, 3, 1)])],
)
def test_what_a_session_gave_up(isolates: bool, found: list[tuple[int, int, int]]) -> None:
    """The former since 4.2."""
    broker = Broker()
    broker.isolates = isolates
    broker.append(4)
    share = broker.share()
    broker.fetch(share, "a")
    acknowledge(share, "a", [ShareAcknowledgementBatch(2, 2, [1])])
    release(share, "a")
    assert broker.fetch(share, "b") == found


@pytest.mark.slow
@pytest.mark.parametrize("limit", [8, 100])
def test_drawn_sequences(limit: int) -> None:
    for seed in range(150):
        _Play(seed, limit).run()


class _Play:
    """Members that fetch, acknowledge and die, in drawn order."""

    def __init__(self, seed: int, limit: int) -> None:
        self.draw = random.Random(seed)
        self.seed = seed
        self.broker = Broker()
        self.broker.limit = limit
        self.share = self.broker.share()
        self.holders: dict[int, str] = {}
        self.deliveries: dict[int, int] = {}
        self.done: set[int] = set()

    def run(self) -> None:
        for _ in range(60):
            getattr(self, self.draw.choice(("append", "fetch", "fetch", "ack", "wait", "free")))()
            if self.draw.random() < 0.03:
                self.reload()
            self.check()
        self.drain()

    def append(self) -> None:
        self.broker.append(self.draw.randint(1, 6))

    def fetch(self) -> None:
        member, exact = self.draw.choice("abc"), self.draw.random() < 0.3
        for each in self.broker.fetch(
            self.share, member, self.draw.choice((1, 3, 500)), exact=exact
        ):
            for offset in range(each.first_offset, each.last_offset + 1):
                assert offset not in self.holders, (self.seed, "two members have", offset)
                assert offset not in self.done, (self.seed, "delivered again", offset)
                self.holders[offset] = member
                self.deliveries[offset] = self.deliveries.get(offset, 0) + 1
                assert each.delivery_count <= MOST

    def ack(self) -> None:
        if not self.holders:
            return
        offset = self.draw.choice(sorted(self.holders))
        kind = self.draw.choice((0, 1, 1, 2, 3, 4))
        acknowledge(
            self.share, self.holders[offset], [ShareAcknowledgementBatch(offset, offset, [kind])]
        )
        if kind != 4:
            del self.holders[offset]
        if kind in (0, 1, 3):
            self.done.add(offset)

    def wait(self) -> None:
        self.broker.advance(self.draw.choice((10, LOCK_MS)))
        self.holders = {o: m for o, m in self.holders.items() if self._state(o) == 1}

    def free(self) -> None:
        member = self.draw.choice("abc")
        release(self.share, member)
        self.holders = {o: m for o, m in self.holders.items() if m != member}

    def reload(self) -> None:
        self.share = self.broker.share()
        self.holders.clear()

    def _state(self, offset: int) -> RecordState | None:
        floor = self.share.batches.floor(offset)
        state = None if floor is None or floor.last < offset else floor.state_at(offset)
        return None if state is None else state.state

    def check(self) -> None:
        share = self.share
        counted = sum(
            share.counted(first, last)
            for batch in share.batches
            for first, last, state in batch.ranges()
            if state.state.is_done
        )
        assert share.complete_count == counted, self.seed
        assert share.start_offset <= share.end_offset + 1, self.seed
        for offset, member in self.holders.items():
            floor = share.batches.floor(offset)
            assert floor is not None
            state = floor.state_at(offset)
            assert state is not None
            assert (state.state, state.member_id) == (RecordState.ACQUIRED, member), self.seed
            assert state.lock is not None, self.seed

    def drain(self) -> None:
        """In the end everything is done with."""
        end = self.broker.headers[-1].last_offset + 1 if self.broker.headers else 0
        for member in "abc":
            release(self.share, member)
        for _ in range(20 * end + 20):
            for each in self.broker.fetch(self.share, "z"):
                ack = ShareAcknowledgementBatch(each.first_offset, each.last_offset, [1])
                acknowledge(self.share, "z", [ack])
            if self.share.start_offset >= end:
                break
            self.broker.advance(LOCK_MS)
        assert self.share.start_offset == end, self.seed
