"""Many topics: how long it takes to create, describe and delete them, and what they weigh.

    python -m tests.bench.bench_topics [--topics 10000] [--only odradek|kafka]

Each broker runs as a process of its own. Topics have one partition; requests name a thousand topics
at once. A step counts until the broker's own answers show it done: a real broker answers a creation
before each partition has a leader, and that is waited for. Memory is what the process has more than
before the topics came. Times are given as milliseconds a topic, and as a ratio.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from odradek.compat import Unavailable
from odradek.wire import NO_ID
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.differential.engine.asker import Asker
from tests.support.processes import memory

from .brokers import Broker, Kafka, Odradek

AT_ONCE = 1000
WAIT_S = 600.0
TOPIC_RESOURCE = 2
_LOOK_EVERY_S = 0.05


class Measured:
    """One broker's steps: name to milliseconds a topic, and bytes of memory a topic."""

    def __init__(self, broker: Broker, topics: int) -> None:
        self.steps: dict[str, float] = {}
        self._count = topics
        self._names = [f"topic-{number:05d}" for number in range(topics)]
        host, _, port = broker.address.rpartition(":")
        self._asker = Asker((host, int(port)))
        assert broker.pid is not None
        before = memory(broker.pid).resident
        self._time("create, ms", self._create)
        self.steps["memory, KiB"] = (memory(broker.pid).resident - before) / topics / 1024
        self._time("metadata of all, ms", lambda: self._metadata(None))
        self._time("metadata by name, ms", lambda: self._metadata(self._names))
        self._time("describe, ms", self._describe)
        self._time("describe configs, ms", self._configs)
        self._time("delete, ms", self._delete)

    def _time(self, name: str, work: Callable[[], None]) -> None:
        begin = time.perf_counter()
        work()
        self.steps[name] = (time.perf_counter() - begin) * 1000 / self._count

    def _groups(self) -> Iterator[list[str]]:
        for first in range(0, self._count, AT_ONCE):
            yield self._names[first : first + AT_ONCE]

    def _create(self) -> None:
        topic = CreateTopicsRequest.Topic
        for names in self._groups():
            request = CreateTopicsRequest(
                topics=[
                    topic(
                        name=name,
                        num_partitions=1,
                        replication_factor=1,
                        assignments=[],
                        configs=[],
                    )
                    for name in names
                ],
                timeout_ms=60_000,
            )
            answer = self._asker.ask(request, 7)
            assert not any(each.error_code for each in answer.topics)
        self._until(lambda: self._led() == self._count)

    def _led(self) -> int:
        """How many of the topics have a leader."""
        topics = self._asker.ask(MetadataRequest(topics=None), 8).topics
        return sum(
            not topic.error_code and all(p.leader_id >= 0 for p in topic.partitions)
            for topic in topics
            if topic.name.startswith("topic-")
        )

    def _until(self, is_done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_S
        while not is_done():
            if time.monotonic() > deadline:
                raise TimeoutError("the broker does not catch up")
            time.sleep(_LOOK_EVERY_S)

    def _metadata(self, names: list[str] | None) -> None:
        wanted = None if names is None else [MetadataRequest.Topic(name=name) for name in names]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        assert len(self._asker.ask(request, 12).topics) >= self._count

    def _describe(self) -> None:
        made = DescribeTopicPartitionsRequest
        seen, cursor = 0, None
        while True:
            request = made(topics=[], response_partition_limit=2000, cursor=cursor)
            answer = self._asker.ask(request, 0)
            seen += len(answer.topics)
            if answer.next_cursor is None:
                break
            after = answer.next_cursor
            cursor = made.Cursor(topic_name=after.topic_name, partition_index=after.partition_index)
        assert seen >= self._count

    def _configs(self) -> None:
        resource = DescribeConfigsRequest.Resource
        for names in self._groups():
            request = DescribeConfigsRequest(
                resources=[
                    resource(
                        resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None
                    )
                    for name in names
                ],
                include_synonyms=True,
            )
            answer = self._asker.ask(request, 4)
            assert not any(each.error_code for each in answer.results)

    def _delete(self) -> None:
        for names in self._groups():
            request = DeleteTopicsRequest(
                topics=[DeleteTopicsRequest.Topic(name=name, topic_id=NO_ID) for name in names],
                timeout_ms=60_000,
            )
            answer = self._asker.ask(request, 6)
            assert not any(each.error_code for each in answer.responses)
        self._until(lambda: self._led() == 0)


def measure(broker: Broker, topics: int) -> dict[str, float]:
    """Start a broker, take the steps, stop it. Raises Unavailable."""
    broker.prepare()
    broker.start()
    try:
        return Measured(broker, topics).steps
    finally:
        broker.stop()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_topics")
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--only", choices=("odradek", "kafka"))
    given = parser.parse_args(arguments)
    brokers: dict[str, type[Broker]] = {"odradek": Odradek, "kafka": Kafka}
    found: dict[str, dict[str, float]] = {}
    for name, kind in brokers.items():
        if given.only in (None, name):
            try:
                found[name] = measure(kind(), given.topics)
            except Unavailable as reason:
                print(f"{name} unavailable: {reason}", file=sys.stderr)
    print(f"{given.topics} topics of one partition, {AT_ONCE} a request; per topic:")
    print(f"{'':24}" + "".join(f"{name:>12}" for name in found) + f"{'ratio':>10}")
    for step in next(iter(found.values()), {}):
        values = [steps[step] for steps in found.values()]
        ratio = f"{values[0] / values[1]:9.3f}x" if len(values) == 2 and values[1] > 0 else ""
        print(f"{step:24}" + "".join(f"{value:12.4f}" for value in values) + ratio)
    return 0


if __name__ == "__main__":
    sys.exit(main())
