"""The coordinator's calls about groups since KIP-848, as every type of them has them.

Rules (semantics G15, G20, N36):
- A heartbeat with epoch 0 creates the group if there is none. Any other epoch needs a group of its
  type (69).
- An Empty classic group makes way for a consumer or a streams group; its offsets stay.
- When a deadline has passed and the write is refused, it is tried again after a while.

What a write changes is added to the log of events. A group is compared before and after: who came
and went, whether its epoch rose (a rebalance began), and whether all members have now reached their
target (it has ended). Members of share groups have their partitions at once, so that these groups
do not rebalance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ....wire.errors import Error, Refused
from ..classic.calls import ClassicCalls
from ..classic.group import EMPTY, ClassicGroup
from ..group import Group, existing
from ..records import MessageRecord, Record
from ..runtime import GroupEvents, Runtime, Shard
from ..settings import ConfigsOf
from .group import Due, GroupState, ModernGroup
from .heartbeat import forget_timers, time_revocation, times_of
from .member import STATIC_LEAVE_EPOCH, MemberState, ModernMember

TRY_AGAIN_MS = 500

G = TypeVar("G", bound=ModernGroup[Any, Any])


class Departure(NamedTuple):
    """How members go: the kind of event, and why."""

    kind: str
    reason: str = ""


LEFT = Departure("left")
KICKED = Departure("kicked")


@contextmanager
def logged(
    events: GroupEvents,
    group: ModernGroup[Any, Any],
    departure: Departure = LEFT,
    why: str = "",
) -> Iterator[None]:
    """Add what has changed at the end. `why` the group rebalances follows from that if it is not
    given."""
    if not events.is_on:
        yield
        return
    members, epoch = dict(group.members), group.epoch
    was_stable = not members or group.state == GroupState.STABLE
    yield
    come = [each for name, each in group.members.items() if name not in members]
    gone = [each for name, each in members.items() if name not in group.members]
    instances = {each.instance_id for each in come if each.instance_id is not None}
    gone = [each for each in gone if each.instance_id not in instances]
    number = {"members": len(group.members)}
    for each in gone:
        events.add(group.group_id, departure.kind, each, departure.reason, number)
    for each in come:
        events.add(group.group_id, "joined", each, details=number)
    for name, each in group.members.items():
        was = members.get(name)
        if was is not None and each.epoch == STATIC_LEAVE_EPOCH != was.epoch:
            events.add(group.group_id, "away", each)
    if not group.members or not group.rebalances:
        return
    if group.epoch > epoch or (come and not members):
        reason = why or _why(come, gone, departure) or group.changes
        events.add(group.group_id, "rebalance begun", reason=reason)
        was_stable = False
    if not was_stable and group.state == GroupState.STABLE:
        end = {"generation": group.epoch, "members": len(group.members)}
        events.add(group.group_id, "rebalance finished", details=end)


def _why(
    come: Collection[ModernMember[Any]],
    gone: Collection[ModernMember[Any]],
    departure: Departure,
) -> str:
    if come:
        return "a member joined"
    if not gone:
        return ""
    return f"a member's {departure.kind}" if departure.kind.startswith("s") else "a member left"


class ModernCalls(Generic[G]):
    """The calls about groups of one type; each type adds its heartbeat, and what is its own."""

    group_class: type[G]
    replaces_classic: ClassVar[bool] = True
    """Whether a new group may take the place of an Empty classic one."""
    own_times: ClassVar[tuple[str, ...]] = ()
    """The configs that only groups of this type have times from, without its name before."""
    departures: ClassVar[Mapping[Due, Departure]] = {
        Due.SESSION: Departure("session timed out", "no heartbeat within its session timeout")
    }
    """How members go when a deadline has passed."""

    def __init__(self, runtime: Runtime, classic: ClassicCalls, configs_of: ConfigsOf) -> None:
        self.decoders = self.group_class.records.decoders
        self._runtime = runtime
        self._classic = classic
        self.times_of = times_of(configs_of, self.group_class.type_name, *self.own_times)
        runtime.register_type(self)

    def group(self, group_id: str) -> G:
        """A group, for reading. Raises Refused: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND,
        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        return self.of_type(group_id, self._runtime.shard_for(group_id).visible(group_id))

    def of_type(self, group_id: str, group: Group | None) -> G:
        """The group. Raises Refused(GROUP_ID_NOT_FOUND) if there is none, or one of another
        type."""
        found = existing(group_id, group)
        if not isinstance(found, self.group_class):
            raise self._of_another_type(group_id)
        return found

    def _of_another_type(self, group_id: str) -> Refused:
        message = f"Group {group_id} is not a {self.group_class.type_name} group."
        return Refused(Error.GROUP_ID_NOT_FOUND, message)

    def group_for(self, shard: Shard, group_id: str, *, joins: bool) -> tuple[G, list[Record]]:
        """The group of a member, perhaps a new one if it joins, and the records that come before
        its own: those that delete another in its place. Raises Refused."""
        group = shard.groups.get(group_id)
        if isinstance(group, self.group_class):
            return group, []
        if joins:
            return self.created(group_id, group)
        if group is None:
            message = f"{self.group_class.type_name.capitalize()} group {group_id} not found."
            raise Refused(Error.GROUP_ID_NOT_FOUND, message)
        raise self._of_another_type(group_id)

    def created(self, group_id: str, before: Group | None) -> tuple[G, list[Record]]:
        """A new group, perhaps in the place of one of another type, and the records that come
        before its own. Raises Refused."""
        if before is None:
            return self.new(group_id), []
        if self.replaces_classic and is_empty_classic(before):
            return self.new(group_id), [*before.tombstones()]
        raise self._of_another_type(group_id)

    def new(self, group_id: str) -> G:
        return self.group_class(group_id, self._runtime.settings, self._runtime.topics)

    # What tests ask

    def end_session(self, group: G, member_id: str) -> None:
        """A member's session is over now. Raises Refused(UNKNOWN_MEMBER_ID)."""
        member = group.members.get(member_id)
        if member is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID, f"group {group.group_id!r} has no {member_id}")
        shard = self._runtime.shard_for(group.group_id)
        self.remove(shard, group, [member], self.departures[Due.SESSION])

    def rebalance(self, group: G) -> None:
        """Raise the group's epoch: with the next heartbeat a new target is computed, and each
        member reaches it with its own. Those of the classic protocol join again."""
        shard = self._runtime.shard_for(group.group_id)
        self.write(shard, group, [group.raised()], why="forced by the test")

    # What becomes of groups

    def write(
        self,
        shard: Shard,
        group: G,
        records: Sequence[MessageRecord],
        *,
        first: Sequence[Record] = (),
        departure: Departure = LEFT,
        why: str = "",
    ) -> None:
        """Write `first` and `records` in one batch, make this the group of its id, and apply
        `records` to it. `departure` is how members go, and `why` the group rebalances, for events.

        Raises Refused; then nothing has changed but deadlines, at which there is nothing to do.
        """
        if first or records:
            self._runtime.write(group.group_id, [*first, *records])
        shard.groups[group.group_id] = group
        if records:
            now = self._runtime.now()
            with logged(self._runtime.events, group, departure, why):
                for record in records:
                    group.apply(record, now)

    def remove(
        self,
        shard: Shard,
        group: G,
        members: Collection[Any],
        departure: Departure = LEFT,
    ) -> None:
        """Take members out. Raises Refused."""
        if members:
            self.write(shard, group, group.removal(members), departure=departure)
            forget_timers(group, [member.member_id for member in members])
        self._runtime.note_deadline(group)

    def replay(
        self, shard: Shard, record: MessageRecord, now: int, producer_id: int | None
    ) -> None:
        """Apply a record of a group, creating the group if need be."""
        group_id = record.group_id
        group = shard.groups.get(group_id)
        if not isinstance(group, self.group_class):
            # There may be a classic group, if offsets came first.
            if record.value is None:
                return
            group = shard.groups[group_id] = self.new(group_id)
        group.apply(record, now)
        if record.value is None and isinstance(record.key, group.records.group_key):
            del shard.groups[group_id]

    def loaded(self, group: G, now: int) -> None:
        """Every member has a whole session before it."""
        session_ms = self.times_of(group.group_id).session_timeout_ms
        for member in group:
            own_ms = member.own_session_timeout_ms
            timeout_ms = session_ms if own_ms is None else own_ms
            group.deadlines.set((Due.SESSION, member.member_id), now + timeout_ms)
            if member.state is MemberState.UNREVOKED and not member.is_classic:
                time_revocation(group, member, now)
        self._runtime.note_deadline(group)

    def due(self, shard: Shard, group: G, now: int) -> None:
        """Act on the deadline that passed first. A refused write is tried again after a while."""
        key = group.deadlines.pop(now)
        if key is not None:
            try:
                self.act(shard, group, *key, now)
            except Refused:
                group.deadlines.set(key, now + TRY_AGAIN_MS)
        self._runtime.note_deadline(shard.groups.get(group.group_id, group))

    def act(self, shard: Shard, group: G, due: Due, member_id: str, now: int) -> None:
        """A member's deadline has passed, if it still applies. Raises Refused."""
        member = group.members.get(member_id)
        if member is None:
            return
        if due is Due.REBALANCE and group.revoking_epochs.get(member_id) != member.epoch:
            return
        self.remove(shard, group, [member], self.departures[due])

    def resigned(self, group: G, now: int) -> None:
        """Nothing is ever parked in such a group, so nobody is to be answered."""


def is_empty_classic(group: object) -> bool:
    """True for a classic group without members, also a simple one."""
    return isinstance(group, ClassicGroup) and group.state is EMPTY
