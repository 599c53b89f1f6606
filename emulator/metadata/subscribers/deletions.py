"""Deleted topics, for whoever keeps something under their names."""

from __future__ import annotations

from collections.abc import Callable

from ..delta import MetadataDelta, Subscriber
from ..image import MetadataImage


def deletions(*forget: Callable[[str], None]) -> Subscriber:
    """Call each of these with the name of each topic that is deleted."""

    def subscriber(delta: MetadataDelta, image: MetadataImage) -> None:
        for topic in delta.removed.values():
            for each in forget:
                each(topic.name)

    return subscriber
