"""What the requests about groups since KIP-848 have in common: whether there are such groups, what
a heartbeat must say, and how groups are described.

Of a request that describes groups each group is found once, however often it is asked for, and an
error is answered with an empty group. Groups of the classic protocol are described in another form
(describe_groups.py). Authorized operations are those of a broker without an authorizer: all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ...wire import Error, Refused
from ..base.turns import Slices, each_of
from .describe_groups import GROUP_OPERATIONS

if TYPE_CHECKING:
    from ..cluster import Cluster

G = TypeVar("G")


def has_consumer_groups(cluster: Cluster) -> bool:
    """Whether there are consumer groups: the feature `group.version` says so, and the protocols
    that the broker has. Of 3.9 they are a preview, which is left out."""
    is_on = cluster.release.has_consumer_groups and cluster.features.level("group.version") > 0
    return is_on and _has_protocol(cluster, "consumer")


def has_share_groups(cluster: Cluster) -> bool:
    """Whether there are share groups: the feature `share.version` says so."""
    return cluster.release.has_share_coordinator and cluster.features.level("share.version") > 0


def has_streams_groups(cluster: Cluster) -> bool:
    """Whether there are streams groups: the feature `streams.version` says so, and the protocols
    that the broker has."""
    is_on = cluster.release.has_streams_groups and cluster.features.level("streams.version") > 0
    return is_on and _has_protocol(cluster, "streams")


def _has_protocol(cluster: Cluster, name: str) -> bool:
    return name in cluster.config.get("group.coordinator.rebalance.protocols")


def check_not_empty(**fields: str | None) -> None:
    """Raises Refused(INVALID_REQUEST) for a text that is there and has nothing in it; fields by
    Kafka's names, in the order in which they are checked."""
    for name, text in fields.items():
        if text is not None and not text.strip():
            raise invalid(f"{name} can't be empty.")


def invalid(message: str) -> Refused:
    """A heartbeat does not say what it must."""
    return Refused(Error.INVALID_REQUEST, message)


def described_groups(
    request: Any, empty: Callable[..., G], describe: Callable[[str], G], *, is_served: bool
) -> Slices[list[G]]:
    """The groups of an answer. `describe` finds one, or raises Refused; `empty` makes the group of
    an error of what all types have in common, and adds what only its type has."""

    @cache
    def group(group_id: str) -> Any:
        try:
            if not is_served:
                raise Refused(Error.UNSUPPORTED_VERSION)
            found: Any = describe(group_id)
        except Refused as refused:
            return empty(
                error_code=refused.error,
                error_message=refused.message,
                group_id=group_id,
                group_state="",
                group_epoch=0,
                assignment_epoch=0,
                members=[],
            )
        if request.include_authorized_operations:
            found.authorized_operations = GROUP_OPERATIONS
        return found

    return (yield from each_of(request.group_ids, group))
