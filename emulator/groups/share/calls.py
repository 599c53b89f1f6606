"""The coordinator's calls about share groups (KIP-932), and the share groups themselves.

What members do, what administrators ask of their offsets, and what happens when neither does. The
share coordinator (`StateKeeper`) keeps where a group is in each partition; it is told to initialise
a state after the records that announce it were written, and the record that it is there follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ....wire.errors import Error, Refused
from ....wire.primitives import id_text
from ....wire.stored.share_groups import ShareGroupMetadataKey
from ...share.state import ShareKey, ShareState
from ..classic.calls import ClassicCalls
from ..classic.not_classic import NotClassic
from ..group import Group, existing
from ..records import MessageRecord
from ..runtime import Runtime
from ..settings import ConfigsOf, GroupSettings
from ..shard import Shard, ShardState
from . import states
from .group import ShareGroup
from .heartbeat import ShareTimes, heartbeat, removal
from .members import JOINING_EPOCH, LEAVE_EPOCH, ShareBeat, ShareBeatAnswer, ShareMember
from .records import DECODERS, TopicState, group_record, state_record

_TRY_AGAIN_MS = 500
_NO_GROUP = "The group id is invalid."
_UNKNOWN_PARTITION = "This server does not host this topic-partition."
_INVALID_PARTITION = "Initialize share group parameters has invalid partitionId - "
_CONFIGS = (
    "share.session.timeout.ms",
    "share.heartbeat.interval.ms",
    "share.assignment.interval.ms",
)
TimesOf = Callable[[str], ShareTimes]
"""The times of a group, by its id, as they are now."""


class StateKeeper(Protocol):
    """The share coordinators. Each call raises Refused."""

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int) -> None: ...

    def delete(self, key: ShareKey) -> None: ...

    def summary(self, key: ShareKey) -> ShareState: ...


class Altered(NamedTuple):
    """What became of one offset that was to be set."""

    topic_id: bytes | None
    partition: int
    error: Error = Error.NONE
    message: str | None = None


class DeletedTopic(NamedTuple):
    """What became of the offsets of one topic that were to be deleted."""

    name: str
    topic_id: bytes | None
    error: Error = Error.NONE
    message: str | None = None


def times_of(settings: GroupSettings, configs_of: ConfigsOf | None) -> TimesOf:
    """The times of groups that may have configs of their own, or have none."""
    if configs_of is not None:
        return lambda group_id: ShareTimes(*map(configs_of(group_id).get, _CONFIGS))
    return lambda group_id: ShareTimes(
        settings.share_session_timeout_ms,
        settings.share_heartbeat_interval_ms,
        settings.share_assignment_interval_ms,
    )


class ShareCalls:
    """The calls about share groups."""

    def __init__(
        self,
        runtime: Runtime,
        classic: ClassicCalls,
        keeper: StateKeeper,
        configs_of: ConfigsOf | None = None,
    ) -> None:
        self.group_class = ShareGroup
        self.decoders = DECODERS
        self._runtime = runtime
        self._keeper = keeper
        self._times_of = times_of(runtime.settings, configs_of)
        runtime.register_type(self)
        classic.register(ShareGroup, NotClassic(classic, lambda group: False))

    # What members ask

    def heartbeat(self, beat: ShareBeat) -> ShareBeatAnswer:
        """ShareGroupHeartbeat of a valid request. Raises Refused, with a message for the client."""
        shard = self._runtime.shard_for(beat.group_id)
        if beat.epoch == LEAVE_EPOCH:
            group = self._of(beat.group_id, shard.groups.get(beat.group_id))
            self._remove(shard, group, group.member(beat.member_id), "left", "")
            return ShareBeatAnswer(beat.member_id, beat.epoch)
        group = self._group_for(shard, beat.group_id, creates=beat.epoch == JOINING_EPOCH)
        now = self._runtime.now()
        outcome = heartbeat(group, beat, self._times_of(beat.group_id), now)
        is_new = beat.member_id not in group.members
        self._write(shard, group, outcome.records)
        if is_new:
            number = {"members": len(group.members)}
            member = group.members[beat.member_id]
            self._runtime.telling.tell(beat.group_id, "joined", member, details=number)
        self._runtime.note_deadline(group)
        if outcome.initializes:
            places = {
                ShareKey(beat.group_id, topic_id, index): -1
                for topic_id, topic in outcome.initializes.items()
                for index in sorted(topic.partitions)
            }
            self._initialize(shard, group, outcome.epoch, places)
        return outcome.answer

    def _group_for(self, shard: Shard, group_id: str, *, creates: bool) -> ShareGroup:
        group = shard.groups.get(group_id)
        if group is None:
            if not creates:
                raise Refused(Error.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
            return ShareGroup(group_id, self._runtime.settings, self._runtime.topics)
        return self._of(group_id, group)

    def _of(self, group_id: str, group: Group | None) -> ShareGroup:
        found = existing(group_id, group)
        if not isinstance(found, ShareGroup):
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        return found

    def group(self, group_id: str) -> ShareGroup:
        """A share group, for reading. Raises Refused: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND,
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        return self._of(group_id, self._runtime.shard_for(group_id).visible(group_id))

    def initialized(self, group_id: str) -> dict[bytes, frozenset[int]]:
        """The partitions that have a state, by topic id; none of a group that is missing. Raises
        Refused: NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        group = self._runtime.shard_for(group_id).visible(group_id)
        if not isinstance(group, ShareGroup):
            return {}
        return {t: s.partitions for t, s in group.known_states.initialized.items()}

    def end_session(self, group: ShareGroup, member_id: str) -> None:
        """A member's session is over now. Raises Refused(UNKNOWN_MEMBER_ID)."""
        shard = self._runtime.shard_for(group.group_id)
        self._expire(shard, group, group.member(member_id))

    def rebalance(self, group: ShareGroup) -> None:
        """Raise the group's epoch: with the next heartbeat a new target is computed."""
        shard = self._runtime.shard_for(group.group_id)
        record = group_record(group.group_id, group.epoch + 1, group.metadata_hash)
        self._write(shard, group, [record])

    # What administrators ask

    def alter_offsets(
        self, group_id: str, topics: Sequence[tuple[str, Mapping[int, int]]]
    ) -> list[list[Altered]]:
        """Set where the group begins, by topic and partition; a missing group is created. What
        became of each, by topic. Raises Refused: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND,
        NON_EMPTY_GROUP, UNKNOWN_SERVER_ERROR for a partition below 0."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID, _NO_GROUP)
        shard, now = self._runtime.shard_for(group_id), self._runtime.now()
        group = self._group_for(shard, group_id, creates=True)
        if group.members:
            raise Refused(Error.NON_EMPTY_GROUP, "The group is not empty.")
        answers: list[list[Altered]] = []
        places: dict[ShareKey, int] = {}
        announced: dict[bytes, TopicState] = {}
        for name, offsets in topics:
            topic = self._runtime.topics.catalogue.get(name)
            count = 0 if topic is None else len(topic.partitions)
            topic_id = None if topic is None else topic.id
            of_topic = [_altered(topic_id, index, count) for index in offsets]
            answers.append(of_topic)
            if topic is not None:
                fine = {i: at for i, at in offsets.items() if i < count}
                announced[topic.id] = TopicState(name, frozenset(fine), now)
                places |= {ShareKey(group_id, topic.id, i): at for i, at in fine.items()}
        said = states.initializing(group, announced)
        if said is not None:
            self._write(shard, group, [state_record(group_id, said)])
        for key in places:
            if key.partition < 0:  # noted as initializing, as a real coordinator notes it
                what = f"{group_id} {id_text(key.topic_id)} {key.partition}"
                raise Refused(Error.UNKNOWN_SERVER_ERROR, f"{_INVALID_PARTITION}{what}")
        failed = self._initialize(shard, group, group.epoch, places) if places else {}
        return [[_as_failed(each, failed, group_id) for each in of_topic] for of_topic in answers]

    def delete_offsets(self, group_id: str, names: Sequence[str]) -> list[DeletedTopic]:
        """Forget where the group is in topics. Raises Refused: INVALID_GROUP_ID,
        GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID, _NO_GROUP)
        shard = self._runtime.shard_for(group_id)
        group = self._of(group_id, shard.groups.get(group_id))
        if group.members:
            raise Refused(Error.NON_EMPTY_GROUP, "The group is not empty.")
        if group.states is None:
            return []
        gone: dict[bytes, Iterable[int]] = {}
        failed: list[DeletedTopic] = []
        for name in names:
            topic = self._runtime.topics.catalogue.get(name)
            known = group.states
            if topic is None:
                failed.append(_unknown_topic(name, _UNKNOWN_PARTITION))
            elif topic.id in known.initialized:
                gone[topic.id] = sorted(known.initialized[topic.id].partitions)
            elif topic.id in known.deleting:
                gone[topic.id] = range(len(topic.partitions))
            else:
                failed.append(_unknown_topic(name, "There is no offset information to delete."))
        self._write(shard, group, [state_record(group_id, states.deleting(group, gone))])
        if not gone:
            return failed
        done = self._delete_states(group, gone)
        fine = [each.topic_id for each in done if not each.error and each.topic_id is not None]
        if fine:
            self._write(shard, group, [state_record(group_id, states.deleted(group, fine))])
        return [*done, *failed]

    def _delete_states(
        self, group: ShareGroup, topics: Mapping[bytes, Iterable[int]]
    ) -> list[DeletedTopic]:
        done = []
        for topic_id, parts in topics.items():
            topic = self._runtime.topics.catalogue.by_id(topic_id)
            name = "" if topic is None else topic.name
            result = DeletedTopic(name, topic_id)
            for index in parts:
                try:
                    self._keeper.delete(ShareKey(group.group_id, topic_id, index))
                except Refused as refused:
                    result = DeletedTopic(name, topic_id, refused.error, refused.message)
            done.append(result)
        return done

    def before_delete(self, group_id: str) -> None:
        """The group is about to be deleted: its states go first. Raises Refused: NON_EMPTY_GROUP,
        and as the share coordinator refuses. Harmless for other groups."""
        shard = self._runtime.shard_for(group_id)
        group = shard.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            return
        group.check_delete()
        said, parts = states.all_deleting(group)
        if said is None:
            return
        self._write(shard, group, [state_record(group_id, said)])
        for result in self._delete_states(group, parts):
            if result.error:
                raise Refused(result.error, result.message)

    def topics_deleted(self, topic_ids: frozenset[bytes]) -> None:
        """Forget the states of deleted topics; what cannot be written is left."""
        for shard in self._runtime.shards.values():
            if shard.state is not ShardState.ACTIVE:
                continue
            for group in list(shard.groups.values()):
                said = (
                    states.without_topics(group, topic_ids)
                    if isinstance(group, ShareGroup)
                    else None
                )
                if said is not None and isinstance(group, ShareGroup):
                    try:
                        self._write(shard, group, [state_record(group.group_id, said)])
                    except Refused:
                        continue

    # States

    def _initialize(
        self, shard: Shard, group: ShareGroup, epoch: int, places: Mapping[ShareKey, int]
    ) -> dict[ShareKey, Refused]:
        """Initialise states, and write that they are. Returns those that failed."""
        failed: dict[ShareKey, Refused] = {}
        topics: dict[bytes, list[int]] = {}
        for key, offset in places.items():
            topics.setdefault(key.topic_id, []).append(key.partition)
            try:
                self._keeper.initialize(key, epoch, offset)
            except Refused as refused:
                failed[key] = refused
        said = (
            states.not_initialized(group, topics) if failed else states.initialized(group, topics)
        )
        if said is not None:
            try:
                self._write(shard, group, [state_record(group.group_id, said)])
            except Refused:  # it is tried again with a heartbeat
                return failed
        return failed

    # What becomes of groups

    def _write(self, shard: Shard, group: ShareGroup, records: Sequence[MessageRecord]) -> None:
        """Write records, make this the group of its id, and apply them. Raises Refused."""
        if records:
            self._runtime.write(group.group_id, records)
        shard.groups[group.group_id] = group
        now = self._runtime.now()
        for record in records:
            group.apply(record, now)

    def _remove(
        self, shard: Shard, group: ShareGroup, member: ShareMember, kind: str, reason: str
    ) -> None:
        self._write(shard, group, removal(group, member))
        group.deadlines.clear(member.member_id)
        number = {"members": len(group.members)}
        self._runtime.telling.tell(group.group_id, kind, member, reason, number)
        self._runtime.note_deadline(group)

    def _expire(self, shard: Shard, group: ShareGroup, member: ShareMember) -> None:
        reason = "no heartbeat within its session timeout"
        self._remove(shard, group, member, "session timed out", reason)

    def replay(
        self, shard: Shard, record: MessageRecord, now: int, producer_id: int | None
    ) -> None:
        """Apply a record of a group, creating the group if need be."""
        group_id = record.group_id
        group = shard.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            if record.value is None:
                return
            group = ShareGroup(group_id, self._runtime.settings, self._runtime.topics)
            shard.groups[group_id] = group
        group.apply(record, now)
        if record.value is None and isinstance(record.key, ShareGroupMetadataKey):
            del shard.groups[group_id]

    def loaded(self, group: ShareGroup, now: int) -> None:
        """Every member has a whole session before it."""
        session_ms = self._times_of(group.group_id).session_timeout_ms
        for member_id in group.members:
            group.deadlines.set(member_id, now + session_ms)
        self._runtime.note_deadline(group)

    def due(self, shard: Shard, group: ShareGroup, now: int) -> None:
        """The session that ends first is over. A refused write is tried again after a while."""
        member_id = group.deadlines.pop(now)
        member = None if member_id is None else group.members.get(member_id)
        if member is not None:
            try:
                self._expire(shard, group, member)
            except Refused:
                group.deadlines.set(member.member_id, now + _TRY_AGAIN_MS)
        self._runtime.note_deadline(group)

    def resigned(self, group: ShareGroup, now: int) -> None:
        """Nothing is ever parked in a share group, so nobody is to be answered."""


def _altered(topic_id: bytes | None, index: int, count: int) -> Altered:
    if topic_id is not None and index < count:
        return Altered(topic_id, index)
    return Altered(topic_id, index, Error.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN_PARTITION)


def _as_failed(each: Altered, failed: Mapping[ShareKey, Refused], group_id: str) -> Altered:
    refused = (
        None
        if each.topic_id is None
        else failed.get(ShareKey(group_id, each.topic_id, each.partition))
    )
    if refused is None:
        return each
    return each._replace(error=refused.error, message=refused.message)


def _unknown_topic(name: str, message: str) -> DeletedTopic:
    return DeletedTopic(name, None, Error.UNKNOWN_TOPIC_OR_PARTITION, message)
