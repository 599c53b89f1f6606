"""What one partition of `__share_group_state` keeps: the states of groups in partitions.

Calls return the record to write; it takes effect when it is replayed, after it was written.

Rules (semantics N24, N25):
- A state has to be initialised before it is read or written (42). A summary of none has offset -1.
- A lower state epoch than the last is 124, a lower leader epoch 74; -1 is not looked at. The topic
  and the partition have to exist (3), which is checked last.
- Reading as a new leader writes its epoch.
- An update follows a snapshot; when there are `share.coordinator.snapshot.update.records.per.
  snapshot` of them, the next change is a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable

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
NO_STATE = ShareState(0, 0, 0, NO_OFFSET, UNINITIALIZED)


class StateShard:
    """The states of one partition of the topic. `count`: how many partitions a topic has, by its
    id; 0 if there is no such topic."""

    def __init__(self, count: Callable[[bytes], int], updates_per_snapshot: int) -> None:
        self.states: dict[ShareKey, ShareState] = {}
        self.updates_per_snapshot = updates_per_snapshot
        self._count = count
        self._leader_epochs: dict[ShareKey, int] = {}
        self._state_epochs: dict[ShareKey, int] = {}
        self._updates: dict[ShareKey, int] = {}
        # Where the last snapshot of each is, and below what nothing is needed any more.
        self._snapshots: dict[ShareKey, int] = {}
        self.redundant_below: int | None = None

    # What is asked

    def initialize(
        self, key: ShareKey, state_epoch: int, start_offset: int, now: int
    ) -> StateRecord:
        """Begin anew, at this offset. Raises Refused."""
        _check_partition(key)
        self._check_state_epoch(key, state_epoch)
        self._check_exists(key)
        before = self.states.get(key)
        epoch = 0 if before is None else before.snapshot_epoch + 1
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
        if leader_epoch in (NO_EPOCH, self._leader_epochs.get(key)):
            return state, None
        change = Change(state.start_offset, state.complete_count, ())
        return state, self._change(key, state, leader_epoch, change, now)

    def summary(self, key: ShareKey) -> ShareState:
        """The state, or NO_STATE. Raises Refused."""
        _check_partition(key)
        self._check_exists(key)
        return self.states.get(key, NO_STATE)

    def delete(self, key: ShareKey) -> StateRecord | None:
        """Remove the state, if there is one. Raises Refused."""
        _check_partition(key)
        self._check_exists(key)
        return StateRecord(key, None) if key in self.states else None

    # What follows without a request

    def of_topics(self, topic_ids: set[bytes]) -> list[StateRecord]:
        """The records that remove the states of deleted topics."""
        return [StateRecord(key, None) for key in self.states if key.topic_id in topic_ids]

    def cold(self, now: int, interval_ms: int) -> list[StateRecord]:
        """Snapshots of what was not written in so long, unless all was snapshot so already."""
        if all(state.created != state.written for state in self.states.values()):
            return []
        return [
            StateRecord(key, state._replace(snapshot_epoch=state.snapshot_epoch + 1, written=now))
            for key, state in self.states.items()
            if now - state.written >= interval_ms
        ]

    def replay(self, record: StateRecord, offset: int) -> None:
        """Apply a record, written at this offset."""
        key, value = record
        if isinstance(value, Update):
            self._note_epoch(self._leader_epochs, key, value.leader_epoch)
            state = self.states.get(key)
            if state is None:
                self.states[key] = ShareState(
                    value.snapshot_epoch, 0, value.leader_epoch, *value.change
                )
            else:
                self.states[key] = state.changed(value.leader_epoch, value.change)
            self._updates[key] = self._updates.get(key, 0) + 1
            return
        if value is None:
            for known in (self.states, self._leader_epochs, self._state_epochs, self._updates):
                known.pop(key, None)
        else:
            self._note_epoch(self._leader_epochs, key, value.leader_epoch)
            self._note_epoch(self._state_epochs, key, value.state_epoch)
            self.states[key] = value
            if self._updates.get(key, 0) >= self.updates_per_snapshot and key in self._updates:
                self._updates[key] = 0
        self._snapshots[key] = offset
        self.redundant_below = min(self._snapshots.values())
        if value is None:
            del self._snapshots[key]

    # Parts

    def _change(
        self, key: ShareKey, state: ShareState, leader_epoch: int, change: Change, now: int
    ) -> StateRecord:
        if self._updates.get(key, 0) < self.updates_per_snapshot:
            merged = tuple(combined((), change.batches, change.start_offset))
            change = change._replace(batches=merged)
            return StateRecord(key, Update(state.snapshot_epoch, leader_epoch, change))
        after = state.changed(leader_epoch, change)
        return StateRecord(
            key,
            after._replace(snapshot_epoch=state.snapshot_epoch + 1, created=now, written=now),
        )

    def _state(self, key: ShareKey, what: str) -> ShareState:
        state = self.states.get(key)
        if state is None:
            message = f"{what} operation on uninitialized share partition not allowed."
            raise Refused(Error.INVALID_REQUEST, message)
        return state

    def _check_state_epoch(self, key: ShareKey, state_epoch: int) -> None:
        known = self._state_epochs.get(key)
        if known is not None and NO_EPOCH != state_epoch < known:
            raise _refused(Error.FENCED_STATE_EPOCH)

    def _check_leader_epoch(self, key: ShareKey, leader_epoch: int) -> None:
        if NO_EPOCH != leader_epoch < self._leader_epochs.get(key, NO_EPOCH):
            raise _refused(Error.FENCED_LEADER_EPOCH)

    def _check_exists(self, key: ShareKey) -> None:
        if key.partition >= self._count(key.topic_id):
            raise _refused(Error.UNKNOWN_TOPIC_OR_PARTITION)

    @staticmethod
    def _note_epoch(epochs: dict[ShareKey, int], key: ShareKey, epoch: int) -> None:
        epochs[key] = max(epochs.get(key, epoch), epoch)


def _check_partition(key: ShareKey) -> None:
    if key.partition < 0:
        raise Refused(Error.INVALID_REQUEST, "The partition id cannot be a negative number.")


def _refused(error: Error) -> Refused:
    return Refused(error, _MESSAGES[error])
