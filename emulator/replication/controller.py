"""The controller: what it writes when brokers come and go, and when it is asked for a change.

Each function judges and returns the records to be written; nothing is changed here.

- A broker that shuts down or is fenced leaves every ISR; others lead what it led.
- A broker that is unfenced leads what nobody leads, if it may.
- A broker that comes back after a kill is no longer eligible: it may lack what it acknowledged.
- A leader tells which replicas are in sync.

Source: KIP-455, KIP-460, KIP-497, KIP-631, KIP-966; semantics O12, O13, O19, O20.

Leaders move back to the preferred replicas, as the controller moves them from time to time.

Every `leader.imbalance.check.interval.seconds` of the cluster's clock, counted from its start, each
partition that another replica leads is given back to the first of its replicas, if that is in sync
and at work: the change of an election that somebody asks for. `auto.leader.rebalance.enable=false`
leaves leaders where they are.

The interval is Kafka's, 300 s, with any `timing`: a leader that a test has moved stays long enough.
Left out: of more than 1000 such partitions a real controller moves 1000 at once. Source: Kafka's
broker configs; ReplicationControlManager of 4.3.1, tried on three nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.stored.cluster import MetadataRecord, PartitionChangeRecord
from ..metadata.image import MetadataImage, PartitionImage
from ..partitions.partition import NO_LEADER
from .brokers import BrokerState
from .changes import Change, Election, Policy

if TYPE_CHECKING:
    from ..base.timers import Timer
    from ..environment import Environment
    from ..metadata.log import MetadataLog


class Balance:
    """Looks at the right times for leaders that are not the preferred ones, while there are any."""

    def __init__(
        self, environment: Environment, metadata: MetadataLog, move_back: Callable[[], None]
    ) -> None:
        self._environment, self._metadata = environment, metadata
        self._move_back = move_back
        self._start = environment.clock.now()
        self._check: Timer | None = None

    def noticed(self, partitions: Iterable[PartitionImage]) -> None:
        """These have changed: if one of them is led by another replica, look at the next time."""
        if self._check is None and any(map(is_imbalanced, partitions)):
            config = self._environment.config
            if config.get("auto.leader.rebalance.enable"):
                every = 1000 * config.get("leader.imbalance.check.interval.seconds")
                past = (self._environment.clock.now() - self._start) % every
                when = self._environment.clock.now() + every - past
                self._check = self._environment.timers.at(when, self._look)

    def _look(self) -> None:
        self._check = None
        self._move_back()
        for topic in self._metadata.image.topics.values():
            self.noticed(topic.partitions.values())


def is_imbalanced(partition: PartitionImage) -> bool:
    """Whether another one than the first replica leads."""
    return partition.leader not in (NO_LEADER, partition.replicas[0])


PREFERRED, UNCLEAN = 0, 1
"""The types of an election, as ElectLeaders numbers them."""


class Controller:
    """The decisions of the controller, given the image and the brokers as they are."""

    def __init__(
        self,
        image: MetadataImage,
        brokers: Mapping[int, BrokerState],
        policy_of: Callable[[str], Policy],
    ) -> None:
        self._image = image
        self._brokers = brokers
        self._policy_of = policy_of

    # Brokers

    def without(self, node_id: int) -> list[MetadataRecord]:
        """It shuts down, or is fenced: it is in sync nowhere."""
        return self._all(lambda p: node_id in p.isr, lambda change: _leave(change, node_id))

    def lost(self, node_id: int) -> list[MetadataRecord]:
        """It has ended without a stop: what it had not flushed may be lost."""

        def leave(change: Change) -> None:
            _leave(change, node_id)
            change.lost = (node_id,)

        return self._all(lambda p: node_id in p.isr or node_id in p.eligible_leaders, leave)

    def with_again(self) -> list[MetadataRecord]:
        """A broker was unfenced: give leaders to what has none."""
        return self._all(lambda p: p.leader == NO_LEADER, lambda change: None)

    def balanced(self) -> list[MetadataRecord]:
        """The first replica leads wherever it may."""

        def prefer(change: Change) -> None:
            change.election = Election.PREFERRED

        return self._all(is_imbalanced, prefer)

    # Requests

    def elect(self, topic_id: bytes, index: int, election_type: int) -> list[PartitionChangeRecord]:
        """Give a partition its preferred leader, or any if it has none. Raises Refused:
        ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE."""
        partition = self._image.topics[topic_id].partitions[index]
        wanted = partition.replicas[0] if election_type == PREFERRED else partition.leader
        if partition.leader == wanted != NO_LEADER:
            message = "Leader election not needed for topic partition."
            raise Refused(Error.ELECTION_NOT_NEEDED, message)
        change = self._change(topic_id, index)
        change.election = Election.PREFERRED if election_type == PREFERRED else Election.UNCLEAN
        record = change.record()
        if record is not None:
            return [record]
        if election_type == PREFERRED:
            message = "The preferred leader was not available."
            raise Refused(Error.PREFERRED_LEADER_NOT_AVAILABLE, message)
        message = "Eligible topic partition leaders are not available."
        raise Refused(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)

    def reassign(
        self, topic_id: bytes, index: int, target: Sequence[int], *, may_change_number: bool
    ) -> list[PartitionChangeRecord]:
        """Move a partition to these brokers; those that leave stay until all that come are in sync.

        Raises Refused: INVALID_REPLICA_ASSIGNMENT; INVALID_REPLICATION_FACTOR if there are more or
        fewer than before, and that is not allowed.
        """
        registered = [node_id for node_id, each in self._brokers.items() if each.is_registered]
        check_assignment(target, registered)
        partition = self._image.topics[topic_id].partitions[index]
        if not may_change_number and len(target) != _final_count(partition):
            before = _final_count(partition)
            message = f"The replication factor is changed from {before} to {len(target)}"
            raise Refused(Error.INVALID_REPLICATION_FACTOR, message)
        change = self._change(topic_id, index)
        # What an earlier reassignment adds or removes is left as it is where this one adds or
        # removes nothing.
        leaving = sorted({*partition.replicas} - {*target})
        coming = sorted({*target} - {*partition.replicas})
        change.removing, change.adding = leaving or change.removing, coming or change.adding
        change.replicas = [*target, *leaving]
        change.election = Election.ANY  # an unclean one comes with the next look at all partitions
        record = change.record()
        return [] if record is None else [record]

    def cancel(self, topic_id: bytes, index: int) -> list[PartitionChangeRecord]:
        """End a reassignment: those that were to come are not replicas. Raises Refused:
        NO_REASSIGNMENT_IN_PROGRESS; INVALID_REPLICA_ASSIGNMENT if none of the others is in sync,
        unless the first of them may lead all the same."""
        partition = self._image.topics[topic_id].partitions[index]
        if not (partition.adding or partition.removing):
            raise Refused(Error.NO_REASSIGNMENT_IN_PROGRESS)
        change = self._change(topic_id, index)
        change.replicas = [each for each in partition.replicas if each not in partition.adding]
        change.isr = [each for each in partition.isr if each not in partition.adding]
        if not change.isr:
            change.isr = change.replicas[:1]
            self._check_unclean(topic_id, index)
        change.adding, change.removing = [], []
        record = change.record()
        return [] if record is None else [record]

    def _check_unclean(self, topic_id: bytes, index: int) -> None:
        """Raises Refused(INVALID_REPLICA_ASSIGNMENT)."""
        name = self._image.topics[topic_id].name
        if not self._policy_of(name).is_unclean:
            what = f"Unable to revert partition assignment for {name}:{index}"
            text = f"{what} because it would require an unclean leader election."
            raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, text)

    def alter_isr(
        self, topic_id: bytes, index: int, isr: Sequence[int]
    ) -> list[PartitionChangeRecord]:
        change = self._change(topic_id, index)
        change.isr = list(isr)
        change.has_recovered = True
        record = change.record()
        return [] if record is None else [record]

    # Within

    def _all(
        self, concerns: Callable[[PartitionImage], bool], put: Callable[[Change], None]
    ) -> list[MetadataRecord]:
        return [
            record
            for topic_id, index, partition in self._partitions()
            if concerns(partition)
            if (record := self._with(self._change(topic_id, index), put)) is not None
        ]

    def _with(self, change: Change, put: Callable[[Change], None]) -> PartitionChangeRecord | None:
        put(change)
        return change.record()

    def _partitions(self) -> Iterator[tuple[bytes, int, PartitionImage]]:
        for topic in self._image.topics.values():
            for index, partition in topic.partitions.items():
                yield topic.topic_id, index, partition

    def _change(self, topic_id: bytes, index: int) -> Change:
        topic = self._image.topics[topic_id]
        policy = self._policy_of(topic.name)
        least = min(policy.min_isr, len(topic.partitions[0].replicas))
        policy = policy._replace(min_isr=least)
        return Change(topic_id, index, topic.partitions[index], policy, self._may_lead)

    def _may_lead(self, node_id: int) -> bool:
        broker = self._brokers.get(node_id)
        return broker is not None and broker.is_active


def check_assignment(replicas: Sequence[int], registered: Collection[int]) -> None:
    """Whether a partition may have these replicas. Raises Refused(INVALID_REPLICA_ASSIGNMENT)."""
    what = "The manual partition assignment includes"
    if not replicas:
        raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, f"{what} an empty replica list.")
    in_order = sorted(replicas)
    for before, replica in zip([None, *in_order], in_order, strict=False):
        if replica == before:
            message = f"{what} the broker {replica} more than once."
            raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)
        if replica not in registered:
            message = f"{what} broker {replica}, but no such broker is registered."
            raise Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)


def _leave(change: Change, node_id: int) -> None:
    change.isr = [each for each in change.isr if each != node_id]


def _final_count(partition: PartitionImage) -> int:
    """How many replicas it has when its reassignment is complete."""
    return len(partition.replicas) - len(partition.removing)
