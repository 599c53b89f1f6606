"""The coordinator's calls about offsets: commit, fetch, delete, and the end of a transaction; and
what removes groups with their offsets: DeleteGroups, deleted topics, and retention.

Rules (semantics F3-F6, F8, F9, G10, G28):
- A commit with a generation to a missing group: 22, from v9 on 69 (but 22 before 4.0). Without a
  generation it creates a simple group, whatever the member id, even if its metadata is refused. Any
  group id will do, also "".
- Offsets count once they are written. A refused write commits nothing.
- Deleting offsets spares topics that the group subscribes to (86).
- Deleting a group writes tombstones for its offsets, then its own, in one batch. A group with
  members is 68, a missing one 69.
- Every ten minutes the offsets that have outlived their retention are deleted, and with them each
  Empty group that has nothing left.
- Nobody waits for what retention and deleted topics remove: if it cannot be written, the next check
  tries again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ....wire import NO_ID
from ....wire.errors import Error, Refused
from ..group import EMPTY, CommitRequest, Group, existing
from ..records import Record, TransactionEnd
from ..runtime import Producer, Runtime, Shard, ShardState
from ..settings import GroupSettings
from .store import NO_OFFSETS, FetchedOffset, Key, Offsets, OffsetStore, commit_records

GROUP_ID_NOT_FOUND_SINCE = 9

TOPIC_IDS_SINCE = 10
"""The version of OffsetCommit that has the ids of topics."""


class OffsetCalls:
    """The calls of clients about offsets. `create_group` creates a simple group in a shard."""

    def __init__(self, runtime: Runtime, create_group: Callable[[Shard, str, int], Group]) -> None:
        self.store = OffsetStore(runtime, create_group)
        self._runtime = runtime

    def commit(self, group_id: str, request: CommitRequest) -> list[Error]:
        """OffsetCommit of partitions that exist: one error each, in their order. Raises Refused
        with the error that all of them are answered."""
        shard = self._runtime.shard_for(group_id)
        group = shard.groups.get(group_id)
        if group is not None:
            group.check_commit(request, transactional=False)
            group.committed(request.member_id, self._runtime.now())
            self._runtime.note_deadline(group)
        elif request.generation >= 0:
            is_not_found = self._runtime.settings.tells_commits_of_missing_groups
            is_not_found = is_not_found and request.version >= GROUP_ID_NOT_FOUND_SINCE
            raise Refused(Error.GROUP_ID_NOT_FOUND if is_not_found else Error.ILLEGAL_GENERATION)
        return self._commit(shard, group_id, request, None)

    def commit_in_transaction(
        self, group_id: str, request: CommitRequest, producer: Producer
    ) -> list[Error]:
        """TxnOffsetCommit, once the transaction coordinator has agreed: the offsets are pending
        until `end_transaction`. Raises Refused with the error that all partitions are answered."""
        if not group_id and self._runtime.settings.names_empty_group_ids:
            raise Refused(Error.INVALID_GROUP_ID)
        shard = self._runtime.shard_for(group_id)
        group = shard.groups.get(group_id)
        if group is not None:
            group.check_commit(request, transactional=True)
        else:
            self._check_missing(request)
        return self._commit(shard, group_id, request, producer)

    def _check_missing(self, request: CommitRequest) -> None:
        """In a transaction, where there is no group; an old broker makes one before it looks.
        Raises Refused."""
        settings = self._runtime.settings
        if settings.checks_transactions_like_commits:
            if request.generation >= 0:
                is_known = settings.tells_generations_of_missing_groups
                raise Refused(Error.ILLEGAL_GENERATION if is_known else Error.UNKNOWN_MEMBER_ID)
        elif request.member_id:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        elif request.generation > 0:
            raise Refused(Error.ILLEGAL_GENERATION)

    def _commit(
        self, shard: Shard, group_id: str, request: CommitRequest, producer: Producer | None
    ) -> list[Error]:
        now = self._runtime.now()
        settings = self._runtime.settings
        limit, keeps_ids = settings.metadata_max_chars, settings.keeps_topic_ids_of_offsets
        if request.version < TOPIC_IDS_SINCE and not settings.keeps_topic_ids_of_named_topics:
            request = request._replace(
                commits=[e._replace(topic_id=NO_ID) for e in request.commits]
            )
        errors, records = commit_records(group_id, request, now, limit, keeps_ids=keeps_ids)
        if records:
            self._runtime.write_and_apply(shard, group_id, records, producer)
        elif group_id not in shard.groups:
            self.store.create_group(shard, group_id, now)
            shard.unwritten.add(group_id)
        return errors

    def end_transaction(self, partition: int, end: TransactionEnd) -> None:
        """A marker has been written to this partition of `__consumer_offsets`."""
        shard = self._runtime.shards.get(partition)
        if shard is not None:
            self.store.end_transaction(shard, end)

    def readable(self, group_id: str, member_id: str | None, epoch: int) -> Offsets:
        """The offsets of a group, now, for a member that may fetch them. Raises Refused as `fetch`,
        and UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION. A classic or missing group
        lets anybody."""
        shard = self._runtime.shard_for(group_id)
        group = shard.visible(group_id)
        if group is None:
            return NO_OFFSETS
        group.check_fetch(member_id, epoch)
        return self.store.kept(shard, group_id)

    def visible(self, group_id: str) -> Offsets:
        """The offsets of a group, now, for calls that only look at them. Raises Refused:
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        return self.store.visible(self._runtime.shard_for(group_id), group_id)

    def fetch(
        self, group_id: str, partitions: Iterable[Key] | None, *, require_stable: bool = False
    ) -> list[FetchedOffset]:
        """OffsetFetch: these partitions in their order, or all that have an offset. Raises Refused:
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        return self.visible(group_id).fetch(partitions, require_stable=require_stable)

    def delete(self, group_id: str, partitions: Sequence[Key]) -> list[Error]:
        """OffsetDelete of partitions that exist: one error each, in their order. Raises Refused:
        INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        shard = self._runtime.shard_for(group_id)
        group = existing(group_id, shard.groups.get(group_id))
        group.check_offset_delete()
        unsubscribed = [key for key in partitions if not group.is_subscribed(key[0])]
        gone = self.store.of(shard, group_id).tombstones(group_id, unsubscribed)
        self._runtime.write_and_apply(shard, group_id, gone)
        return [
            Error.GROUP_SUBSCRIBED_TO_TOPIC if group.is_subscribed(topic) else Error.NONE
            for topic, _ in partitions
        ]


class Removal:
    def __init__(self, runtime: Runtime, store: OffsetStore) -> None:
        self._runtime = runtime
        self._store = store
        runtime.register_offset_check(lambda shard: _ShardCheck(self, shard, runtime.settings))

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


class _ShardCheck:
    """The work for a shard every `retention_check_interval_ms`."""

    def __init__(self, removal: Removal, shard: Shard, settings: GroupSettings) -> None:
        self._removal = removal
        self._shard = shard
        self._settings = settings

    def interval_ms(self) -> int:
        return self._settings.retention_check_interval_ms

    def run(self, now: int) -> bool:
        return self._removal.expire(self._shard, now)

    def due(self, now: int) -> int | None:
        return self._removal.next_expiry(self._shard)
