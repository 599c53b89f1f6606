"""What the APIs of the share coordinator have in common: partition by partition, each by itself.

A request without a group's id, without topics, or with a topic without partitions is answered with
nothing (semantics N24); only InitializeShareGroupState passes over such a topic. Topics and their
partitions are answered in the order of Java's hash maps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...wire import Error, Refused
from ..base.java_order import id_order, int_order

T = TypeVar("T")
A = TypeVar("A")


def by_topic(
    request: Any, one: Callable[[bytes, Any], A], *, passes_over_empty: bool = False
) -> list[tuple[bytes, list[A]]]:
    """What is answered for each partition of a request, by topic; a partition that is named again
    is answered once."""
    topics: Sequence[Any] = request.topics
    if passes_over_empty:
        topics = [topic for topic in topics if topic.partitions]
    if not request.group_id or not all(topic.partitions for topic in topics):
        return []
    found: dict[bytes, dict[int, A]] = {}
    for topic in topics:
        answers = found.setdefault(topic.topic_id, {})
        for asked in topic.partitions:
            answers[asked.partition] = one(topic.topic_id, asked)
    return [
        (topic_id, [found[topic_id][index] for index in int_order(found[topic_id])])
        for topic_id in id_order(found)
    ]


def outcome(verb: str, call: Callable[[], T], what: str = "") -> tuple[T | None, Error, str | None]:
    """What a call returns, or the error and message with which it is refused."""
    try:
        return call(), Error.NONE, None
    except Refused as refused:
        message = refused.message
        if message is None:
            message = f"Unable to {verb} share group state{what}: {refused.error.name}"
        return None, refused.error, message
