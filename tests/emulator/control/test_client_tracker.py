"""Each kind of event, provoked by requests and read as its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.base.event import SENTENCES
from odradek.emulator.base.release import nearest_serving
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID, Error, Refused
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.consumer_groups import beat
from tests.requests.fetch import asked, fetch, fetch_all, fetch_request
from tests.requests.groups import (
    heartbeat_request,
    join_request,
    joined,
    leave_request,
    stable,
    sync_request,
)
from tests.requests.offsets import LATEST, delete_before, look_up
from tests.requests.produce import batch, produce, produce_request
from tests.requests.streams_groups import streams_beat, subtopology, topology
from tests.requests.topics import create_topics, new_topic
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.connection import Connection
from tests.support.releases import RELEASES
from tests.support.ruled import Ruled
from tests.support.sockets import is_alive
from tests.support.transactional_producer import TxnClient

ADMIN = "admin"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = open_cluster(group_initial_rebalance_delay_ms="0")
    cluster.create_topic("t", 2, {})
    yield cluster
    cluster.close()


@pytest.fixture
def app(cluster: Cluster) -> Client:
    return client_of(cluster, "app")


def logged(cluster: Cluster, *kinds: str) -> list[str]:
    """The sentences of these kinds; without the time that repetitions took."""
    events = cluster.journal.events()
    sentences = [each.sentence for each in events if each.kind in kinds]
    return [re.sub(r" in (\d+ m|\d+\.\d )s$", "", each) for each in sentences]


def find(client: Client, group: str = "g") -> None:
    client.ask(FindCoordinatorRequest(coordinator_keys=[group], key_type=0), 4)


def pass_ms(cluster: Cluster, milliseconds: int) -> None:
    cluster.advance(milliseconds)
    cluster.settle()


# Clients


def test_a_client_connects_once_and_closes_once(cluster: Cluster) -> None:
    first, second = client_of(cluster, "app"), client_of(cluster, "app")
    for client in (first, second):
        software = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
        client.ask(ApiVersionsRequest(**software), 3)
        produce(client, batch(b"x"))
    first.connection.lost()
    assert logged(cluster, "connected", "closed") == ["app connected (librdkafka 2.3.0)"]
    second.connection.lost()
    assert logged(cluster, "closed") == ["app closed its last connection"]


def test_a_connection_that_only_asks_for_brokers_is_not_the_last(cluster: Cluster) -> None:
    bootstrap = client_of(cluster, "app")
    bootstrap.ask(MetadataRequest(topics=None), 9)
    bootstrap.connection.lost()
    client_of(cluster, "app").ask(MetadataRequest(topics=None), 9)
    assert logged(cluster, "connected", "closed") == ["app connected"]


def test_other_software_with_the_same_id_is_another_client(cluster: Cluster) -> None:
    for name in ("librdkafka", "sarama"):
        software = {"client_software_name": name, "client_software_version": "1"}
        client_of(cluster, "app").ask(ApiVersionsRequest(**software), 3)
    assert logged(cluster, "connected") == [
        "app connected (librdkafka 1)",
        "app (sarama) connected (sarama 1)",
    ]


def test_a_client_without_an_id(cluster: Cluster) -> None:
    produce(client_of(cluster, ""), batch(b"x"))
    assert logged(cluster, "connected") == ["a client without an id connected"]


def test_a_request_that_closes_the_connection(cluster: Cluster, app: Client) -> None:
    app.send_raw(b"\x7f\xff\x00\x00\x00\x00\x00\x01\x00\x03app")
    assert logged(cluster, "malformed") == [
        "the connection of app was closed: API key 32767 is not served"
    ]


def test_who_speaks_the_protocol_of_another_release_learns_which() -> None:
    assert nearest_serving("4.3", ProduceRequest.api_key, 2) is RELEASES["3.9"]
    assert nearest_serving("0.10.2", ProduceRequest.api_key, 3) is RELEASES["0.11.0"]
    assert nearest_serving("4.3", ProduceRequest.api_key, 99) is None
    cluster = open_cluster(release=RELEASES["0.8.2"])
    client_of(cluster, "app").send(ApiVersionsRequest(), 0)
    assert logged(cluster, "malformed") == [
        "the connection of app was closed: ApiVersionsRequest v0 is not served;"
        ' version="0.10.2" serves it'
    ]
    cluster.close()


# Topics


def test_topics(cluster: Cluster, app: Client) -> None:
    create_topics(app, new_topic("orders", 3))
    grow = CreatePartitionsRequest.Topic(name="orders", count=5, assignments=None)
    app.ask(CreatePartitionsRequest(topics=[grow], timeout_ms=1000, validate_only=False), 3)
    produce(app, batch(b"x", b"y"), topic="orders")
    delete_before(app, 1, "orders")
    topic = DeleteTopicsRequest.Topic(name="orders", topic_id=NO_ID)
    app.ask(DeleteTopicsRequest(topics=[topic], timeout_ms=1000), 6)
    assert logged(
        cluster, "topic created", "partitions added", "records deleted", "topic deleted"
    ) == [
        "the test created topic t with 2 partitions",
        "app created topic orders with 3 partitions",
        "app added partitions to topic orders: it has 5 partitions now",
        "app deleted the records of orders-0 before offset 1",
        "app deleted topic orders",
    ]


def test_a_topic_that_is_created_on_demand(cluster: Cluster, app: Client) -> None:
    asked_for = [MetadataRequest.Topic(name="orders")]
    app.ask(MetadataRequest(topics=asked_for, allow_auto_topic_creation=True), 9)
    assert logged(cluster, "topic created", "refused") == [
        "the test created topic t with 2 partitions",
        "app created topic orders with 1 partition (because its metadata was asked for)",
    ]


# Records


def test_records_that_are_appended(cluster: Cluster, app: Client) -> None:
    for _ in range(3):
        produce(app, batch(b"x", b"y"))
    produce(app, batch(b"x"), partition=1)
    app.send(produce_request(batch(b"z"), acks=0), 9)
    assert logged(cluster, "appended") == [
        "app appended offsets 0 to 5 to t-0 in 3 requests",
        "app appended offset 0 to t-1",
        "app appended offset 6 to t-0 (acks=0, not acknowledged)",
    ]


def test_a_batch_that_is_sent_again(cluster: Cluster, app: Client) -> None:
    numbered: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    for _ in range(2):
        produce(app, batch(b"x", b"y", **numbered))
    assert logged(cluster, "duplicate") == [
        "app sent offsets 0 to 1 of t-0 again, already appended: not stored twice"
    ]


def test_records_that_are_fetched(cluster: Cluster, app: Client) -> None:
    fetch(app)
    fetch(app)
    produce(client_of(cluster, "shop"), batch(b"x", b"y"))
    fetch(app)
    fetch(app, max_bytes=1)
    app.ask(fetch_all(("t", [asked(0, 2), asked(1)])), 12)
    assert logged(cluster, "fetched", "fetched nothing") == [
        "app fetched 0 records from t-0 2 times",
        "app fetched offsets 0 to 1 from t-0 in 2 requests",
        "app fetched 0 records from t",
    ]


def test_the_end_that_is_asked_for(cluster: Cluster, app: Client) -> None:
    produce(app, batch(b"x"))
    look_up(app, LATEST)
    assert logged(cluster, "looked up the end") == ["app looked up the end of t-0 (offset 1)"]


# Groups


def test_offsets_that_are_committed_and_found(cluster: Cluster, app: Client) -> None:
    find(app)
    committed(app)
    for offset in (1, 2, 3):
        assert commit(app, offset) is Error.NONE
    committed(app)
    assert logged(cluster, "committed", "found offset", "found no offset") == [
        "app found no committed offset of t-0 in group g",
        "app committed offsets from 1 to 3 of t-0 in group g 3 times",
        "app found offset 3 of t-0 committed in group g",
    ]


GROUP = (
    "joined", "left", "kicked", "session timed out", "rebalance begun", "rebalance finished",
    "left behind", "away",
)  # fmt: skip


def test_a_group_from_its_first_member_to_its_last(cluster: Cluster, app: Client) -> None:
    find(app)
    member = stable(app)
    other = client_of(cluster, "app")
    id_of_other = other.ask(join_request(), 7).member_id
    other.send(join_request(id_of_other), 7)
    again = app.ask(join_request(member.member_id), 7)
    assert len(other.answers()) == 1  # the generation, of its join
    other.ask(leave_request(id_of_other), 3)
    assert again.generation_id == 2
    assert logged(cluster, *GROUP)[:6] == [
        "app joined group g (1 member)",
        "group g began to rebalance: a member joined, and it waits 0 ms for more",
        "group g finished its rebalance: generation 1, 1 member",
        "app#2 joined group g (2 members)",
        "group g began to rebalance: a member joined",
        "app#2 left group g (1 member remaining)",
    ]


def test_a_member_whose_session_times_out(cluster: Cluster, app: Client) -> None:
    find(app)
    stable(app)
    pass_ms(cluster, 10_001)
    assert logged(cluster, *GROUP)[-1] == (
        "app was removed from group g: no heartbeat for 10000 ms, its session timeout "
        "(0 members remaining)"
    )


def test_a_member_that_does_not_join_again(cluster: Cluster, app: Client) -> None:
    find(app)
    member = stable(app)
    other = client_of(cluster, "other")
    other.send(join_request(other.ask(join_request(), 7).member_id), 7)
    for _ in range(4):  # it lives, but does not join again
        pass_ms(cluster, 9_000)
        if cluster.groups.at(1).runtime.shard_for("g").groups["g"].state != "PreparingRebalance":
            break
        app.ask(heartbeat_request(member), 3)
    assert logged(cluster, "kicked") == [
        "app was removed from group g (it did not join again within its rebalance timeout) "
        "(1 member remaining)"
    ]


def test_an_administrator_removes_a_member(cluster: Cluster, app: Client) -> None:
    find(app)
    member = stable(app)
    client_of(cluster, ADMIN).ask(leave_request(member.member_id), 3)
    assert logged(cluster, "kicked") == ["app was removed from group g (0 members remaining)"]


def test_a_consumer_that_is_not_closed(cluster: Cluster, app: Client) -> None:
    find(app)
    stable(app)
    app.connection.lost()
    assert logged(cluster, "left behind") == [
        "app closed its connection without leaving group g "
        "(it stays a member until its session times out)"
    ]


def test_a_consumer_that_has_left_before_it_closed(cluster: Cluster, app: Client) -> None:
    find(app)
    member = stable(app)
    app.ask(leave_request(member.member_id), 3)
    app.connection.lost()
    assert logged(cluster, "left behind") == []


def test_a_rebalance_that_a_test_forces(cluster: Cluster, app: Client) -> None:
    find(app)
    stable(app)
    cluster.groups.at(1).rebalance("g")
    assert (
        logged(cluster, "rebalance begun")[-1] == "group g began to rebalance: forced by the test"
    )


def test_a_static_member_comes_back(cluster: Cluster, app: Client) -> None:
    find(app)
    static: dict[str, Any] = {"group_instance_id": "i"}
    member = joined(app, 7, **static)
    app.ask(sync_request(member, b"", group_instance_id="i"), 3)
    app.ask(join_request(**static), 7)
    assert logged(cluster, "joined")[-1] == "app joined group g as static member i (1 member)"


def test_a_group_of_the_consumer_protocol(cluster: Cluster, app: Client) -> None:
    find(app)
    beat(app, "a")
    beat(app, "s", instance_id="i")
    beat(app, "s", -2, instance_id="i")
    beat(app, "a", -1)
    pass_ms(cluster, 45_001)
    assert [each for each in logged(cluster, *GROUP) if "finished" not in each] == [
        "app joined group g (1 member)",
        "group g began to rebalance: a member joined",
        "app#2 joined group g as static member i (2 members)",
        "group g began to rebalance: a member joined",
        "app#2 left group g for a while, as static member i",
        "app left group g (1 member remaining)",
        "group g began to rebalance: a member left",
        "app#2 was removed from group g: no heartbeat within its session timeout "
        "(0 members remaining)",
    ]
    assert logged(cluster, "rebalance finished")[0] == (
        "group g finished its rebalance: generation 2, 1 member"
    )


def test_a_streams_group(cluster: Cluster, app: Client) -> None:
    find(app)
    streams_beat(app, topology=topology(subtopology(changelogs=["c"])))
    streams_beat(app, epoch=2)
    pass_ms(cluster, 1000)
    streams_beat(app, epoch=2)
    streams_beat(app, epoch=3, rack_id="r")
    pass_ms(cluster, 1000)
    streams_beat(app, epoch=3)
    app.connection.lost()
    pass_ms(cluster, 45_001)
    assert logged(cluster, "not ready", *GROUP) == [
        "app joined group g (1 member)",
        "group g began to rebalance: a member joined",
        "group g cannot be assigned yet: Internal topics are missing: c",
        "group g began to rebalance: a member, its topics, or its standbys changed",
        "group g finished its rebalance: generation 3, 1 member",
        "group g began to rebalance: a member, its topics, or its standbys changed",
        "group g finished its rebalance: generation 4, 1 member",
        "app closed its connection without leaving group g "
        "(it stays a member until its session times out)",
        "app was removed from group g: no heartbeat within its session timeout "
        "(0 members remaining)",
    ]


# Transactions


def test_transactions(cluster: Cluster) -> None:
    producer = TxnClient(cluster).begin()
    for ending in (True, False):
        producer.write(b"x")
        assert producer.end(commit=ending) is Error.NONE
    producer.write(b"x")
    TxnClient(cluster).begin()
    late = TxnClient(cluster, "late").begin(timeout_ms=1000)
    late.write(b"x")
    pass_ms(cluster, 20_000)
    kinds = ("transaction begun", "transaction committed", "transaction aborted")
    assert logged(cluster, *kinds, "transaction timed out") == [
        "transaction of x began",
        "transaction of x was committed",
        "transaction of x began",
        "transaction of x was aborted",
        "transaction of x began",
        "transaction of x was aborted (its producer has started anew)",
        "transaction of late began",
        "transaction of late was aborted: open for longer than its timeout, 1000 ms",
    ]
    assert logged(cluster, "appended")[0] == "test appended offset 0 to t-0 (in a transaction)"


def test_a_producer_that_is_fenced(cluster: Cluster) -> None:
    old = TxnClient(cluster).begin()
    TxnClient(cluster).begin()
    assert old.write(b"x")
    assert old.end(commit=True)
    assert logged(cluster, "fenced") == [
        "test was fenced on Produce (t-0): INVALID_PRODUCER_EPOCH: "
        "a newer producer has its transactional id, or it was timed out",
        "test was fenced on EndTxn (transactional id x): PRODUCER_FENCED: "
        "a newer producer has its transactional id, or it was timed out",
    ]


# Refusals


def test_what_is_refused_says_of_what_and_why(cluster: Cluster, app: Client) -> None:
    find(app)
    produce(app, batch(b"x"), topic="none")
    fetch(app, 5)
    app.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 3)
    commit(app, 1, topic="none")
    look_up(app, LATEST, topic="none")
    missing = "UNKNOWN_TOPIC_OR_PARTITION: there is no such topic or partition"
    assert logged(cluster, "refused") == [
        f"app was refused Produce (none-0): {missing}",
        "app was refused Fetch (t-0): OFFSET_OUT_OF_RANGE: there is no such offset, or no more",
        "app was refused Heartbeat (group g): UNKNOWN_MEMBER_ID: "
        "it is no member of the group, or no more",
        f"app was refused OffsetCommit (none-0, group g): {missing}",
        f"app was refused ListOffsets (none-0): {missing}",
    ]


def test_what_is_refused_again_and_again_is_counted_up(cluster: Cluster, app: Client) -> None:
    request = MetadataRequest(
        topics=[MetadataRequest.Topic(name="none")], allow_auto_topic_creation=False
    )
    for _ in range(31):
        app.ask(request, 9)
    assert logged(cluster, "refused") == [
        "app was refused Metadata (none): UNKNOWN_TOPIC_OR_PARTITION: "
        "there is no such topic or partition 31 times"
    ]


def test_normal_traffic_is_not_reported_as_refused(cluster: Cluster, app: Client) -> None:
    find(app)
    member = stable(app)  # after a MEMBER_ID_REQUIRED
    cluster.groups.at(1).rebalance("g")
    answer = app.ask(heartbeat_request(member), 3)
    assert answer.error_code == Error.REBALANCE_IN_PROGRESS
    assert logged(cluster, "refused", "fenced") == []


def test_a_member_that_was_not_closed(cluster: Cluster, app: Client) -> None:
    find(app)
    stable(app)
    cluster.tracker.tell_open_members()
    assert logged(cluster, "still open") == ["app was not closed: it is still a member of group g"]
    app.connection.close()
    cluster.tracker.tell_open_members()
    assert len(logged(cluster, "still open")) == 1


# Very many things at once


def test_many_topics_at_once_are_reported_in_part(cluster: Cluster, app: Client) -> None:
    app.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 4)
    create_topics(app, *(new_topic(f"n{number}") for number in range(120)))
    assert len(logged(cluster, "topic created")) == 1 + 100
    assert logged(cluster, "and more") == ['app: 20 more of "topic created"']


def test_many_partitions_of_several_topics_are_reported_in_part(
    cluster: Cluster, app: Client
) -> None:
    names = ("a", "b", "c")
    create_topics(app, *(new_topic(name, 60) for name in names))
    find(app)
    places = [(name, index) for name in names for index in range(60)]

    Commit = OffsetCommitRequest.Topic
    offsets = [
        Commit.Partition(partition_index=index, committed_offset=1, committed_metadata="")
        for index in range(60)
    ]
    commits = [Commit(name=name, partitions=offsets) for name in names]
    app.ask(OffsetCommitRequest(group_id="g", topics=commits), 8)
    committed = [e for e in cluster.journal.events() if e.kind == "committed"]
    assert [(e.topic, e.partition) for e in committed] == places[:100]

    Wanted = OffsetFetchRequest.Topic
    wanted = [Wanted(name=name, partition_indexes=[*range(60)]) for name in names]
    app.ask(OffsetFetchRequest(group_id="g", topics=wanted), 7)
    found = [e for e in cluster.journal.events() if e.kind == "found offset"]
    assert [(e.topic, e.partition) for e in found] == places[:100]

    Looked = ListOffsetsRequest.Topic
    ends = [Looked.Partition(partition_index=index, timestamp=LATEST) for index in range(60)]
    looked = [Looked(name=name, partitions=ends) for name in names]
    app.ask(ListOffsetsRequest(replica_id=-1, topics=looked), 7)
    seen = [e for e in cluster.journal.events() if e.kind == "looked up the end"]
    assert [(e.topic, e.partition) for e in seen] == places[:100]


def test_of_a_large_request_nothing_more_is_reported(cluster: Cluster, app: Client) -> None:
    names = [f"name-{number:06}" for number in range(8_000)]
    app.send(DeleteTopicsRequest(topic_names=names, timeout_ms=1000), 4)
    assert logged(cluster, "large request", "refused") == [
        "app sent a large DeleteTopics, of which nothing more is logged"
    ]


def test_many_refusals_of_a_fetch_are_reported_in_part(cluster: Cluster, app: Client) -> None:
    app.ask(fetch_request(*(asked(number) for number in range(300)), topic="none"), 12)
    refused = logged(cluster, "refused")
    assert len(refused) == 101
    assert "and more of its partitions" in refused[-1]


def test_a_process_a_network_and_a_disk_that_fail() -> None:
    with Emulator(topics={"t": 1}) as kafka:
        kafka.restart(after=2)
        kafka.restart(clean=False)
        kafka.crash(power=True, seed=3)
        kafka.restart()
        with kafka.disk.on("append", topic="t").once().fail(), pytest.raises(Refused):
            kafka.topic("t").produce(b"x")
        with kafka.network.down(), kafka.network.latency(0, client_id="test").optional():
            assert kafka.topics() == ["t"]
        with kafka.network.latency(0):
            assert is_alive(kafka)
        kinds = ("stopped", "started again", "killed", "power cut", "disk", "network")
        assert [each.sentence for each in kafka.events if each.kind in kinds] == [
            "the broker was stopped",
            "the broker started again (2.0 s later)",
            "the broker was killed",
            "the broker started again",
            "the broker lost power (seed 3)",
            "the broker started again",
            "the disk's write of t-0/00000000000000000000.log met "
            "kafka.disk.on('append', topic='t').once().fail()",
            "test met kafka.network.latency(0)",
        ]


def test_one_broker_of_several() -> None:
    with Emulator(brokers=2) as kafka:
        broker = kafka.brokers[2]
        broker.pause()
        broker.resume()
        broker.restart()
        broker.kill()
        broker.start()
        kinds = (
            *("broker stopped", "broker killed", "broker paused"),
            *("broker resumed", "broker started again"),
        )
        assert [each.sentence for each in kafka.events if each.kind in kinds] == [
            "broker 2 was paused",
            "broker 2 was resumed",
            "broker 2 was stopped",
            "broker 2 started again",
            "broker 2 was killed",
            "broker 2 started again",
        ]


def test_what_replicas_lack() -> None:
    with Emulator(brokers=3) as kafka:
        orders = kafka.create_topic("orders", replicas=2)
        kafka.brokers[2].lag(orders[0], records=2)
        kafka.brokers[2].catch_up()
        kafka.brokers[2].lag(orders[0])
        orders[0].shrink_isr(2)
        orders.produce_all([b"espresso", b"ristretto"])
        kafka.brokers[1].stop()
        kafka.elect_leader("orders", unclean=True)
        kafka.brokers[1].start()
        orders[0].shrink_isr(1)
        orders[0].grow_isr(1)
        kinds = (
            *("replica lags", "replica caught up", "replica kept out", "replica let in"),
            "records lost",
        )
        found = [each.sentence for each in kafka.events if each.kind in kinds]
    assert found == [
        "the replica of orders-0 at broker 2 lags (by 2 records)",
        "the replica of orders-0 at broker 2 lags no more",
        "the replica of orders-0 at broker 2 lags (it gets nothing more)",
        "the replica of orders-0 at broker 2 is kept from being in sync",
        "offsets 0 to 1 of orders-0 were lost: broker 2, which leads now, lacked them",
        "the replica of orders-0 at broker 1 is kept from being in sync",
        "the replica of orders-0 at broker 1 may be in sync again",
    ]


def test_what_is_between_brokers() -> None:
    with Emulator(brokers=3) as kafka:
        with kafka.partition_network({1}):
            pass
        with kafka.without_quorum():
            pass
        kafka.add_broker()
        kafka.remove_broker(4)
        kinds = (
            *("brokers partitioned", "brokers joined", "controllers lost", "controllers back"),
            *("broker added", "broker removed"),
        )
        assert [each.sentence for each in kafka.events if each.kind in kinds] == [
            "the network between brokers was broken: 1 | 2, 3",
            "the network between brokers is whole again",
            "the controllers were lost",
            "the controllers are back",
            "broker 4 was added",
            "broker 4 was removed",
        ]


def test_a_rule_of_the_test(cluster: Cluster, app: Client) -> None:
    cluster.groups.ensure_topic()
    Ruled(cluster).on("Heartbeat", group="g").fail("NOT_COORDINATOR")
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    app.ask(beat, 4)
    app.ask(MetadataRequest(topics=[]), 12)
    assert logged(cluster, "rule", "refused") == [
        "app met a rule with its Heartbeat: "
        "kafka.on('Heartbeat', group='g').fail(Error.NOT_COORDINATOR)",
        "app was refused Heartbeat (group g): NOT_COORDINATOR: another broker coordinates it now",
    ]


def test_every_kind_is_read_in_a_test() -> None:
    text = "".join(each.read_text() for each in Path(__file__).parents[2].rglob("test_*.py"))
    assert [kind for kind in SENTENCES if f'"{kind}"' not in text] == []


def of_kind(kafka: Emulator, kind: str) -> list[str]:
    return [event.sentence for event in kafka.events if event.kind == kind]


def test_who_may_not_is_reported_with_the_reason() -> None:
    with Emulator(acls=True, topics={"t": 1}) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=[MetadataRequest.Topic(name="t")]), 9)
        (sentence,) = of_kind(kafka, "denied")
    assert sentence.endswith("ANONYMOUS may not DESCRIBE topic t: no ACL allows it")


def test_a_log_in_that_fails_is_reported() -> None:
    with Emulator(security="SASL_PLAINTEXT", users={"alice": "secret"}) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(SaslHandshakeRequest(mechanism="NONE"), 1)
        (sentence,) = of_kind(kafka, "log-in failed")
    assert sentence.endswith("log-in failed: NONE, a mechanism that is not enabled")


def test_a_log_in_on_an_open_connection_is_reported() -> None:
    config = {"connections.max.reauth.ms": 60_000}
    users = {"alice": "secret"}
    with Emulator(config, security="SASL_PLAINTEXT", users=users) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            for _ in range(2):
                assert not of_kind(kafka, "logged in again")
                client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
                shown = SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")
                assert client.ask(shown, 2).error_code == 0
        (sentence,) = of_kind(kafka, "logged in again")
    assert sentence == "by hand logged in again, on a connection that was open"


def test_a_session_of_fetches_that_is_denied_later_is_reported() -> None:
    with Emulator(acls=True, topics={"t": 1}) as kafka:
        kafka.allow("ANONYMOUS", "READ", topic="t")
        with Connection(kafka.bootstrap_servers) as client:
            begun = client.ask(fetch_request(asked(), session_epoch=0), 12)
            kafka.remove_acl(topic="t")
            again = fetch_request(session_id=begun.session_id, session_epoch=1)
            (topic,) = client.ask(again, 12).responses
        assert topic.partitions[0].error_code == Error.TOPIC_AUTHORIZATION_FAILED
        (sentence,) = of_kind(kafka, "denied")
    assert sentence.endswith("ANONYMOUS may not READ topic t: no ACL allows it")


def test_who_is_above_its_quota_is_reported() -> None:
    with Emulator(topics={"t": 1}) as kafka:
        kafka.throttle(client_id="by hand", produce=1)
        with Connection(kafka.bootstrap_servers) as client:
            for _ in range(2):
                client.ask(produce_request(batch(b"x" * 1000)), 9)
                if of_kind(kafka, "throttled"):
                    break
        sentence = of_kind(kafka, "throttled")[0]
    assert re.search(r" was throttled for \d+ ms by a quota", sentence)
