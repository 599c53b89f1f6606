"""The delta of a change of the metadata: topics, partitions, configs, …, each by its key.

Each append to the metadata log has one delta, however many records it has. The values are in the
image, which has replayed all records by then; a key that the image no longer has was removed.

Rules for topics:
- A topic that is new is in `created` alone: what is new includes its partitions and its configs.
- A topic that was created and removed within one delta is in neither `created` nor `removed`.
- A subscriber handles `removed` before `created`: a new topic may have the name of a removed one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from .image import ConfigResource, MetadataImage, QuotaEntity, TopicImage

K = TypeVar("K")
Keys: TypeAlias = dict[K, None]
"""A set that keeps its order."""


@dataclass(slots=True)
class MetadataDelta:
    """The keys that a change touched."""

    created: dict[bytes, TopicImage] = field(default_factory=dict)
    """New topics by id."""
    removed: dict[bytes, TopicImage] = field(default_factory=dict)
    """Deleted topics by id, as they were."""
    partitions: Keys[tuple[bytes, int]] = field(default_factory=dict)
    """Of topics that existed before: partitions that are new or have changed, by topic and
    number."""
    configs: Keys[ConfigResource] = field(default_factory=dict)
    quotas: Keys[QuotaEntity] = field(default_factory=dict)
    credentials: Keys[str] = field(default_factory=dict)
    """Users."""
    acls: Keys[bytes] = field(default_factory=dict)
    tokens: Keys[str] = field(default_factory=dict)
    brokers: Keys[int] = field(default_factory=dict)
    controllers: Keys[int] = field(default_factory=dict)
    features: Keys[str] = field(default_factory=dict)
    has_producer_ids: bool = False
    """Whether a block of producer ids was allocated."""

    @classmethod
    def of_all(cls, image: MetadataImage) -> MetadataDelta:
        """Everything that an image has, as a change of an empty one."""
        return cls(
            created=dict(image.topics),
            configs=dict.fromkeys(image.configs),
            quotas=dict.fromkeys(image.quotas),
            credentials=dict.fromkeys(image.scram),
            acls=dict.fromkeys(image.acls),
            tokens=dict.fromkeys(image.tokens),
            brokers=dict.fromkeys(image.brokers),
            controllers=dict.fromkeys(image.controllers),
            features=dict.fromkeys(image.features),
            has_producer_ids=image.next_producer_id > 0,
        )

    def reaches(self, topic_id: bytes) -> bool:
        """Whether this topic is new, or partitions of it are new or have changed."""
        return topic_id in self.created or any(of == topic_id for of, _ in self.partitions)

    def topic_removed(self, topic: TopicImage) -> None:
        for number in topic.partitions:
            self.partitions.pop((topic.topic_id, number), None)
        if self.created.pop(topic.topic_id, None) is None:
            self.removed[topic.topic_id] = topic

    def partition_changed(self, topic_id: bytes, number: int) -> None:
        if topic_id not in self.created:
            self.partitions[topic_id, number] = None


Subscriber: TypeAlias = "Callable[[MetadataDelta, MetadataImage], None]"
"""Puts a change into effect, given the image after it. It cannot refuse the change, and must not
append another one."""
