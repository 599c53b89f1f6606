"""A topic: its name, its id, its configs and its partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..config.configs import TopicConfig
from ..config.internal_topics import INTERNAL_TOPICS

if TYPE_CHECKING:
    from .partition import Partition


class Topic:
    """A topic. Its partitions are a list by number."""

    __slots__ = ("config", "id", "is_deleted", "is_internal", "name", "partitions")

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig) -> None:
        self.name = name
        self.id = topic_id
        self.config = config
        self.partitions: list[Partition] = []
        self.is_internal = name in INTERNAL_TOPICS
        self.is_deleted = False

    def __repr__(self) -> str:
        return f"<topic {self.name}>"
