"""Any members, in any order: whatever they do, the group keeps its promises.

- A parked request is parked until it is answered, once; only its member repeating it makes it go
  without an answer. In the end nobody waits.
- There is one generation at a time, with one leader and one protocol, and it never goes back.
- Only the leader is told who is there. The leader is a member.
- A group that waits for something has a deadline.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from odradek.emulator.groups.classic.group import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    Answer,
    ClassicGroup,
    Due,
)
from odradek.emulator.groups.classic.members import Protocols
from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.wire.api.join_group import JoinGroupResponse
from odradek.wire.api.leave_group import LeaveGroupResponse
from odradek.wire.api.sync_group import SyncGroupResponse
from odradek.wire.errors import Error, Refused

from tests.emulator.groups.support.world import World, leaver
from tests.support.drawn import examples

RANGE, STICKY, CHANGED = ("range", b""), ("sticky", b""), ("range", b"changed")
PROTOCOLS = st.sampled_from(
    [(RANGE,), (RANGE,), (RANGE, STICKY), (STICKY, RANGE), (CHANGED, STICKY), (STICKY,), ()]
)
TIMEOUTS = st.sampled_from([6000, 10_000, 30_000, 60_000])
INSTANCES = st.sampled_from([None, None, "i", "j"])
MAX_SIZE = 4
# One of those the group knows; -1 is an id that has left, or never was.
WHO = st.integers(-1, MAX_SIZE - 1)


class GroupMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.settings.max_size = MAX_SIZE
        self.world.settings.retention_ms = 600_000
        self.world.on_answer = self.answered
        self.tokens = count()
        # Parked, or about to be answered: token -> (is it a Join, its version).
        self.waiting: dict[int, tuple[bool, int]] = {}
        self.errors: dict[int, Error] = {}
        self.generation = 0
        self.facts: dict[int, tuple[str | None, str | None]] = {}
        self.stale_id = "never known"

    @property
    def group(self) -> ClassicGroup | None:
        return self.world.classic_group

    def known(self) -> list[str]:
        group = self.group
        return [] if group is None else [*(m.member_id for m in group.roster), *group.pending]

    def id_of(self, who: int) -> str:
        known = sorted(self.known())
        return known[who % len(known)] if known and who >= 0 else self.stale_id

    # ------------------------------------------------------------ what happens

    @initialize(
        instances=st.lists(INSTANCES, max_size=MAX_SIZE - 1, unique_by=lambda i: i or object())
    )
    def some_are_there_already(self, instances: list[str | None]) -> None:
        for instance in instances:
            self.join("", 3, instance, (RANGE,), 60_000, 60_000)
        self.world.advance(60_000)
        self.all_do_what_they_should(leader_last=True)
        assert not instances or (self.group and self.group.state is STABLE)

    @rule(
        version=st.sampled_from([3, 8, 9]),
        instance=INSTANCES,
        protocols=PROTOCOLS,
        session=TIMEOUTS,
        rebalance=TIMEOUTS,
    )
    def come(
        self, version: int, instance: str | None, protocols: Protocols, session: int, rebalance: int
    ) -> None:
        self.join("", version, instance, protocols, session, rebalance)

    @rule(
        who=WHO,
        version=st.sampled_from([8, 9]),
        protocols=PROTOCOLS,
        session=TIMEOUTS,
        rebalance=TIMEOUTS,
    )
    def come_again(
        self, who: int, version: int, protocols: Protocols, session: int, rebalance: int
    ) -> None:
        self.join(self.id_of(who), version, None, protocols, session, rebalance)

    def join(
        self,
        member_id: str,
        version: int,
        instance: str | None,
        protocols: Protocols,
        session: int,
        rebalance: int,
    ) -> None:
        before = self.group.joins.get(member_id) if self.group else None
        token = self.ask(is_join=True, version=version)
        self.world.ask_join(
            token,
            version=version,
            member_id=member_id,
            instance_id=instance,
            session_timeout_ms=session,
            rebalance_timeout_ms=rebalance,
            protocols=protocols,
        )
        self.let_go(before, token)

    @rule(who=WHO, off=st.sampled_from([0, 0, 0, 1]))
    def sync(self, who: int, off: int) -> None:
        self.sync_with(self.id_of(who), self.generation - off)

    def sync_with(self, member_id: str, generation: int) -> None:
        before = self.group.syncs.get(member_id) if self.group else None
        token = self.ask(is_join=False, version=4)
        self.world.ask_sync(
            token,
            member_id,
            generation,
            version=4,
            protocol_type=None,
            protocol_name=None,
            assignments=[(known, known.encode()) for known in self.known()],
        )
        self.let_go(before, token)

    def let_go(self, call: Any, token: int) -> None:
        """A request goes without an answer if its member repeats it, and that is taken."""
        before = None if call is None else call.token
        taken = token in self.waiting or self.errors.get(token) == Error.NONE
        if before in self.waiting and taken:
            assert before is not None
            del self.waiting[before]

    @rule(leader_last=st.booleans())
    def all_do_what_they_should(self, leader_last: bool) -> None:
        group = self.group
        if group is None:
            return
        members = sorted(group.roster, key=lambda m: (m.member_id == group.leader) == leader_last)
        for member in members:
            if member.member_id not in group.roster:
                continue
            if group.state is PREPARING_REBALANCE and member.member_id not in group.joins:
                timeouts = member.session_timeout_ms, member.rebalance_timeout_ms
                self.join(member.member_id, 9, member.instance_id, member.protocols, *timeouts)
            elif group.state is COMPLETING_REBALANCE and member.member_id not in group.syncs:
                self.sync_with(member.member_id, group.generation)

    @rule(who=WHO)
    def beat(self, who: int) -> None:
        member_id, group = self.id_of(who), self.group
        error = self.world.beat(member_id, group.generation if group else 0)
        if group is not None and member_id in group.roster:
            rebalancing = group.state is PREPARING_REBALANCE
            assert error is (Error.REBALANCE_IN_PROGRESS if rebalancing else Error.NONE)
        else:
            assert error is Error.UNKNOWN_MEMBER_ID

    @rule(who=WHO)
    def commit(self, who: int) -> None:
        member_id, group = self.id_of(who), self.group
        generation = group.generation if group else 0
        request = CommitRequest(9, member_id, None, generation, [OffsetCommit("t", 0, 1)])
        may = group is not None and member_id in group.roster and not self.world.refusals
        may = may and group is not None and group.state is not COMPLETING_REBALANCE
        try:
            assert self.world.coordinator.offsets.commit("g", request) == [Error.NONE]
            assert may
        except Refused:
            assert not may

    @rule(who=WHO)
    def leave(self, who: int) -> None:
        member_id = self.id_of(who)
        self.world.ask_leave("leave", leaver(member_id))
        assert member_id not in self.known()
        self.stale_id = member_id

    @rule(instance=st.sampled_from(["i", "j"]))
    def send_away(self, instance: str) -> None:
        self.world.ask_leave("leave", leaver("", instance))
        assert self.group is None or self.group.roster.instance(instance) is None

    @rule(milliseconds=st.sampled_from([1, 100, 2999, 3000, 3000, 6000, 20_000, 60_000]))
    def time_passes(self, milliseconds: int) -> None:
        self.world.advance(milliseconds)

    @rule(dice=st.integers(0, 3))
    def the_next_write_is_refused(self, dice: int) -> None:
        self.world.refusals[:] = [] if dice else [Error.NOT_ENOUGH_REPLICAS]

    @rule(dice=st.integers(0, 3))
    def the_broker_restarts(self, dice: int) -> None:
        if dice == 0:
            self.world.restart()
            assert not self.waiting, "a parked request was not answered"
            self.generation = self.group.generation if self.group else 0
            self.facts.clear()

    # ------------------------------------------------------- what must be true

    def ask(self, *, is_join: bool, version: int) -> int:
        token = next(self.tokens)
        self.waiting[token] = (is_join, version)
        return token

    def answered(self, token: Any, answer: Answer) -> None:
        if isinstance(answer, LeaveGroupResponse):
            return
        assert token not in self.errors, "answered twice"
        is_join, version = self.waiting.pop(token)
        self.errors[token] = Error(answer.error_code)
        assert isinstance(answer, JoinGroupResponse if is_join else SyncGroupResponse)
        if isinstance(answer, JoinGroupResponse) and answer.error_code == Error.NONE:
            self.joined(answer, version)

    def joined(self, answer: JoinGroupResponse, version: int) -> None:
        group = self.group
        assert group is not None
        assert answer.generation_id >= self.generation
        self.generation = answer.generation_id
        protocol, leader = self.facts.setdefault(
            answer.generation_id, (answer.protocol_name, answer.leader)
        )
        assert answer.protocol_name == protocol
        if answer.members:
            assert answer.leader == answer.member_id
            assert answer.member_id in {member.member_id for member in answer.members}
        # A static leader that came back has another id in the same generation.
        renamed = leader is None or leader not in group.roster
        assert answer.leader == leader or renamed or version < 9

    @invariant()
    def exactly_the_parked_are_waiting(self) -> None:
        group = self.group
        calls: list[Any] = []
        if group is not None:
            calls = [*group.joins.values(), *group.syncs.values()]
        assert sorted(call.token for call in calls) == sorted(self.waiting)

    @invariant()
    def the_group_is_in_order(self) -> None:
        group = self.group
        if group is None:
            return
        members = {member.member_id for member in group.roster}
        assert group.generation >= self.generation
        assert (group.leader in members) if members else group.leader is None
        assert set(group.joins) <= members
        assert set(group.syncs) <= members
        assert not members & group.pending
        assert bool(group.joins) <= (group.state is PREPARING_REBALANCE)
        assert bool(group.syncs) <= (group.state is COMPLETING_REBALANCE)
        assert (group.state is EMPTY) <= (not members)

    @invariant()
    def whatever_waits_has_a_deadline(self) -> None:
        group = self.group
        if group is None:
            return
        has_join, has_sync = (group.deadlines.get(due) is not None for due in Due)
        assert has_join == (group.state is PREPARING_REBALANCE)
        assert has_sync == bool(group.unsynced)
        assert (group.state is COMPLETING_REBALANCE) <= has_sync
        for member_id in self.known():
            asleep = member_id in group.joins or member_id in group.syncs
            assert asleep or group.deadlines.get(member_id) is not None
        when = group.deadline()
        timer = self.world.timers.next()
        assert when is None or (timer is not None and timer <= when)

    @invariant()
    def members_agree_on_a_protocol(self) -> None:
        group = self.group
        if group is not None and group.state in (STABLE, COMPLETING_REBALANCE):
            for member in group.roster:
                assert group.protocol_name in dict(member.protocols)

    def teardown(self) -> None:
        self.world.refusals.clear()
        self.world.advance(60 * 60_000)
        assert not self.waiting, "somebody is still waiting"
        assert self.group is None, "a group that nobody uses goes"


GroupMachine.TestCase.settings = examples(60, stateful_step_count=40)
TestGroupMachine = GroupMachine.TestCase
