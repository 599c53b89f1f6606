"""What every part of the coordinator uses: shards, writing, replaying, and one timer.

Rules:
- A group's shard is found by the group's id. A shard that is not here is NOT_COORDINATOR, one whose
  log is still being read COORDINATOR_LOAD_IN_PROGRESS.
- Records are written before they are applied, and before answers that depend on them are sent. A
  refused write changes nothing; base/coordinator_errors.py says what clients are answered.
- There is one timer, for the earliest deadline of any group. Postponing a deadline leaves the timer
  as it is: it fires, finds nothing due, and is set again. So a heartbeat sets no timer.
- The parts register: the offsets and each type of group with the records they keep (`register`),
  each type of group also with what happens to its groups without a request (`register_type`).

Whoever advances a manual clock by hours should stop at each deadline on the way, so that each fires
at its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from ...wire.errors import Error, Refused
from ...wire.records import Record as LoggedRecord
from ..base.coordinator_errors import as_coordinator
from ..base.java_order import partition_for
from ..base.journal import Journal
from ..base.timers import Check, Deadlines
from .group import Group
from .records import Decode, Record, decode
from .settings import GroupSettings
from .shard import Shard, ShardState
from .telling import Telling
from .topics_view import TopicsView


class Timer(Protocol):
    """What `Timers.at` returns."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """Calls back when a time (milliseconds) has come: once, or again and again."""

    def at(self, when: int, callback: Callable[[], None], /) -> Timer: ...

    def every(self, when: int, work: Check, /) -> Timer: ...


class OffsetCheck(Protocol):
    """What is done for each shard every `retention_check_interval_ms`."""

    def expire(self, shard: Shard, now: int, /) -> bool:
        """Remove what is too old. Returns whether there was anything."""
        ...

    def next_expiry(self, shard: Shard, /) -> int | None:
        """When something is next too old, if nothing else changes; None for never."""
        ...


class Producer(NamedTuple):
    """Who writes a transactional offset."""

    producer_id: int
    epoch: int


class Append(Protocol):
    """Writes the records, as one batch, to the partition that keeps the group; inside a
    producer's transaction if one is given. Raises Refused if it cannot."""

    def __call__(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None, /
    ) -> None: ...


class RecordKeeper(Protocol):
    """A part of the coordinator that keeps records in `__consumer_offsets`."""

    @property
    def decoders(self) -> Mapping[int, Decode]:
        """How its records are decoded, by record type."""
        ...

    def replay(self, shard: Shard, record: Any, now: int, producer_id: int | None) -> None:
        """Apply one of its records, read from the log or just written. `producer_id` is set
        inside a transaction."""
        ...


G = TypeVar("G", contravariant=True)


class GroupType(RecordKeeper, Protocol[G]):
    """One type of group: its records, and what happens to its groups without a request."""

    @property
    def group_class(self) -> type:
        """The class of its groups."""
        ...

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


class _ShardCheck:
    """The regular check of one shard."""

    def __init__(self, shard: Shard, check: OffsetCheck, settings: GroupSettings) -> None:
        self._shard = shard
        self._check = check
        self._settings = settings

    def interval_ms(self) -> int:
        return self._settings.retention_check_interval_ms

    def run(self, now: int) -> bool:
        return self._check.expire(self._shard, now)

    def due(self, now: int) -> int | None:
        return self._check.next_expiry(self._shard)


def random_uuid() -> str:
    """The random half of a member id."""
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
        self.telling = Telling(journal)
        self.topics = topics
        self.now = now
        self.new_uuid = new_uuid
        self.shards: dict[int, Shard] = {}
        self._missing = missing
        self._append = append
        self._timers = timers
        self._keepers: dict[int, RecordKeeper] = {}
        self._types: dict[type, GroupType[Any]] = {}
        self._offset_check: OffsetCheck | None = None
        self._shard_checks: dict[int, Timer] = {}
        # A group's deadline by its id.
        self._deadlines: Deadlines[str] = Deadlines()
        self._timer: Timer | None = None
        # When the timer fires; before any time while it is firing, so that nobody sets another.
        self._timer_when = 0

    def register(self, keeper: RecordKeeper) -> None:
        """Decode and replay records of these types here."""
        self._keepers |= dict.fromkeys(keeper.decoders, keeper)

    def register_type(self, group_type: GroupType[Any]) -> None:
        """Register the records of a type of group, and whom to call for its groups."""
        self.register(group_type)
        self._types[group_type.group_class] = group_type

    def type_of(self, group: Group) -> GroupType[Any]:
        """What is registered for a group's type."""
        return self._types[type(group)]

    def register_offset_check(self, check: OffsetCheck) -> None:
        """Use this for each shard every `retention_check_interval_ms`."""
        self._offset_check = check

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
            check = _ShardCheck(shard, self._offset_check, self.settings)
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
        """Apply a record, read from the log or just written."""
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
        """The group is no more."""
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
        """Cancel the timer."""
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
