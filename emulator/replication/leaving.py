"""A broker leaves: what it has is moved away first, as planned before anything is changed.

- Each of its replicas goes to the broker at work that has least and has none of that partition.
- A partition that all other brokers have is on one broker less: there is nobody else.
- What cannot be moved keeps the broker where it is: a partition that nobody leads, for instance as
  this broker alone has it and is down; one that nobody takes though a broker that is down could.

A controlled shutdown: what a broker that is stopped goes through, phase by phase.

    its leaders move   others lead, and coordinate, what it did; Metadata still lists it
    it answers         Produce and Fetch NOT_LEADER_OR_FOLLOWER, groups and transactions
                       NOT_COORDINATOR; a follower's reads, forwarded requests and new connections
                       as before
    it is fenced       Metadata does not list it any more, and it ends: connections close, new ones
                       are refused

A real broker answers until its next heartbeats have shown that the others know their leaders, for
two seconds mostly. Here it is long enough for a client to meet, in real time, and nothing at all
where no client is connected that could. Source: three nodes of 4.3.1 (semantics O24), KIP-500.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.stored.cluster import MetadataRecord, PartitionChangeRecord
from ..base.words import number_of
from ..partitions.partition import NO_LEADER
from .brokers import Process

if TYPE_CHECKING:
    from ..partitions.partition import Partition
    from .replication import Replication

ANSWERS_MS = 100
"""So long it answers without its leaders, unless `timing` says otherwise."""


def stop(replication: Replication, node_id: int) -> Future[None]:
    """Begin to stop a broker: what is returned is done when it has ended, or has the error for
    which it is not fenced. Raises Refused, RuntimeError (`Replication.begin_stop`)."""
    replication.begin_stop(node_id)
    gone: Future[None] = Future()

    def end() -> None:
        if gone.done():
            return
        try:
            replication.end_stop(node_id)
        except Refused as refused:
            gone.set_exception(refused)
        else:
            gone.set_result(None)

    if replication.has_clients is not None and replication.has_clients(node_id):
        environment = replication.environment
        environment.asked.add(gone)  # which says so if all brokers go down meanwhile
        gone.add_done_callback(environment.asked.discard)
        how_long = replication.answers_ms
        environment.after(ANSWERS_MS if how_long is None else how_long(), end)
    else:
        end()
    return gone


_UNCHANGED = -2
_MOST_NAMED = 5


def begin_to_leave(replication: Replication, node_id: int, *, moves: bool) -> Future[None]:
    """Stop a broker, with `moves` after what it has was moved away. When it has ended, it may be
    forgotten. Raises, before anything is changed: RuntimeError if it has what is not moved, or is
    the last one that runs; Refused (REQUEST_TIMED_OUT) without a controller."""
    replication.check_controlled(f"broker {node_id} cannot leave")
    replication.check_not_last(node_id, "removed")
    plan = _Plan(replication, node_id) if moves else None
    if plan is None:
        _check_empty(replication, node_id)
    if replication.broker(node_id).process is Process.PAUSED:
        replication.kill(node_id)
    if not replication.is_up(node_id):
        replication.end_session(node_id)
    if plan is not None:
        replication.change(plan.records())
    gone: Future[None] = Future()
    if replication.is_up(node_id):
        return stop(replication, node_id)
    gone.set_result(None)
    return gone


def _check_empty(replication: Replication, node_id: int) -> None:
    """Raises RuntimeError."""
    left = [each.name for each in replication.replicas_at(node_id)]
    if left:
        named = ", ".join(left[:_MOST_NAMED])
        more = len(left) - _MOST_NAMED
        named += f" and {number_of(more, 'more partition')}" if more > 0 else ""
        todo = f"reassign them first, or call remove_broker({node_id}, move=True)"
        raise RuntimeError(f"broker {node_id} has replicas of {named}: {todo}")


class _Plan:
    """Where the replicas of one broker go. Raises RuntimeError where they cannot all be moved."""

    def __init__(self, replication: Replication, node_id: int) -> None:
        self._replication = replication
        self._node_id = node_id
        self._leaders = self._expected_leaders()
        at = self._replication.replicas_at
        self._counts = {each: len(at(each)) for each in self._replication.brokers}
        self._targets = [(each, self._target(each)) for each in at(node_id)]

    def records(self) -> list[MetadataRecord]:
        """The records that move them. Raises Refused."""
        return [
            record
            for partition, target in self._targets
            for record in self._replication.controller.reassign(
                partition.topic.id, partition.index, target, may_change_number=True
            )
        ]

    def _expected_leaders(self) -> dict[tuple[bytes, int], int]:
        """Of partitions whose leader changes when it is known that this broker does not run."""
        if self._replication.is_up(self._node_id):
            return {}
        changes = self._replication.controller.without(self._node_id)
        return {
            (each.topic_id, each.partition_id): each.leader
            for each in changes
            if isinstance(each, PartitionChangeRecord) and each.leader != _UNCHANGED
        }

    def _target(self, partition: Partition) -> list[int]:
        leader = self._leaders.get((partition.topic.id, partition.index), partition.leader)
        self._check_may_move(partition, leader)
        able = [each for each in self._counts if self._can_take(partition, leader, each)]
        if not able:
            self._check_fewer_do(partition)
            return [each for each in partition.replicas if each != self._node_id]
        to = min(able, key=lambda each: self._counts[each])
        self._counts[to] += 1
        return [to if each == self._node_id else each for each in partition.replicas]

    def _can_take(self, partition: Partition, leader: int, node_id: int) -> bool:
        is_at_work = self._replication.brokers[node_id].is_at_work
        is_near = self._replication.quorum.connects(leader, node_id)
        return is_at_work and is_near and node_id not in partition.replicas

    def _check_may_move(self, partition: Partition, leader: int) -> None:
        image = self._replication.metadata.image.topics[partition.topic.id]
        now = image.partitions[partition.index]
        if leader == NO_LEADER:
            holders = "; ".join(map(self._state_of, sorted(partition.replicas)))
            raise self._refused(partition, f"nobody leads it ({holders})")
        broker = self._replication.brokers.get(leader)
        if broker is None or not broker.is_at_work:
            raise self._refused(partition, f"its leader is not at work ({self._state_of(leader)})")
        if not self._replication.quorum.reaches(leader):
            raise self._refused(partition, f"its leader, broker {leader}, reaches no controller")
        if now.adding or now.removing:
            todo = "wait for it, or end it with cancel_reassignment()"
            raise self._refused(partition, f"it is being reassigned: {todo}")

    def _check_fewer_do(self, partition: Partition) -> None:
        """Nobody takes its place: whether that is because all others have the partition."""
        idle = [each for each in self._replication.brokers if each not in partition.replicas]
        if idle:
            states = "; ".join(map(self._state_of, idle))
            raise self._refused(partition, f"no broker can take it ({states})")
        there = {each for each in partition.replicas if each != self._node_id}
        if not there:
            raise self._refused(partition, "no other broker is there that could take it")
        late = sorted(there - {*partition.isr})
        if late:
            states = "; ".join(map(self._state_of, late))
            raise self._refused(partition, f"not all that would keep it are in sync ({states})")

    def _state_of(self, node_id: int) -> str:
        broker = self._replication.brokers.get(node_id)
        return f"broker {node_id} is {'not there' if broker is None else broker}"

    def _refused(self, partition: Partition, why: str) -> RuntimeError:
        text = f"broker {self._node_id} cannot leave: {partition.name} cannot be moved"
        return RuntimeError(f"{text}, as {why}")
