"""A member of a share group: what it has reported of itself, and what it is assigned.

It has no partitions to give up: its target holds at once, and several members may have the same
partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ....wire.stored.share_groups import ShareGroupCurrentMemberAssignmentValue as CurrentValue
from ....wire.stored.share_groups import ShareGroupMemberMetadataValue as MemberValue
from ...base.java_order import id_order, int_order
from ..modern.member import ModernMember

Assignment = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""


@dataclass(frozen=True, slots=True)
class ShareMember(ModernMember[Assignment]):
    """One member."""

    previous_epoch: int = -1
    names: frozenset[str] = frozenset()

    def reported_value(self) -> MemberValue:
        """The value of its record 10."""
        return MemberValue(
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.names),
        )

    def with_reported(self, value: MemberValue) -> ShareMember:
        """The member with the value of record 10; its partitions stay."""
        return replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            names=frozenset(value.subscribed_topic_names),
        )

    def current_value(self) -> CurrentValue:
        """The value of its record 14."""
        return CurrentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=[
                CurrentValue.TopicPartitions(topic_id=topic, partitions=parts)
                for topic, parts in ordered(self.assigned)
            ],
        )

    def with_current(self, value: CurrentValue) -> ShareMember:
        """The member with the value of record 14."""
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned=restored(value.assigned_partitions),
        )


def ordered(held: Assignment) -> Iterable[tuple[bytes, list[int]]]:
    """Topics and partitions in the order in which Kafka writes them."""
    return ((topic, int_order(held[topic])) for topic in id_order(held))


def restored(topics: Iterable[Any]) -> Assignment:
    """What a record says of topics and partitions."""
    return {each.topic_id: frozenset(each.partitions) for each in topics}
