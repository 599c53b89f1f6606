"""The coordinator around its groups: order of things, administrators, partitions, one timer."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.groups.classic.members import GroupRecord, MemberRecord
from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.emulator.groups.records import Replayed
from odradek.emulator.groups.settings import GroupSettings
from odradek.wire.api.describe_groups import DescribeGroupsResponse
from odradek.wire.api.join_group import JoinGroupResponse
from odradek.wire.errors import Error, Refused

from tests.emulator.groups.support.world import START, World, leaver


def stable(world: World, *clients: str) -> list[str]:
    """Group g, Stable in generation 1; its member ids, the leader first."""
    ids = [world.enter(client) for client in clients]
    world.advance(6000)
    for member_id in reversed(ids):
        world.sync(member_id, 1, assignments=[(one, one.encode()) for one in ids])
    return ids


def test_records_are_written_before_the_answers_that_depend_on_them() -> None:
    world, happened = World(), []
    world.on_write = lambda record: happened.append("write")
    world.on_answer = lambda token, answer: happened.append(type(answer).__name__)
    (member,) = stable(world, "a")
    world.leave(leaver(member))
    assert happened == [
        *["write", "JoinGroupResponse"],  # the group is created, the member gets its id
        "JoinGroupResponse",
        *["write", "SyncGroupResponse"],
        *["write", "LeaveGroupResponse"],
    ]


def test_a_client_may_ask_again_while_it_is_being_answered() -> None:
    world = World()
    later: list[Any] = []

    def ask_again(token: Any, answer: Any) -> None:
        if answer.error_code == Error.MEMBER_ID_REQUIRED:
            later.append(world.join("a", member_id=answer.member_id))
        elif isinstance(answer, JoinGroupResponse):
            later.append(world.sync(answer.member_id, answer.generation_id))

    world.on_answer = ask_again
    world.join("a")
    world.advance(3000)
    assert later[0] is None
    assert later[1].error_code == Error.NONE


def test_a_stable_group_is_described_whole_and_a_restless_one_without_metadata() -> None:
    world = World()
    a, b = stable(world, "a", "b")
    group = world.coordinator.classic.describe("g", 6)
    assert (group.group_id, group.error_code, group.error_message) == ("g", Error.NONE, None)
    assert (group.group_state, group.protocol_type) == ("Stable", "consumer")
    assert group.protocol_data == "range"
    part = DescribeGroupsResponse.Group.Member
    assert group.members == [
        part(
            member_id=member_id,
            client_id=client,
            client_host="/127.0.0.1",
            member_metadata=b"",
            member_assignment=member_id.encode(),
        )
        for member_id, client in ((a, "a"), (b, "b"))
    ]
    world.join("a", member_id=a, protocols=(("range", b"new"),))
    group = world.coordinator.classic.describe("g", 6)
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert [(m.member_metadata, m.member_assignment) for m in group.members] == [
        (b"", a.encode()),
        (b"", b.encode()),
    ]


def test_from_v6_on_a_missing_group_is_an_error() -> None:
    describe = World().coordinator.classic.describe
    newer, older = describe("x", 6), describe("x", 5)
    assert (newer.error_code, newer.error_message) == (
        Error.GROUP_ID_NOT_FOUND,
        "Group x not found.",
    )
    assert (older.error_code, older.error_message) == (Error.NONE, None)
    assert newer.group_state == older.group_state == "Dead"


@pytest.mark.parametrize(
    ("states", "types", "listed"),
    [
        ([], [], ["g", "simple"]),
        (["stable"], [], ["g"]),
        (["STABLE", "empty"], ["Classic"], ["g", "simple"]),
        (["Dead"], [], []),
        (["nonsense"], [], []),
        ([], ["consumer"], []),
        ([], ["consumer", "classic"], ["g", "simple"]),
    ],
)
def test_groups_are_listed_by_state_and_type(
    states: list[str], types: list[str], listed: list[str]
) -> None:
    world = World()
    stable(world, "a")
    request = CommitRequest(9, "", None, -1, [OffsetCommit("t", 0, 5)])
    world.coordinator.offsets.commit("simple", request)
    assert [one.group_id for one in world.coordinator.list_groups(states, types)] == listed


def test_a_group_with_members_cannot_be_deleted() -> None:
    world = World()
    (member,) = stable(world, "a")
    assert world.coordinator.delete(["g"]) == [("g", Error.NON_EMPTY_GROUP)]
    world.leave(leaver(member))
    assert world.coordinator.delete(["g"]) == [("g", Error.NONE)]
    assert world.coordinator.list_groups() == []


def test_a_deleted_group_begins_again_at_generation_one() -> None:
    world = World()
    (member,) = stable(world, "a")
    world.leave(leaver(member))
    world.coordinator.delete(["g"])
    world.enter("a")
    world.advance(3000)
    assert world.answers[-1][1].generation_id == 1


def test_until_a_partition_is_loaded_most_things_have_to_wait() -> None:
    world = World()
    (member,) = stable(world, "a")
    coordinator = world.new_coordinator()
    world.coordinator = coordinator
    with pytest.raises(Refused, match="NOT_COORDINATOR"):
        coordinator.offsets.fetch("g", None)
    assert world.beat(member, 1) is Error.NOT_COORDINATOR
    assert coordinator.list_groups() == []
    assert coordinator.delete(["g"]) == [("g", Error.NOT_COORDINATOR)]

    coordinator.begin_loading(0)
    with pytest.raises(Refused, match="COORDINATOR_LOAD_IN_PROGRESS"):
        coordinator.offsets.fetch("g", None)
    with pytest.raises(Refused, match="COORDINATOR_LOAD_IN_PROGRESS"):
        coordinator.list_groups()
    assert world.beat(member, 1) is Error.NONE
    group = coordinator.classic.describe("g", 6)
    assert (group.error_code, group.group_state) == (Error.COORDINATOR_LOAD_IN_PROGRESS, "")

    coordinator.load(0, world.log)
    assert world.beat(member, 1) is Error.NONE
    assert [one.state for one in coordinator.list_groups()] == ["Stable"]


def test_a_group_that_has_grown_over_the_limit_rebalances_when_it_is_loaded() -> None:
    world = World()
    ids = stable(world, "a", "b", "c")
    world.settings.max_size = 2
    world.restart()
    assert [world.beat(one, 1) for one in ids] == [Error.REBALANCE_IN_PROGRESS] * 3
    for client, member_id in zip("abc", ids, strict=True):
        answer = world.join(client, member_id=member_id)
        assert (answer is not None) == (client == "c")
    assert world.answers[-1][1].error_code == Error.GROUP_MAX_SIZE_REACHED


def test_records_of_old_brokers_are_understood() -> None:
    world = World()
    old = MemberRecord("m", None, "c", "/h", -1, 20_000, b"", b"x")
    record = GroupRecord("g", "consumer", 5, "range", None, None, (old,))
    world.coordinator.load(0, [Replayed(record)])
    group = world.classic_group
    assert group is not None
    assert group.roster["m"].rebalance_timeout_ms == 20_000
    assert group.leader == "m"
    assert world.beat("m", 5) is Error.NONE


def test_before_v1_of_join_one_timeout_was_both() -> None:
    world = World()
    world.join("a", version=0, session_timeout_ms=20_000, rebalance_timeout_ms=-1)
    assert world.classic_group is not None
    (member,) = world.classic_group.roster
    assert member.rebalance_timeout_ms == 20_000


def test_heartbeats_set_no_timers() -> None:
    world = World()
    ids = stable(world, *"abc")
    made: list[int] = []
    at = world.timers.at

    def counting(when: int, *rest: Any) -> Any:
        made.append(when)
        return at(when, *rest)

    world.timers.at = counting  # type: ignore[assignment,method-assign]
    for _ in range(100):
        world.now += 10
        for member_id in ids:
            assert world.beat(member_id, 1) is Error.NONE
    assert made == []
    assert world.timers.next() is not None


def test_all_groups_share_one_timer() -> None:
    world, live = World(), []
    at = world.timers.at
    world.timers.at = lambda *rest: live.append(at(*rest)) or live[-1]  # type: ignore[method-assign]
    for name in ("a", "b", "c"):
        world.ask_join(name, name, group_id=name, version=3)
        world.advance(1000)
        assert len([timer for timer in live if timer.callback is not None]) == 1
    for _ in range(20):
        world.advance(10_000)
        assert len([timer for timer in live if timer.callback is not None]) <= 1
    world.coordinator.shut_down()
    assert world.timers.next() is None


def test_partitions_of_the_offsets_topic_have_groups_of_their_own() -> None:
    world = World(GroupSettings(partitions=50))
    world.coordinator.load(42)
    world.ask_join("here", group_id="g1", version=3)
    world.ask_join("there", group_id="test-group", version=3)
    assert [(token, answer.error_code) for token, answer in world.answers] == [
        ("there", Error.NOT_COORDINATOR)
    ]
    world.coordinator.resign(42)
    assert world.answers[-1][0] == "here"
    assert world.answers[-1][1].error_code == Error.NOT_COORDINATOR
    world.coordinator.resign(42)
    assert world.now == START
