"""Asking the coordinator of a group or of a transactional id.

Groups and their committed offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .....wire import Error, Refused, Request
from .....wire.api.find_coordinator import FindCoordinatorRequest
from ....cli.console.client import Unreachable
from ....cli.console.group_reading import CLASSIC, CONSUMER, commit_request, committed, list_groups
from .cluster import BrokerError, Cluster, Place, refuse

T = TypeVar("T")
GROUP, TRANSACTION = 0, 1


class Coordinator:
    """The broker that coordinates a group or a transactional id, looked for when it is needed."""

    def __init__(self, cluster: Cluster, kind: int, key: str) -> None:
        self._cluster = cluster
        self._kind = kind
        self._key = key
        self._node: int | None = None

    def ask(
        self, request: Request, take: Callable[[Any], T], what: str, *, most: int | None = None
    ) -> T:
        """The result of `take` of the answer: it raises Refused for one that may be asked again.

        Raises BrokerError, which begins with `what`.
        """

        def once() -> T:
            try:
                if self._node is None:
                    self._node = self._find()
                return take(self._cluster.brokers.ask(request, most=most, node=self._node))
            except (Refused, Unreachable):
                self._node = None
                raise

        return self._cluster.repeated(once, what)

    def _find(self) -> int:
        request = FindCoordinatorRequest(
            key=self._key, key_type=self._kind, coordinator_keys=[self._key]
        )
        found = self._cluster.ask_any(request)
        found = found.coordinators[0] if found.coordinators else found
        refuse(found.error_code, self._key)
        node: int = found.node_id
        return node


_COMMIT_NEWEST = 8
_HAS_MEMBERS = (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.REBALANCE_IN_PROGRESS)


class GroupInUse(BrokerError):
    """Only its members may commit offsets of a group that has some."""


def consumer_groups(cluster: Cluster) -> list[str]:
    """The groups that commit offsets, by name."""
    found = cluster.repeated(lambda: list_groups(cluster.brokers), "groups")
    return [name for name, listed in found.items() if listed.kind in (CLASSIC, CONSUMER)]


def committed_offsets(cluster: Cluster, group: str) -> dict[Place, int]:
    """The offsets that a group has committed; none if there is no such group."""
    return cluster.repeated(lambda: committed(cluster.brokers, group), f"group {group}")


def commit_offsets(cluster: Cluster, group: str, offsets: Mapping[Place, int]) -> None:
    """Commit offsets for a group without members. Raises GroupInUse."""
    request = commit_request(group, offsets)

    def take(answer: Any) -> None:
        for topic in answer.topics:
            for part in topic.partitions:
                if part.error_code in _HAS_MEMBERS:
                    raise GroupInUse(f"group {group} has members at {cluster.addresses}")
                refuse(part.error_code, f"{topic.name}-{part.partition_index}")

    Coordinator(cluster, GROUP, group).ask(request, take, f"group {group}", most=_COMMIT_NEWEST)
