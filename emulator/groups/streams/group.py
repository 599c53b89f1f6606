"""A streams group (KIP-1071): the state in its records. It changes only by applying records.

What members do to it: heartbeat.py, as functions that return the records to write. Deadlines are
kept here without records, and so is what a broker keeps in memory only (`Unwritten`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....wire.api.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from ....wire.stored import streams_groups as stored
from ..group import OffsetCommit
from ..modern.group import Due, GroupState, ModernGroup
from ..records import MessageRecord
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .members import RECORDS, Holders, StreamsMember, Target, group_tombstones, target_value
from .topology import Configured, Topology

FIRST_ASSIGNMENT = (Due.FIRST_ASSIGNMENT, "")


@dataclass
class Unwritten:
    """State that a restart forgets, and that a new group does not have until its second
    heartbeat."""

    configured: Configured | None = None
    """The topology against the topics."""
    shown: Configured | None = None
    """The same as calls that only look see it, until something is written to the partition."""
    configured_at: int = 0
    """How often the partition was written to when `configured` was set."""
    seen_generation: int | None = None
    """The generation of the topics when `seen_hash` was computed."""
    seen_hash: int = 0
    """The hash of the topology's topics."""
    compared_epoch: int | None = None
    """The group's epoch, raised by the heartbeat since which the topics have not changed: the hash
    is compared again when they change, or if the group did not come to that epoch."""
    endpoint_epoch: int = 0
    """Rises when the tasks of a member with an endpoint change."""
    shutdown_by: str | None = None
    """The member that asked for the shutdown of the application."""
    places: dict[str, StreamsGroupHeartbeatResponse.EndpointToPartitions] = field(
        default_factory=dict
    )
    """The endpoints as last sent, by member id, until the member or the topics change."""


class StreamsGroup(ModernGroup[StreamsMember, Target]):
    type_name = "streams"
    records = RECORDS
    member_class = StreamsMember
    changes = "a member, its topics, or its standbys changed"
    counts_epochs_from_1 = keeps_epochs = True

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        super().__init__(group_id, settings, topics)
        self.validated_epoch = 0
        """The epoch of the topology that the topics fit; -1 for none."""
        self.last_configs: Mapping[str, str] = {}
        self.topology: Topology | None = None
        self.holders = Holders()
        self.unwritten = Unwritten()
        self.logged_problem = ""
        """The last event's text about topics that do not fit."""

    @property
    def state(self) -> GroupState:
        """Computed from its epochs, topology and members."""
        return super().state if self.is_ready or not self.members else GroupState.NOT_READY

    @property
    def max_size(self) -> int:
        return self.settings.streams_max_size

    @property
    def is_ready(self) -> bool:
        return self.topology is not None and self.topology.epoch == self.validated_epoch

    def set_configured(self, configured: Configured, writes: int) -> None:
        """The topics make this of the topology; `writes`: how often the partition was written
        to."""
        self.unwritten.shown = self.shown_configured(writes)
        self.unwritten.configured = configured
        self.unwritten.configured_at = writes
        self.unwritten.places.clear()

    def shown_configured(self, writes: int) -> Configured | None:
        """The topology for calls that only look: a real broker shows them the one when the
        partition was last written to."""
        kept = self.unwritten
        return kept.configured if writes > kept.configured_at else kept.shown

    def given_in(self, member: StreamsMember, commit: OffsetCommit) -> int | None:
        """The epoch in which a member got the task that reads this partition, if it has it or has
        not given it up yet."""
        reader = None if self.topology is None else self.topology.readers.get(commit.topic)
        return None if reader is None else member.given_in(reader, commit.partition)

    def is_subscribed(self, topic: str) -> bool:
        is_read = self.topology is not None and topic in self.topology.readers
        return bool(self.members) and is_read

    def record(
        self,
        epoch: int,
        metadata_hash: int,
        validated_epoch: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> MessageRecord:
        """17: the group's epoch, a hash of its topics, the epoch of the topology that they fit (-1
        for none), and the configs of its assignment; the last two are the present ones, if none are
        given."""
        given = self.last_configs if configs is None else configs
        config = stored.StreamsGroupMetadataValue.Config
        return RECORDS.group_record(
            *(self.group_id, epoch, metadata_hash),
            validated_topology_epoch=(
                self.validated_epoch if validated_epoch is None else validated_epoch
            ),
            last_assignment_configs=[config(key=key, value=given[key]) for key in sorted(given)],
        )

    def target_record(self, member_id: str, target: Target) -> MessageRecord:
        """21: the target of a member."""
        return RECORDS.target_record(self.group_id, member_id, target_value(target))

    def removal(self, members: Collection[StreamsMember]) -> list[MessageRecord]:
        gone = [RECORDS.member_tombstones(self.group_id, each.member_id) for each in members]
        return [*(record for records in gone for record in records), self.raised()]

    def tombstones(self) -> list[MessageRecord]:
        return group_tombstones(self.group_id)

    # Applying records

    def apply_own(self, key: Any, value: Any, now: int) -> None:
        """Apply 23: the topology."""
        self.topology = None if value is None else Topology(value)

    def apply_group(self, value: stored.StreamsGroupMetadataValue) -> None:
        """Apply 17."""
        super().apply_group(value)
        self.validated_epoch = value.validated_topology_epoch
        configs = value.last_assignment_configs or ()
        self.last_configs = {each.key: each.value for each in configs}

    def restored_target(self, value: stored.StreamsGroupTargetAssignmentMemberValue) -> Target:
        """The target in record 21."""
        return Target(
            {each.subtopology_id: frozenset(each.partitions) for each in value.active_tasks},
            {each.subtopology_id: frozenset(each.partitions) for each in value.standby_tasks},
        )

    def put(self, member: StreamsMember) -> None:
        before = self.members.get(member.member_id)
        if before is not None:
            self.holders.remove(before)
        super().put(member)
        self.holders.add(member)
        self.unwritten.places.pop(member.member_id, None)

    def drop(self, member: StreamsMember) -> None:
        self.holders.remove(member)
        super().drop(member)
        self.unwritten.places.pop(member.member_id, None)
        if not self.members:
            self.unwritten.shutdown_by = None
