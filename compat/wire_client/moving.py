"""Where a partition is, and who leads it: verbs that move both, at any Kafka; also the coordinator
of a group or of a transactional id, which is the leader of a partition of an internal topic.

They are requests that an administrator has: ElectLeaders, AlterPartitionReassignments. A leader
moves to another replica as Kafka's tools do it: that replica becomes the first one, the preferred
leader is elected, and the replicas get their order again.

Source: KIP-455, KIP-460.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from ...emulator.base.java_order import partition_for
from ...emulator.config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from ...wire import Error
from ...wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ...wire.api.elect_leaders import ElectLeadersRequest
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from ...wire.api.metadata import MetadataResponse
from .reading import placed
from .source import Source, check
from .twins import Steps, Waiting, blocking, waited
from .waiting import Wait

# Versions that all of these releases serve.
_ELECT, _REASSIGN, _LIST = 2, 0, 0
PREFERRED, UNCLEAN = 0, 1
_FIND = 4
_NOBODY = -1
GROUP, TRANSACTION = 0, 1
_KEPT_IN = {GROUP: CONSUMER_OFFSETS, TRANSACTION: TRANSACTION_STATE}

T = TypeVar("T")
_Partition: TypeAlias = MetadataResponse.Topic.Partition


class Placed(Protocol):
    name: str
    index: int
    _source: Source
    _topic: str

    def _placed(self) -> _Partition: ...


class Moving(Placed):
    """Each verb returns when brokers tell of what it has done, and has a coroutine twin: "a" and
    its name. `timeout` in real seconds, by default that of the broker. They raise Refused as the
    broker answers, WaitTimeout."""

    @Waiting
    def move_leader(self, to: int, *, timeout: float | None = None) -> Steps[None]:
        """Have another replica lead it: one that is in sync. The replicas stay as they are, so an
        election of the preferred leader moves it back. Raises ValueError for a broker that has no
        replica, RuntimeError for one that is down or not in sync, and during a reassignment."""
        __tracebackhide__ = True
        yield from self._leading(to, timeout)

    amove_leader = move_leader.in_coroutine

    @Waiting
    def reassign(
        self, replicas: Sequence[int], *, wait: bool = True, timeout: float | None = None
    ) -> Steps[None]:
        """Move it to these brokers, by their ids, the preferred leader first. Those that leave stay
        until all that come are in sync: a broker that is down is waited for. With `wait=False` it
        is only begun. Raises TypeError, ValueError."""
        __tracebackhide__ = True
        moved = yield from blocking(partial(self._begin_to_move, replicas))
        if wait:
            yield from self._finish(moved, timeout)

    areassign = reassign.in_coroutine

    def cancel_reassignment(self) -> None:
        """End a reassignment that waits: the brokers that were to come do not. Raises Refused:
        NO_REASSIGNMENT_IN_PROGRESS."""
        self._alter(None, f"ending the reassignment of {self.name}")

    @Waiting
    def elect(self, *, unclean: bool = False, timeout: float | None = None) -> Steps[int]:
        """Have its preferred replica lead it, the first one; with `unclean`, if nobody leads it,
        any that runs, though it may lack records. Returns the leader's id. Does nothing if there is
        nothing to do. Raises Refused: PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_
        AVAILABLE."""
        __tracebackhide__ = True
        elected = yield from blocking(partial(self._begin_election, unclean))
        return (yield from self._finish(elected, timeout))

    aelect = elect.in_coroutine

    # Within

    def _leading(self, to: int, timeout: float | None) -> Steps[None]:
        """What `move_leader` does."""
        __tracebackhide__ = True
        led = yield from blocking(partial(self._begin_to_lead, to))
        yield from self._finish(led, timeout)

    def _finish(self, wait: Wait[T], timeout: float | None) -> Steps[T]:
        """Most is done at once: then nobody waits."""
        __tracebackhide__ = True
        found = yield from blocking(wait.look)
        return (yield from waited(self._source, wait, timeout)) if found is None else found

    def _begin_to_lead(self, to: int) -> Wait[int]:
        if not isinstance(to, int) or isinstance(to, bool):
            raise TypeError(f"to is the id of a broker, not {to!r}")
        now = self._placed()
        replicas = list(now.replica_nodes)
        if to not in replicas:
            there = ", ".join(map(str, replicas))
            raise ValueError(f"broker {to} has no replica of {self.name}, which is on {there}")
        if to != now.leader_id:
            self._check_may_lead(to, now)
            self._check_not_moving()
            others = [each for each in replicas if each != to]
            self._alter([to, *others], f"making broker {to} the first replica of {self.name}")
            try:
                self._ask_for_election(PREFERRED)
            finally:
                self._alter(replicas, f"giving {self.name} the order of its replicas again")
        return self._wait(
            f"to be led by broker {to}",
            lambda now: to if now.leader_id == to and now.replica_nodes == replicas else None,
        )

    def _check_may_lead(self, to: int, now: _Partition) -> None:
        state = self._source.broker_state(to)
        if state not in (None, "up"):
            raise RuntimeError(f"broker {to} cannot lead {self.name}: it is {state}")
        if to not in now.isr_nodes:
            there = ", ".join(map(str, now.isr_nodes)) or "nobody"
            what = f"broker {to} cannot lead {self.name}: it is not in sync, {there} is"
            raise RuntimeError(f"{what} (elect(unclean=True) is for a partition without a leader)")

    def _check_not_moving(self) -> None:
        if self._is_moving():
            text = "wait for it, or end it with cancel_reassignment()"
            raise RuntimeError(f"{self.name} is being reassigned: {text}")

    def _begin_to_move(self, replicas: Sequence[int]) -> Wait[list[int]]:
        target = _ids(replicas)
        self._alter(target, f"reassigning {self.name} to {target}")

        def look(now: _Partition) -> list[int] | None:
            is_there = now.replica_nodes == target and not self._is_moving()
            return target if is_there else None

        return self._wait(f"to be on {', '.join(map(str, target))}", look)

    def _begin_election(self, unclean: bool) -> Wait[int]:
        self._ask_for_election(UNCLEAN if unclean else PREFERRED)

        def look(now: _Partition) -> int | None:
            is_led = now.leader_id != _NOBODY if unclean else now.leader_id == now.replica_nodes[0]
            return now.leader_id if is_led else None

        return self._wait("to be led", look)

    def _ask_for_election(self, kind: int) -> None:
        asked = ElectLeadersRequest.Topic(topic=self._topic, partitions=[self.index])
        request = ElectLeadersRequest(election_type=kind, topic_partitions=[asked])
        answer = self._source.ask(request, _ELECT)
        what = f"electing a leader of {self.name}"
        check(answer.error_code, what)
        found = answer.replica_election_results[0].partition_result[0]
        if found.error_code != Error.ELECTION_NOT_NEEDED:
            check(found.error_code, what, found.error_message)

    def _alter(self, replicas: list[int] | None, what: str) -> None:
        topic = AlterPartitionReassignmentsRequest.Topic
        asked = topic.Partition(partition_index=self.index, replicas=replicas)
        request = AlterPartitionReassignmentsRequest(
            topics=[topic(name=self._topic, partitions=[asked])]
        )
        answer = self._source.ask(request, _REASSIGN)
        check(answer.error_code, what, answer.error_message)
        found = answer.responses[0].partitions[0]
        check(found.error_code, what, found.error_message)

    def _is_moving(self) -> bool:
        asked = ListPartitionReassignmentsRequest.Topic(
            name=self._topic, partition_indexes=[self.index]
        )
        answer = self._source.ask(ListPartitionReassignmentsRequest(topics=[asked]), _LIST)
        check(answer.error_code, f"the reassignment of {self.name}", answer.error_message)
        return bool(answer.topics)

    def _wait(self, what: str, look: Callable[[_Partition], T | None]) -> Wait[T]:
        def there() -> str:
            now = self._placed()
            led = "nobody" if now.leader_id == _NOBODY else f"broker {now.leader_id}"
            on, in_sync = _listed(now.replica_nodes), _listed(now.isr_nodes)
            return f"It is on brokers {on}, in sync are {in_sync}, and {led} leads it."

        return Wait(
            f"{self.name} {what}",
            lambda: look(self._placed()),
            there,
            topic=self._topic,
            partition=self.index,
        )


class CoordinatorPartition(Moving):
    """The partition of an internal topic that keeps a group, or a transactional id: who leads it
    coordinates them. The topic is created if there is none."""

    def __init__(self, source: Source, kind: int, key: str) -> None:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        (found,) = source.ask(request, _FIND).coordinators
        check(found.error_code, f"the coordinator of {key!r}", found.error_message)
        self._source = source
        self._topic = _KEPT_IN[kind]
        self.index = partition_for(key, len(placed(source, self._topic)))
        self.name = f"{self._topic}-{self.index}"

    def _placed(self) -> _Partition:
        found = placed(self._source, self._topic)
        return next(each for each in found if each.partition_index == self.index)


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids)) or "none"


def _ids(replicas: Sequence[int]) -> list[int]:
    """Raises TypeError, ValueError."""
    is_list = isinstance(replicas, list | tuple) and all(type(each) is int for each in replicas)
    if not is_list:
        raise TypeError(f"replicas is a list of the ids of brokers, not {replicas!r}")
    if not replicas:
        raise ValueError("replicas is a list of the ids of brokers: at least one")
    if len(set(replicas)) < len(replicas):
        raise ValueError(f"replicas has each broker once, not {list(replicas)}")
    return list(replicas)
