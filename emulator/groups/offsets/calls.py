"""The coordinator's calls about offsets and whole groups: commit, fetch, delete, list, describe.

Rules (semantics F3-F6, F8, F9, G10, G13, G28):
- A commit with a generation to a missing group: 22, from v9 on 69; without one it creates a simple
  group, whatever the member id, even if its metadata is refused. The group id may be empty here.
- Offsets are written first and count then. A refused write commits nothing.
- Deleting a group writes tombstones for its offsets, then one for the group, in one batch. Groups
  with members are 68, missing ones 69.
- Deleting offsets spares topics the group subscribes to (86).
- Every ten minutes, what has outlived its retention is deleted, and with it an Empty group that has
  nothing left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....wire.errors import Error, Refused
from ..classic.group import ClassicGroup
from ..classic.states import DEAD, EMPTY
from ..consumer.group import ConsumerGroup
from ..messages import GroupDescription, GroupListing
from ..records import Record, Tombstone
from ..runtime import Producer, Runtime
from ..shard import AnyGroup, Shard, ShardState, TransactionEnd
from .committed import CommitRequest, FetchedOffset, Key, commit_records

GROUP_ID_NOT_FOUND_SINCE_COMMIT = 9
GROUP_ID_NOT_FOUND_SINCE_DESCRIBE = 6


class OffsetCalls(Runtime):
    """What clients ask about offsets, and administrators about groups."""

    # ------------------------------------------------------------------ offsets

    def commit(self, group_id: str, request: CommitRequest) -> list[Error]:
        """OffsetCommit of partitions that exist: one error each, in their order. Raises Refused
        with the code that all of them get."""
        shard = self.shard_for(group_id)
        group = shard.groups.get(group_id)
        if group is not None:
            group.check_commit(request, transactional=False)
            if isinstance(group, ClassicGroup):
                group.committed(request.member_id, self._now())
                self._note_deadline(group)
        elif request.generation >= 0:
            old = request.version < GROUP_ID_NOT_FOUND_SINCE_COMMIT
            raise Refused(Error.ILLEGAL_GENERATION if old else Error.GROUP_ID_NOT_FOUND)
        return self._commit(shard, group_id, request, None)

    def commit_in_transaction(
        self, group_id: str, request: CommitRequest, producer: Producer
    ) -> list[Error]:
        """TxnOffsetCommit, once the transaction coordinator has agreed: the offsets are pending
        until `end_transaction`. Raises Refused with the code that all partitions get."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        shard = self.shard_for(group_id)
        group = shard.groups.get(group_id)
        if group is not None:
            group.check_commit(request, transactional=True)
        elif request.generation >= 0:
            raise Refused(Error.ILLEGAL_GENERATION)
        return self._commit(shard, group_id, request, producer)

    def _commit(
        self, shard: Shard, group_id: str, request: CommitRequest, producer: Producer | None
    ) -> list[Error]:
        now = self._now()
        limit = self.settings.metadata_max_chars
        errors, records = commit_records(group_id, request, now, limit)
        if records:
            self._write(group_id, records, producer)
            for record in records:
                shard.apply(record, now, None if producer is None else producer.producer_id)
        elif group_id not in shard.groups:
            shard.create(group_id, now)
            shard.unseen.add(group_id)
        return errors

    def end_transaction(self, partition: int, end: TransactionEnd) -> None:
        """A marker has been written to this partition of __consumer_offsets."""
        if partition in self.shards:
            self.shards[partition].end_transaction(end)

    def check_fetch(self, group_id: str, member_id: str | None, epoch: int) -> None:
        """May this member of a consumer group fetch offsets? Raises Refused: UNKNOWN_MEMBER_ID,
        STALE_MEMBER_EPOCH, ILLEGAL_GENERATION. A classic or missing group lets anybody."""
        group = self.shard_for(group_id).groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            group.check_fetch(member_id, epoch)

    def fetch(
        self, group_id: str, partitions: Iterable[Key] | None, *, require_stable: bool = False
    ) -> list[FetchedOffset]:
        """OffsetFetch: these partitions in their order, or all there are; nothing is an error
        but NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS, raised as Refused."""
        table = self.shard_for(group_id).offsets_of(group_id)
        return table.fetch(partitions, require_stable=require_stable)

    def delete_offsets(self, group_id: str, partitions: Sequence[Key]) -> list[Error]:
        """OffsetDelete of partitions that exist: one error each, in their order. Raises Refused:
        INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        shard = self.shard_for(group_id)
        group = _existing(group_id, shard.groups.get(group_id))
        group.check_offset_delete()
        free = [key for key in partitions if not group.is_subscribed(key[0])]
        self._write_tombstones(
            shard, group_id, shard.offsets_of(group_id).tombstones(group_id, free)
        )
        return [
            Error.GROUP_SUBSCRIBED_TO_TOPIC if group.is_subscribed(topic) else Error.NONE
            for topic, _ in partitions
        ]

    def topic_deleted(self, topic: str) -> None:
        """Delete what any group has committed for the topic. A refused write leaves it there."""
        for shard in self._active():
            for group_id, table in list(shard.offsets.items()):
                gone = [t for t in table.tombstones(group_id) if t.topic == topic]
                self._try_tombstones(shard, group_id, gone)

    # ------------------------------------------------------------------- groups

    def delete(self, group_ids: Iterable[str]) -> list[tuple[str, Error]]:
        """DeleteGroups: what became of each, in their order; one named twice is answered once."""
        return [(group_id, self._delete_one(group_id)) for group_id in dict.fromkeys(group_ids)]

    def _delete_one(self, group_id: str) -> Error:
        try:
            shard = self.shard_for(group_id)
            group = _existing(group_id, shard.groups.get(group_id))
            group.check_delete()
            gone = shard.offsets_of(group_id).tombstones(group_id)
            self._write_tombstones(shard, group_id, [*gone, *_tombstones(group)])
        except Refused as refusal:
            return refusal.error
        self._bury(shard, group)
        return Error.NONE

    def _bury(self, shard: Shard, group: AnyGroup) -> None:
        """An Empty group whose tombstone is written. It has nothing parked."""
        if isinstance(group, ClassicGroup):
            group.move(DEAD, self._now())
        shard.forget(group.group_id)
        self._deadlines.clear(group.group_id)

    def describe(self, group_ids: Iterable[str], version: int) -> list[GroupDescription]:
        """DescribeGroups: one description each, in their order. A missing group is Dead, and from
        v6 on an error too."""
        return [self._describe_one(group_id, version) for group_id in group_ids]

    def _describe_one(self, group_id: str, version: int) -> GroupDescription:
        try:
            group = _existing(group_id, self.shard_for(group_id).seen(group_id))
            if isinstance(group, ClassicGroup):
                return group.describe()
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")
        except Refused as refusal:
            if refusal.error is not Error.GROUP_ID_NOT_FOUND:
                return GroupDescription(group_id, refusal.error)
            if version < GROUP_ID_NOT_FOUND_SINCE_DESCRIBE:
                return GroupDescription(group_id, state=DEAD)
            return GroupDescription(group_id, refusal.error, refusal.message, DEAD)

    def list_groups(
        self, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> list[GroupListing]:
        """ListGroups, by state and type, in any case of letters; no filter means all. Raises
        Refused(COORDINATOR_LOAD_IN_PROGRESS) until every shard is loaded."""
        if any(shard.state is ShardState.LOADING for shard in self.shards.values()):
            raise Refused(Error.COORDINATOR_LOAD_IN_PROGRESS)
        wanted_states = {state.strip().lower() for state in states}
        wanted_types = {kind.strip().lower() for kind in types}
        return [
            listing
            for shard in self.shards.values()
            for listing in [
                g.listing() for name, g in shard.groups.items() if name not in shard.unseen
            ]
            if (not wanted_states or listing.state.lower() in wanted_states)
            and (not wanted_types or listing.type in wanted_types)
        ]

    # ------------------------------------------------------------------- expiry

    def _look_for_old_offsets(self, partition: int, now: int) -> None:
        shard = self.shards[partition]
        self._deadlines.set(partition, now + self.settings.retention_check_interval_ms)
        for group in list(shard.groups.values()):
            table = shard.offsets_of(group.group_id)
            old = table.expired(group, now, self.settings.retention_ms)
            gone: list[Record] = [*table.tombstones(group.group_id, old)]
            is_empty = group.state == EMPTY
            dead = is_empty and not table.outlive(old)
            if dead:
                gone += _tombstones(group)
            if self._try_tombstones(shard, group.group_id, gone) and dead:
                self._bury(shard, group)

    def _try_tombstones(self, shard: Shard, group_id: str, tombstones: Sequence[Record]) -> bool:
        """Nobody waits for these: if they cannot be written now, the next look will try again."""
        try:
            self._write_tombstones(shard, group_id, tombstones)
        except Refused:
            return False
        return True

    def _write_tombstones(self, shard: Shard, group_id: str, tombstones: Sequence[Record]) -> None:
        if not tombstones:
            return
        self._write(group_id, tombstones)
        for tombstone in tombstones:
            shard.apply(tombstone, self._now())

    def _active(self) -> list[Shard]:
        return [shard for shard in self.shards.values() if shard.state is ShardState.ACTIVE]


def _tombstones(group: AnyGroup) -> list[Record]:
    if isinstance(group, ConsumerGroup):
        return [*group.tombstones()]
    return [Tombstone(group.group_id)]


def _existing(group_id: str, group: AnyGroup | None) -> AnyGroup:
    if group is None:
        raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    return group
