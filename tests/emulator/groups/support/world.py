"""A coordinator under a hand-moved clock, with a log that is a list and answers that are a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from odradek.emulator.base.timers import Timers
from odradek.emulator.groups.classic.group import Answer, ClassicGroup
from odradek.emulator.groups.coordinator import Coordinator
from odradek.emulator.groups.records import Record, Replayed
from odradek.emulator.groups.runtime import Producer
from odradek.emulator.groups.settings import GroupSettings
from odradek.emulator.groups.topics_view import TopicsView
from odradek.wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.errors import Error, Refused

START = 1_000_000


class FakeTopics:
    """Topics of these sizes, by name; an id is the name's letters."""

    def __init__(self) -> None:
        self.generation = 0
        self.topics: dict[str, FakeTopic] = {}

    def make(self, name: str, partitions: int) -> None:
        self.generation += 1
        self.topics[name] = FakeTopic(name, range(partitions))

    def delete(self, name: str) -> None:
        self.generation += 1
        del self.topics[name]

    def get(self, name: str, /) -> FakeTopic | None:
        return self.topics.get(name)

    def by_id(self, topic_id: bytes, /) -> FakeTopic | None:
        return next((topic for topic in self.topics.values() if topic.id == topic_id), None)

    def __iter__(self) -> Iterator[FakeTopic]:
        return iter(list(self.topics.values()))


@dataclass(frozen=True)
class FakeTopic:
    """What groups see of a topic."""

    name: str
    partitions: range

    @property
    def id(self) -> bytes:
        return self.name.encode().ljust(16, b"\0")


@dataclass(eq=False)
class FakeCall:
    """What a coordinator uses of a call; tests know it by its token."""

    token: Any
    version: int
    client_id: str = "c"
    client_host: str = "127.0.0.1"


def leaver(member_id: str, instance_id: str | None = None) -> LeaveGroupRequest.Member:
    return LeaveGroupRequest.Member(member_id=member_id, group_instance_id=instance_id)


GROUP_CONFIGS = {
    "consumer.session.timeout.ms": 45_000,
    "consumer.heartbeat.interval.ms": 5000,
    "consumer.assignment.interval.ms": 1000,
}
"""Kafka's defaults."""


@dataclass
class World:
    """The coordinator and everything around it. Nothing here waits."""

    settings: GroupSettings = field(default_factory=lambda: GroupSettings(partitions=1))
    consumer_assignment_interval_ms: int = 1000

    def __post_init__(self) -> None:
        self.now = START
        self.timers = Timers()
        self.log: list[Any] = []  # Replayed or TransactionEnd
        self.answers: list[tuple[Any, Any]] = []
        # What the next writes are refused with.
        self.refusals: list[Error] = []
        # Told of every write and answer, in their order.
        self.on_write: Callable[[Record], None] = lambda record: None
        self.on_answer: Callable[[Any, Answer], None] = lambda token, answer: None
        self.numbers = count(1)
        self.topics = FakeTopics()
        self.coordinator = self.new_coordinator()
        self.coordinator.load(0)

    def new_coordinator(self) -> Coordinator:
        topic: Any = self
        return Coordinator(
            topic=topic,
            send=self._send,
            timers=self.timers,
            now=lambda: self.now,
            configs_of=self._configs_of,
            settings=self.settings,
            new_uuid=lambda: str(next(self.numbers)),
            topics=TopicsView(self.topics, lambda: self.topics.generation),
        )

    def _configs_of(self, group_id: str) -> dict[str, int]:
        interval_ms = self.consumer_assignment_interval_ms
        return GROUP_CONFIGS | {"consumer.assignment.interval.ms": interval_ms}

    # `__consumer_offsets`: tests say when its partitions are loaded.

    name = "__consumer_offsets"

    def partitions(self, *, create: bool = False) -> int:
        return 0

    def entries(self, partition: int, decode: Any) -> Iterator[Any]:
        return iter(self.log)

    def append(
        self, group_id: str, records: Sequence[Record], producer: Producer | None = None, /
    ) -> None:
        if self.refusals:
            raise Refused(self.refusals.pop(0))
        for record in records:
            assert record.group_id == group_id
            self.log.append(Replayed(record, producer.producer_id if producer else None))
            self.on_write(record)

    def _send(self, call: Any, answer: Answer) -> None:
        self.answers.append((call.token, answer))
        self.on_answer(call.token, answer)

    @property
    def classic_group(self) -> ClassicGroup | None:
        """Group g, which is a classic one if there is any."""
        group = self.coordinator.shards[0].groups.get("g")
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def advance(self, milliseconds: int, each: Callable[[], None] = lambda: None) -> None:
        """Let time pass, stopping at every deadline on the way."""
        end = self.now + milliseconds
        while (when := self.timers.next()) is not None and when <= end:
            self.now = max(self.now, when)
            each()
            self.timers.fire(self.now)
        self.now = end

    def restart(self) -> None:
        """The broker goes away and comes back with what is in its log."""
        self.coordinator.shut_down()
        self.coordinator = self.new_coordinator()
        self.coordinator.load(0, self.log)

    # What members ask, of group g unless said otherwise: the answer is found in `answers`.

    def ask_join(
        self,
        token: Any,
        client: str = "c",
        *,
        version: int = 9,
        instance_id: str | None = None,
        protocols: Iterable[tuple[str, bytes]] = (("range", b""),),
        **changes: Any,
    ) -> None:
        """A Join of a consumer with one protocol, changed as asked."""
        fields: dict[str, Any] = {
            "group_id": "g",
            "member_id": "",
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 60_000,
            "protocol_type": "consumer",
        }
        offered = [JoinGroupRequest.Protocol(name=n, metadata=m) for n, m in protocols]
        request = JoinGroupRequest(
            group_instance_id=instance_id, protocols=offered, **(fields | changes)
        )
        call: Any = FakeCall(token, version, client)
        self.coordinator.classic.join(call, request)

    def ask_sync(
        self,
        token: Any,
        member_id: str,
        generation: int,
        *,
        version: int = 5,
        instance_id: str | None = None,
        assignments: Iterable[tuple[str, bytes]] = (),
        **changes: Any,
    ) -> None:
        """A Sync as a new client sends it, changed as asked."""
        fields = {"group_id": "g", "protocol_type": "consumer", "protocol_name": "range"}
        part = SyncGroupRequest.Assignment
        request = SyncGroupRequest(
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance_id,
            assignments=[part(member_id=m, assignment=given) for m, given in assignments],
            **(fields | changes),
        )
        call: Any = FakeCall(token, version)
        self.coordinator.classic.sync(call, request)

    def ask_leave(
        self, token: Any, *leavers: LeaveGroupRequest.Member, group_id: str = "g"
    ) -> None:
        """A Leave."""
        call: Any = FakeCall(token, 5)
        request = LeaveGroupRequest(group_id=group_id, members=[*leavers])
        self.coordinator.classic.leave(call, request)

    # The same, answered at once: None if it is parked.

    def at_once(self, ask: Callable[..., None], *arguments: Any, **changes: Any) -> Any:
        """The answer that a request gets at once."""
        before = len(self.answers)
        token = object()
        ask(token, *arguments, **changes)
        mine = [answer for asked, answer in self.answers[before:] if asked is token]
        return mine[0] if mine else None

    def join(self, client: str = "c", **changes: Any) -> Any:
        return self.at_once(self.ask_join, client, **changes)

    def enter(self, client: str = "c", **changes: Any) -> str:
        """Join group g with the id that a first Join gets; the id."""
        required = self.join(client, **changes)
        assert required.error_code == Error.MEMBER_ID_REQUIRED
        self.join(client, **(changes | {"member_id": required.member_id}))
        return str(required.member_id)

    def sync(self, member_id: str, generation: int, **changes: Any) -> Any:
        return self.at_once(self.ask_sync, member_id, generation, **changes)

    def leave(self, *leavers: LeaveGroupRequest.Member) -> Any:
        return self.at_once(self.ask_leave, *leavers)

    def beat(
        self,
        member_id: str,
        generation: int,
        instance_id: str | None = None,
        group_id: str = "g",
    ) -> Error:
        """Heartbeat to group g: the code it is answered with."""
        request = HeartbeatRequest(
            group_id=group_id,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance_id,
        )
        try:
            self.coordinator.classic.heartbeat(request)
        except Refused as refusal:
            return refusal.error
        return Error.NONE

    # Heartbeats of members of consumer groups

    def consumer_beat(
        self,
        member_id: str,
        epoch: int,
        *,
        group_id: str = "g",
        client: str = "client",
        names: list[str] | None = None,
        regex: str | None = None,
        assignor: str | None = None,
        owned: Mapping[bytes, list[int]] | None = None,
        **more: Any,
    ) -> ConsumerGroupHeartbeatResponse:
        """A ConsumerGroupHeartbeat; what is left out is not said."""
        part = ConsumerGroupHeartbeatRequest.TopicPartitions
        request = ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id=member_id,
            member_epoch=epoch,
            subscribed_topic_names=names,
            subscribed_topic_regex=regex,
            server_assignor=assignor,
            topic_partitions=None
            if owned is None
            else [part(topic_id=topic_id, partitions=held) for topic_id, held in owned.items()],
            **more,
        )
        call: Any = FakeCall(None, 1, client)
        return self.coordinator.consumer.heartbeat(call, request)
