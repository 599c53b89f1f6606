"""Several brokers: what each answers about partitions that it leads, follows, or has nothing of.

The answers are those of three nodes of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest

from tests.requests.configs import change_request
from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.offsets import delete_records_request, epoch_end, list_offsets_request
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of, open_cluster

LEADER, FOLLOWER, OTHER = 1, 2, 3
NOT_LEADER, FENCED, UNKNOWN = 6, 74, 75
TOPIC, BROKER = 2, 4


@pytest.fixture
def three() -> Iterator[Cluster]:
    """Brokers 1, 2 and 3; topic `t` with one partition, led by 1 and followed by 2."""
    cluster = open_cluster(nodes=(1, 2, 3))
    cluster.topics.create("t", assignments=[(0, [LEADER, FOLLOWER])])
    produce(client_of(cluster), batch(b"a"))
    yield cluster
    cluster.close()


def at(cluster: Cluster, node_id: int) -> Client:
    return client_of(cluster, node_id=node_id)


def fetch(client: Client, version: int, **more: Any) -> int:
    return int(only(client.ask(fetch_request(asked(**more)), version)).error_code)


def list_offsets(client: Client, replica_id: int = -1, version: int = 7, **more: Any) -> int:
    request = list_offsets_request(-1, **more)
    request.replica_id = replica_id
    return int(client.ask(request, version).topics[0].partitions[0].error_code)


def delete_records(client: Client) -> int:
    answer = client.ask(delete_records_request(("t", [(0, 0)])), 2)
    return int(answer.topics[0].partitions[0].error_code)


def describe_producers(client: Client) -> int:
    topic = DescribeProducersRequest.Topic(name="t", partition_indexes=[0])
    answer = client.ask(DescribeProducersRequest(topics=[topic]), 0)
    return int(answer.topics[0].partitions[0].error_code)


def write_marker(client: Client, producer_id: int = 7) -> int:
    asked = WriteTxnMarkersRequest.Marker
    marker = asked(
        producer_id=producer_id,
        producer_epoch=0,
        transaction_result=True,
        coordinator_epoch=0,
        transaction_version=2,
        topics=[asked.Topic(name="t", partition_indexes=[0])],
    )
    answer = client.ask(WriteTxnMarkersRequest(markers=[marker]), 2)
    return int(answer.markers[0].topics[0].partitions[0].error_code)


def move_log(client: Client) -> int:
    (path,) = (each.log_dir for each in client.ask(DescribeLogDirsRequest(topics=None), 4).results)
    topic = AlterReplicaLogDirsRequest.Dir.Topic(name="t", partitions=[0])
    wanted = AlterReplicaLogDirsRequest.Dir(path=path, topics=[topic])
    answer = client.ask(AlterReplicaLogDirsRequest(dirs=[wanted]), 2)
    return int(answer.results[0].partitions[0].error_code)


# What is asked, and the errors of the leader, of a follower, and of a broker without a replica.
WHO_ANSWERS: list[tuple[str, Callable[[Client], int], list[int]]] = [
    ("Produce", lambda c: produce(c, batch(b"b")).error_code, [0, 6, 6]),
    ("Fetch v10", lambda c: fetch(c, 10), [0, 6, 6]),
    ("Fetch v11", lambda c: fetch(c, 11), [0, 0, 6]),
    ("ListOffsets", list_offsets, [0, 6, 6]),
    ("ListOffsets of a debugger", lambda c: list_offsets(c, replica_id=-2), [0, 0, 6]),
    ("OffsetForLeaderEpoch", lambda c: epoch_end(c, 0).error_code, [0, 6, 6]),
    ("DeleteRecords", delete_records, [0, 6, 6]),
    ("DescribeProducers", describe_producers, [0, 0, 6]),
    ("WriteTxnMarkers", write_marker, [0, 6, 3]),
    ("WriteTxnMarkers without a producer", lambda c: write_marker(c, -1), [-1, -1, 3]),
    ("AlterReplicaLogDirs", move_log, [0, 0, 9]),
]


@pytest.mark.parametrize(
    ("ask", "errors"), [row[1:] for row in WHO_ANSWERS], ids=[r[0] for r in WHO_ANSWERS]
)
def test_leader_follower_and_others_answer(
    three: Cluster, ask: Callable[[Client], int], errors: list[int]
) -> None:
    assert [ask(at(three, node_id)) for node_id in (LEADER, FOLLOWER, OTHER)] == errors


def test_a_follower_gives_what_the_leader_gives(three: Cluster) -> None:
    of_both = [
        only(at(three, node_id).ask(fetch_request(asked()), 12)) for node_id in (LEADER, FOLLOWER)
    ]
    assert of_both[0] == of_both[1]
    assert values(of_both[1]) == [b"a"]


def test_a_fetch_that_waits_at_a_follower_is_woken_by_the_leader(three: Cluster) -> None:
    waiting = at(three, FOLLOWER)
    waiting.send(fetch_request(asked(offset=1), max_wait_ms=500), 12)
    assert waiting.answers() == []
    produce(at(three, LEADER), batch(b"b"))
    (answer,) = waiting.answers()
    assert values(only(answer)) == [b"b"]


# A client's leader epoch where the leader's is 1, and the errors of the three.
EPOCHS: list[tuple[str, Callable[[Client], int], list[int]]] = [
    ("an older one, Fetch", lambda c: fetch(c, 12, current_leader_epoch=0), [74, 74, 6]),
    ("a newer one, Fetch", lambda c: fetch(c, 12, current_leader_epoch=2), [75, 75, 6]),
    ("the same, Fetch", lambda c: fetch(c, 12, current_leader_epoch=1), [0, 0, 6]),
    ("an older one, Fetch v10", lambda c: fetch(c, 10, current_leader_epoch=0), [74, 74, 6]),
    ("the same, Fetch v10", lambda c: fetch(c, 10, current_leader_epoch=1), [0, 6, 6]),
    ("an older one, times", lambda c: list_offsets(c, current_leader_epoch=0), [74, 74, 6]),
    ("a newer one, times", lambda c: list_offsets(c, current_leader_epoch=2), [75, 75, 6]),
    ("the same, times", lambda c: list_offsets(c, current_leader_epoch=1), [0, 6, 6]),
    ("one below -1, times", lambda c: list_offsets(c, current_leader_epoch=-2), [74, 74, 6]),
    ("an older one, epochs", lambda c: epoch_end(c, 0, current=0).error_code, [74, 74, 6]),
    ("a newer one, epochs", lambda c: epoch_end(c, 0, current=2).error_code, [75, 75, 6]),
    ("the same, epochs", lambda c: epoch_end(c, 0, current=1).error_code, [0, 6, 6]),
]


@pytest.mark.parametrize(("ask", "errors"), [row[1:] for row in EPOCHS], ids=[r[0] for r in EPOCHS])
def test_epochs_are_checked_at_every_replica_before_who_leads(
    three: Cluster, ask: Callable[[Client], int], errors: list[int]
) -> None:
    three.topics.create("u", assignments=[(0, [FOLLOWER, LEADER])])
    _elect_first(three)
    assert three.partition("t", 0).leader_epoch == 1
    assert [ask(at(three, node_id)) for node_id in (FOLLOWER, LEADER, OTHER)] == errors


def _elect_first(cluster: Cluster) -> None:
    """Let broker 2 lead topic t, with leader epoch 1."""
    from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest

    made = AlterPartitionReassignmentsRequest
    part = made.Topic.Partition(partition_index=0, replicas=[FOLLOWER, LEADER])
    moved = at(cluster, OTHER).ask(made(topics=[made.Topic(name="t", partitions=[part])]), 1)
    assert moved.responses[0].partitions[0].error_code == 0
    wanted = ElectLeadersRequest.Topic(topic="t", partitions=[0])
    at(cluster, OTHER).ask(ElectLeadersRequest(election_type=0, topic_partitions=[wanted]), 2)
    assert cluster.partition("t", 0).leader == FOLLOWER


def test_each_broker_describes_the_replicas_that_it_has(three: Cluster) -> None:
    def described(node_id: int, topics: list[str] | None) -> list[tuple[str, list[int]]]:
        named = None
        if topics is not None:
            named = [DescribeLogDirsRequest.Topic(topic=t, partitions=[0, 0, 9]) for t in topics]
        (found,) = at(three, node_id).ask(DescribeLogDirsRequest(topics=named), 4).results
        return [(t.name, [p.partition_index for p in t.partitions]) for t in found.topics]

    three.topics.create("u", assignments=[(0, [3]), (1, [2]), (2, [3])])
    assert described(1, None) == [("t", [0])]
    assert described(2, None) == [("t", [0]), ("u", [1])]
    assert described(3, None) == [("u", [0, 2])]
    assert described(3, ["t", "u", "none"]) == [("u", [0])]


def test_fetch_sessions_are_each_brokers_own(three: Cluster) -> None:
    opened = at(three, LEADER).ask(fetch_request(asked(), session_epoch=0), 12)
    assert opened.session_id > 0
    going_on = fetch_request(session_id=opened.session_id, session_epoch=1)
    elsewhere = at(three, FOLLOWER).ask(going_on, 12)
    assert elsewhere.error_code == Error.FETCH_SESSION_ID_NOT_FOUND
    assert at(three, LEADER).ask(going_on, 12).error_code == 0
    assert [len(three.brokers[node_id].fetch_sessions) for node_id in (1, 2, 3)] == [1, 0, 0]


def test_each_broker_has_a_cache_of_sessions() -> None:
    slots = {"max.incremental.fetch.session.cache.slots": "1"}
    cluster = open_cluster(nodes=(1, 2), **slots)
    cluster.topics.create("t", assignments=[(0, [1, 2])])
    opening = fetch_request(asked(), session_epoch=0)
    given = [at(cluster, node_id).ask(opening, 12).session_id for node_id in (1, 2, 1, 2)]
    assert [session > 0 for session in given] == [True, True, False, False]
    cluster.close()


def test_each_broker_gives_producer_ids_of_its_own_block(three: Cluster) -> None:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)

    def given(node_id: int) -> int:
        return int(at(three, node_id).ask(request, 4).producer_id)

    assert [given(node_id) for node_id in (2, 1, 2, 3, 1)] == [0, 1000, 1, 2000, 1001]


def alter(cluster: Cluster, node_id: int, resource: str, **texts: str) -> int:
    changes = [(name.replace("_", "."), 0, text) for name, text in texts.items()]
    answer = at(cluster, node_id).ask(change_request((BROKER, resource, changes)), 1)
    return int(answer.responses[0].error_code)


def config(cluster: Cluster, node_id: int, kind: int, resource: str, name: str) -> Any:
    """Value and source, as a broker describes them; the error if it does not."""
    made = DescribeConfigsRequest.Resource
    wanted = made(resource_type=kind, resource_name=resource, configuration_keys=[name])
    (found,) = at(cluster, node_id).ask(DescribeConfigsRequest(resources=[wanted]), 4).results
    if found.error_code:
        return found.error_code
    (row,) = found.configs
    return row.value, row.config_source


def test_configs_of_one_broker_are_that_brokers(three: Cluster) -> None:
    name = "log.cleaner.threads"
    assert alter(three, 1, "2", log_cleaner_threads="2") == Error.INVALID_REQUEST
    assert alter(three, 2, "2", log_cleaner_threads="2") == 0
    assert config(three, 2, BROKER, "2", name) == ("2", 2)
    assert config(three, 1, BROKER, "1", name) == ("1", 5)
    assert config(three, 1, BROKER, "2", name) == Error.INVALID_REQUEST
    assert three.brokers[2].config.get(name) == 2
    assert three.brokers[1].config.get(name) == three.config.get(name) == 1
    assert config(three, 3, BROKER, "3", "node.id") == ("3", 4)


def test_configs_for_all_brokers_are_every_brokers(three: Cluster) -> None:
    assert alter(three, 3, "", log_cleaner_threads="2") == 0
    assert [config(three, n, BROKER, str(n), "log.cleaner.threads") for n in (1, 2, 3)] == [
        ("2", 3)
    ] * 3


def test_a_change_is_judged_by_the_broker_that_it_is_for(three: Cluster) -> None:
    """A broker may double the threads that it has, and no more than that."""
    assert alter(three, 2, "2", num_io_threads="16") == 0
    assert alter(three, 2, "2", num_io_threads="32") == 0
    assert alter(three, 1, "1", num_io_threads="32") == Error.INVALID_REQUEST


def test_a_topic_has_the_defaults_of_the_broker_that_is_asked(three: Cluster) -> None:
    assert alter(three, 2, "2", message_max_bytes="100") == 0
    assert config(three, 1, TOPIC, "t", "max.message.bytes") == ("1048588", 5)
    assert config(three, 2, TOPIC, "t", "max.message.bytes") == ("100", 2)
    three.topics.create("u", assignments=[(0, [2]), (1, [1])])
    large = batch(b"x" * 100)
    too_large = produce(at(three, 2), large, topic="u").error_code
    assert (too_large, produce(at(three, 1), large, topic="u", partition=1).error_code) == (10, 0)


def test_configs_of_every_broker_survive_a_restart(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk, nodes=(1, 2))
    assert alter(cluster, 2, "2", log_cleaner_threads="2") == 0
    cluster.close()
    again = open_cluster(disk, nodes=(1, 2))
    assert [again.brokers[n].config.get("log.cleaner.threads") for n in (1, 2)] == [1, 2]
    again.close()


def test_partitions_of_a_topic_have_equally_many_replicas(three: Cluster) -> None:
    made, grown = CreateTopicsRequest.Topic, CreatePartitionsRequest.Topic
    places = [
        made.Assignment(partition_index=index, broker_ids=ids)
        for index, ids in enumerate(([1, 2], [3]))
    ]
    create = CreateTopicsRequest(
        topics=[
            made(name="u", num_partitions=-1, replication_factor=-1, assignments=places, configs=[])
        ]
    )
    more = grown(name="t", count=2, assignments=[grown.Assignment(broker_ids=[1, 2, 3])])
    grow = CreatePartitionsRequest(topics=[more], timeout_ms=1000, validate_only=False)

    (created,) = at(three, LEADER).ask(create, 7).topics
    (added,) = at(three, LEADER).ask(grow, 3).results

    what = "The manual partition assignment includes a partition with"
    but = "replica(s), but this is not consistent with previous partitions, which have"
    assert [(e.error_code, e.error_message) for e in (created, added)] == [
        (39, f"{what} 1 {but} 2 replica(s)."),
        (39, f"{what} 3 {but} 2 replica(s)."),
    ]


def test_a_follower_knows_of_an_epoch_from_its_first_batch_on(three: Cluster) -> None:
    three.topics.create("empty", assignments=[(0, [LEADER, FOLLOWER])])
    request = fetch_request(asked(last_fetched_epoch=0), topic="empty")
    codes = [only(at(three, node).ask(request, 12)).error_code for node in (LEADER, FOLLOWER)]
    assert codes == [0, 1]  # OFFSET_OUT_OF_RANGE

    offsets = list_offsets_request(-2, topic="empty")
    offsets.replica_id = -2
    found = [at(three, node).ask(offsets, 7).topics[0].partitions[0] for node in (1, 2)]
    assert [(each.offset, each.leader_epoch) for each in found] == [(0, 0), (0, -1)]
