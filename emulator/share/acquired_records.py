"""Which of the records that were read a member gets, and what becomes of them: it is done with
them, gives them back, or keeps them longer.

Acquiring (semantics N12, N13, N15):
- What is available again comes first, then what is new; what others have is left out.
- The limit of records is reached at the end of a batch of the log; with acquire mode RECORD_LIMIT
  exactly. New records are grouped into ranges of whole batches, of at least `batch_size` records.
- No more are acquired than the group's limit of locks leaves; that may be exceeded to the end of a
  batch.
- A batch that was delivered often is handed out in parts: from half of the limit of deliveries on
  (at least 2) in halves, quarters and so on, and one by one for the last delivery. Nothing else is
  handed out with it.

Acknowledging (semantics N16, N17, N19):
- 0 is a gap and 3 a rejection: the record is archived. 1 accepts it, 2 gives it back, 4 renews the
  lock. One type is for all of a range, else each offset has its own.
- A member acknowledges what it has acquired, else it is INVALID_RECORD_STATE; a range that was not
  read is INVALID_REQUEST. What is below the start offset is left alone.
- A range that begins below the start offset, where that was not read, fails the whole request.
- All batches of a request are acknowledged, or none: also when the share coordinator refuses to
  note it.

Readers of committed data do not acquire records of aborted transactions: these are archived, and
their markers are acquired like records (semantics N14).
Source: Kafka 4.3.1's answers (SharePartition.acquire, acknowledge, releaseAcquiredRecords).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...wire import Error, Refused
from ...wire.batch import BatchHeader
from ..base.timers import Timer
from .in_flight_batches import InFlightBatch, InFlightState, RecordState
from .share_partition import RangeEvent, SharePartition, archive, at_limit
from .state import StateBatch

BATCH_OPTIMIZED, RECORD_LIMIT = 0, 1
_LEAST_THROTTLED = 2


class AcquiredRecords(NamedTuple):
    """A range of offsets that a member gets."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def size(self) -> int:
        return self.last_offset - self.first_offset + 1


class AcquireParams(NamedTuple):
    """Who wants records, and how."""

    member_id: str
    exact: bool
    """Whether the limit of records is not to be exceeded (RECORD_LIMIT)."""
    batch_size: int


def acquire(
    share: SharePartition,
    params: AcquireParams,
    limit: int,
    fetch_offset: int,
    read: Sequence[BatchHeader],
) -> list[AcquiredRecords]:
    """Acquire at most so many of the records in these batches of the log, which were read from
    `fetch_offset` on."""
    if share.is_fenced or limit <= 0 or not read or read[-1].last_offset < share.start_offset:
        return []
    limit, last = _bounds(share, limit, fetch_offset, read[-1].last_offset)
    if limit <= 0:
        return []
    return _Acquiring(share, params, limit, last, read).run(fetch_offset)


def _bounds(share: SharePartition, limit: int, fetch_offset: int, last: int) -> tuple[int, int]:
    """How many may be acquired, and up to which offset."""
    room = share.settings.most_locks - share.in_flight
    if room > 0:
        return min(limit, room), last
    if fetch_offset > share.end_offset:
        return 0, last
    # Nothing new, but what is available again.
    return min(limit, share.end_offset - fetch_offset + 1), min(last, share.end_offset)


class _Acquiring:
    def __init__(
        self,
        share: SharePartition,
        params: AcquireParams,
        limit: int,
        last: int,
        read: Sequence[BatchHeader],
    ) -> None:
        self._share = share
        self._params = params
        self._left = limit
        self._last = last
        self._read = read
        self._first = read[0].base_offset
        self._isolates = share.settings.isolates
        self._most = share.settings.most_deliveries if self._isolates else 0
        self._often = max(_LEAST_THROTTLED, (self._most + 1) // 2)
        self._found: list[AcquiredRecords] = []

    def run(self, fetch_offset: int) -> list[AcquiredRecords]:
        share, first = self._share, self._first
        self._archive_stale(fetch_offset)
        floor, base = share.batches.floor(first), first
        if floor is None:
            base = max(first, share.start_offset)
        elif floor.last >= first:
            base = floor.first
        known = share.batches.between(min(first, base), self._last)
        if not known:
            self._new(base, self._last)
            return self._found
        self._again(known, base)
        if self._left > 0 and known[-1].last < self._last:
            self._new(known[-1].last + 1, self._last)
        if self._found:
            share.moved_past_gap(self._found[-1].last_offset + 1)
        return self._found

    def _archive_stale(self, fetch_offset: int) -> None:
        """Archive records that compaction has removed: they are not delivered."""
        share, base = self._share, self._first
        if not share.batches or fetch_offset >= base:
            return
        floor, low = share.batches.floor(fetch_offset), fetch_offset
        if floor is not None and floor.last >= fetch_offset:
            low = floor.first
        stale = share.batches.between(low, base - 1)
        if archive(share, fetch_offset, base, stale, RecordState.AVAILABLE, counts=True):
            share.may_have_available = True

    # What was acquired before

    def _again(self, known: Sequence[InFlightBatch], base: int) -> None:
        gap_start = base
        for batch in known:
            if self._left <= 0:
                return
            if self._share.open_gap is not None:
                if gap_start < batch.first:
                    self._new(gap_start, batch.first - 1)
                gap_start = batch.last + 1
                if self._left <= 0:
                    return
            if not self._take(batch):
                return

    def _take(self, batch: InFlightBatch) -> bool:
        """Take what there is of a batch. Returns whether more may be taken after it."""
        share, whole = self._share, batch.whole
        is_throttled = self._is_throttled(batch)
        if is_throttled and self._found:
            self._left = 0
            return False
        is_cut = self._params.exact and batch.size > self._left
        is_within = batch.is_within(self._first, self._last)
        if whole is not None and not whole.is_free:
            return True
        if whole is None or not is_within or is_cut or is_throttled:
            batch.split(share.lock_until)
            count = self._take_some(batch)
            self._left -= count
            if is_throttled and count:
                self._left = 0
                return False
            return True
        whole.acquire(self._params.member_id, self._lock(batch.first, batch.last))
        self._found.append(AcquiredRecords(batch.first, batch.last, whole.count))
        self._left -= batch.size
        return True

    def _is_throttled(self, batch: InFlightBatch) -> bool:
        counts = (
            state.count
            for first, _, state in batch.ranges()
            if state.is_free and (batch.whole is not None or self._first <= first <= self._last)
        )
        return self._isolates and max(counts, default=0) >= self._often

    def _take_some(self, batch: InFlightBatch) -> int:
        """Take available records of a split batch; returns how many."""
        taken: list[tuple[int, int]] = []
        at_most = None
        for offset, one in batch.each.items():
            if offset < self._first or not one.is_free:
                continue
            if offset > self._last:
                break
            if self._most > 2 and one.count == self._most - 1 and taken:
                break
            if self._isolates and one.count >= self._often and at_most is None:
                at_most = max(1, len(batch.each) >> (one.count - self._often + 1))
            one.acquire(self._params.member_id, self._lock(offset, offset))
            taken.append((offset, one.count))
            if one.count == self._most > 2:
                break
            if self._params.exact and len(taken) == self._left:
                break
            if len(taken) == at_most:
                break
        if self._isolates:
            self._found += _ranges(taken)
        else:
            self._found += [AcquiredRecords(offset, offset, count) for offset, count in taken]
        return len(taken)

    # What is new

    def _new(self, first: int, last: int) -> None:
        """Acquire new records in this range, as many as are left."""
        share, left = self._share, self._left
        if not share.batches and share.end_offset > first:
            first = share.end_offset
        if left < last - first + 1:
            end = self._end_of_batch(first + left - 1)
            last = min(end, last) if share.open_gap is not None else end
        found = self._added(first, last)
        if share.batches.first.first == first:
            share.start_offset = first
        share.end_offset = max(share.end_offset, last)
        if self._params.exact:
            last = found[0].last_offset
        share.moved_past_gap(last + 1)
        self._found += found
        self._left -= last - first + 1

    def _end_of_batch(self, offset: int) -> int:
        """The last offset of the batch of the log that has this one."""
        for header in reversed(self._read):
            if header.base_offset <= offset:
                return max(offset, header.last_offset)
        return offset

    def _added(self, first: int, last: int) -> list[AcquiredRecords]:
        """Put a range of new records in flight, in batches of about the wanted size."""
        share, params = self._share, self._params
        if params.exact:
            found = [AcquiredRecords(first, last, 1)]
            if found[0].size > self._left:
                return [self._added_in_part(first, last)]
        else:
            found = self._grouped(first, last)
        for each in found:
            state = InFlightState(RecordState.AVAILABLE, 0)
            state.acquire(params.member_id, self._lock(each.first_offset, each.last_offset))
            share.batches.put(InFlightBatch(each.first_offset, each.last_offset, state))
        return found

    def _added_in_part(self, first: int, last: int) -> AcquiredRecords:
        share = self._share
        state = InFlightState(RecordState.ACQUIRED, 1, self._params.member_id)
        batch, end = InFlightBatch(first, last, state), first + self._left - 1
        batch.split_new(end, share.lock_end(), share.lock_until)
        share.may_have_available = True
        share.batches.put(batch)
        return AcquiredRecords(first, end, 1)

    def _grouped(self, first: int, last: int) -> list[AcquiredRecords]:
        found, size = [], self._params.batch_size
        if last - first + 1 > size:
            for header in self._read:
                base = header.base_offset
                if base > last:
                    break
                if base - first >= size:
                    found.append(AcquiredRecords(first, base - 1, 1))
                    first = base
        return [*found, AcquiredRecords(first, last, 1)]

    def _lock(self, first: int, last: int) -> Timer:
        return self._share.lock(self._params.member_id, first, last)


def _ranges(taken: Sequence[tuple[int, int]]) -> list[AcquiredRecords]:
    """Offsets with their delivery counts, as ranges."""
    found: list[AcquiredRecords] = []
    for offset, count in taken:
        last = found[-1] if found else None
        if last is not None and last.last_offset + 1 == offset and last.delivery_count == count:
            found[-1] = last._replace(last_offset=offset)
        else:
            found.append(AcquiredRecords(offset, offset, count))
    return found


ACCEPT, RELEASE, RENEW = 1, 2, 4
_STATES = {
    0: RecordState.ARCHIVED,
    1: RecordState.ACKNOWLEDGED,
    2: RecordState.AVAILABLE,
    3: RecordState.ARCHIVED,
}
_KINDS = {0: "", 1: "acknowledged", 2: "released", 3: "rejected"}
"""The event of each; none of a gap."""


class ShareAcknowledgementBatch(NamedTuple):
    """The acknowledgement of a range of offsets; `types` has one type, or one for each offset."""

    first_offset: int
    last_offset: int
    types: Sequence[int]

    def type_of(self, offset: int) -> int:
        """The type of one offset."""
        return self.types[0] if len(self.types) == 1 else self.types[offset - self.first_offset]


def acknowledge(
    share: SharePartition, member_id: str, asked: Sequence[ShareAcknowledgementBatch]
) -> None:
    """Acknowledge ranges. Raises Refused: INVALID_REQUEST, INVALID_RECORD_STATE, and as the
    coordinator refuses."""
    step = _Step(share, member_id)
    try:
        for each in asked:
            if each.last_offset < share.start_offset:
                continue
            for batch in _named(share, each):
                if batch.last >= share.start_offset:
                    step.acknowledge(batch, each)
    except Refused:
        step.take_back()
        raise
    step.complete()


def release(share: SharePartition, member_id: str, reason: str = "") -> None:
    """Give back all that a member has acquired. Raises Refused as the coordinator does."""
    share.settle()
    step = _Step(share, member_id, reason)
    for batch in share.batches:
        whole = batch.whole
        moved = share.straddles_start(batch.first, batch.last)
        if moved and whole is not None and _has(whole, member_id):
            batch.split(share.lock_until)
        for first, last, state in batch.ranges():
            if _has(state, member_id):
                state.count -= not share.settings.isolates
                step.leave(first, last, state, share.released(last), "released")
    step.complete()


def _has(state: InFlightState, member_id: str) -> bool:
    return state.state is RecordState.ACQUIRED and state.member_id == member_id


class _Step:
    """One change of several states, which takes effect when the coordinator has noted it."""

    def __init__(self, share: SharePartition, member_id: str, reason: str = "") -> None:
        self._share = share
        self._reason = reason
        self._events: list[RangeEvent] = []
        self._member_id = member_id
        self._most = share.settings.most_deliveries
        self._changed: list[StateBatch] = []
        self._before: list[tuple[InFlightState, str]] = []
        self._complete_before = share.complete_count

    def acknowledge(self, batch: InFlightBatch, asked: ShareAcknowledgementBatch) -> None:
        """Acknowledge what is meant of a batch. Raises Refused."""
        share, whole = self._share, batch.whole
        if whole is not None:
            self._check_member(whole)
            is_whole = batch.is_within(asked.first_offset, asked.last_offset)
            moved = share.straddles_start(batch.first, batch.last)
            has_poison = share.has_poison(batch.first, batch.last)
            if not is_whole or len(asked.types) > 1 or moved or has_poison:
                if whole.state is not RecordState.ACQUIRED:
                    raise _invalid_state(
                        "The batch cannot be acknowledged. The subset batch is not in the acquired"
                        " state."
                    )
                batch.split(share.lock_until)
        for first, last, state in batch.ranges():
            if batch.whole is None:
                if first < asked.first_offset or first < share.start_offset:
                    continue
                if first > asked.last_offset:
                    break
                self._check_offset(state)
            elif state.state is not RecordState.ACQUIRED:
                raise _invalid_state(
                    "The batch cannot be acknowledged. The batch is not in the acquired state."
                )
            kind = asked.type_of(first) if batch.whole is None else asked.types[0]
            if kind == ACCEPT and share.has_poison(first, last):
                kind = RELEASE
            if kind == RENEW:
                self._renew(first, last, state)
            else:
                self.leave(first, last, state, _STATES[kind], _KINDS[kind])

    def leave(
        self, first: int, last: int, state: InFlightState, after: RecordState, kind: str
    ) -> None:
        """The member is done with records; `kind` is that of the event."""
        if kind:
            member_id, reason = self._member_id, self._reason
            self._events.append(RangeEvent(kind, member_id, first, last, state.count, reason))
        self._before.append((state, state.member_id))
        state.leave(after, self._most)
        self._changed.append(StateBatch(first, last, state.count, state.state))
        if state.state.is_done:
            self._share.complete_count += self._share.counted(first, last)
            if after is RecordState.AVAILABLE:
                self._events.append(at_limit(self._events[-1]))

    def _renew(self, first: int, last: int, state: InFlightState) -> None:
        share = self._share
        if not share.settings.may_renew:
            raise _invalid_state("Renewing acquisition locks is not enabled for the group.")
        state.unlock()
        state.lock = share.lock(self._member_id, first, last)

    def _check_member(self, whole: InFlightState) -> None:
        if not whole.member_id:
            raise _invalid_state(
                "The batch cannot be acknowledged. The batch is not in the acquired state."
            )
        if whole.member_id != self._member_id:
            raise _invalid_state("Member is not the owner of batch record")

    def _check_offset(self, one: InFlightState) -> None:
        if one.state is not RecordState.ACQUIRED:
            what = "offset" if self._share.settings.isolates else "batch"
            raise _invalid_state(f"The {what} cannot be acknowledged. The offset is not acquired.")
        if one.member_id != self._member_id:
            raise _invalid_state("Member is not the owner of offset")

    def take_back(self) -> None:
        """Nothing has become of it. Renewed locks stay."""
        for state, member_id in self._before:
            state.state, state.member_id = RecordState.ACQUIRED, member_id
        self._share.complete_count = self._complete_before

    def complete(self) -> None:
        """Write what has changed, and let it count. Raises Refused, and nothing has changed."""
        share = self._share
        if not self._changed:
            return
        try:
            share.write(self._changed)
        except Refused:
            self.take_back()
            raise
        for event in self._events:
            share.tell(event)
        for state, _ in self._before:
            state.unlock()
            state.is_settling = True
        share.settle_later(self._settle)

    def _settle(self) -> None:
        """Let the changes count: a fetch in the same request does not get it yet. Who waits looks
        again only where the start offset has moved, as in Kafka: for released records alone it goes
        on waiting, and has them when its time is over."""
        share = self._share
        for state, _ in self._before:
            state.is_settling = False
            if state.state is RecordState.AVAILABLE:
                share.may_have_available = True
        if share.advance():
            share.wake()


def _named(share: SharePartition, asked: ShareAcknowledgementBatch) -> list[InFlightBatch]:
    """The batches that an acknowledgement is about. Raises Refused."""
    floor = share.batches.floor(asked.first_offset)
    if floor is None:
        if not share.straddles_start(asked.first_offset, asked.last_offset):
            raise _invalid_state(
                "Batch record not found. The request batch offsets are not found in the cache."
            )
        floor = share.batches.floor(share.start_offset)
        if floor is None:  # nobody expects that in Kafka, either
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
    found = share.batches.between(floor.first, asked.last_offset)
    for which, offset in (("first", asked.first_offset), ("last", asked.last_offset)):
        if found[-1].last < offset:
            raise Refused(
                Error.INVALID_REQUEST,
                f"Batch record not found. The {which} offset in request is past acquired records.",
            )
    return found


def _invalid_state(message: str) -> Refused:
    return Refused(Error.INVALID_RECORD_STATE, message)


class AbortedTransaction(NamedTuple):
    """An aborted transaction: its producer, and where it begins in the partition."""

    first_offset: int
    producer_id: int


def without_aborted(
    share: SharePartition,
    acquired: Sequence[AcquiredRecords],
    read: Sequence[BatchHeader],
    transactions: Sequence[AbortedTransaction],
    aborts: frozenset[int],
) -> list[AcquiredRecords]:
    """Archive what was acquired of these transactions. Returns the rest. `aborts`: the base offsets
    of the batches that are markers of an abort."""
    batches = _aborted_batches(read, transactions, aborts)
    for header in batches:
        floor = share.batches.floor(header.base_offset)
        first = header.base_offset if floor is None else floor.first
        known = share.batches.between(first, header.last_offset)
        end = header.last_offset + 1
        archive(share, header.base_offset, end, known, RecordState.ACQUIRED, counts=True)
    rest = list(acquired)
    for header in batches:
        rest = [part for each in rest for part in _outside(each, header)]
    return rest


def _aborted_batches(
    read: Sequence[BatchHeader], transactions: Sequence[AbortedTransaction], aborts: frozenset[int]
) -> list[BatchHeader]:
    to_come = sorted(transactions, reverse=True)
    producers: set[int] = set()
    found = []
    for header in read:
        if header.producer_id < 0:
            continue
        while to_come and to_come[-1].first_offset <= header.last_offset:
            producers.add(to_come.pop().producer_id)
        if header.base_offset in aborts:
            producers.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in producers:
            found.append(header)
    return found


def _outside(range_: AcquiredRecords, header: BatchHeader) -> list[AcquiredRecords]:
    """The parts of a range that are not in a batch."""
    low = range_._replace(last_offset=min(range_.last_offset, header.base_offset - 1))
    high = range_._replace(first_offset=max(range_.first_offset, header.last_offset + 1))
    return [part for part in (low, high) if part.size > 0]
