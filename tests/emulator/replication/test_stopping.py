"""A broker that is stopped goes on for a while, and clients are sent elsewhere: what three nodes of
Kafka 4.3.1 answered each kind of client (semantics O24)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.readiness.figures import STOPPING
from odradek.emulator.replication.brokers import Process
from odradek.emulator.replication.leaving import ANSWERS_MS, stop
from odradek.emulator.transactions.transaction import Producer
from odradek.storage import MemoryDisk
from odradek.wire import Error, Request, Struct
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest

from tests.requests.administration import create
from tests.requests.committed_offsets import commit_request, offset_fetch_request
from tests.requests.consumer_groups import beat_request
from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import join_request, stable
from tests.requests.offsets import list_offsets_request
from tests.requests.produce import batch, produce, produce_request
from tests.requests.transactions import (
    add_offsets_request,
    add_request,
    end_request,
    init_request,
)
from tests.support.clock import NOW
from tests.support.cluster import Client
from tests.support.several_brokers import open_three

SOMEBODY = Producer(0, 0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Broker 1 leads and coordinates all there is, and clients are connected to it."""
    cluster = open_three(offsets_topic_num_partitions="1", transaction_state_log_num_partitions="1")
    cluster.topics.create("t", assignments=[(0, [1, 2, 3])])
    cluster.replication.has_clients = lambda node_id: True
    cluster.groups.ensure_topic()
    cluster.transactions.ensure_topic()
    yield cluster
    cluster.close()


def errors(part: Any) -> set[Error]:
    """All in an answer."""
    if isinstance(part, list):
        return set().union(*map(errors, part))
    if not isinstance(part, Struct):
        return set()
    fields = {field.name: getattr(part, field.name) for field, _ in type(part).fields()}
    own = {Error(code) for name, code in fields.items() if name.endswith("error_code") and code}
    return own.union(*map(errors, fields.values()))


NOT_LEADER, NOT_COORDINATOR = {Error.NOT_LEADER_OR_FOLLOWER}, {Error.NOT_COORDINATOR}
NONE: set[Error] = set()
# What a client of each kind asks the broker that stops, and the errors in the answer.
ANSWERED: dict[str, tuple[Request, int, set[Error]]] = {
    "produce, acks=1": (produce_request(batch(b"x"), acks=1), 9, NOT_LEADER),
    "produce, acks=all": (produce_request(batch(b"x")), 9, NOT_LEADER),
    "fetch before follower reads": (fetch_request(asked()), 10, NOT_LEADER),
    "fetch": (fetch_request(asked()), 12, NONE),  # as a follower serves it
    "list offsets": (list_offsets_request(-1), 7, NOT_LEADER),
    "join": (join_request(), 3, NOT_COORDINATOR),
    "commit": (commit_request(0), 8, NOT_COORDINATOR),
    "offset fetch": (offset_fetch_request(), 7, NOT_COORDINATOR),
    "describe groups": (DescribeGroupsRequest(groups=["g"]), 4, NOT_COORDINATOR),
    "list groups": (ListGroupsRequest(), 3, NONE),
    "consumer group": (beat_request(), 1, NOT_COORDINATOR),
    "share group": (
        ShareGroupHeartbeatRequest(
            group_id="s", member_id="a", member_epoch=0, subscribed_topic_names=["t"]
        ),
        1,
        NOT_COORDINATOR,
    ),
    "init a transactional id": (init_request(), 4, NOT_COORDINATOR),
    "init": (init_request(None), 4, NONE),
    "add partitions": (add_request(SOMEBODY, [("t", [0])]), 3, NOT_COORDINATOR),
    "add offsets": (add_offsets_request(SOMEBODY), 3, NOT_COORDINATOR),
    "end": (end_request(SOMEBODY), 3, NOT_COORDINATOR),
    "create a topic": (*create("new", [[2]]), NONE),
    "versions": (
        ApiVersionsRequest(client_software_name="x", client_software_version="1"),
        3,
        NONE,
    ),
}


@pytest.mark.parametrize("kind", ANSWERED)
def test_what_a_client_is_answered_by_a_broker_that_stops(cluster: Cluster, kind: str) -> None:
    request, version, expected = ANSWERED[kind]
    client = Client(cluster)
    gone = stop(cluster.replication, 1)
    assert errors(client.ask(request, version)) == expected
    assert not gone.done()
    assert str(cluster.replication.brokers[1]) == "up, shutting down"
    cluster.advance(ANSWERS_MS)
    assert gone.done()
    assert str(cluster.replication.brokers[1]) == "down, fenced"


def test_who_waits_there_is_sent_on_or_kept(cluster: Cluster) -> None:
    old, new, first, second = (Client(cluster) for _ in range(4))
    stable(first)
    old.send(fetch_request(asked(), max_wait_ms=60_000), 10)
    new.send(fetch_request(asked(), max_wait_ms=60_000), 12)
    second.send(join_request(), 3)
    stop(cluster.replication, 1)
    assert [errors(each) for each in old.answers()] == [NOT_LEADER]
    (joined,) = second.answers()
    assert (joined.error_code, joined.generation_id) == (Error.NOT_COORDINATOR, -1)
    assert new.answers() == []  # it reads on from a follower ...
    produce(Client(cluster, node_id=2), batch(b"x"))
    (read,) = new.answers()  # ... which follows until it ends
    assert read.responses[0].partitions[0].high_watermark == 1


def test_what_others_learn_of_it(cluster: Cluster) -> None:
    def metadata_at(node_id: int) -> tuple[list[int], int, list[int], list[int]]:
        wanted = [MetadataRequest.Topic(name="t")]
        answer = Client(cluster, node_id=node_id).ask(MetadataRequest(topics=wanted), 9)
        (part,) = answer.topics[0].partitions
        brokers = [each.node_id for each in answer.brokers]
        return brokers, part.leader_id, part.isr_nodes, part.offline_replicas

    stop(cluster.replication, 1)
    assert metadata_at(1) == metadata_at(2) == ([1, 2, 3], 2, [2, 3], [])
    cluster.advance(ANSWERS_MS)
    assert metadata_at(2) == ([2, 3], 2, [2, 3], [1])


def test_nobody_waits_for_it_where_nobody_is_connected(cluster: Cluster) -> None:
    cluster.replication.has_clients = lambda node_id: False
    assert stop(cluster.replication, 1).done()


def test_the_others_that_stop_are_not_counted_as_running(cluster: Cluster) -> None:
    stop(cluster.replication, 1)
    stop(cluster.replication, 2)
    with pytest.raises(RuntimeError, match="broker 3 is the last one that runs"):
        stop(cluster.replication, 3)


@pytest.mark.parametrize("verb", ["kill", "pause", "start"])
def test_what_happens_to_it_meanwhile(cluster: Cluster, verb: str) -> None:
    gone = stop(cluster.replication, 1)
    getattr(cluster.replication, verb)(1)
    cluster.advance(ANSWERS_MS)
    assert gone.done()
    assert cluster.replication.is_up(1) is (verb == "start")


def test_it_is_asked_to_stop_twice(cluster: Cluster) -> None:
    one, other = stop(cluster.replication, 1), stop(cluster.replication, 1)
    cluster.advance(ANSWERS_MS)
    assert one.done()
    assert other.done()


def test_one_with_the_timing_of_kafka_goes_on_for_as_long_as_a_real_one() -> None:
    cluster = Cluster(
        BrokerConfig({}),
        data_dir=MemoryDisk().directory(),
        brokers=[Node(n, "h", n) for n in (1, 2, 3)],
        clock=ManualClock(NOW),
        timing="kafka",
    )
    cluster.replication.has_clients = lambda node_id: True
    gone = stop(cluster.replication, 1)
    cluster.advance(int(STOPPING[0]) - 1)
    assert cluster.replication.brokers[1].process is Process.UP
    cluster.advance(int(STOPPING[-1]))
    assert gone.done()
    cluster.close()
