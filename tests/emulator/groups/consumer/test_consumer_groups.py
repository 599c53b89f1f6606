"""Consumer groups (KIP-848) as their members and administrators meet them, by the coordinator."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.groups.classic.consumer_protocol import read_assignment
from odradek.emulator.groups.classic.members import GroupRecord, GroupTombstone
from odradek.emulator.groups.consumer.group import ConsumerGroup
from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.emulator.groups.modern.group import Due
from odradek.emulator.groups.records import MessageRecord, encode
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from odradek.wire.errors import Error, Refused
from odradek.wire.records import Record
from odradek.wire.stored.consumer_protocol import ConsumerProtocolSubscription
from odradek.wire.stored.keyed import keyed

from tests.emulator.groups.support.world import World, leaver

T = b"t".ljust(16, b"\0")
WANTS_T = keyed(ConsumerProtocolSubscription(topics=["t"], user_data=None), 1)
SUBSCRIBED = (("range", WANTS_T),)


@pytest.fixture
def world() -> World:
    world = World(consumer_assignment_interval_ms=0)
    world.topics.make("t", 4)
    return world


def beat(
    world: World, member: str = "a", epoch: int = 0, **more: Any
) -> ConsumerGroupHeartbeatResponse:
    """A heartbeat; one with epoch 0 joins and subscribes to t unless told otherwise."""
    if epoch == 0:
        more = {"names": ["t"], "owned": {}, "rebalance_timeout_ms": 60_000} | more
    return world.consumer_beat(member, epoch, **more)


def refusal(call: Any, *arguments: Any, **more: Any) -> tuple[Error, str | None]:
    with pytest.raises(Refused) as caught:
        call(*arguments, **more)
    return caught.value.error, caught.value.message


def types(world: World, since: int = 0) -> list[int]:
    """The types of the records written; tombstones are negative."""
    found = []
    for entry in world.log[since:]:
        record = entry.record
        assert isinstance(record, MessageRecord)
        found.append(record.key.first_type * (1 if record.value is not None else -1))
    return found


def test_the_records_of_joining_leaving_and_deleting_are_in_kafkas_order(world: World) -> None:
    beat(world)
    assert types(world) == [5, 3, 7, 6, 8]
    beat(world, epoch=-1)
    assert types(world, 5) == [-8, -7, -5, 3]
    world.coordinator.delete(["g"])
    assert types(world, 9) == [-6, -4, -3]


def test_every_record_reads_back_as_it_was_written(world: World) -> None:
    beat(world, regex="t.*", instance_id="i", rack_id="r", assignor="range")
    world.advance(0)
    world.ask_join("x", "c", version=3, protocols=SUBSCRIBED)
    assert {abs(kind) for kind in types(world)} == {3, 5, 6, 7, 8, 16}
    for entry in world.log:
        record = entry.record
        new = encode(record, 7)
        key, value = bytes(new.key or b""), None if new.value is None else bytes(new.value)
        stored = Record(0, 7, key, value, ())
        assert world.coordinator.runtime.decode(stored) == record


def test_a_full_group_takes_no_more_members(world: World) -> None:
    world.settings.consumer_max_size = 1
    beat(world, "a")
    assert refusal(beat, world, "b")[0] is Error.GROUP_MAX_SIZE_REACHED
    assert beat(world, "a").member_epoch == 2


@pytest.mark.parametrize("epoch", [1, -1, -2])
def test_only_a_joining_member_makes_a_group(world: World, epoch: int) -> None:
    assert refusal(beat, world, "a", epoch)[0] is Error.GROUP_ID_NOT_FOUND
    assert world.coordinator.list_groups() == []


def test_commits_count_by_the_epoch_in_which_a_partition_was_given(world: World) -> None:
    beat(world, "a")
    beat(world, "b")
    beat(world, "a", 2)
    beat(world, "a", 2, owned={T: [0, 1]})

    def commit(epoch: int, partition: int, version: int = 9) -> Error:
        asked = CommitRequest(
            version, "a", None, epoch, [OffsetCommit("t", partition, 5, topic_id=T)]
        )
        try:
            (error,) = world.coordinator.offsets.commit("g", asked)
        except Refused as refused:
            return refused.error
        return error

    assert commit(3, 0) is commit(2, 0) is Error.NONE
    assert commit(3, 3) is Error.NONE  # in its own epoch nobody asks whose it is
    assert commit(2, 3) is commit(1, 0) is commit(4, 0) is Error.STALE_MEMBER_EPOCH
    assert commit(3, 0, version=8) is Error.UNSUPPORTED_VERSION


def test_who_takes_a_static_member_over_may_commit_in_any_epoch(world: World) -> None:
    beat(world, "a", instance_id="i")
    commit = CommitRequest(9, "a", None, 1, [OffsetCommit("t", 0, 5)])
    assert refusal(world.coordinator.offsets.commit, "g", commit)[0] is Error.STALE_MEMBER_EPOCH
    beat(world, "a", -2, instance_id="i")
    assert beat(world, "b", instance_id="i").member_epoch == 2
    for epoch in (0, 1):
        commit = CommitRequest(9, "b", "i", epoch, [OffsetCommit("t", 0, 5)])
        assert world.coordinator.offsets.commit("g", commit) == [Error.NONE]


def test_a_transaction_of_a_stale_member_is_refused_as_of_another_generation(world: World) -> None:
    beat(world, "a")
    group = world.coordinator.consumer.group("g")
    stale = CommitRequest(3, "a", None, 7, [OffsetCommit("t", 0, 5, topic_id=T)])
    assert refusal(group.check_commit, stale, transactional=True)[0] is Error.ILLEGAL_GENERATION
    group.check_commit(CommitRequest(3, "", None, -1, []), transactional=True)


@pytest.mark.slow
def test_offsets_of_topics_that_are_read_are_spared_by_deletion_and_retention(world: World) -> None:
    world.topics.make("u", 1)
    beat(world)
    commits = [OffsetCommit("t", 0, 1), OffsetCommit("u", 0, 1)]
    world.coordinator.offsets.commit("g", CommitRequest(9, "a", None, 2, commits))
    assert world.coordinator.offsets.delete("g", [("t", 0)]) == [Error.GROUP_SUBSCRIBED_TO_TOPIC]
    for _ in range(20_200):  # a week and a little, a heartbeat every half a minute
        world.advance(30_000)
        beat(world, "a", 2)
    assert [one.topic for one in world.coordinator.offsets.fetch("g", None)] == ["t"]


def test_an_empty_group_without_offsets_is_forgotten(world: World) -> None:
    beat(world)
    beat(world, epoch=-1)
    world.advance(world.settings.retention_check_interval_ms)
    assert world.coordinator.list_groups() == []
    assert types(world)[-3:] == [-6, -4, -3]


def test_an_empty_group_makes_way_for_a_classic_member_that_is_refused(world: World) -> None:
    def committed() -> list[int]:
        return [one.offset for one in world.coordinator.offsets.fetch("g", None)]

    def commit(group: str, offset: int) -> list[Error]:
        asked = CommitRequest(8, "", None, -1, [OffsetCommit("t", 0, offset)])
        return world.coordinator.offsets.commit(group, asked)

    beat(world)
    beat(world, epoch=-1)
    assert commit("g", 5) == [Error.NONE]
    written = len(world.log)
    answer = world.join("x", member_id="x", protocols=SUBSCRIBED)
    assert answer.error_code == Error.UNKNOWN_MEMBER_ID
    assert len(world.log) == written
    assert refusal(beat, world, "a", 3)[0] is Error.GROUP_ID_NOT_FOUND
    assert world.coordinator.delete(["g"]) == [("g", Error.GROUP_ID_NOT_FOUND)]
    # Who only looks sees it until something is written.
    assert world.coordinator.consumer.group("g").state == "Empty"
    assert [one.type for one in world.coordinator.list_groups()] == ["consumer"]
    assert committed() == [5]
    commit("other", 1)
    assert refusal(world.coordinator.consumer.group, "g")[0] is Error.GROUP_ID_NOT_FOUND
    assert [one.group_id for one in world.coordinator.list_groups()] == ["other"]
    assert committed() == []
    world.restart()
    assert world.coordinator.consumer.group("g").state == "Empty"
    assert committed() == [5]


def classic(world: World, **more: Any) -> str:
    """A classic consumer of t in the group, synced in generation 1; its id."""
    world.settings.initial_rebalance_delay_ms = 0
    fields: dict[str, Any] = {"version": 3, "protocols": SUBSCRIBED} | more
    world.join("c", **fields)
    world.advance(0)
    (_, joined) = world.answers[-1]
    world.sync(joined.member_id, 1, version=4, assignments=[(joined.member_id, b"")])
    return str(joined.member_id)


def test_a_classic_group_is_converted_and_back(world: World) -> None:
    member = classic(world)
    before = len(world.log)
    beat(world, "a")
    assert isinstance(world.log[before].record, GroupTombstone)
    assert types(world, before + 1) == [5, 3, 7, 6, 8, 5, 3, 7, 7, 6, 8]
    assert world.beat(member, 1) is Error.REBALANCE_IN_PROGRESS
    beat(world, "a", -1)
    last = world.log[-1].record
    assert isinstance(last, GroupRecord)
    assert [one.member_id for one in last.members] == [member]
    described = world.coordinator.classic.describe("g", 6)
    assert described.group_state == "PreparingRebalance"


def test_converted_back_members_have_what_they_were_to_have(world: World) -> None:
    member = classic(world)
    beat(world, "a")
    group = world.coordinator.consumer.group("g")
    target, held = group.targets[member], group.members[member].assigned
    assert (len(target[T]), held) == (2, {})
    beat(world, "a", -1)
    described = world.coordinator.classic.describe("g", 6)
    topics = world.coordinator.runtime.topics
    assert read_assignment(described.members[0].member_assignment, topics) == target


def test_who_waits_in_a_classic_group_that_is_converted_shall_join_again(world: World) -> None:
    classic(world)
    world.ask_join("waiting", "d", version=3, protocols=SUBSCRIBED)
    beat(world, "a")
    (answer,) = [answer for token, answer in world.answers if token == "waiting"]
    assert answer.error_code == Error.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(
    ("policy", "metadata", "reason"),
    [
        ("disabled", WANTS_T, "online upgrade is disabled"),
        ("downgrade", WANTS_T, "online upgrade is disabled"),
        ("upgrade", b"junk", "the embedded consumer protocol is malformed"),
    ],
)
def test_a_classic_group_that_cannot_be_converted_says_why(
    world: World, policy: str, metadata: bytes, reason: str
) -> None:
    world.settings.consumer_migration_policy = policy
    classic(world, protocols=(("range", metadata),))
    error, message = refusal(beat, world, "a")
    assert error is Error.GROUP_ID_NOT_FOUND
    assert message == f"Cannot upgrade classic group g to consumer group because {reason}."
    assert [listing.type for listing in world.coordinator.list_groups()] == ["classic"]


def test_a_group_whose_member_changes_its_protocols_cannot_be_converted_yet(world: World) -> None:
    both = (*SUBSCRIBED, ("sticky", WANTS_T))
    first = classic(world, protocols=both)
    world.ask_join("second", "d", version=3, protocols=both)
    world.join("c", member_id=first, version=3, protocols=both)
    world.ask_join("first", "c", member_id=first, version=3, protocols=both[1:])
    assert refusal(beat, world, "a") == (Error.UNKNOWN_SERVER_ERROR, None)
    token, answer = world.answers[-1]
    assert (token, answer.error_code) == ("first", Error.REBALANCE_IN_PROGRESS)
    assert [listing.type for listing in world.coordinator.list_groups()] == ["classic"]


def test_a_protocol_that_is_named_twice_is_not_what_all_have_in_common(world: World) -> None:
    beat(world, "a")
    twice = (*SUBSCRIBED, *SUBSCRIBED)
    assert world.join("m", member_id="m", version=5, protocols=twice).error_code == Error.NONE
    other = world.join("n", member_id="n", version=5, protocols=SUBSCRIBED)
    assert other.error_code == Error.INCONSISTENT_GROUP_PROTOCOL
    assert refusal(beat, world, "a", -1) == (Error.UNKNOWN_SERVER_ERROR, None)
    for _ in range(6):  # the session of a ends, and what that cannot lead to is tried again
        world.advance(9_000)
        world.beat("m", 3)
    assert set(world.coordinator.consumer.group("g").members) == {"a", "m"}


def test_a_group_is_listed_when_its_last_member_has_left(world: World) -> None:
    beat(world, "a")
    beat(world, "a", -1)
    assert [(it.type, it.state) for it in world.coordinator.list_groups()] == [
        ("consumer", "Empty")
    ]


@pytest.mark.parametrize("policy", ["disabled", "upgrade"])
def test_without_leave_to_downgrade_the_group_stays_what_it_is(world: World, policy: str) -> None:
    beat(world, "a")
    world.ask_join("x", "c", version=3, protocols=SUBSCRIBED)
    world.settings.consumer_migration_policy = policy
    beat(world, "a", -1)
    assert [listing.type for listing in world.coordinator.list_groups()] == ["consumer"]


def test_a_classic_member_that_does_not_sync_or_join_is_taken_out(world: World) -> None:
    beat(world, "a")
    timeouts: dict[str, Any] = {"session_timeout_ms": 60_000, "rebalance_timeout_ms": 9_000}
    world.ask_join("x", "c", version=3, protocols=SUBSCRIBED, **timeouts)
    member = world.answers[-1][1].member_id
    world.advance(9_000)
    assert member not in world.coordinator.consumer.group("g").members

    world.ask_join("x", "c", version=3, protocols=SUBSCRIBED, **timeouts)
    member, generation = world.answers[-1][1].member_id, world.answers[-1][1].generation_id
    world.ask_sync("s", member, generation)
    assert world.answers[-1][1].error_code == Error.NONE
    beat(world, "b")
    assert world.beat(member, generation) is Error.REBALANCE_IN_PROGRESS
    group = world.coordinator.consumer.group("g")
    assert group.deadlines.get((Due.JOIN, member)) == world.now + 9_000
    world.advance(9_000)
    assert member not in group.members


def test_the_classic_protocol_is_refused_to_members_of_the_new_one(world: World) -> None:
    beat(world, "a")
    assert world.beat("a", 2) is Error.UNKNOWN_MEMBER_ID
    world.ask_sync("s", "a", 2)
    assert world.answers[-1][1].error_code == Error.UNKNOWN_MEMBER_ID


def test_an_administrator_may_remove_members_of_either_protocol(world: World) -> None:
    beat(world, "a")
    beat(world, "b", instance_id="i")
    answer = world.leave(leaver("a"), leaver("", "i"), leaver("x"), leaver("", "j"))
    codes = [left.error_code for left in answer.members]
    assert codes == [Error.NONE, Error.NONE, Error.UNKNOWN_MEMBER_ID, Error.UNKNOWN_MEMBER_ID]
    assert types(world)[-7:] == [-8, -7, -5, -8, -7, -5, 3]
    assert world.coordinator.consumer.group("g").state == "Empty"


def test_a_write_that_fails_while_a_member_is_taken_out_is_tried_again(world: World) -> None:
    beat(world, "a")
    world.refusals = [Error.NOT_ENOUGH_REPLICAS]
    world.advance(45_000)
    assert "a" in world.coordinator.consumer.group("g").members
    world.advance(500)
    assert world.coordinator.consumer.group("g").state == "Empty"


def test_offsets_that_come_before_the_group_in_the_log_belong_to_it(world: World) -> None:
    beat(world)
    commit = CommitRequest(9, "a", None, 2, [OffsetCommit("t", 0, 5)])
    world.coordinator.offsets.commit("g", commit)
    world.log.insert(0, world.log.pop())  # as compaction may leave it
    world.restart()
    assert isinstance(world.coordinator.shards[0].groups["g"], ConsumerGroup)
    assert world.coordinator.offsets.fetch("g", [("t", 0)])[0].offset == 5
    assert world.beat("a", 2) is Error.UNKNOWN_MEMBER_ID
