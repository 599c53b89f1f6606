"""Where a share group (KIP-932) begins: set by `odradek groups reset`, deleted by `forget`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from ....wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from .client import Brokers, ConsoleError, check
from .offsets import Place


def set_starts(brokers: Brokers, name: str, offsets: Mapping[Place, int]) -> None:
    """Have a group without members begin at these offsets. Raises ConsoleError."""
    topics: dict[str, AlterShareGroupOffsetsRequest.Topic] = {}
    for (topic, index), offset in offsets.items():
        new = AlterShareGroupOffsetsRequest.Topic(topic_name=topic, partitions=[])
        part = AlterShareGroupOffsetsRequest.Topic.Partition(
            partition_index=index, start_offset=offset
        )
        topics.setdefault(topic, new).partitions.append(part)
    request = AlterShareGroupOffsetsRequest(group_id=name, topics=list(topics.values()))
    answer = brokers.ask_coordinator(name, request)
    check(answer.error_code, f"group {name}", answer.error_message)
    for found in answer.responses:
        for part in found.partitions:
            place = f"{found.topic_name}-{part.partition_index}"
            check(part.error_code, place, part.error_message)


def forget_starts(brokers: Brokers, name: str, wanted: Iterable[tuple[str, int | None]]) -> None:
    """Delete what a group without members has of these topics. Raises ConsoleError, also for one
    partition: Kafka deletes what a share group has of a whole topic."""
    topics = []
    for topic, index in wanted:
        if index is not None:
            raise ConsoleError(
                f"{topic}:{index}: a share group forgets whole topics; name it as {topic}"
            )
        topics.append(DeleteShareGroupOffsetsRequest.Topic(topic_name=topic))
    request = DeleteShareGroupOffsetsRequest(group_id=name, topics=topics)
    answer = brokers.ask_coordinator(name, request)
    check(answer.error_code, f"group {name}", answer.error_message)
    for found in answer.responses:
        check(found.error_code, f"topic {found.topic_name}", found.error_message)
