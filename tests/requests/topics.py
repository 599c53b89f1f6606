"""Topics: CreateTopics."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.wire.api.create_topics import CreateTopicsRequest, CreateTopicsResponse

from tests.requests.asker import Asker

Topic = CreateTopicsRequest.Topic


def new_topic(
    name: str,
    partitions: int = 1,
    configs: Mapping[str, str | None] | None = None,
    *,
    factor: int = 1,
) -> Topic:
    """A topic that is to be made, of one replica unless told otherwise."""
    return Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[],
        configs=[Topic.Config(name=key, value=value) for key, value in (configs or {}).items()],
    )


def create_topics(
    client: Asker, *topics: Topic, version: int = 7
) -> dict[str, CreateTopicsResponse.Topic]:
    """Make topics, which must succeed; return what is said of each."""
    answer = client.ask(CreateTopicsRequest(topics=list(topics), timeout_ms=10_000), version)
    assert [each.error_code for each in answer.topics] == [0] * len(topics)
    return {each.name: each for each in answer.topics}
