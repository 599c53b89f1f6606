"""Requests about very many things are served in slices, and what they repeat is made once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from types import FrameType
from typing import Any

import pytest
from odradek.emulator.base import turns as turns_module
from odradek.emulator.cluster import Cluster
from odradek.wire import Request
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.fetch import FetchResponse
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.frames import SIZE, Part

from tests.requests.fetch import asked, fetch_request, values
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of

pytestmark = pytest.mark.slow  # it draws requests as long as they may be

MANY = 3_000
CALLS_MAX = 30_000
"""Of Python's functions and C's in one turn: a few milliseconds. Most are of the first turn, in
which the request is read."""


class Counted:
    """A server's loop: it carries out slices, one in a turn, and counts the calls of each."""

    def __init__(self, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(turns_module, "QUANTUM_S", -1.0)
        self._cluster = cluster
        self._is_woken = False
        self.most = 0

    def carry_out(self, send: Callable[[], Any], turns_max: float = inf) -> int:
        """Until nothing is left to do, or so many turns are over: how many it took."""
        turns = self._cluster.turns
        turns.wake = self._wake
        self._count(send)
        count = 1
        while self._is_woken and count < turns_max:
            self._is_woken = False
            self._count(turns.work)
            count += 1
        return count

    def _wake(self) -> None:
        self._is_woken = True

    def _count(self, action: Callable[[], Any]) -> None:
        calls = 0

        def count(frame: FrameType, event: str, argument: Any) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            action()
        finally:
            sys.setprofile(None)
        self.most = max(self.most, calls)


class Held(Client):
    """What it sends and is answered is encoded and decoded apart from the broker's work."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._frame = b""
        self._parts: list[Part] = []

    def send_raw(self, frame: bytes) -> None:
        self._frame = frame

    def send_parts(self, parts: list[Part]) -> None:
        self._parts += parts

    def pass_on(self) -> None:
        """Send what is held, to be served in turns."""
        self.connection.feed(SIZE.pack(len(self._frame)) + self._frame)

    def answer(self) -> Any:
        super().send_parts(self._parts)
        (answer,) = self.answers()
        return answer


@pytest.fixture
def counted(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(cluster, monkeypatch)


def configs_of(*resources: tuple[int, str], keys: list[str] | None = None) -> Request:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.Resource(
                resource_type=kind, resource_name=name, configuration_keys=keys
            )
            for kind, name in resources
        ],
        include_synonyms=True,
    )


def offsets_of(*partitions: int) -> Request:
    asked = ListOffsetsRequest.Topic.Partition
    topic = ListOffsetsRequest.Topic(
        name="t", partitions=[asked(partition_index=n, timestamp=-1) for n in partitions]
    )
    return ListOffsetsRequest(replica_id=-1, topics=[topic])


def committed_of(*partitions: int) -> Request:
    topic = OffsetFetchRequest.Group.Topic(name="t", partition_indexes=list(partitions))
    return OffsetFetchRequest(groups=[OffsetFetchRequest.Group(group_id="g", topics=[topic])])


def old_committed_of(*partitions: int) -> Request:
    topic = OffsetFetchRequest.Topic(name="t", partition_indexes=list(partitions))
    return OffsetFetchRequest(group_id="g", topics=[topic])


def metadata_of(*names: str, creates: bool = False) -> Request:
    topics = [MetadataRequest.Topic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=creates)


DIFFERENT = [f"name-{number}" for number in range(MANY)]
LONG: dict[str, tuple[Request, int]] = {
    "configs_of_one_topic": (configs_of(*[(2, "t")] * MANY), 4),
    "configs_of_missing_topics": (configs_of(*((2, name) for name in DIFFERENT)), 4),
    "configs_of_groups": (configs_of(*((32, name) for name in DIFFERENT)), 4),
    "some_configs_of_the_broker": (configs_of(*[(4, "1")] * 2_000, keys=DIFFERENT[:1]), 4),
    "descriptions_of_groups": (DescribeGroupsRequest(groups=DIFFERENT), 6),
    "descriptions_of_consumer_groups": (
        ConsumerGroupDescribeRequest(group_ids=DIFFERENT, include_authorized_operations=True),
        1,
    ),
    "coordinators": (FindCoordinatorRequest(key_type=0, coordinator_keys=DIFFERENT), 4),
    "offsets": (offsets_of(*range(MANY)), 7),
    "committed_offsets": (committed_of(*range(MANY)), 8),
    "old_committed_offsets": (old_committed_of(*range(MANY)), 5),
    "unknown_partitions": (fetch_request(*map(asked, range(MANY)), topic="u", session_epoch=0), 12),
    "partitions": (fetch_request(*map(asked, range(MANY)), session_epoch=0), 12),
    "old_partitions": (fetch_request(*map(asked, range(MANY))), 4),
    "all_topics": (MetadataRequest(topics=None), 12),
    "one_topic_of_many": (metadata_of("t"), 12),
    "missing_topics": (metadata_of(*DIFFERENT), 12),
    "created_topics": (metadata_of(*DIFFERENT[:300], creates=True), 12),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_request_is_served_in_slices(cluster: Cluster, counted: Counted, name: str) -> None:
    cluster.create_topic("t", MANY, {})
    cluster.groups.ensure_topic()
    request, version = LONG[name]
    client = Held(cluster)
    client.send(request, version)
    counted.carry_out(client.pass_on)
    assert counted.most < CALLS_MAX
    assert len(client.answer().encode(version)) > 3_000


def test_a_long_session_goes_on_in_slices(cluster: Cluster, counted: Counted) -> None:
    cluster.create_topic("t", MANY, {})
    session = opened(cluster)
    produce(client_of(cluster), batch(b"x"), partition=7)
    client = Held(cluster)
    client.send(fetch_request(session_id=session, session_epoch=1, max_wait_ms=500), 12)
    assert counted.carry_out(client.pass_on) > 3
    assert counted.most < CALLS_MAX
    (topic,) = client.answer().responses
    assert [(found.partition_index, values(found)) for found in topic.partitions] == [(7, [b"x"])]


def test_a_long_fetch_that_waited_is_answered_in_slices(cluster: Cluster, counted: Counted) -> None:
    cluster.create_topic("t", MANY, {})
    client = Held(cluster)
    client.send(fetch_request(*map(asked, range(MANY)), max_wait_ms=500), 12)
    counted.carry_out(client.pass_on)
    counted.most = 0
    assert counted.carry_out(lambda: produce(client_of(cluster), batch(b"x"), partition=7)) > 3
    assert counted.most < CALLS_MAX
    (topic,) = client.answer().responses
    assert [values(found) for found in topic.partitions] == [
        [b"x"] if number == 7 else [] for number in range(MANY)
    ]


@pytest.mark.parametrize("slices", range(0, 60, 4))
def test_a_topic_may_go_during_a_long_fetch(
    cluster: Cluster, counted: Counted, slices: int
) -> None:
    cluster.create_topic("t", MANY, {})
    client = Held(cluster)
    client.send(fetch_request(*map(asked, range(MANY)), max_wait_ms=500, session_epoch=0), 12)
    counted.carry_out(client.pass_on, slices)
    cluster.topics.delete(cluster.topic("t"))
    counted.carry_out(cluster.settle)  # it may be waiting already
    answer: FetchResponse = client.answer()  # without waiting
    (topic,) = answer.responses
    assert len(topic.partitions) == MANY
    assert {found.error_code for found in topic.partitions} <= {0, 3}


def test_a_client_may_go_during_a_long_fetch(cluster: Cluster, counted: Counted) -> None:
    cluster.create_topic("t", MANY, {})
    timers = len(cluster.timers)
    client = Held(cluster)
    client.send(fetch_request(*map(asked, range(MANY)), max_wait_ms=500), 12)
    counted.carry_out(client.pass_on, 4)
    client.connection.lost()
    counted.carry_out(lambda: None)
    assert len(cluster.timers) == timers
    assert not any(partition.waits for partition in cluster.topic("t").partitions)


def opened(cluster: Cluster) -> int:
    """A session that reads all of a topic's partitions; its id."""
    request = fetch_request(*map(asked, range(MANY)), session_epoch=0)
    answer: FetchResponse = client_of(cluster).ask(request, 12)
    assert answer.session_id > 0
    return answer.session_id
