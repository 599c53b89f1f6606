"""What groups see of topics: hashes, and which are new."""

from __future__ import annotations

from odradek.emulator.groups.topics_view import TopicsView

from tests.emulator.groups.support.world import FakeTopics


class _Topic:
    def __init__(self, name: str, topic_id: bytes, count: int) -> None:
        self.name, self.id, self.partitions = name, topic_id, range(count)


def test_the_hash_of_topics_is_the_one_that_kafka_writes() -> None:
    topics = FakeTopics()
    for topic in (
        _Topic("t", bytes(range(16)), 3),
        _Topic("grüße-😀", bytes(reversed(range(16))), 200),
    ):
        topics.topics[topic.name] = topic  # type: ignore[assignment]
    view = TopicsView(topics, lambda: 0)
    assert view.hash_of(["t"]) == -7909395294144551977
    assert view.hash_of(["t", "none", "grüße-😀", "t"]) == -3986287000193872944
    assert view.hash_of([]) == view.hash_of(["none"]) == 0


def test_new_topics_are_noticed_and_larger_ones_are_not_new() -> None:
    topics = FakeTopics()
    view = TopicsView(topics, lambda: topics.generation)
    assert view.version_with_new_topics == 0
    topics.make("t", 1)
    assert view.version_with_new_topics == 1
    topics.make("t", 2)
    topics.make("t", 3)
    assert (view.version, view.version_with_new_topics) == (3, 1)
