"""The runtime of every part of the coordinator: shards, writing, replaying, and one timer.

Rules:
- A group's shard is found by the group's id. A shard that is not here is NOT_COORDINATOR, one whose
  log is still being read COORDINATOR_LOAD_IN_PROGRESS.
- Records are written before they are applied, and before answers that depend on them are sent. A
  refused write changes nothing; base/call.py says what clients are answered.
- There is one timer, for the earliest deadline of any group. Postponing a deadline leaves the timer
  as it is: it fires, finds nothing due, and is set again. So a heartbeat sets no timer.
- The parts register: the offsets and each type of group with the records they keep (`register`),
  each type of group also with what happens to its groups without a request (`register_type`).

Whoever advances a manual clock by hours should stop at each deadline on the way, so that each fires
at its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from ...wire.errors import Error, Refused
from ...wire.records import Record as LoggedRecord
from ..base.call import as_coordinator
from ..base.java_order import partition_for
from ..base.journal import Journal
from ..base.timers import Check, Deadlines, RepeatedCheck, Timer, Timers
from .group import Group
from .records import Decode, Record, decode
from .settings import GroupSettings
from .topics_view import TopicsView

_GONE = frozenset({"left", "kicked", "session timed out"})


class Producer(NamedTuple):
    producer_id: int
    epoch: int


class ShardState(Enum):
    LOADING = "loading"
    ACTIVE = "active"


class Shard:
    """The groups of one partition, by id. A group that has only offsets is in here too."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.state = ShardState.LOADING
        self.groups: dict[str, Group] = {}
        self.unwritten: set[str] = set()
        """Groups of which no record has been written, nor any record to the partition since they
        were created. Describing and listing do not show them: a real coordinator shows the state
        below the high watermark."""
        self.vanished: dict[str, Group] = {}
        """Groups that are gone without a record of it, nor any record to the partition since.
        Describing, listing and fetching offsets still show them."""
        self.writes = 0
        """How often records were written to the partition since it is here."""

    def visible(self, group_id: str) -> Group | None:
        """The group, for calls that only look at it."""
        if group_id in self.vanished:
            return self.vanished[group_id]
        return None if group_id in self.unwritten else self.groups.get(group_id)

    def visible_groups(self) -> list[Group]:
        """All groups that calls which only look are shown."""
        shown = {n: group for n, group in self.groups.items() if n not in self.unwritten}
        return list((shown | self.vanished).values())

    def vanish(self, group_id: str) -> None:
        """The group is no more, but its offsets are; after a restart it is there again."""
        self.vanished[group_id] = self.groups.pop(group_id)

    def written(self) -> None:
        """A record was written to the partition: what is there now is visible."""
        self.writes += 1
        self.unwritten.clear()
        self.vanished.clear()

    def forget(self, group_id: str) -> None:
        self.unwritten.discard(group_id)
        self.groups.pop(group_id, None)


class GroupEvents:
    """The events of groups (base/event.py has their sentences); without a journal none."""

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal

    @property
    def is_on(self) -> bool:
        return self._journal is not None and self._journal.is_on

    def add(
        self,
        group_id: str,
        kind: str,
        member: Any = None,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Something has happened to a group, or to one of its members, which has a member id, an
        instance id and a client id."""
        journal = self._journal
        if journal is None or not journal.is_on:
            return
        more = {} if details is None else dict(details)
        client = member_id = ""
        if member is not None:
            if kind == "joined":
                more["max_poll_interval_ms"] = getattr(member, "rebalance_timeout_ms", -1)
            member_id, instance_id = member.member_id, member.instance_id
            key = instance_id or member_id  # an instance comes back under another id
            client = journal.members.name(member.client_id, key)
            if kind in _GONE:
                journal.members.gone(key)
            if instance_id is not None:
                more["instance"] = instance_id
                more["as_instance"] = f" as static member {instance_id}"
        journal.add(
            kind, client=client, group=group_id, member=member_id, reason=reason, details=more
        )


Append = Callable[[str, Sequence[Record], Producer | None], None]
"""Writes the records of a group, as one batch, to the partition that keeps it; inside a producer's
transaction if one is given. Raises Refused if it cannot."""


class RecordKeeper(Protocol):
    """A part of the coordinator that keeps records in `__consumer_offsets`."""

    @property
    def decoders(self) -> Mapping[int, Decode]: ...

    def replay(self, shard: Shard, record: Any, now: int, producer_id: int | None) -> None:
        """Apply one of its records, read from the log or just written. `producer_id` is set
        inside a transaction."""
        ...


G = TypeVar("G", contravariant=True)


class GroupType(RecordKeeper, Protocol[G]):
    """One type of group: its records, and what happens to its groups without a request."""

    @property
    def group_class(self) -> type: ...

    def loaded(self, group: G, now: int) -> None:
        """The log has been read to its end: start the members' sessions."""
        ...

    def due(self, shard: Shard, group: G, now: int) -> None:
        """The group's deadline has passed."""
        ...

    def resigned(self, group: G, now: int) -> None:
        """The group's partition has moved away."""
        ...

    def rebalance(self, group: G) -> None:
        """Have its members rebalance, for tests."""
        ...

    def end_session(self, group: G, member_id: str) -> None:
        """A member's session is over now. Raises Refused."""
        ...


def random_uuid() -> str:
    return str(uuid4())


class Runtime:
    """The shards, the log after them, and the timer."""

    def __init__(
        self,
        *,
        append: Append,
        timers: Timers,
        now: Callable[[], int],
        settings: GroupSettings,
        topics: TopicsView,
        new_uuid: Callable[[], str] = random_uuid,
        journal: Journal | None = None,
        missing: Callable[[int], None] = lambda record_type: None,
    ) -> None:
        """`missing` is called with a record type that nobody has registered, and may do so."""
        self.settings = settings
        self.events = GroupEvents(journal)
        self.topics = topics
        self.now = now
        self.new_uuid = new_uuid
        self.shards: dict[int, Shard] = {}
        self._missing = missing
        self._append = append
        self._timers = timers
        self._keepers: dict[int, RecordKeeper] = {}
        self._types: dict[type, GroupType[Any]] = {}
        self._offset_check: Callable[[Shard], Check] | None = None
        self._shard_checks: dict[int, RepeatedCheck] = {}
        # A group's deadline by its id.
        self._deadlines: Deadlines[str] = Deadlines()
        self._timer: Timer | None = None
        # When the timer fires; before any time while it is firing, so that nobody sets another.
        self._timer_when = 0

    def register(self, keeper: RecordKeeper) -> None:
        self._keepers |= dict.fromkeys(keeper.decoders, keeper)

    def register_type(self, group_type: GroupType[Any]) -> None:
        self.register(group_type)
        self._types[group_type.group_class] = group_type

    def type_of(self, group: Group) -> GroupType[Any]:
        """The registration of a group's type."""
        return self._types[type(group)]

    def register_offset_check(self, check_of: Callable[[Shard], Check]) -> None:
        """Use this for each shard every `retention_check_interval_ms`."""
        self._offset_check = check_of

    # Shards

    def partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that keeps the group."""
        return partition_for(group_id, self.settings.partitions)

    def shard_for(self, group_id: str) -> Shard:
        """The shard of a group. Raises Refused: NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        shard = self.shards.get(partition_for(group_id, self.settings.partitions))
        if shard is None:
            raise Refused(Error.NOT_COORDINATOR)
        if shard.state is ShardState.LOADING:
            raise Refused(Error.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def activate(self, shard: Shard) -> None:
        """A shard's log has been read to its end: start its members' sessions, and serve it."""
        now = self.now()
        shard.state = ShardState.ACTIVE
        if self._offset_check is not None:
            check = self._offset_check(shard)
            timer = self._timers.every(now + check.interval_ms(), check)
            self._shard_checks[shard.partition] = timer
        for group in list(shard.groups.values()):
            self.type_of(group).loaded(group, now)
        self._set_timer()

    def resign(self, partition: int) -> None:
        """Drop a shard from memory and tell its groups, each of which answers what it has parked.
        Harmless if there is none."""
        shard = self.shards.pop(partition, None)
        if shard is None:
            return
        if partition in self._shard_checks:
            self._shard_checks.pop(partition).cancel()
        for group in shard.groups.values():
            self._deadlines.clear(group.group_id)
            self.type_of(group).resigned(group, self.now())

    # Records

    def decode(self, logged: LoggedRecord) -> Record | None:
        """The record in these bytes; None if nobody has registered its type. Raises WireError."""
        return decode(logged, self._decoder_of)

    def _decoder_of(self, record_type: int) -> Decode | None:
        keeper = self._keeper_of(record_type)
        return None if keeper is None else keeper.decoders[record_type]

    def _keeper_of(self, record_type: int) -> RecordKeeper | None:
        if record_type not in self._keepers:
            self._missing(record_type)
        return self._keepers.get(record_type)

    def replay(self, shard: Shard, record: Record, now: int, producer_id: int | None) -> None:
        number = record.record_type
        keeper = self._keepers.get(number) or self._keeper_of(number)
        assert keeper is not None, f"nobody keeps records of type {number}"
        keeper.replay(shard, record, now, producer_id)

    def write(
        self,
        group_id: str,
        records: Sequence[Record],
        producer: Producer | None = None,
        shard: Shard | None = None,
    ) -> None:
        """Write records; `shard` is the group's, if it is known. Raises Refused with the error that
        clients are answered."""
        try:
            self._append(group_id, records, producer)
        except Refused as refused:
            raise as_coordinator(refused) from refused
        (shard or self.shard_for(group_id)).written()

    def write_and_apply(
        self,
        shard: Shard,
        group_id: str,
        records: Sequence[Record],
        producer: Producer | None = None,
    ) -> None:
        """Write records, if there are any, then apply them. Raises Refused as `write` does."""
        if not records:
            return
        self.write(group_id, records, producer, shard)
        now = self.now()
        for record in records:
            self.replay(shard, record, now, None if producer is None else producer.producer_id)

    # Deadlines

    def note_deadline(self, group: Group) -> None:
        """The group's deadline may have changed."""
        when = group.deadline()
        if when is None:
            self._deadlines.clear(group.group_id)
        else:
            self._deadlines.set(group.group_id, when)
            if self._timer is None or when < self._timer_when:
                self._set_timer()

    def clear_deadline(self, group_id: str) -> None:
        self._deadlines.clear(group_id)

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time, and the timers with it: sessions and rebalances, which
        a broker times by another clock, go on as if it had not been."""
        self._timer_when += milliseconds
        self._deadlines.shift(milliseconds)
        for shard in self.shards.values():
            for group in shard.groups.values():
                group.shift(milliseconds)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        when = self._deadlines.next()
        if when is None or (self._timer is not None and self._timer_when <= when):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_when = when
        self._timer = self._timers.at(when, self._fire)

    def _fire(self) -> None:
        self._timer_when = -1
        try:
            now = self.now()
            while (key := self._deadlines.pop(now)) is not None:
                self._group_due(key, now)
        finally:
            self._timer = None
            self._set_timer()

    def _group_due(self, group_id: str, now: int) -> None:
        shard = self.shards.get(self.partition_for(group_id))
        group = None if shard is None else shard.groups.get(group_id)
        if shard is not None and group is not None:
            self.type_of(group).due(shard, group, now)
