"""Topics and committed offsets: settled when both brokers say the same of them.

A topic is settled when Metadata (error, partitions, leaders) is the same and ListOffsets succeeds
for each partition. A real broker removes the offsets committed for a deleted topic within a second
of the deletion: they are settled when both brokers list the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from ..engine.asker import Asker
from .alike import until_alike

_LATEST = -1
_GROUP = 0
_ALL_TOPICS_SINCE = 2
"""The version of OffsetFetch that can ask for every topic."""
_CREATES_NONE_SINCE = 4
"""The version of Metadata that can be told to create no topics."""
_NOT_YET = {
    Error.LEADER_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_COORDINATOR,
}
"""What a broker answers while something is still being created or loaded."""


class _View(NamedTuple):
    topics: Any
    errors: list[int]
    committed: Any


def settle(
    askers: Sequence[Asker], names: Iterable[str], groups: Iterable[str], limit_s: float
) -> None:
    """Wait until both brokers say the same of these topics and groups."""
    topics, committed = sorted(names), sorted(groups)
    until_alike(askers, lambda asker: _view(asker, topics, committed), limit_s, _is_ready)


def is_warm(asker: Asker) -> bool:
    """Whether the group coordinator is loaded and producer ids are given."""
    found = asker.ask(FindCoordinatorRequest(key="warm-up", key_type=_GROUP), 1)
    producer = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    return not found.error_code and not any(
        asker.ask(request, version).error_code
        for request, version in ((ListGroupsRequest(), 3), (producer, 0))
        if asker.serves(type(request))
    )


def _is_ready(view: _View) -> bool:
    return not any(code in _NOT_YET for code in view.errors)


def _view(asker: Asker, names: list[str], groups: list[str]) -> _View:
    found_topics = _topics(asker, names)
    topics = sorted(
        (t.name, t.error_code, sorted((p.partition_index, p.leader_id) for p in t.partitions))
        for t in found_topics
    )
    listed = asker.ask(_latest_offsets(found_topics), 1)
    errors = [p.error_code for topic in listed.topics for p in topic.partitions]
    errors += [p.error_code for topic in found_topics for p in topic.partitions]
    committed = []
    for group in groups if asker.serves(OffsetFetchRequest, _ALL_TOPICS_SINCE) else ():
        found = asker.ask(OffsetFetchRequest(group_id=group, topics=None), 2)
        errors.append(found.error_code)
        committed.append(
            sorted(
                (t.name, p.partition_index, p.committed_offset)
                for t in found.topics
                for p in t.partitions
            )
        )
    return _View(topics, errors, committed)


def _topics(asker: Asker, names: list[str]) -> list[Any]:
    """The topics of these names in Metadata, which creates none."""
    if asker.serves(MetadataRequest, _CREATES_NONE_SINCE):
        wanted = [MetadataRequest.Topic(name=name) for name in names]
        asked = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        return list(asker.ask(asked, 8).topics)
    every = None if asker.serves(MetadataRequest, 1) else []
    return [
        each for each in asker.ask(MetadataRequest(topics=every), 3).topics if each.name in names
    ]


def _latest_offsets(topics: list[Any]) -> ListOffsetsRequest:
    """ListOffsets for every partition that Metadata has answered."""
    made = ListOffsetsRequest.Topic
    return ListOffsetsRequest(
        replica_id=-1,
        topics=[
            made(
                name=topic.name,
                partitions=[
                    made.Partition(partition_index=p.partition_index, timestamp=_LATEST)
                    for p in topic.partitions
                ],
            )
            for topic in topics
            if topic.partitions
        ],
    )
