"""Removing groups with their offsets: DeleteGroups, deleted topics, and retention.

Rules (semantics F3, F4, F6):
- Deleting a group writes tombstones for its offsets, then its own, in one batch. A group with
  members is 68, a missing one 69.
- Every ten minutes the offsets that have outlived their retention are deleted, and with them each
  Empty group that has nothing left.
- Nobody waits for what retention and deleted topics remove: if it cannot be written, the next check
  tries again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....wire.errors import Error, Refused
from ..group import EMPTY, Group, existing
from ..records import Record
from ..runtime import Runtime
from ..shard import Shard, ShardState
from .store import OffsetStore


class Removal:
    """What removes groups and offsets."""

    def __init__(self, runtime: Runtime, store: OffsetStore) -> None:
        self._runtime = runtime
        self._store = store
        runtime.register_offset_check(self)

    def delete(self, group_id: str) -> Error:
        """Delete a group. Returns the error that DeleteGroups answers."""
        try:
            shard = self._runtime.shard_for(group_id)
            group = existing(group_id, shard.groups.get(group_id))
            group.check_delete()
            gone = self._store.of(shard, group_id).tombstones(group_id)
            self._runtime.write_and_apply(shard, group_id, [*gone, *group.tombstones()])
        except Refused as refusal:
            return refusal.error
        self._forget(shard, group_id)
        return Error.NONE

    def topic_deleted(self, topic: str) -> None:
        """Delete what any group has committed for the topic."""
        shards = [s for s in self._runtime.shards.values() if s.state is ShardState.ACTIVE]
        for shard in shards:
            for group_id, offsets in self._store.all_in(shard):
                gone = [t for t in offsets.tombstones(group_id) if t.topic == topic]
                self._try(shard, group_id, gone)

    def expire(self, shard: Shard, now: int) -> bool:
        """Remove offsets that are too old, and Empty groups without any."""
        found = False
        for group in list(shard.groups.values()):
            group_id = group.group_id
            offsets = self._store.of(shard, group_id)
            old = offsets.expired(group, now, self._runtime.settings.retention_ms)
            gone: list[Record] = [*offsets.tombstones(group_id, old)]
            is_over = _is_empty(group) and not offsets.has_more_than(old)
            if is_over:
                gone += group.tombstones()
            if self._try(shard, group_id, gone):
                found |= is_over or bool(gone)
                if is_over:
                    self._forget(shard, group_id)
        return found

    def next_expiry(self, shard: Shard) -> int | None:
        """When the next offset is too old; now, if what is could not be removed."""
        times: list[int] = []
        for group in shard.groups.values():
            offsets = self._store.of(shard, group.group_id)
            if _is_empty(group) and not offsets.has_more_than(()):
                return 0
            times += offsets.expiries(group, self._runtime.settings.retention_ms)
        return min(times, default=None)

    def _try(self, shard: Shard, group_id: str, tombstones: Sequence[Record]) -> bool:
        try:
            self._runtime.write_and_apply(shard, group_id, tombstones)
        except Refused:
            return False
        return True

    def _forget(self, shard: Shard, group_id: str) -> None:
        """An Empty group has nothing parked, so nobody is to be answered."""
        shard.forget(group_id)
        self._store.forget(shard, group_id)
        self._runtime.clear_deadline(group_id)


def _is_empty(group: Group) -> bool:
    """Whether a group is deleted once it has no offsets."""
    return group.state == EMPTY and group.expires_when_empty
