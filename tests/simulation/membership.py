"""Members of groups, of both protocols: what a consumer asks to have its partitions.

`ensure` is called between two polls, as a client beats its heart. It leaves `partitions`, those
that are the member's own now, and `is_fresh` if they are others than before, so that positions have
to be asked for. `identity` is what commits carry.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import Error
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.sync_group import SyncGroupRequest

from tests.requests.consumer_groups import beat_request
from tests.requests.groups import (
    heartbeat_request,
    join_request,
    leave_request,
    subscription,
    sync_request,
)
from tests.simulation.actor import Actor, Doing

GROUP = 0
BEAT_MS = 1000


class Member:
    """What both protocols have in common."""

    def __init__(self, actor: Actor, group: str, topic: str, count: int) -> None:
        self.actor, self.world = actor, actor.world
        self.group, self.topic, self.count = group, topic, count
        self.is_found = False
        self.reborn()

    def reborn(self) -> None:
        """Its process has died, or it is no member any more."""
        self.member_id = ""
        self.partitions: list[int] = []
        self.is_in, self.is_fresh = False, True
        self.epoch = -1
        self.beaten = 0

    @property
    def identity(self) -> dict[str, Any]:
        """What TxnOffsetCommit carries."""
        return {"generation_id": self.epoch, "member_id": self.member_id}

    def ensure(self) -> Doing[None]:
        """Be a member."""
        if not self.is_found:
            find = FindCoordinatorRequest(coordinator_keys=[self.group], key_type=GROUP)
            yield from self.actor.until(
                lambda: find, 4, lambda each: each.coordinators[0].error_code
            )
            self.is_found = True
        if not self.is_in:
            yield from self.join()
        elif self.world.now - self.beaten >= BEAT_MS:
            yield from self.beat()

    def join(self) -> Doing[None]:
        raise NotImplementedError

    def beat(self) -> Doing[None]:
        raise NotImplementedError

    def leave(self) -> Doing[None]:
        """Leave the group, whether or not that is heard; what comes next is another member."""
        raise NotImplementedError

    def own(self, partitions: list[int]) -> None:
        self.is_fresh = self.is_fresh or partitions != self.partitions
        self.partitions = partitions
        for index in partitions:
            self.world.book.owns(self.group, self.epoch, (self.topic, index), self.member_id)
        self.actor.tell("owns", self.group, self.epoch, partitions)


class ClassicMember(Member):
    """JoinGroup, SyncGroup, Heartbeat; its leader gives the partitions out in turn."""

    def join(self) -> Doing[None]:
        answer = yield from self.actor.ask(
            join_request(
                self.member_id,
                subscription(self.topic),
                group_id=self.group,
                session_timeout_ms=6000,
                rebalance_timeout_ms=3000,
            ),
            7,
        )
        if answer is None:
            yield from self.actor.pause()
            return
        error = Error(answer.error_code)
        if error is Error.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif error is Error.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif error is not Error.NONE:
            yield from self.actor.pause()
        else:
            self.member_id = answer.member_id
            yield from self._sync(answer)

    def _sync(self, joined: Any) -> Doing[None]:
        names = sorted(member.member_id for member in joined.members)
        shares = {name: bytes(range(at, self.count, len(names))) for at, name in enumerate(names)}
        request = sync_request(joined, group_id=self.group)
        Assignment = SyncGroupRequest.Assignment
        request.assignments = [
            Assignment(member_id=name, assignment=share) for name, share in shares.items()
        ]
        answer = yield from self.actor.ask(request, 3)
        if answer is None:
            yield from self.actor.pause()
        elif answer.error_code == Error.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif not answer.error_code:
            self.epoch, self.beaten = joined.generation_id, self.world.now
            self.is_in = self.is_fresh = True
            self.own(list(answer.assignment))

    def beat(self) -> Doing[None]:
        request = heartbeat_request(self, group_id=self.group, generation_id=self.epoch)  # type: ignore[arg-type]
        self.beaten = self.world.now
        answer = yield from self.actor.ask(request, 3)
        if answer is None or not answer.error_code:
            return
        error = Error(answer.error_code)
        self.actor.tell("heartbeat", error.name)
        if error is Error.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self.is_in = error.retriable
        if error.retriable:
            yield from self.actor.pause()

    @property
    def generation_id(self) -> int:
        """As requests name it."""
        return self.epoch

    def leave(self) -> Doing[None]:
        member_id = self.member_id
        self.reborn()
        if member_id:
            yield from self.actor.ask(leave_request(member_id, group=self.group), 3)


class ModernMember(Member):
    """ConsumerGroupHeartbeat: the broker says who has what."""

    def reborn(self) -> None:
        super().reborn()
        self._topic_id: bytes | None = None
        self._has_to_say = False

    def join(self) -> Doing[None]:
        if not self.member_id:
            self.member_id = f"{self.actor.name}-{self.actor.random.getrandbits(32):08x}"
        self.partitions, self.epoch, self.is_fresh = [], 0, True
        yield from self._exchange()

    def beat(self) -> Doing[None]:
        yield from self._exchange()

    def _exchange(self) -> Doing[None]:
        more: dict[str, Any] = {}
        if self.epoch == 0 or self._has_to_say:
            more = {
                "rebalance_timeout_ms": 3000,
                "subscribed_topic_names": [self.topic],
                "topic_partitions": [],
            }
        if self.epoch > 0 and self.partitions and self._has_to_say:
            Topic = ConsumerGroupHeartbeatRequest.TopicPartitions
            assert self._topic_id is not None
            owned = Topic(topic_id=self._topic_id, partitions=list(self.partitions))
            more["topic_partitions"] = [owned]
        request = beat_request(self.member_id, self.epoch, group_id=self.group, **more)
        self.beaten = self.world.now
        answer = yield from self.actor.ask(request, 1)
        if answer is None:
            self._has_to_say = True  # all of it, as it is not known what was heard
            yield from self.actor.pause()
            return
        if answer.error_code:
            yield from self._refused(Error(answer.error_code))
            return
        self._has_to_say = False
        self.epoch, self.is_in = answer.member_epoch, True
        if answer.assignment is not None:
            self._assigned(answer.assignment.topic_partitions)
        else:
            self.own(self.partitions)

    def _assigned(self, topics: list[Any]) -> None:
        for topic in topics:
            self._topic_id = topic.topic_id
        self.own(sorted(index for topic in topics for index in topic.partitions))
        self._has_to_say = True
        self.beaten = 0  # so that it says at once what it has let go of

    def _refused(self, error: Error) -> Doing[None]:
        self.actor.tell("heartbeat", error.name)
        if error.retriable:
            yield from self.actor.pause()
            return
        self.is_in, self.epoch, self.partitions, self.is_fresh = False, 0, [], True

    def leave(self) -> Doing[None]:
        member_id, was_in = self.member_id, self.is_in
        self.reborn()
        if was_in:
            yield from self.actor.ask(beat_request(member_id, -1, group_id=self.group), 1)
