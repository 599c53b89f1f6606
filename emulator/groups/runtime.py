"""The ground the group coordinator stands on: shards, writing, answering, and one timer.

Rules:
- A group's shard is found by its id. A shard that is not here answers 16, one that is being read
  from the log 14.
- Records are written before the answers that depend on them go out. A write that is refused is
  told to the group, which answers with the code Kafka makes of it.
- There is one timer, at the earliest deadline of any group. A deadline that is put off leaves it
  where it is: it fires, finds nothing due, and is set anew. So a heartbeat sets no timer.

Whoever moves a manual clock by hours should stop at each deadline on the way, so that what fires
sees the time it was due at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ...wire.errors import Error, Refused
from ..base.deadlines import Deadlines
from ..base.java_order import partition_for
from .classic.effects import Answer, Effects, Token
from .classic.group import ClassicGroup
from .classic.state import random_uuid
from .consumer.group import ConsumerGroup
from .records import Record
from .settings import GroupSettings, TimesOf, times_of
from .shard import AnyGroup, Shard, ShardState
from .topics_view import NoTopics, TopicsView


class Timer(Protocol):
    """What `Timers.at` returns."""

    def cancel(self) -> None: ...


class Timers(Protocol):
    """Calls back once, when a moment (milliseconds) has come."""

    def at(self, when: int, callback: Callable[[], None], /) -> Timer: ...


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


# What a coordinator says when it could not write; other codes are passed on.
_WRITE_ERRORS = {
    Error.UNKNOWN_TOPIC_OR_PARTITION: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_ENOUGH_REPLICAS: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Error.COORDINATOR_NOT_AVAILABLE,
    Error.REQUEST_TIMED_OUT: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER: Error.NOT_COORDINATOR,
    Error.KAFKA_STORAGE_ERROR: Error.NOT_COORDINATOR,
    Error.MESSAGE_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.RECORD_LIST_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.INVALID_FETCH_SIZE: Error.UNKNOWN_SERVER_ERROR,
}


class Runtime(ABC):
    """Keeps the shards and carries out what groups decide."""

    def __init__(
        self,
        *,
        append: Append,
        send: Callable[[Token, Answer], None],
        timers: Timers,
        now: Callable[[], int],
        settings: GroupSettings | None = None,
        new_uuid: Callable[[], str] = random_uuid,
        topics: TopicsView | None = None,
        consumer_times_of: TimesOf | None = None,
    ) -> None:
        self.settings = settings or GroupSettings()
        self.topics = topics or TopicsView(NoTopics(), lambda: 0)
        self._times_of = consumer_times_of or times_of(self.settings)
        self.shards: dict[int, Shard] = {}
        self._append = append
        self._send = send
        self._timers = timers
        self._now = now
        self._new_uuid = new_uuid
        # A group's deadline by its id; a shard's next look at old offsets by its partition.
        self._deadlines: Deadlines[str | int] = Deadlines()
        self._timer: Timer | None = None
        # When the timer fires; before any time while it is firing, so that nobody sets another.
        self._timer_when = 0

    def partition_for(self, group_id: str) -> int:
        """The partition of __consumer_offsets that keeps the group."""
        return partition_for(group_id, self.settings.partitions)

    def shard_for(self, group_id: str) -> Shard:
        """The shard of a group. Raises Refused: NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS."""
        shard = self.shards.get(partition_for(group_id, self.settings.partitions))
        if shard is None:
            raise Refused(Error.NOT_COORDINATOR)
        if shard.state is ShardState.LOADING:
            raise Refused(Error.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def _write(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None
    ) -> None:
        """Write records. Raises Refused with the code a coordinator answers in that case."""
        try:
            self._append(group_id, records, producer)
        except Refused as refusal:
            error = _WRITE_ERRORS.get(refusal.error, refusal.error)
            raise Refused(error, refusal.message) from refusal
        self.shard_for(group_id).unseen.clear()

    def _carry_out(self, group: ClassicGroup, effects: Effects) -> None:
        """Write, tell the group how it went, then answer. The answers go last and all together:
        a client may send its next request while it is being answered."""
        answers = effects.answers
        step: Effects | None = effects
        while step is not None:
            error = Error.NONE
            if step.appends:
                try:
                    self._write(group.group_id, step.appends)
                except Refused as refusal:
                    error = refusal.error
            step = step.then(error) if step.then is not None else None
            if step is not None:
                answers = answers + step.answers
        self._note_deadline(group)
        for token, answer in answers:
            self._send(token, answer)

    def _note_deadline(self, group: AnyGroup) -> None:
        when = group.deadline()
        if when is None:
            self._deadlines.clear(group.group_id)
        else:
            self._deadlines.set(group.group_id, when)
            if self._timer is None or when < self._timer_when:
                self._set_timer()

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
            now = self._now()
            while (key := self._deadlines.pop(now)) is not None:
                if isinstance(key, int):
                    self._look_for_old_offsets(key, now)
                else:
                    self._tick(key, now)
        finally:
            self._timer = None
            self._set_timer()

    def _tick(self, group_id: str, now: int) -> None:
        shard = self.shards.get(self.partition_for(group_id))
        group = None if shard is None else shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            assert shard is not None
            self._consumer_due(shard, group, now)
        elif group is not None:
            self._carry_out(group, group.tick(now))

    @abstractmethod
    def _consumer_due(self, shard: Shard, group: ConsumerGroup, now: int) -> None:
        """Called when a deadline of a consumer group has passed."""

    @abstractmethod
    def _look_for_old_offsets(self, partition: int, now: int) -> None:
        """Called every `retention_check_interval_ms` for each shard."""
