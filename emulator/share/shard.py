"""What one partition of `__share_group_state` keeps: the states of groups in partitions.

Calls return the record to write; it takes effect when it is replayed, after it was written.

Rules (semantics N24, N25):
- A state has to be initialised before it is read or written (42). A summary of none has offset -1.
- A lower state epoch than the last is 124, a lower leader epoch 74; -1 is not looked at. The topic
  and the partition have to exist (3), which is checked last.
- Reading as a new leader writes its epoch.
- An update follows a snapshot; when there are `share.coordinator.snapshot.update.records.per.
  snapshot` of them, the next change is a snapshot.

There may be hundreds of thousands, of which few change: one without batches is kept as bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...wire import Error, Refused
from .state import NO_EPOCH, UNINITIALIZED, Change, ShareKey, ShareState, StateRecord, Update
from .state_batches import NO_OFFSET, combined

_MESSAGES = {
    Error.FENCED_LEADER_EPOCH: (
        "The leader epoch in the request is older than the epoch on the broker."
    ),
    Error.FENCED_STATE_EPOCH: (
        "The share coordinator rejected the request because the share-group state epoch did not"
        " match."
    ),
    Error.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
}
_PACKED = struct.Struct("<4i4q3i")
_PART = struct.Struct(">16si")
_NONE = -(2**31)
NO_STATE = ShareState(0, 0, 0, NO_OFFSET, UNINITIALIZED)


class _Kept(NamedTuple):
    """A state, and what is known besides: the highest epochs, how many updates there were since the
    last snapshot, and where that is. _NONE and NO_OFFSET where there is nothing."""

    state: ShareState
    leader_epoch: int = _NONE
    state_epoch: int = _NONE
    updates: int = 0
    snapshot_at: int = NO_OFFSET

    def packed(self) -> bytes | _Kept:
        """In fewer bytes, if there are no batches."""
        state = self.state
        if state.batches:
            return self
        return _PACKED.pack(
            *(state.snapshot_epoch, state.state_epoch, state.leader_epoch, state.complete_count),
            *(state.start_offset, state.created, state.written, self.snapshot_at),
            *(self.leader_epoch, self.state_epoch, self.updates),
        )


_NOTHING = _Kept(NO_STATE)


def _unpacked(kept: bytes | _Kept) -> _Kept:
    if isinstance(kept, _Kept):
        return kept
    numbers = _PACKED.unpack(kept)
    epoch, state_epoch, leader_epoch, complete, start, created, written = numbers[:7]
    at, highest_leader, highest_state, updates = numbers[7:]
    state = ShareState(epoch, state_epoch, leader_epoch, start, complete, (), created, written)
    return _Kept(state, highest_leader, highest_state, updates, at)


def _name(key: ShareKey) -> bytes:
    return key.group_id.encode(errors="surrogatepass") + _PART.pack(key.topic_id, key.partition)


def _key(name: bytes) -> ShareKey:
    group_id = name[: -_PART.size].decode(errors="surrogatepass")
    return ShareKey(group_id, *_PART.unpack(name[-_PART.size :]))


class StateShard:
    """The states of one partition of the topic. `count`: how many partitions a topic has, by its
    id; 0 if there is no such topic."""

    def __init__(self, count: Callable[[bytes], int], updates_per_snapshot: int) -> None:
        self.updates_per_snapshot = updates_per_snapshot
        self._count = count
        self._kept: dict[bytes, bytes | _Kept] = {}
        self._removed_at: int | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def redundant_below(self) -> int | None:
        """The offset below which no record is needed any more: where the oldest of the last
        snapshots is, or, without any, the last removal."""
        found = (_unpacked(kept).snapshot_at for kept in self._kept.values())
        return min((at for at in found if at != NO_OFFSET), default=self._removed_at)

    def _find(self, key: ShareKey) -> _Kept | None:
        kept = self._kept.get(_name(key))
        return None if kept is None else _unpacked(kept)

    def _all(self) -> Iterator[tuple[ShareKey, ShareState]]:
        for name, kept in self._kept.items():
            yield _key(name), _unpacked(kept).state

    # What is asked

    def initialize(
        self, key: ShareKey, state_epoch: int, start_offset: int, now: int
    ) -> StateRecord:
        """Begin anew, at this offset. Raises Refused."""
        _check_partition(key)
        self._check_state_epoch(key, state_epoch)
        self._check_exists(key)
        before = self._find(key)
        epoch = 0 if before is None else before.state.snapshot_epoch + 1
        complete = UNINITIALIZED if start_offset == NO_OFFSET else 0
        state = ShareState(epoch, state_epoch, 0, start_offset, complete, (), now, now)
        return StateRecord(key, state)

    def write(
        self, key: ShareKey, state_epoch: int, leader_epoch: int, change: Change, now: int
    ) -> StateRecord:
        """Note a change. Raises Refused."""
        _check_partition(key)
        state = self._state(key, "Write")
        self._check_leader_epoch(key, leader_epoch)
        self._check_state_epoch(key, state_epoch)
        self._check_exists(key)
        return self._change(key, state, state.leader_epoch, change, now)

    def read(
        self, key: ShareKey, leader_epoch: int, now: int
    ) -> tuple[ShareState, StateRecord | None]:
        """The state, for a leader of this epoch (NO_EPOCH: for anybody), and the record that notes
        a new leader. Raises Refused."""
        _check_partition(key)
        state = self._state(key, "Read")
        self._check_leader_epoch(key, leader_epoch)
        self._check_exists(key)
        if leader_epoch in (NO_EPOCH, (self._find(key) or _NOTHING).leader_epoch):
            return state, None
        change = Change(state.start_offset, state.complete_count, ())
        return state, self._change(key, state, leader_epoch, change, now)

    def summary(self, key: ShareKey) -> ShareState:
        """The state, or NO_STATE. Raises Refused."""
        _check_partition(key)
        self._check_exists(key)
        return (self._find(key) or _NOTHING).state

    def delete(self, key: ShareKey) -> StateRecord | None:
        """Remove the state, if there is one. Raises Refused."""
        _check_partition(key)
        self._check_exists(key)
        return None if self._find(key) is None else StateRecord(key, None)

    # What follows without a request

    def of_topics(self, topic_ids: set[bytes]) -> list[StateRecord]:
        """The records that remove the states of deleted topics."""
        return [StateRecord(key, None) for key, _ in self._all() if key.topic_id in topic_ids]

    def cold(self, now: int, interval_ms: int) -> list[StateRecord]:
        """Snapshots of what was not written in so long, unless all was snapshot so already."""
        if all(state.created != state.written for _, state in self._all()):
            return []
        return [
            StateRecord(key, state._replace(snapshot_epoch=state.snapshot_epoch + 1, written=now))
            for key, state in self._all()
            if now - state.written >= interval_ms
        ]

    def replay(self, record: StateRecord, offset: int) -> None:
        """Apply a record, written at this offset."""
        key, value = record
        name = _name(key)
        if value is None:
            self._kept.pop(name, None)
            self._removed_at = offset
            return
        before = self._find(key) or _NOTHING
        leader_epoch = max(before.leader_epoch, value.leader_epoch)
        if isinstance(value, Update):
            state = before.state.changed(value.leader_epoch, value.change)
            if name not in self._kept:
                state = ShareState(value.snapshot_epoch, 0, value.leader_epoch, *value.change)
            updates = before.updates + 1
            after = before._replace(state=state, leader_epoch=leader_epoch, updates=updates)
        else:
            updates = 0 if before.updates >= self.updates_per_snapshot else before.updates
            state_epoch = max(before.state_epoch, value.state_epoch)
            after = _Kept(value, leader_epoch, state_epoch, updates, offset)
        self._kept[name] = after.packed()

    # Parts

    def _change(
        self, key: ShareKey, state: ShareState, leader_epoch: int, change: Change, now: int
    ) -> StateRecord:
        if (self._find(key) or _NOTHING).updates < self.updates_per_snapshot:
            merged = tuple(combined((), change.batches, change.start_offset))
            change = change._replace(batches=merged)
            return StateRecord(key, Update(state.snapshot_epoch, leader_epoch, change))
        after = state.changed(leader_epoch, change)
        return StateRecord(
            key,
            after._replace(snapshot_epoch=state.snapshot_epoch + 1, created=now, written=now),
        )

    def _state(self, key: ShareKey, what: str) -> ShareState:
        kept = self._find(key)
        if kept is None:
            message = f"{what} operation on uninitialized share partition not allowed."
            raise Refused(Error.INVALID_REQUEST, message)
        return kept.state

    def _check_state_epoch(self, key: ShareKey, state_epoch: int) -> None:
        if NO_EPOCH != state_epoch < (self._find(key) or _NOTHING).state_epoch:
            raise _refused(Error.FENCED_STATE_EPOCH)

    def _check_leader_epoch(self, key: ShareKey, leader_epoch: int) -> None:
        known = max(NO_EPOCH, (self._find(key) or _NOTHING).leader_epoch)
        if NO_EPOCH != leader_epoch < known:
            raise _refused(Error.FENCED_LEADER_EPOCH)

    def _check_exists(self, key: ShareKey) -> None:
        if key.partition >= self._count(key.topic_id):
            raise _refused(Error.UNKNOWN_TOPIC_OR_PARTITION)


def _check_partition(key: ShareKey) -> None:
    if key.partition < 0:
        raise Refused(Error.INVALID_REQUEST, "The partition id cannot be a negative number.")


def _refused(error: Error) -> Refused:
    return Refused(error, _MESSAGES[error])
