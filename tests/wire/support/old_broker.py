"""A real Apache Kafka 3.9.2, of the last line that converts message sets, and requests to it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache

from odradek.compat import RealKafka
from odradek.wire import Error
from odradek.wire.api.fetch import FetchResponse
from odradek.wire.api.produce import ProduceResponse

from tests.requests.fetch import asked, fetch_request, only
from tests.requests.produce import produce_all
from tests.requests.topics import create_topics, new_topic
from tests.support.connection import BrokerAt, ask

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
        wanted = [new_topic(name, partitions, configs) for name, configs in topics.items()]
        create_topics(BrokerAt(self.address), *wanted, version=4)

    def produce(self, topic: str, sets: Mapping[int, bytes], version: int) -> dict[int, Produced]:
        """Send a set to each of some partitions, again while the topic is new."""
        request = produce_all(*((topic, index, data) for index, data in sets.items()))
        for _ in range(TRIES):
            answer = ask(self.address, request, version)
            results = {r.index: r for each in answer.responses for r in each.partition_responses}
            if not any(r.error_code in NOT_YET for r in results.values()):
                return results
            time.sleep(0.1)
        raise AssertionError(f"topic {topic} does not become ready")

    def fetch(self, topic: str, partition: int, offset: int, version: int, limit: int) -> Fetched:
        """Read one partition, without waiting."""
        request = fetch_request(asked(partition, offset, limit), topic=topic, min_bytes=0)
        return only(ask(self.address, request, version))


@cache
def old_broker() -> OldBroker:
    """Start one when it is first needed; it ends with the tests. Skips where there is no Java."""
    return OldBroker(RealKafka(version=VERSION).start().bootstrap_servers)
