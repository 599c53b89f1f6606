"""Which partitions the members with an endpoint have, for interactive queries (semantics N35)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....wire.errors import Error, Refused
from ...base.java_order import hash_map_order, int_order, timeline_order
from .configured import ConfiguredSubtopology
from .group import StreamsGroup
from .members import StreamsMember
from .messages import MemberPlace
from .tasks import Epochs, Tasks


def places(group: StreamsGroup, after: StreamsMember) -> list[MemberPlace]:
    """Of all members with an endpoint; `after`, the one that sent a heartbeat, comes last. Raises
    Refused(UNKNOWN_SERVER_ERROR) while topics are missing, as a real broker fails then."""
    names = timeline_order(group.members, size=len(group) + 1)
    others = [group.members[name] for name in names if name != after.member_id]
    return [_kept(group, each) for each in (*others, after) if each.endpoint is not None]


def _kept(group: StreamsGroup, member: StreamsMember) -> MemberPlace:
    """What was told last, until the member's records are written: the answer to the heartbeat that
    changes an endpoint has the old one, if that was told before."""
    told = group.unwritten.places
    if member.member_id not in told:
        told[member.member_id] = _place(group, member)
    return told[member.member_id]


def _place(group: StreamsGroup, member: StreamsMember) -> MemberPlace:
    configured = group.unwritten.configured
    if configured is None or configured.subtopologies is None or member.endpoint is None:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    held, subtopologies = member.assigned, configured.subtopologies
    return MemberPlace(
        member.endpoint,
        _partitions(group, held.active, subtopologies),
        _partitions(group, held.standby, subtopologies),
    )


def _partitions(
    group: StreamsGroup, held: Epochs | Tasks, subtopologies: Mapping[str, ConfiguredSubtopology]
) -> list[tuple[str, Sequence[int]]]:
    """A topic with fewer partitions than there are tasks has so many of their lowest numbers."""
    found: list[tuple[str, Sequence[int]]] = []
    for name in hash_map_order(held):
        subtopology = subtopologies.get(name)
        if subtopology is None:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        topics = [*hash_map_order(subtopology.source_topics), *subtopology.repartition_sources]
        for topic_name in hash_map_order(topics):
            topic = group.view.catalogue.get(topic_name)
            if topic is None:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            numbers = int_order(held[name])
            count = len(topic.partitions)
            if count < len(numbers):
                numbers = sorted(numbers)[:count]
            found.append((topic_name, numbers))
    return found
