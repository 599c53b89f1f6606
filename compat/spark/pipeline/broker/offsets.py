"""Offsets of partitions: the first, the next, the last stable one, and by time."""

from __future__ import annotations

from collections.abc import Iterable

from .....wire.api.delete_records import DeleteRecordsRequest
from .....wire.api.list_offsets import ListOffsetsRequest
from .cluster import Cluster, Place, refuse

LATEST = -1
EARLIEST = -2
_READ_COMMITTED = 1
_NEWEST = 9
"""Topics are named in every version of ListOffsets; this one knows all that is asked here."""


def offsets(
    cluster: Cluster, places: Iterable[Place], when: int, *, committed: bool = False
) -> dict[Place, int]:
    """An offset of each partition: EARLIEST, LATEST, or of the first record at or after a time in
    milliseconds, -1 where there is none.

    With `committed` LATEST is the last stable offset: where the first open transaction begins.
    """
    wanted = list(places)

    def ask() -> dict[Place, int]:
        found: dict[Place, int] = {}
        for node, led in cluster.by_leader(wanted).items():
            request = _request(led, when, committed)
            for topic in cluster.brokers.ask(request, most=_NEWEST, node=node).topics:
                for part in topic.partitions:
                    refuse(part.error_code, f"{topic.name}-{part.partition_index}")
                    old = part.old_style_offsets  # v0, of very old brokers
                    found[topic.name, part.partition_index] = old[0] if old else part.offset
        return found

    return cluster.repeated(ask, "offsets")


def stable_offsets(cluster: Cluster, places: Iterable[Place]) -> dict[Place, int]:
    """Up to where a read_committed consumer reads."""
    return offsets(cluster, places, LATEST, committed=True)


def delete_records(cluster: Cluster, place: Place, before: int) -> None:
    """Raise the log start offset of a partition."""
    topic, index = place
    partition = DeleteRecordsRequest.Topic.Partition(partition_index=index, offset=before)
    wanted = DeleteRecordsRequest.Topic(name=topic, partitions=[partition])
    request = DeleteRecordsRequest(topics=[wanted], timeout_ms=30_000)

    def ask() -> None:
        (node,) = cluster.by_leader([place])
        (answered,) = cluster.brokers.ask(request, node=node).topics
        refuse(answered.partitions[0].error_code, f"{topic}-{index}")

    cluster.repeated(ask, f"{topic}-{index} cannot be made to start at {before}")


def _request(places: list[Place], when: int, committed: bool) -> ListOffsetsRequest:
    topics: dict[str, ListOffsetsRequest.Topic] = {}
    for name, index in places:
        topic = topics.setdefault(name, ListOffsetsRequest.Topic(name=name, partitions=[]))
        topic.partitions.append(
            ListOffsetsRequest.Topic.Partition(partition_index=index, timestamp=when)
        )
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=_READ_COMMITTED if committed else 0,
        topics=list(topics.values()),
    )
