"""Produce's two ways: what takes the straight one is judged, stored, answered and told as in the
other, whatever is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odradek.emulator.cluster import Cluster
from odradek.emulator.handlers import produce as handler
from odradek.storage import MemoryDisk
from odradek.wire import NO_ID
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.batch import checksum
from odradek.wire.primitives import Buffer

from tests.requests.produce import Topic, batch
from tests.support.clock import NOW
from tests.support.cluster import Client, open_cluster

TOPICS: dict[str, dict[str, str]] = {
    "t": {},
    "u": {"message.timestamp.after.max.ms": "10", "message.timestamp.before.max.ms": "10"},
    "small": {"max.message.bytes": "100"},
    "compacted": {"cleanup.policy": "compact"},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "zipped": {"compression.type": "gzip"},
    "unzipped": {"compression.type": "uncompressed"},
    "strict": {"min.insync.replicas": "2"},
    "flushed": {"flush.messages": "1"},
    "rolled": {"internal.segment.bytes": "300"},
}

times = st.sampled_from([NOW, NOW - 10, NOW + 10, NOW - 11, NOW + 11, -1, 2**62, -2])
numbered = st.fixed_dictionaries(
    {
        "producer_id": st.sampled_from([1, 2, -1]),
        "producer_epoch": st.sampled_from([0, 1, -1]),
        "base_sequence": st.sampled_from([0, 1, 2, 3, -1]),
    }
)
patches = st.tuples(st.integers(0, 90), st.binary(min_size=1, max_size=4), st.booleans())
sometimes = st.integers(0, 7).map(lambda drawn: drawn == 7)


@st.composite
def batches(draw: st.DrawFn) -> Buffer | None:
    """One batch: mostly a good one, else a producer's, a changed, a cut or a longer one."""
    more: dict[str, Any] = draw(numbered) if draw(sometimes) else {}
    if draw(sometimes):
        more |= draw(st.sampled_from([{"codec": 2}, {"codec": 1}, {"transactional": True}]))
    values = draw(st.lists(st.binary(max_size=30), min_size=1, max_size=3))
    time = draw(times) if draw(sometimes) else NOW
    data = batch(*values, key=None if draw(sometimes) else b"k", time=time, **more)
    if draw(sometimes):
        at, value, is_right = draw(patches)
        data[at : at + len(value)] = value
        if is_right:
            data[17:21] = checksum(data, 0, len(data)).to_bytes(4, "big")
    if draw(sometimes):
        return draw(st.sampled_from([data[:-1], data[:60], b"", None, data + data, data + b"x"]))
    return data


@st.composite
def requests(draw: st.DrawFn) -> tuple[ProduceRequest, int]:
    """A request by names, and its version."""
    names = st.sampled_from(["t", "t", "t", "u", "flushed", *TOPICS, "none", "__consumer_offsets"])
    indexes = st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)
    odd_indexes = st.lists(st.sampled_from([0, 1, 3, -1]), max_size=3)
    topics = [
        Topic(
            name=name,
            partition_data=[
                Topic.Partition(index=index, records=draw(batches()))
                for index in draw(odd_indexes if draw(sometimes) else indexes)
            ],
        )
        for name in draw(st.lists(names, min_size=1, max_size=2))
    ]
    acks = draw(st.sampled_from([-1, 1, 0, 2] if draw(sometimes) else [-1, 1]))
    request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=topics)
    request.transactional_id = "x" if draw(sometimes) else None
    return request, draw(st.sampled_from([3, 6, 9, 11, 13]))


class Broker:
    """A cluster, and what comes of a request there."""

    def __init__(self) -> None:
        self.cluster: Cluster = open_cluster(MemoryDisk().directory(), max_events=20)
        self.ids = {name: self.cluster.create_topic(name, 3, given).id
                    for name, given in TOPICS.items()}  # fmt: skip
        self.names = {topic_id: name for name, topic_id in self.ids.items()}
        self.client = Client(self.cluster)

    def outcome(self, request: ProduceRequest, version: int) -> list[Any]:
        """Answers by name, whether the connection was closed, what is stored, and what is told."""
        for topic in request.topic_data:
            topic.topic_id = self.ids.get(topic.name, b"?" * 16) if version >= 13 else NO_ID
        before = [log.log_end_offset for log in self._logs()]
        self.client.send(request, version)
        answers, closed = self.client.answers(), self.client.is_closed
        for answer in answers:
            for topic in answer.responses:
                topic.name = topic.name or self.names.get(topic.topic_id, "?")
                topic.topic_id = NO_ID
        if closed or not answers:
            self.client = Client(self.cluster)
        stored = [bytes(log.read(end, 1 << 20)) for end, log in zip(before, self._logs())]  # noqa: B905
        events = [
            replace(event, elapsed=0, until=0) for event in self.cluster.journal.events()[-5:]
        ]
        return [answers, closed, stored, events]

    def _logs(self) -> Iterator[Any]:
        for name in TOPICS:
            for partition in self.cluster.topics.get(name).partitions:  # type: ignore[union-attr]
                yield partition.log


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[Broker, Broker]]:
    both = Broker(), Broker()
    yield both
    for broker in both:
        broker.cluster.close()


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(asked=st.lists(requests(), min_size=1, max_size=3))
def test_both_ways_do_the_same(
    brokers: tuple[Broker, Broker], asked: list[tuple[ProduceRequest, int]]
) -> None:
    straight, other = brokers
    for request, version in asked:
        found = straight.outcome(request, version)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(handler, "_plain", lambda *_: None)
            assert found == other.outcome(request, version)
