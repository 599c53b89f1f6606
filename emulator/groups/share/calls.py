"""The coordinator's calls about share groups (KIP-932), and the share groups themselves.

What members do, what administrators ask of their offsets, and what happens when neither does. The
share coordinator keeps where a group is in each partition; it is asked to initialise
a state after the records that announce it were written, and the record that it is there follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ....wire.errors import Error, Refused
from ....wire.primitives import id_text
from ...base.call import Call
from ...share.coordinators import ShareCoordinators
from ...share.state import SharePartitionKey
from ..classic.calls import ClassicCalls, OtherGroups
from ..modern.calls import ModernCalls
from ..modern.member import JOINING_EPOCH, LEAVE_EPOCH
from ..runtime import Runtime, Shard, ShardState
from ..settings import ConfigsOf
from . import states
from .group import ShareGroup
from .heartbeat import Request, Response, heartbeat
from .members import TopicState, state_record

_NO_GROUP = "The group id is invalid."
_UNKNOWN_PARTITION = "This server does not host this topic-partition."
_INVALID_PARTITION = "Initialize share group parameters has invalid partitionId - "


class Altered(NamedTuple):
    topic_id: bytes | None
    partition: int
    error: Error = Error.NONE
    message: str | None = None


class DeletedTopic(NamedTuple):
    name: str
    topic_id: bytes | None
    error: Error = Error.NONE
    message: str | None = None


class ShareCalls(ModernCalls[ShareGroup]):
    group_class = ShareGroup
    replaces_classic = False

    def __init__(
        self,
        runtime: Runtime,
        classic: ClassicCalls,
        configs_of: ConfigsOf,
        keeper: ShareCoordinators | None,
    ) -> None:
        """Without a keeper no state can be initialised."""
        super().__init__(runtime, classic, configs_of)
        self._states = keeper
        classic.register(ShareGroup, OtherGroups(classic, makes_way=False))

    # What members ask

    def heartbeat(self, call: Call, request: Request) -> Response:
        """ShareGroupHeartbeat of a valid request. Raises Refused, with a message for the client."""
        shard = self._runtime.shard_for(request.group_id)
        if request.member_epoch == LEAVE_EPOCH:
            group = self.of_type(request.group_id, shard.groups.get(request.group_id))
            self.remove(shard, group, [group.member(request.member_id)])
            return Response(member_id=request.member_id, member_epoch=request.member_epoch)
        group, _ = self.group_for(
            shard, request.group_id, joins=request.member_epoch == JOINING_EPOCH
        )
        outcome = heartbeat(
            *(group, call, request, self.times_of(request.group_id)), self._runtime.now()
        )
        self.write(shard, group, outcome.records)
        self._runtime.note_deadline(group)
        if outcome.initializes:
            places = {
                SharePartitionKey(request.group_id, topic_id, index): -1
                for topic_id, topic in outcome.initializes.items()
                for index in sorted(topic.partitions)
            }
            self._initialize(shard, group, outcome.epoch, places)
        return outcome.answer

    def initialized(self, group_id: str) -> dict[bytes, frozenset[int]]:
        """The partitions that have a state, by topic id; none of a group that is missing. Raises
        Refused: NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        group = self._runtime.shard_for(group_id).visible(group_id)
        if not isinstance(group, ShareGroup):
            return {}
        return {t: s.partitions for t, s in group.known_states.initialized.items()}

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
        group, _ = self.group_for(shard, group_id, joins=True)
        if group.members:
            raise Refused(Error.NON_EMPTY_GROUP, "The group is not empty.")
        answers: list[list[Altered]] = []
        places: dict[SharePartitionKey, int] = {}
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
                places |= {SharePartitionKey(group_id, topic.id, i): at for i, at in fine.items()}
        said = states.initializing(group, announced)
        if said is not None:
            self.write(shard, group, [state_record(group_id, said)])
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
        group = self.of_type(group_id, shard.groups.get(group_id))
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
        self.write(shard, group, [state_record(group_id, states.deleting(group, gone))])
        if not gone:
            return failed
        done = self._delete_states(group, gone)
        fine = [each.topic_id for each in done if not each.error and each.topic_id is not None]
        if fine:
            self.write(shard, group, [state_record(group_id, states.deleted(group, fine))])
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
                    self._keeper().delete(SharePartitionKey(group.group_id, topic_id, index))
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
        self.write(shard, group, [state_record(group_id, said)])
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
                        self.write(shard, group, [state_record(group.group_id, said)])
                    except Refused:
                        continue

    # States

    def _initialize(
        self, shard: Shard, group: ShareGroup, epoch: int, places: Mapping[SharePartitionKey, int]
    ) -> dict[SharePartitionKey, Refused]:
        """Initialise states, and write that they are. Returns those that failed."""
        failed: dict[SharePartitionKey, Refused] = {}
        topics: dict[bytes, list[int]] = {}
        for key, offset in places.items():
            topics.setdefault(key.topic_id, []).append(key.partition)
            try:
                self._keeper().initialize(key, epoch, offset)
            except Refused as refused:
                failed[key] = refused
        said = (
            states.not_initialized(group, topics) if failed else states.initialized(group, topics)
        )
        if said is not None:
            try:
                self.write(shard, group, [state_record(group.group_id, said)])
            except Refused:  # it is tried again with a heartbeat
                return failed
        return failed

    def _keeper(self) -> ShareCoordinators:
        if self._states is None:
            raise Refused(Error.COORDINATOR_NOT_AVAILABLE)
        return self._states


def _altered(topic_id: bytes | None, index: int, count: int) -> Altered:
    if topic_id is not None and index < count:
        return Altered(topic_id, index)
    return Altered(topic_id, index, Error.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN_PARTITION)


def _as_failed(
    each: Altered, failed: Mapping[SharePartitionKey, Refused], group_id: str
) -> Altered:
    refused = (
        None
        if each.topic_id is None
        else failed.get(SharePartitionKey(group_id, each.topic_id, each.partition))
    )
    if refused is None:
        return each
    return each._replace(error=refused.error, message=refused.message)


def _unknown_topic(name: str, message: str) -> DeletedTopic:
    return DeletedTopic(name, None, Error.UNKNOWN_TOPIC_OR_PARTITION, message)
