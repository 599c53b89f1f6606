"""A type of group that registers is written, restored, listed, deleted and called like the others.

The type here is made up, and its records are.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from odradek.emulator.groups.classic.calls import OtherGroups
from odradek.emulator.groups.coordinator import Coordinator
from odradek.emulator.groups.group import EMPTY, CommitRequest, GroupListing, OffsetCommit
from odradek.emulator.groups.records import MessageRecord, encode, message_decoders
from odradek.emulator.groups.runtime import Shard
from odradek.wire.errors import Error, Refused
from odradek.wire.records import Record as LoggedRecord
from odradek.wire.schema import Message, i32
from odradek.wire.stored.keyed import Key

from tests.emulator.groups.support.world import START, World, leaver

SESSION_MS = 5000
COMMIT = CommitRequest(9, "", None, -1, [OffsetCommit("t", 0, 5)])


class NewKey(Key, record_types="99", versions="0"):
    group_id: str


class NewValue(Message, versions="0", flexible="0+"):
    epoch: i32


class NewGroup:
    """A group of the new type: it has an epoch, and empties when its deadline has passed."""

    expires_when_empty = True
    members: ClassVar[dict[str, Any]] = {}

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 0
        self.state = "Stable"
        self.when: int | None = None

    def deadline(self) -> int | None:
        return self.when

    def shift(self, milliseconds: int) -> None:
        if self.when is not None:
            self.when += milliseconds

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        raise Refused(Error.GROUP_ID_NOT_FOUND)

    def committed(self, member_id: str, now: int) -> None:
        raise AssertionError("no commit has passed")

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Anybody may."""

    def check_offset_delete(self) -> None:
        raise Refused(Error.GROUP_ID_NOT_FOUND)

    def check_delete(self) -> None:
        if self.state != EMPTY:
            raise Refused(Error.NON_EMPTY_GROUP)

    def is_subscribed(self, topic: str) -> bool:
        return False

    offsets_may_expire = True
    offsets_expire_since = None

    def tombstones(self) -> list[MessageRecord]:
        return [MessageRecord(NewKey(group_id=self.group_id), None)]

    def listing(self) -> GroupListing:
        return GroupListing(self.group_id, "new", self.state, "new")


class NewCalls(OtherGroups):
    """The new type, and how it answers members of the classic protocol."""

    group_class = NewGroup
    decoders = message_decoders({NewKey: NewValue})

    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(coordinator.classic, makes_way=False)
        self.coordinator = coordinator
        self.resigned_groups: list[str] = []
        coordinator.runtime.register_type(self)
        coordinator.classic.register(NewGroup, self)

    def raise_epoch(self, group_id: str, epoch: int) -> None:
        key = NewKey(group_id=group_id)
        record = MessageRecord(key, NewValue(epoch=epoch))
        runtime = self.coordinator.runtime
        runtime.write_and_apply(runtime.shard_for(group_id), group_id, [record])

    def replay(self, shard: Shard, record: Any, now: int, producer_id: int | None) -> None:
        if record.value is None:
            del shard.groups[record.group_id]
            return
        group: Any = shard.groups.setdefault(record.group_id, NewGroup(record.group_id))
        group.epoch = record.value.epoch

    def loaded(self, group: NewGroup, now: int) -> None:
        group.when = now + SESSION_MS
        self.coordinator.runtime.note_deadline(group)

    def due(self, shard: Shard, group: NewGroup, now: int) -> None:
        group.when, group.state = None, EMPTY
        self.coordinator.runtime.note_deadline(group)

    def resigned(self, group: NewGroup, now: int) -> None:
        self.resigned_groups.append(group.group_id)

    def rebalance(self, group: NewGroup) -> None:
        raise AssertionError("it has no rebalances")

    def end_session(self, group: NewGroup, member_id: str) -> None:
        raise AssertionError("it has no sessions")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def new(world: World) -> NewCalls:
    return NewCalls(world.coordinator)


def test_it_is_written_and_restored(world: World, new: NewCalls) -> None:
    new.raise_epoch("g", 3)
    (entry,) = world.log
    key, value = entry.record.encoded()
    assert encode(entry.record, START) == (START, key, value, ())
    logged = LoggedRecord(0, START, key, value, ())
    assert world.coordinator.runtime.decode(logged) == entry.record

    world.coordinator = world.new_coordinator()
    assert world.coordinator.runtime.decode(logged) is None, "nobody has registered it there"
    again = NewCalls(world.coordinator)
    world.coordinator.load(0, world.log)
    group: Any = world.coordinator.shards[0].groups["g"]
    assert (group.epoch, group.when) == (3, START + SESSION_MS)
    world.advance(SESSION_MS)
    assert group.state == EMPTY
    world.coordinator.resign(0)
    assert again.resigned_groups == ["g"]


def test_it_is_listed_and_deleted_with_its_offsets(world: World, new: NewCalls) -> None:
    world.coordinator.offsets.commit("g", COMMIT)
    world.coordinator.delete(["g"])
    new.raise_epoch("g", 1)
    group: Any = world.coordinator.shards[0].groups["g"]
    assert world.coordinator.list_groups(types=["NEW"]) == [("g", "new", "Stable", "new")]
    assert world.coordinator.list_groups(types=["classic"]) == []
    with pytest.raises(Refused) as refused:
        world.coordinator.offsets.commit("g", COMMIT)
    assert refused.value.error is Error.GROUP_ID_NOT_FOUND
    assert world.coordinator.delete(["g"]) == [("g", Error.NON_EMPTY_GROUP)]
    group.state = EMPTY
    assert world.coordinator.delete(["g"]) == [("g", Error.NONE)]
    assert world.log[-1].record == group.tombstones()[0]
    assert world.coordinator.list_groups() == []


def test_it_goes_with_retention_once_it_is_empty(world: World, new: NewCalls) -> None:
    new.raise_epoch("g", 1)
    group: Any = world.coordinator.shards[0].groups["g"]
    world.advance(world.settings.retention_check_interval_ms)
    assert len(world.coordinator.list_groups()) == 1
    group.state = EMPTY
    world.advance(world.settings.retention_check_interval_ms)
    assert world.coordinator.list_groups() == []


def test_it_answers_members_of_the_classic_protocol(world: World, new: NewCalls) -> None:
    new.raise_epoch("g", 1)
    assert world.join().error_code == Error.INCONSISTENT_GROUP_PROTOCOL
    assert world.sync("m", 1).error_code == Error.UNKNOWN_MEMBER_ID
    assert world.beat("m", 1) is Error.UNKNOWN_MEMBER_ID
    (left,) = world.leave(leaver("m")).members
    assert left.error_code == Error.UNKNOWN_MEMBER_ID
    described = world.coordinator.classic.describe("g", 6)
    assert described.error_message == "Group g is not a classic group."
    with pytest.raises(Refused, match="is not a consumer group"):
        world.coordinator.consumer.group("g")
    with pytest.raises(Refused, match="is not a consumer group"):
        world.consumer_beat("m", 0, names=["t"])
