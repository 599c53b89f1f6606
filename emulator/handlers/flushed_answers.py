"""Answers that wait until what they acknowledge is on disk, where `flush.messages` asks for that.

Produce and the commits of offsets are held so. The transaction coordinator waits before it answers
(transactions/store.py). Not held: what members are told of their group, which is made anew after a
restart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...storage import Log
from ...wire import Refused, Response
from ..base.call import PARKED, Call, Sentinel
from ..config.internal_topics import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from ..cluster import Cluster


R = TypeVar("R", bound=Response)


class Acknowledged(NamedTuple):
    """Part of a response that says that something was appended to a log; `refuse` makes it say why
    that may be lost again."""

    log: Log
    refuse: Callable[[Refused], None]


def once_flushed(
    cluster: Cluster, call: Call, response: R, parts: Sequence[Acknowledged]
) -> R | Sentinel:
    """The response, or PARKED: it is then sent when everything that it acknowledges is on disk."""

    def send() -> None:
        call.answer(_as_flushed(response, parts))

    if cluster.log_manager.flusher.when_synced((part.log for part in parts), send):
        return PARKED
    return _as_flushed(response, parts)


def once_group_flushed(
    cluster: Cluster,
    call: Call,
    response: R,
    group_id: str,
    refuse: Callable[[Refused], None],
) -> R | Sentinel:
    """The same, for what was written of a group."""
    topic = cluster.topics.get(CONSUMER_OFFSETS)
    if topic is None or not cluster.log_manager.flusher.is_busy:
        return response
    log = topic.partitions[cluster.groups.partition_for(group_id)].log
    return once_flushed(cluster, call, response, [Acknowledged(log, refuse)])


def _as_flushed(response: R, parts: Sequence[Acknowledged]) -> R:
    for part in parts:
        failure = part.log.flush_failure
        if failure is not None:
            part.refuse(failure)
    return response
