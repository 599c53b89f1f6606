"""Topics: their ids, and how they are created.

Requests give a topic's name and its id (`seen("~t")`): the version decides which one is sent.
"""

from __future__ import annotations

from typing import Any

from odradek.wire.api.create_topics import CreateTopicsRequest

from ..engine.steps import OWN, Ask, seen


def id_of(name: str) -> Any:
    """The id of one of the sequence's own topics; the zero id for other names."""
    return seen(name) if name.startswith(OWN) and len(name) > 1 else bytes(16)


def topic(
    name: str, partitions: int = 1, replication: int = 1, **configs: str | None
) -> CreateTopicsRequest.Topic:
    """A topic to be created; configs with _ for the dots in their names."""
    return CreateTopicsRequest.Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication,
        assignments=[],
        configs=[
            CreateTopicsRequest.Topic.Config(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(name: str = "~t", partitions: int = 1, **configs: str | None) -> Ask:
    """Create a topic, in a version whose answer has its id."""
    return Ask(CreateTopicsRequest(topics=[topic(name, partitions, 1, **configs)]), 7)
