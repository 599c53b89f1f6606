"""Acknowledging: a member is done with records, gives them back, or keeps them longer.

Rules (semantics N16, N17, N19):
- 0 is a gap and 3 a rejection: the record is archived. 1 accepts it, 2 gives it back, 4 renews the
  lock. One type is for all of a range, else each offset has its own.
- A member acknowledges what it has acquired, else it is INVALID_RECORD_STATE; a range that was not
  read is INVALID_REQUEST. What is below the start offset is left alone.
- A range that begins below the start offset, where that was not read, fails the whole request.
- All batches of a request are acknowledged, or none: also when the share coordinator refuses to
  note it.
Source: Kafka 4.3.1's answers (SharePartition.acknowledge, releaseAcquiredRecords).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...wire import Error, Refused
from .in_flight import Batch, InFlight, RecordState
from .share_partition import SharePartition, Told, at_limit
from .state_batches import StateBatch

ACCEPT, RELEASE, RENEW = 1, 2, 4
_STATES = {
    0: RecordState.ARCHIVED,
    1: RecordState.ACKNOWLEDGED,
    2: RecordState.AVAILABLE,
    3: RecordState.ARCHIVED,
}
_KINDS = {0: "", 1: "acknowledged", 2: "released", 3: "rejected"}
"""What is told of each; nothing of a gap."""


class Acknowledgement(NamedTuple):
    """What becomes of a range of offsets; `types` has one type, or one for each offset."""

    first_offset: int
    last_offset: int
    types: Sequence[int]

    def type_of(self, offset: int) -> int:
        """What becomes of one of them."""
        return self.types[0] if len(self.types) == 1 else self.types[offset - self.first_offset]


def acknowledge(share: SharePartition, member_id: str, asked: Sequence[Acknowledgement]) -> None:
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
                step.leave(first, last, state, share.released(last), "released")
    step.complete()


def _has(state: InFlight, member_id: str) -> bool:
    return state.state is RecordState.ACQUIRED and state.member_id == member_id


class _Step:
    """One change of several states, which takes effect when the coordinator has noted it."""

    def __init__(self, share: SharePartition, member_id: str, reason: str = "") -> None:
        self._share = share
        self._reason = reason
        self._told: list[Told] = []
        self._member_id = member_id
        self._most = share.settings.most_deliveries
        self._changed: list[StateBatch] = []
        self._before: list[tuple[InFlight, str]] = []
        self._complete_before = share.complete_count

    def acknowledge(self, batch: Batch, asked: Acknowledgement) -> None:
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

    def leave(self, first: int, last: int, state: InFlight, after: RecordState, kind: str) -> None:
        """The member is done with records; `kind` is what is told of it."""
        if kind:
            member_id, reason = self._member_id, self._reason
            self._told.append(Told(kind, member_id, first, last, state.count, reason))
        self._before.append((state, state.member_id))
        state.leave(after, self._most)
        self._changed.append(StateBatch(first, last, state.count, state.state))
        if state.state.is_done:
            self._share.complete_count += self._share.counted(first, last)
            if after is RecordState.AVAILABLE:
                self._told.append(at_limit(self._told[-1]))

    def _renew(self, first: int, last: int, state: InFlight) -> None:
        share = self._share
        if not share.settings.may_renew:
            raise _invalid_state("Renewing acquisition locks is not enabled for the group.")
        state.unlock()
        state.lock = share.lock(self._member_id, first, last)

    def _check_member(self, whole: InFlight) -> None:
        if not whole.member_id:
            raise _invalid_state(
                "The batch cannot be acknowledged. The batch is not in the acquired state."
            )
        if whole.member_id != self._member_id:
            raise _invalid_state("Member is not the owner of batch record")

    def _check_offset(self, one: InFlight) -> None:
        if one.state is not RecordState.ACQUIRED:
            raise _invalid_state("The offset cannot be acknowledged. The offset is not acquired.")
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
        for told in self._told:
            share.tell(told)
        for state, _ in self._before:
            state.unlock()
            state.is_settling = True
        share.settle_later(self._settle)

    def _settle(self) -> None:
        """What has changed counts: a fetch in the same request does not get it yet. Who waits looks
        again only where the start offset has moved, as in Kafka: for released records alone it goes
        on waiting, and has them when its time is over."""
        share = self._share
        for state, _ in self._before:
            state.is_settling = False
            if state.state is RecordState.AVAILABLE:
                share.may_have_available = True
        if share.advance():
            share.wake()


def _named(share: SharePartition, asked: Acknowledgement) -> list[Batch]:
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
