"""What a classic group answers to whom in which state, as tables.

Situations: `missing`, there is no group; `simple`, it has only committed; `empty`, its members have
left; `gathering`, m has joined as the first; otherwise it has generation 1 of m (the leader), of f,
and of s, which is static as instance i. `loading` and `elsewhere` are about its shard. A member or
instance - is none, ghost one nobody has.
"""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.groups.classic.group import refused_join
from odradek.emulator.groups.classic.rebalance import left_member
from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.emulator.groups.runtime import Producer
from odradek.wire.api.leave_group import LeaveGroupResponse
from odradek.wire.errors import Error, Refused

from tests.emulator.groups.support.world import World, leaver


def rows(table: str) -> list[Any]:
    lines = [line.strip() for line in table.strip().splitlines()]
    return [pytest.param(line.split(), id=" ".join(line.split())) for line in lines]


class Scene(World):
    def __init__(self, situation: str) -> None:
        super().__init__()
        self.ids = {"-": "", "ghost": "ghost", "m": "m-1", "f": "f-2", "s": "i-3"}
        if situation == "simple":
            self.commit_errors("-", "-", -1)
        elif situation == "gathering":
            self.enter("m")
        elif situation not in ("missing", "loading", "elsewhere"):
            self.gather()
            getattr(self, f"make_{situation}")()
        if situation == "loading":
            self.coordinator.begin_loading(0)
        elif situation == "elsewhere":
            self.coordinator.resign(0)

    def gather(self) -> None:
        for client in ("m", "f"):
            assert self.enter(client) == self.ids[client]
        self.join("s", instance_id="i")
        self.advance(6000)
        assert self.classic_group is not None
        assert self.classic_group.roster.instance("i") == self.ids["s"]

    def make_completing(self) -> None:
        pass

    def make_stable(self) -> None:
        assert self.sync(self.ids["m"], 1).error_code == Error.NONE

    def make_preparing(self) -> None:
        self.make_stable()
        assert self.join("m", member_id=self.ids["m"]) is None

    def make_empty(self) -> None:
        self.leave(*(leaver(self.ids[name]) for name in "mfs"))

    def commit_errors(
        self, member: str, instance: str, generation: int, version: int = 9
    ) -> list[Error]:
        request = CommitRequest(
            version, self.ids[member], none(instance), generation, [OffsetCommit("t", 0, 5)]
        )
        return self.coordinator.offsets.commit("g", request)


def none(word: str) -> str | None:
    return None if word == "-" else word


JOINS = rows(
    """
    missing    9 -     - 10000   consumer range         MEMBER_ID_REQUIRED           c-1
    missing    3 -     - 10000   consumer range         parked
    missing    9 -     x 10000   consumer range         parked
    missing    9 ghost - 10000   consumer range         UNKNOWN_MEMBER_ID            ghost
    missing    9 -     - 10000   consumer none          INCONSISTENT_GROUP_PROTOCOL  -
    missing    9 -     - 10000   -        range         INCONSISTENT_GROUP_PROTOCOL  -
    missing    9 -     - 10000   consumer range,range   INCONSISTENT_GROUP_PROTOCOL  -
    missing    9 ghost - 5999    consumer range         INVALID_SESSION_TIMEOUT      ghost
    missing    9 ghost - 1800001 consumer range         INVALID_SESSION_TIMEOUT      ghost
    missing    9 -     - 6000    consumer range         MEMBER_ID_REQUIRED           c-1
    missing    9 -     - 1800000 consumer range         MEMBER_ID_REQUIRED           c-1
    loading    9 ghost - 10000   consumer range         COORDINATOR_LOAD_IN_PROGRESS -
    elsewhere  9 ghost - 10000   consumer range         NOT_COORDINATOR              -
    elsewhere  9 ghost - 1       consumer range         INVALID_SESSION_TIMEOUT      ghost
    empty      9 m     - 10000   consumer range         UNKNOWN_MEMBER_ID            m-1
    empty      9 -     - 10000   connect  any           MEMBER_ID_REQUIRED           c-4
    empty      9 -     - 10000   consumer none          INCONSISTENT_GROUP_PROTOCOL  -
    stable     9 -     - 10000   connect  range         INCONSISTENT_GROUP_PROTOCOL  -
    stable     9 -     - 10000   consumer sticky        INCONSISTENT_GROUP_PROTOCOL  -
    stable     9 ghost - 10000   consumer sticky        INCONSISTENT_GROUP_PROTOCOL  ghost
    stable     9 ghost - 10000   consumer range         UNKNOWN_MEMBER_ID            ghost
    stable     9 m     i 10000   consumer range         FENCED_INSTANCE_ID           m-1
    stable     9 m     x 10000   consumer range         UNKNOWN_MEMBER_ID            m-1
    stable     9 s     x 10000   consumer range         UNKNOWN_MEMBER_ID            i-3
    stable     9 f     - 10000   consumer range         NONE                         f-2
    stable     9 s     i 10000   consumer range         NONE                         i-3
    stable     9 s     - 10000   consumer range         NONE                         i-3
    stable     9 -     i 10000   consumer range         NONE                         i-4
    stable     9 m     - 10000   consumer range         parked
    stable     9 f     - 10000   consumer range,sticky  parked
    stable     9 -     - 10000   consumer range         MEMBER_ID_REQUIRED           c-4
    completing 9 f     - 10000   consumer range         NONE                         f-2
    completing 9 m     - 10000   consumer range         NONE                         m-1
    completing 9 f     - 10000   consumer range,sticky  parked
    completing 9 -     i 10000   consumer range         parked
    preparing  9 f     - 10000   consumer range         parked
    preparing  9 -     i 10000   consumer range         parked
    preparing  9 -     - 10000   consumer range         MEMBER_ID_REQUIRED           c-4
    preparing  9 m     - 10000   connect  range         INCONSISTENT_GROUP_PROTOCOL  m-1
    """
)


@pytest.mark.parametrize("row", JOINS)
def test_a_join(row: list[str]) -> None:
    situation, version, member, instance, session, kind, protocols, error, *echoed = row
    scene = Scene(situation)
    answer = scene.join(
        version=int(version),
        member_id=scene.ids[member],
        instance_id=none(instance),
        session_timeout_ms=int(session),
        protocol_type=kind.strip("-"),
        protocols=tuple((name, b"") for name in protocols.split(",") if name != "none"),
    )
    if error == "parked":
        assert answer is None
    else:
        assert (Error(answer.error_code).name, answer.member_id or "-") == (error, *echoed)
        if answer.error_code:
            assert answer == refused_join(answer.error_code, answer.member_id)


SYNCS = rows(
    """
    missing    m     - 1 consumer range   UNKNOWN_MEMBER_ID
    missing    m     - 1 -        range   INCONSISTENT_GROUP_PROTOCOL
    missing    m     - 1 consumer -       INCONSISTENT_GROUP_PROTOCOL
    loading    m     - 1 consumer range   COORDINATOR_LOAD_IN_PROGRESS
    elsewhere  m     - 1 consumer range   NOT_COORDINATOR
    simple     m     - 1 consumer range   UNKNOWN_MEMBER_ID
    empty      m     - 2 consumer range   UNKNOWN_MEMBER_ID
    gathering  m     - 0 consumer any     REBALANCE_IN_PROGRESS
    gathering  m     - 0 connect  any     INCONSISTENT_GROUP_PROTOCOL
    preparing  ghost - 1 consumer range   UNKNOWN_MEMBER_ID
    preparing  m     - 0 consumer range   ILLEGAL_GENERATION
    preparing  m     - 2 consumer range   ILLEGAL_GENERATION
    preparing  m     - 1 connect  range   INCONSISTENT_GROUP_PROTOCOL
    preparing  m     - 1 consumer range   REBALANCE_IN_PROGRESS
    completing ghost - 1 consumer range   UNKNOWN_MEMBER_ID
    completing m     i 1 consumer range   FENCED_INSTANCE_ID
    completing s     x 1 consumer range   UNKNOWN_MEMBER_ID
    completing f     - 0 connect  range   ILLEGAL_GENERATION
    completing f     - 1 connect  range   INCONSISTENT_GROUP_PROTOCOL
    completing f     - 1 consumer sticky  INCONSISTENT_GROUP_PROTOCOL
    completing f     - 1 consumer range   parked
    completing s     i 1 consumer range   parked
    completing m     - 1 consumer range   NONE
    stable     m     - 1 consumer range   NONE
    stable     f     - 1 consumer range   NONE
    stable     s     i 1 consumer range   NONE
    stable     s     - 1 consumer range   NONE
    stable     f     - 2 consumer range   ILLEGAL_GENERATION
    stable     f     - 1 consumer sticky  INCONSISTENT_GROUP_PROTOCOL
    """
)


@pytest.mark.parametrize("row", SYNCS)
def test_a_sync(row: list[str]) -> None:
    situation, member, instance, generation, kind, protocol, error = row
    scene = Scene(situation)
    answer = scene.sync(
        scene.ids[member],
        int(generation),
        instance_id=none(instance),
        protocol_type=none(kind),
        protocol_name=none(protocol),
    )
    assert (Error(answer.error_code).name if answer else "parked") == error


def test_before_v5_a_sync_need_not_name_the_protocol() -> None:
    scene = Scene("stable")
    answer = scene.sync("f-2", 1, version=4, protocol_type=None, protocol_name=None)
    assert (answer.error_code, answer.protocol_type, answer.protocol_name) == (
        Error.NONE,
        "consumer",
        "range",
    )


def test_the_leaders_second_sync_changes_nothing() -> None:
    scene = Scene("completing")
    assert scene.sync("m-1", 1, assignments=[("m-1", b"first")]).assignment == b"first"
    assert scene.sync("m-1", 1, assignments=[("m-1", b"second")]).assignment == b"first"


HEARTBEATS = rows(
    """
    missing    m     - 1   UNKNOWN_MEMBER_ID
    loading    m     - 1   NONE
    elsewhere  m     - 1   NOT_COORDINATOR
    simple     m     - 0   UNKNOWN_MEMBER_ID
    empty      m     - 2   UNKNOWN_MEMBER_ID
    empty      s     i 2   UNKNOWN_MEMBER_ID
    gathering  m     - 0   REBALANCE_IN_PROGRESS
    preparing  m     - 1   REBALANCE_IN_PROGRESS
    preparing  m     - 2   ILLEGAL_GENERATION
    preparing  ghost - 1   UNKNOWN_MEMBER_ID
    completing m     - 1   NONE
    completing f     - 1   NONE
    completing f     - 0   ILLEGAL_GENERATION
    completing ghost - 1   UNKNOWN_MEMBER_ID
    stable     m     - 1   NONE
    stable     m     - 2   ILLEGAL_GENERATION
    stable     ghost - 1   UNKNOWN_MEMBER_ID
    stable     -     - 1   UNKNOWN_MEMBER_ID
    stable     s     i 1   NONE
    stable     s     - 1   NONE
    stable     m     i 1   FENCED_INSTANCE_ID
    stable     m     i 9   FENCED_INSTANCE_ID
    stable     s     x 1   UNKNOWN_MEMBER_ID
    """
)


@pytest.mark.parametrize("row", HEARTBEATS)
def test_a_heartbeat(row: list[str]) -> None:
    situation, member, instance, generation, error = row
    scene = Scene(situation)
    assert scene.beat(scene.ids[member], int(generation), none(instance)).name == error


COMMITS = rows(
    """
    missing    9  m     - -1  NONE
    missing    9  -     - -1  NONE
    missing    9  -     i -1  NONE
    missing    9  m     - 0   GROUP_ID_NOT_FOUND
    missing    8  m     - 0   ILLEGAL_GENERATION
    loading    9  -     - -1  COORDINATOR_LOAD_IN_PROGRESS
    elsewhere  9  -     - -1  NOT_COORDINATOR
    simple     9  m     - -1  NONE
    simple     9  -     - 0   UNKNOWN_MEMBER_ID
    empty      9  m     - -1  NONE
    empty      9  -     - -1  NONE
    empty      9  m     - 1   UNKNOWN_MEMBER_ID
    empty      9  m     - 2   UNKNOWN_MEMBER_ID
    gathering  9  m     - 0   NONE
    gathering  9  -     - -1  UNKNOWN_MEMBER_ID
    preparing  9  m     - 1   NONE
    preparing  9  f     - 1   NONE
    preparing  9  m     - 0   ILLEGAL_GENERATION
    completing 9  m     - 1   REBALANCE_IN_PROGRESS
    completing 9  m     - 0   ILLEGAL_GENERATION
    completing 9  ghost - 1   UNKNOWN_MEMBER_ID
    stable     9  m     - 1   NONE
    stable     2  m     - 1   NONE
    stable     9  m     - 2   ILLEGAL_GENERATION
    stable     9  m     - -1  ILLEGAL_GENERATION
    stable     9  ghost - -1  UNKNOWN_MEMBER_ID
    stable     9  -     - -1  UNKNOWN_MEMBER_ID
    stable     9  -     - 1   UNKNOWN_MEMBER_ID
    stable     9  s     i 1   NONE
    stable     9  s     - 1   NONE
    stable     9  m     i 1   FENCED_INSTANCE_ID
    stable     9  -     i -1  FENCED_INSTANCE_ID
    stable     9  s     x 1   UNKNOWN_MEMBER_ID
    """
)


@pytest.mark.parametrize("row", COMMITS)
def test_a_commit(row: list[str]) -> None:
    situation, version, member, instance, generation, error = row
    scene = Scene(situation)
    before = len(scene.log)
    try:
        (found,) = scene.commit_errors(member, instance, int(generation), int(version))
    except Refused as refusal:
        found = refusal.error
    assert found.name == error
    assert len(scene.log) - before == (found is Error.NONE)


TRANSACTIONAL_COMMITS = rows(
    """
    missing    -     - -1  NONE
    missing    m     - 1   ILLEGAL_GENERATION
    empty      -     - -1  NONE
    preparing  m     - 1   NONE
    completing m     - 1   NONE
    stable     -     - -1  NONE
    stable     m     - 1   NONE
    stable     m     - 2   ILLEGAL_GENERATION
    stable     m     - -1  ILLEGAL_GENERATION
    stable     ghost - 1   UNKNOWN_MEMBER_ID
    stable     -     - 1   UNKNOWN_MEMBER_ID
    stable     m     i 1   FENCED_INSTANCE_ID
    stable     m     x 1   UNKNOWN_MEMBER_ID
    """
)


@pytest.mark.parametrize("row", TRANSACTIONAL_COMMITS)
def test_a_transactional_commit(row: list[str]) -> None:
    situation, member, instance, generation, error = row
    scene = Scene(situation)
    request = CommitRequest(
        5, scene.ids[member], none(instance), int(generation), [OffsetCommit("t", 0, 5)]
    )
    try:
        (found,) = scene.coordinator.offsets.commit_in_transaction("g", request, Producer(7, 0))
    except Refused as refusal:
        found = refusal.error
    assert found.name == error


LEAVES = rows(
    """
    missing    m,-          UNKNOWN_MEMBER_ID
    simple     m,-          UNKNOWN_MEMBER_ID
    empty      m,-          UNKNOWN_MEMBER_ID
    stable     m,-          NONE
    stable     m,- m,-      NONE UNKNOWN_MEMBER_ID
    stable     ghost,- f,-  UNKNOWN_MEMBER_ID NONE
    stable     s,i          NONE
    stable     s,-          NONE
    stable     -,i          NONE
    stable     -,i s,i      NONE UNKNOWN_MEMBER_ID
    stable     -,x          UNKNOWN_MEMBER_ID
    stable     -,-          UNKNOWN_MEMBER_ID
    stable     m,i          FENCED_INSTANCE_ID
    stable     m,x          UNKNOWN_MEMBER_ID
    completing f,-          NONE
    preparing  f,-          NONE
    """
)


@pytest.mark.parametrize("row", LEAVES)
def test_a_leave(row: list[str]) -> None:
    situation, *words = row
    scene = Scene(situation)
    pairs = [word.split(",") for word in words if "," in word]
    leavers = [leaver(scene.ids[member], none(instance)) for member, instance in pairs]
    errors = [Error[word] for word in words if "," not in word]
    left = [left_member(*each) for each in zip(leavers, errors, strict=True)]
    assert scene.leave(*leavers) == LeaveGroupResponse(members=left)


@pytest.mark.parametrize(
    ("with_a_round", "state"), [(True, "PreparingRebalance"), (False, "Stable")]
)
def test_a_newcomer_that_leaves_before_it_is_a_member(with_a_round: bool, state: str) -> None:
    scene = Scene("stable")
    scene.settings.newcomers_leave_with_a_round = with_a_round
    newcomer = scene.join("n").member_id
    assert scene.leave(leaver(newcomer)).members[0].error_code == Error.NONE
    assert scene.coordinator.classic.describe("g", 5).group_state == state
    scene.leave(leaver("m-1"))
    assert scene.coordinator.classic.describe("g", 5).group_state == "PreparingRebalance"


@pytest.mark.parametrize(
    ("situation", "error"),
    [("loading", Error.COORDINATOR_LOAD_IN_PROGRESS), ("elsewhere", Error.NOT_COORDINATOR)],
)
def test_a_leave_without_a_coordinator(situation: str, error: Error) -> None:
    assert Scene(situation).leave(leaver("m-1")) == LeaveGroupResponse(error_code=error)


def test_a_group_of_members_has_a_name() -> None:
    coordinator, answers = (world := World()).coordinator, world.answers
    world.ask_join("join", group_id="", member_id="x")
    world.ask_sync("sync", "x", 1, group_id="")
    world.ask_leave("leave", leaver("x"), group_id="")
    assert [(token, answer.error_code) for token, answer in answers] == [
        ("join", Error.INVALID_GROUP_ID),
        ("sync", Error.INVALID_GROUP_ID),
        ("leave", Error.INVALID_GROUP_ID),
    ]
    assert world.beat("x", 1, group_id="") is Error.INVALID_GROUP_ID
    with pytest.raises(Refused, match="INVALID_GROUP_ID"):
        coordinator.offsets.delete("", [])
    with pytest.raises(Refused, match="INVALID_GROUP_ID"):
        coordinator.offsets.commit_in_transaction(
            "", CommitRequest(5, "", None, -1, []), Producer(7, 0)
        )


def test_a_group_of_offsets_need_not_have_one() -> None:
    world = World()
    request = CommitRequest(9, "", None, -1, [OffsetCommit("t", 0, 5)])
    assert world.coordinator.offsets.commit("", request) == [Error.NONE]
    assert [one.offset for one in world.coordinator.offsets.fetch("", [("t", 0)])] == [5]
    assert world.coordinator.delete([""]) == [("", Error.NONE)]
