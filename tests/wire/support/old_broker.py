"""A real Apache Kafka 3.9.2, of the last line that converts message sets, and requests to it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache

from odradek.compat import RealKafka
from odradek.wire import Error
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.fetch import FetchRequest, FetchResponse
from odradek.wire.api.produce import ProduceRequest, ProduceResponse

from tests.support.connection import ask

VERSION = "3.9.2"
NOT_YET = {Error.UNKNOWN_TOPIC_OR_PARTITION, Error.NOT_LEADER_OR_FOLLOWER}
TRIES = 100

Produced = ProduceResponse.Topic.Partition
Fetched = FetchResponse.Topic.Partition


class OldBroker:
    """The address of one, and what tests ask of it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def create(self, topics: Mapping[str, Mapping[str, str]], partitions: int) -> None:
        """Create topics with their configs, each with so many partitions."""
        wanted = [
            CreateTopicsRequest.Topic(
                name=name,
                num_partitions=partitions,
                replication_factor=1,
                assignments=[],
                configs=[
                    CreateTopicsRequest.Topic.Config(name=key, value=value)
                    for key, value in configs.items()
                ],
            )
            for name, configs in topics.items()
        ]
        answer = ask(self.address, CreateTopicsRequest(topics=wanted, timeout_ms=10_000), 4)
        assert [topic.error_code for topic in answer.topics] == [0] * len(topics)

    def produce(self, topic: str, sets: Mapping[int, bytes], version: int) -> dict[int, Produced]:
        """Send a set to each of some partitions, again while the topic is new."""
        request = ProduceRequest(
            acks=-1,
            timeout_ms=10_000,
            topic_data=[
                ProduceRequest.Topic(
                    name=topic,
                    partition_data=[
                        ProduceRequest.Topic.Partition(index=index, records=data)
                        for index, data in sets.items()
                    ],
                )
            ],
        )
        for _ in range(TRIES):
            answer = ask(self.address, request, version)
            results = {r.index: r for r in answer.responses[0].partition_responses}
            if not any(r.error_code in NOT_YET for r in results.values()):
                return results
            time.sleep(0.1)
        raise AssertionError(f"topic {topic} does not become ready")

    def fetch(self, topic: str, partition: int, offset: int, version: int, limit: int) -> Fetched:
        """Read one partition, without waiting."""
        asked = FetchRequest.Topic.Partition(
            partition=partition, fetch_offset=offset, partition_max_bytes=limit
        )
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            topics=[FetchRequest.Topic(topic=topic, partitions=[asked])],
        )
        answer: Fetched = ask(self.address, request, version).responses[0].partitions[0]
        return answer


@cache
def old_broker() -> OldBroker:
    """Start one when it is first needed; it ends with the tests. Skips where there is no Java."""
    return OldBroker(RealKafka(version=VERSION).start().bootstrap_servers)
