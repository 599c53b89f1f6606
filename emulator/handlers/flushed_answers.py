"""Answers that wait until what they acknowledge is on disk, where `flush.messages` asks for that.

Produce and the commits of offsets are held so. The transaction coordinator waits before it answers
(transactions/store.py). Not held: what members learn of their group, which is made anew after a
restart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from ...storage import Log
from ...wire import Error, Refused, Response
from ..base.call import PARKED, Call, Sentinel, as_coordinator
from ..config.internal_topics import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from ..cluster import Cluster


R = TypeVar("R", bound=Response)


class Acknowledged(NamedTuple):
    """Part of a response that says that something was appended to a log; `refuse` makes it say why
    that may be lost again."""

    log: Log
    refuse: Callable[[Refused], None]


class Place(Protocol):
    """A partition's part of the answer to a commit of offsets."""

    error_code: int


def once_flushed(
    cluster: Cluster, call: Call, response: R, parts: Sequence[Acknowledged]
) -> R | Sentinel:
    """The response, or PARKED: it is then sent when everything that it acknowledges is on disk."""

    def send() -> None:
        call.answer(_as_flushed(response, parts))

    if cluster.log_manager.flusher.when_synced((part.log for part in parts), send):
        return PARKED
    return _as_flushed(response, parts)


def once_commit_flushed(
    cluster: Cluster,
    call: Call,
    response: R,
    group_id: str,
    places: Sequence[Place],
    errors: Sequence[Error],
) -> R | Sentinel:
    """The same, for offsets of a group: `places` are those parts of the response that tell of what
    was to be stored, and get the errors of that."""
    for place, error in zip(places, errors, strict=True):
        place.error_code = error
    topic = cluster.topics.get(CONSUMER_OFFSETS)
    if topic is None or not cluster.log_manager.flusher.is_busy:
        return response
    log = topic.partitions[cluster.groups.partition_for(group_id)].log
    part = Acknowledged(log, partial(_refuse_commit, places))
    return once_flushed(cluster, call, response, [part])


def _refuse_commit(places: Sequence[Place], refused: Refused) -> None:
    for place in places:
        place.error_code = place.error_code or as_coordinator(refused).error


def _as_flushed(response: R, parts: Sequence[Acknowledged]) -> R:
    for part in parts:
        failure = part.log.flush_failure
        if failure is not None:
            part.refuse(failure)
    return response
