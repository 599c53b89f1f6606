"""The coordinator's calls about offsets: commit, fetch, delete, and the end of a transaction.

Rules (semantics F3-F5, F8, F9, G10, G28):
- A commit with a generation to a missing group: 22, from v9 on 69 (but 22 before 4.0). Without a
  generation it creates a simple group, whatever the member id, even if its metadata is refused. Any
  group id will do, also "".
- Offsets count once they are written. A refused write commits nothing.
- Deleting offsets spares topics that the group subscribes to (86).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ....wire.errors import Error, Refused
from ..commit_request import CommitRequest
from ..group import Group, existing
from ..records import TransactionEnd
from ..runtime import Producer, Runtime
from ..shard import Shard
from .committed import FetchedOffset, Key, Offsets, commit_records
from .store import NO_OFFSETS, OffsetStore

GROUP_ID_NOT_FOUND_SINCE = 9


class OffsetCalls:
    """What clients ask about offsets. `create_group` creates a simple group in a shard."""

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
            is_told = self._runtime.settings.tells_commits_of_missing_groups
            is_told = is_told and request.version >= GROUP_ID_NOT_FOUND_SINCE
            raise Refused(Error.GROUP_ID_NOT_FOUND if is_told else Error.ILLEGAL_GENERATION)
        return self._commit(shard, group_id, request, None)

    def commit_in_transaction(
        self, group_id: str, request: CommitRequest, producer: Producer
    ) -> list[Error]:
        """TxnOffsetCommit, once the transaction coordinator has agreed: the offsets are pending
        until `end_transaction`. Raises Refused with the error that all partitions are answered."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        shard = self._runtime.shard_for(group_id)
        group = shard.groups.get(group_id)
        if group is not None:
            group.check_commit(request, transactional=True)
        elif request.generation >= 0:
            raise Refused(Error.ILLEGAL_GENERATION)
        return self._commit(shard, group_id, request, producer)

    def _commit(
        self, shard: Shard, group_id: str, request: CommitRequest, producer: Producer | None
    ) -> list[Error]:
        now = self._runtime.now()
        settings = self._runtime.settings
        limit, keeps_ids = settings.metadata_max_chars, settings.keeps_topic_ids_of_offsets
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
