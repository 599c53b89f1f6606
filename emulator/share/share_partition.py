"""A share partition: what a group has of one partition, at that partition's leader.

It begins with the state that the share coordinator has stored, or else where the group's
`share.auto.offset.reset` says. Between the start offset, below which all is done with, and the end
offset lie the batches in flight. acquired_records.py hands out records and takes them back.
What has changed is written to the coordinator before it counts.

Rules (semantics N13-N16):
- A record that is available is fetched again before new ones.
- The start offset moves over what is done with.
- Batches that a stored state does not mention between others are records that were acquired by
  somebody when the leader changed: they are new (the gap).
Source: KIP-932; Kafka 4.3.1's answers (SharePartition).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from ...wire import Error, Refused
from ..base.logger import log
from ..base.timers import Timer
from ..base.words import number_of
from .in_flight_batches import InFlightBatch, InFlightBatches, InFlightState, RecordState
from .state import NO_OFFSET, Change, ShareGroupOffset, SharePartitionKey, StateBatch

_STATES = frozenset(RecordState)


class ShareSettings(NamedTuple):
    """The present configs of a group for its share partitions."""

    lock_ms: int
    most_deliveries: int
    most_locks: int
    may_renew: bool
    isolates: bool = True
    """Whether records that were delivered often are acquired apart (`isolates_bad_records`)."""


class RangeEvent(NamedTuple):
    """An event of a range of offsets: a kind of event (base/event.py)."""

    kind: str
    member_id: str
    first: int
    last: int
    delivery: int
    reason: str = ""


class Waiting(Protocol):
    def try_again(self) -> None: ...


class Surroundings(Protocol):
    """The broker to a share partition."""

    def now(self) -> int: ...

    def settings(self, group_id: str, /) -> ShareSettings: ...

    def start_timer(self, when: int, callback: Callable[[], None], /) -> Timer: ...

    def soon(self, callback: Callable[[], None], /) -> None:
        """Call back after the request that is being served."""

    def write(
        self, key: SharePartitionKey, state_epoch: int, leader_epoch: int, change: Change, /
    ) -> None:
        """Have the share coordinator note a change. Raises Refused."""

    def tell(self, key: SharePartitionKey, event: RangeEvent, /) -> None:
        """The event of a member, or of its records, for the journal."""

    def poison(self, key: SharePartitionKey, /) -> Collection[int]:
        """The offsets that a test has made poison: who accepts one releases it."""


class GapWindow(NamedTuple):
    """Of a stored state: where the next offsets are that it does not mention, and the end offset
    for which that is so."""

    start: int
    end: int


class SharePartition:
    """One group's records of one partition. Changed by the functions beside this module."""

    def __init__(
        self,
        key: SharePartitionKey,
        leader_epoch: int,
        stored: ShareGroupOffset,
        begin: Callable[[], int],
        surroundings: Surroundings,
    ) -> None:
        """`begin`: the offset at which a group without one begins. Raises Refused
        (UNKNOWN_SERVER_ERROR) for a stored state that cannot be."""
        self.key = key
        self.leader_epoch = leader_epoch
        self.state_epoch = stored.state_epoch
        self.batches = InFlightBatches()
        self.complete_count = 0
        """How many records at or after the start offset are done with."""
        self.may_have_available = False
        """Whether a record that was acquired before may be available."""
        self.gap: GapWindow | None = None
        self.is_fenced = False
        """Whether this is no more in use: another leader, or another state, took its place."""
        self.waits: list[Waiting] = []
        self._unsettled: list[Callable[[], None]] = []
        self._around = surroundings
        offset = stored.start_offset
        self.start_offset = begin() if offset == NO_OFFSET else offset
        self.end_offset = self.start_offset
        self._restore(stored.batches)

    def _restore(self, stored: Sequence[StateBatch]) -> None:
        gap_start, before = NO_OFFSET, self.start_offset - 1
        for first, last, count, state in stored:
            if first < self.start_offset or last < first or state not in _STATES:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            if gap_start == NO_OFFSET and first > before + 1:
                gap_start = before + 1
            before = last
            self.batches.put(InFlightBatch(first, last, InFlightState(RecordState(state), count)))
            if RecordState(state).is_done:
                self.complete_count += last - first + 1
        if self.batches:
            self.may_have_available = True
            self.end_offset = self.batches.last.last
            if gap_start != NO_OFFSET:
                self.gap = GapWindow(gap_start, self.end_offset)
            self.advance()

    # What it is

    @property
    def settings(self) -> ShareSettings:
        """The group's present configs."""
        return self._around.settings(self.key.group_id)

    @property
    def in_flight(self) -> int:
        """How many offsets count towards the limit of locks: all from start to end."""
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    @property
    def open_gap(self) -> GapWindow | None:
        gap = self.gap
        return gap if gap is not None and gap.end == self.end_offset else None

    @property
    def may_acquire(self) -> bool:
        if self.next_offset() != self.end_offset + 1:
            return True
        return self.in_flight < self.settings.most_locks

    def next_offset(self) -> int:
        """From where on records are read for the next fetch."""
        if not self.batches or self.start_offset > self.batches.last.last:
            self.may_have_available = False
            return self.end_offset
        if self.may_have_available:
            found = self._first_available()
            if found != NO_OFFSET:
                return found
            self.may_have_available = False
        return self.end_offset + 1

    def _first_available(self) -> int:
        gap = self.open_gap
        gap_start = NO_OFFSET if gap is None else gap.start
        for batch in self.batches:
            if gap is not None:
                if batch.first > gap_start:
                    return gap_start
                gap_start = max(batch.last + 1, gap_start)
            for first, _, state in batch.ranges():
                if state.is_free:
                    return first
        return NO_OFFSET

    def straddles_start(self, first: int, last: int) -> bool:
        """Whether the start offset lies within these offsets, but not at the first."""
        return first < self.start_offset <= last

    def has_poison(self, first: int, last: int) -> bool:
        return any(first <= offset <= last for offset in self._around.poison(self.key))

    # Locks

    def lock(self, member_id: str, first: int, last: int) -> Timer:
        """Start a member's lock on these offsets."""
        return self.lock_until(member_id, first, last, self.lock_end())

    def lock_end(self) -> int:
        """When a lock ends that is started now (ms)."""
        return self._around.now() + self.settings.lock_ms

    def lock_until(self, member_id: str, first: int, last: int, when: int) -> Timer:
        return self._around.start_timer(when, partial(self.lock_is_over, first, last))

    def lock_is_over(self, first: int, last: int) -> None:
        """Who has acquired these offsets has not acknowledged them in time."""
        floor = self.batches.floor(first)
        if floor is None:
            return
        changed: list[StateBatch] = []
        events: list[RangeEvent] = []
        most = self.settings.most_deliveries
        for batch in self.batches.between(floor.first, last):
            whole, moved = batch.whole, self.straddles_start(batch.first, batch.last)
            if moved and whole is not None and whole.state is RecordState.ACQUIRED:
                batch.split(self.lock_until)
            for low, high, one in batch.ranges():
                is_meant = batch.whole is not None or first <= low <= last
                if not is_meant or one.state is not RecordState.ACQUIRED:
                    continue
                events.append(RangeEvent("lock expired", one.member_id, low, high, one.count))
                one.leave(self.released(high), most)
                one.unlock()
                changed.append(StateBatch(low, high, one.count, one.state))
                if one.state.is_done:
                    self.complete_count += self.counted(low, high)
                    events.append(at_limit(events[-1]))
                else:
                    self.may_have_available = True
        if not changed:
            return
        for each in events:
            self.tell(each)
        try:
            self.write(changed)
        except Refused as refused:
            log.warning("%s: a lock that is over was not stored: %s", self.key.text, refused)
        self.advance()
        self.wake()

    def released(self, last: int) -> RecordState:
        """The state of offsets up to `last` that a member gives back, or loses."""
        is_gone = last < self.start_offset
        return RecordState.ARCHIVED if is_gone else RecordState.AVAILABLE

    # Changes

    def settle_later(self, settle: Callable[[], None]) -> None:
        """Something is written that counts after the request that is being served, or before the
        next change."""
        self._unsettled.append(settle)
        self._around.soon(self.settle)

    def settle(self) -> None:
        """Let everything count that is written."""
        unsettled, self._unsettled = self._unsettled, []
        for settle in unsettled:
            settle()

    def counted(self, first: int, last: int) -> int:
        """How many of these offsets are not below the start offset."""
        return max(0, last - max(self.start_offset, first) + 1)

    def write(self, batches: Sequence[StateBatch]) -> None:
        """Have the coordinator note that these have changed. Raises Refused."""
        change = Change(self.start_offset, self.complete_count, tuple(batches))
        try:
            self._around.write(self.key, self.state_epoch, self.leader_epoch, change)
        except Refused as refused:
            raise as_leader(refused, "Error in write state RPC. ") from refused

    def end_locks(self) -> None:
        """Nobody needs to wait for the end of a lock any more."""
        for batch in self.batches:
            for _, _, state in batch.ranges():
                state.unlock()

    def tell(self, event: RangeEvent) -> None:
        self._around.tell(self.key, event)

    def wake(self) -> None:
        """Something may be available, or the limit of locks is not reached any more: fetches that
        wait try again."""
        for wait in tuple(self.waits):
            wait.try_again()

    def moved_past_gap(self, offset: int) -> None:
        gap = self.gap
        if gap is not None:
            is_open = gap.end == self.end_offset and offset <= gap.end
            self.gap = GapWindow(offset, gap.end) if is_open else None

    def advance(self) -> bool:
        """Move the start offset over what is done with. Returns whether it has moved."""
        if not self.batches:
            return False
        at_start = self.batches.floor(self.start_offset)
        state = None if at_start is None else at_start.state_at(self.start_offset)
        if state is None or not state.state.is_done:
            return False
        done, count = self._last_done()
        if done == NO_OFFSET:
            return False
        if done == self.batches.last.last:
            self.start_offset = self.end_offset = done + 1
            self.batches.clear()
            self.complete_count = 0
            return True
        batch = self.batches.floor(done)
        following = self.batches.after(done)
        assert batch is not None
        if done == batch.last and following is not None:
            self.start_offset = max(self.start_offset, following.first)
            if self.open_gap is not None:
                self.start_offset = min(self.open_gap.start, self.start_offset)
            self.batches.drop_before(following.first)
        else:
            self.start_offset = max(self.start_offset, done + 1)
            self.batches.drop_before(batch.first)
        self.complete_count -= count
        return True

    def _last_done(self) -> tuple[int, int]:
        """The last offset up to which all is done with, and how many that are from the start."""
        done, count = NO_OFFSET, 0
        gap = self.open_gap
        for batch in self.batches:
            if gap is not None and batch.last >= gap.start:
                break
            for first, last, state in batch.ranges():
                if not state.state.is_done:
                    return done, count
                done = last
                count += self.counted(first, last)
        return done, count

    def log_starts_at(self, offset: int) -> None:
        """Records below this offset were deleted: they are not delivered any more."""
        if offset <= self.start_offset:
            return
        if not self.batches:
            self.start_offset = self.end_offset = offset
            self.complete_count = 0
            return
        removed = 0
        for batch in self.batches:
            for first, last, state in batch.ranges():
                if state.state.is_done:
                    removed += self.counted(first, min(last, offset - 1))
        before, self.start_offset = self.start_offset, offset
        if archive(self, before, offset, [*self.batches], RecordState.AVAILABLE, counts=False):
            self.may_have_available = True
        self.complete_count -= removed
        self.end_offset = max(self.end_offset, self.start_offset)


def archive(
    share: SharePartition,
    first: int,
    end: int,
    batches: Sequence[InFlightBatch],
    state: RecordState,
    *,
    counts: bool,
) -> bool:
    """Archive what is in this state, from `first` to before `end`. `counts`: it is among those done
    with. Returns whether there was anything."""
    found = False
    for batch in batches:
        if batch.first >= end:
            break
        if not batch.is_within(first, end - 1) and batch.whole is not None:
            if batch.whole.state is not state:
                continue
            batch.split(share.lock_until)
        for low, high, one in batch.ranges():
            is_meant = batch.whole is not None or first <= low < end
            if is_meant and one.state is state:
                one.archive()
                share.complete_count += high - low + 1 if counts else 0
                found = True
    return found


def at_limit(event: RangeEvent) -> RangeEvent:
    """The same range is archived, since it was delivered as often as it may be."""
    times = number_of(event.delivery, "time")
    return event._replace(kind="archived", reason=f"delivered {times}, which is the limit")


def as_leader(refused: Refused, asked: str = "") -> Refused:
    """How a leader answers what the share coordinator refuses; `asked`: what it puts before the
    coordinator's sentence."""
    error, message = refused.error, refused.message
    message = message and f"{asked}{message}"
    if error in (Error.NOT_COORDINATOR, Error.COORDINATOR_LOAD_IN_PROGRESS):
        return Refused(Error.COORDINATOR_NOT_AVAILABLE, message)
    if error in (Error.FENCED_LEADER_EPOCH, Error.FENCED_STATE_EPOCH):
        return Refused(Error.NOT_LEADER_OR_FOLLOWER, message)
    if error in (
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.GROUP_ID_NOT_FOUND,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
    ):
        return refused
    return Refused(Error.UNKNOWN_SERVER_ERROR, message)
