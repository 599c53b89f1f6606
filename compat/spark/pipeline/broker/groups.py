"""Groups and their committed offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .....wire import Error
from .....wire.api.offset_commit import OffsetCommitRequest
from ....cli.console.group_reading import CLASSIC, CONSUMER, committed, list_groups
from .cluster import BrokerError, Cluster, Place, refuse
from .coordinator import GROUP, Coordinator

_COMMIT_NEWEST = 8
_HAS_MEMBERS = (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.REBALANCE_IN_PROGRESS)


class GroupInUse(BrokerError):
    """Only its members may commit offsets of a group that has some."""


def consumer_groups(cluster: Cluster) -> list[str]:
    """The groups that commit offsets, by name."""
    found = cluster.repeated(lambda: list_groups(cluster.brokers), "groups")
    return [name for name, listed in found.items() if listed.kind in (CLASSIC, CONSUMER)]


def committed_offsets(cluster: Cluster, group: str) -> dict[Place, int]:
    """What a group has committed; nothing if there is no such group."""
    return cluster.repeated(lambda: committed(cluster.brokers, group), f"group {group}")


def commit_offsets(cluster: Cluster, group: str, offsets: Mapping[Place, int]) -> None:
    """Commit offsets for a group without members. Raises GroupInUse."""
    topics: dict[str, OffsetCommitRequest.Topic] = {}
    for (name, index), offset in offsets.items():
        topic = topics.setdefault(name, OffsetCommitRequest.Topic(name=name, partitions=[]))
        topic.partitions.append(
            OffsetCommitRequest.Topic.Partition(
                partition_index=index, committed_offset=offset, committed_metadata=""
            )
        )
    request = OffsetCommitRequest(group_id=group, topics=list(topics.values()))

    def take(answer: Any) -> None:
        for topic in answer.topics:
            for part in topic.partitions:
                if part.error_code in _HAS_MEMBERS:
                    raise GroupInUse(f"group {group} has members at {cluster.addresses}")
                refuse(part.error_code, f"{topic.name}-{part.partition_index}")

    Coordinator(cluster, GROUP, group).ask(request, take, f"group {group}", most=_COMMIT_NEWEST)
