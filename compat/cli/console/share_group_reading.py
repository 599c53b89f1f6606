"""Share groups (KIP-932) as `odradek groups` shows them: members, start offsets, lag."""

from __future__ import annotations

from ....wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from ....wire.api.share_group_describe import (
    ShareGroupDescribeRequest,
)
from .client import Brokers, check
from .group_reading import DEAD, NO_SUCH_GROUP, SHARE, Group, Member
from .offsets import Place

UNKNOWN = -1
"""An offset, or a lag, of which nothing is known: nothing was acknowledged there yet."""


def describe_shares(brokers: Brokers, name: str) -> Group:
    """A share group; Dead if it is gone. Raises ConsoleError."""
    request = ShareGroupDescribeRequest(group_ids=[name], include_authorized_operations=False)
    (group,) = brokers.ask_coordinator(name, request).groups
    if group.error_code == NO_SUCH_GROUP:
        return Group(SHARE, DEAD, "")
    check(group.error_code, f"group {name}", group.error_message)
    members = [
        Member(
            *(each.member_id, None, each.client_id, each.client_host),
            {
                topic.topic_name: list(topic.partitions)
                for topic in each.assignment.topic_partitions
            },
        )
        for each in group.members
    ]
    return Group(SHARE, group.group_state, group.assignor_name, members)


def share_offsets(brokers: Brokers, name: str) -> dict[Place, tuple[int, int]]:
    """By partition where the group begins, and its lag; UNKNOWN where nothing was acknowledged.
    Raises ConsoleError."""
    asked = DescribeShareGroupOffsetsRequest.Group(group_id=name, topics=None)
    request = DescribeShareGroupOffsetsRequest(groups=[asked])
    (group,) = brokers.ask_coordinator(name, request).groups
    check(group.error_code, f"group {name}", group.error_message)
    return {
        (topic.topic_name, each.partition_index): (each.start_offset, each.lag)
        for topic in group.topics
        for each in topic.partitions
        if not each.error_code
    }
