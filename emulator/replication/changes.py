"""One change of a partition, as the controller makes it: whoever asked for it, the same rules.

The order of the rules is Kafka's (PartitionChangeBuilder):
1. A reassignment is complete when all replicas that are added are in sync, and none of them is to
   be removed again; one that removes more than it adds, when all that stay are.
2. Replicas that leave an ISR which becomes smaller than `min.insync.replicas` are eligible to lead
   (ELR, KIP-966); at or above it nobody is. Not so one that lost what it had not flushed.
3. A leader is elected if there is none that may lead: the first of the replicas that is in sync and
   active; if nobody is in sync, one that is eligible; if there is none either, the last leader, or
   with an unclean election any replica that is active. The last two may have lost records: the ISR
   is then the new leader alone.
4. The leader epoch rises with each change of the leader, and when a replica is removed; not with
   other changes of the ISR.

Nothing is changed here: the outcome is the record to be written. Source: Kafka 4.3.1's answers and
metadata logs; KIP-455, KIP-460, KIP-966.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from typing import NamedTuple

from ...wire.stored.cluster import PartitionChangeRecord
from ..metadata.image import PartitionImage
from ..partitions.partition import NO_LEADER

_UNCHANGED = -2
_RECOVERED, _RECOVERING = 0, 1


class Election(Enum):
    ANY = "any"
    """The one there is, if it may lead."""
    PREFERRED = "preferred"
    """The first replica, if it may lead."""
    UNCLEAN = "unclean"
    """Any, and if nobody is in sync a replica that lacks records."""


class Policy(NamedTuple):
    """The configs and features that concern a partition."""

    min_isr: int
    """At most as many as the topic's first partition has replicas, as in Kafka."""
    has_elr: bool
    is_unclean: bool

    @property
    def election(self) -> Election:
        return Election.UNCLEAN if self.is_unclean else Election.ANY


class Change:
    """A change on its way: set what is wanted, then ask for the `record`."""

    def __init__(
        self,
        topic_id: bytes,
        index: int,
        before: PartitionImage,
        policy: Policy,
        may_lead: Callable[[int], bool],
    ) -> None:
        self.isr = list(before.isr)
        self.replicas = list(before.replicas)
        self.adding, self.removing = list(before.adding), list(before.removing)
        self.election = policy.election
        self.has_recovered = False
        """Whether the leader of an unclean election has said that it leads what there is."""
        self.lost: Collection[int] = ()
        """Replicas that have lost what they had not flushed."""
        self._elr = list(before.eligible_leaders)
        self._before = before
        self._policy = policy
        self._may_lead = may_lead
        self._record = PartitionChangeRecord(partition_id=index, topic_id=topic_id)

    def record(self) -> PartitionChangeRecord | None:
        """The record to write; None if nothing changes."""
        before, record = self._before, self._record
        self._complete_reassignment()
        self._find_eligible()
        self._elect()
        if self.isr != before.isr and (self.isr or self._policy.has_elr):
            record.isr = self.isr
        if self.replicas != before.replicas:
            record.replicas = self.replicas
        if self.adding != before.adding:
            record.adding_replicas = self.adding
        if self.removing != before.removing:
            record.removing_replicas = self.removing
        if record.leader == _UNCHANGED and not set(before.replicas) <= set(self.replicas):
            record.leader = before.leader  # so the epoch rises
        self._note_last_leader()
        if self.has_recovered and before.recovery_state == _RECOVERING and record.isr is not None:
            record.leader_recovery_state = _RECOVERED
        if self._elr != before.eligible_leaders:
            record.eligible_leader_replicas = self._elr
        is_empty = record == PartitionChangeRecord(
            partition_id=record.partition_id, topic_id=record.topic_id
        )
        return None if is_empty else record

    def _complete_reassignment(self) -> None:
        left = [each for each in self.isr if each not in self.removing]
        if not (self.adding or self.removing) or not set(self.adding) <= set(left):
            return
        replicas = [each for each in self.replicas if each not in self.removing]
        if not left or not replicas:
            return
        if len(self.adding) < len(self.removing) and not set(replicas) <= set(left):
            return
        self.isr, self.replicas = left, replicas
        self.adding, self.removing = [], []

    def _find_eligible(self) -> None:
        if not self._policy.has_elr or len(self.isr) >= self._policy.min_isr:
            self._elr = []
            return
        candidates = {*self._before.eligible_leaders, *self._before.isr}
        self._elr = sorted(candidates - {*self.isr} - {*self.lost})

    def _elect(self) -> None:
        leader, is_safe = self._leader()
        if leader == self._before.leader:
            return
        self._record.leader = leader
        if leader == NO_LEADER:
            return
        if not is_safe:
            self.isr, self._elr = [leader], []
            if self._before.recovery_state != _RECOVERING:
                self._record.leader_recovery_state = _RECOVERING
        elif leader not in self.isr:  # it was eligible
            self.isr = [leader]
            self._elr = [each for each in self._elr if each != leader]

    def _leader(self) -> tuple[int, bool]:
        """Who is elected, and whether it has every record that was acknowledged."""
        preferred, present = self.replicas[0], self._before.leader
        order = (present, *self.replicas)
        if self.election is Election.PREFERRED:
            order = (preferred, present, *self.replicas)
        for each in order:
            if each != NO_LEADER and self._is_fit(each):
                return each, True
        last = self._before.last_eligible_leaders
        is_empty = self._policy.has_elr and not self.isr and not self._elr
        if is_empty and len(last) == 1 and self._may_lead(last[0]):
            return last[0], False
        if self.election is Election.UNCLEAN:
            for each in self.replicas:
                if self._may_lead(each):
                    return each, False
        return NO_LEADER, True

    def _is_fit(self, replica: int) -> bool:
        able: Sequence[int] = self.isr if self.isr or not self._policy.has_elr else self._elr
        return replica in able and self._may_lead(replica)

    def _note_last_leader(self) -> None:
        """Who led last is kept while nobody leads."""
        before, record = self._before, self._record
        if not self._policy.has_elr:
            return
        if record.isr == []:
            if before.last_eligible_leaders != [before.leader]:
                record.last_known_elr = [before.leader]
        elif before.last_eligible_leaders:
            leader = before.leader if record.leader == _UNCHANGED else record.leader
            if leader != NO_LEADER:
                record.last_known_elr = []
