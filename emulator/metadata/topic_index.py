"""Which topics there are: by name, by id, and in the order of their names.

`generation` rises with every change that an answer might show.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from ..partitions.topic import Topic
from .topic_rules import folded


class TopicIndex:
    """All topics of a cluster; iterated in the order of their names."""

    def __init__(self) -> None:
        self.generation = 0
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self._names: list[str] = []
        self._folded: dict[str, list[str]] = {}

    def get(self, name: str) -> Topic | None:
        """The topic of that name."""
        return self._by_name.get(name)

    def by_id(self, topic_id: bytes) -> Topic | None:
        """The topic with that id (16 bytes)."""
        return self._by_id.get(topic_id)

    def colliding(self, name: str) -> Sequence[str]:
        """Names of topics that would have the same names in metrics as this one."""
        return self._folded.get(folded(name), ())

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Topic]:
        return (self._by_name[name] for name in list(self._names))

    # Changes, made by subscribers/topics.py

    def changed(self) -> None:
        """Something that answers show of topics has changed: a leader, a broker, a config."""
        self.generation += 1

    def enter(self, topic: Topic) -> None:
        """Add a topic."""
        self._by_name[topic.name] = topic
        self._by_id[topic.id] = topic
        insort(self._names, topic.name)
        self._folded.setdefault(folded(topic.name), []).append(topic.name)

    def leave(self, topic_id: bytes) -> Topic:
        """Remove a topic, and return it. Raises KeyError."""
        topic = self._by_id.pop(topic_id)
        del self._by_name[topic.name]
        del self._names[bisect_left(self._names, topic.name)]
        key = folded(topic.name)
        alike = self._folded[key]
        alike.remove(topic.name)
        if not alike:
            del self._folded[key]
        return topic
