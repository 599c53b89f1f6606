"""A request of which some entries fail, for every API that has several: these are not carried out,
and the others are, and are answered as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.base.call import Call
from odradek.emulator.base.chain import Step
from odradek.emulator.cluster import Cluster
from odradek.emulator.division.entries import entries, own_values, resolved
from odradek.emulator.division.places import (
    GROUP,
    MEMBER,
    NARROWED_BY,
    TRANSACTIONAL_ID,
    Part,
    answered,
    asked,
    depth_of,
    said_in,
)
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Error, Request, Response
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.share_fetch import ShareFetchRequest

from tests.requests.produce import batch, produce_all
from tests.support.cluster import open_cluster
from tests.support.raw_client import RawClient
from tests.support.ruled import CarriedOut, Ruled
from tests.support.versions import first_and_last
from tests.wire.support.messages import full

FAILED = Error.UNKNOWN_SERVER_ERROR
_IDS_SINCE = 10  # of Metadata
_KEY_TYPES = {GROUP: 0, TRANSACTIONAL_ID: 1}
_TOPIC, _ACL_GROUP, _CONFIG_GROUP = 2, 3, 32
# Fetches are refused partition by partition where they read; two have one error for all.
_OTHERWISE = (
    *(FetchRequest, DescribeLogDirsRequest, ListPartitionReassignmentsRequest),
    ShareFetchRequest,
    AddPartitionsToTxnRequest,  # all or nothing
)
CASES = [
    (served.request, version, role)
    for served in SERVED.values()
    if served.request not in _OTHERWISE
    for version in first_and_last(served.request)
    for role in NARROWED_BY
    if role != MEMBER  # answers say nothing of members
    and role in said_in(served.request, version)
    and depth_of(asked(served.request, version), {role})
]
NAMES = [f"{request.__name__.removesuffix('Request')}-{v}-{role}" for request, v, role in CASES]


def name_of(topic_id: bytes) -> str:
    return topic_id.hex()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = open_cluster(Path(tmp_path_factory.mktemp("rules")))
    yield cluster
    cluster.close()


def a_request(request: type[Request], version: int, role: str) -> Any:
    made: Any = full(request, version)
    if hasattr(made, "key_type"):
        made.key_type = _KEY_TYPES[role]
    if isinstance(made, MetadataRequest) and version >= _IDS_SINCE:
        for topic in made.topics or ():
            topic.name = None
    for each in getattr(made, "resources", ()):
        each.resource_type = _CONFIG_GROUP if role == GROUP else _TOPIC
    for each in getattr(made, "creations", ()):
        each.resource_type = _ACL_GROUP if role == GROUP else _TOPIC
    return made


def parts_of(
    answer: Response, version: int, own: dict[str, Any]
) -> list[tuple[dict[str, Any], int]]:
    """What each smallest part of an answer is about, and its error or that of what is around it."""
    found: list[tuple[dict[str, Any], int]] = []

    def walk(item: Any, place: Part, above: dict[str, Any], error: int) -> None:
        values = {**above, **{role: getattr(item, name) for name, role in place.fields}}
        error = (getattr(item, place.code) if place.code else 0) or error
        parts = [(each, below) for name, below in place.lists for each in getattr(item, name)]
        for each, below in parts:
            walk(each, below, values, error)
        if not parts:
            found.append((dict(resolved({**values, **own}, name_of)), error))

    walk(answer, answered(type(answer), version), {}, 0)
    return found


@pytest.mark.parametrize(("request_class", "version", "role"), CASES, ids=NAMES)
def test_what_is_meant_fails_and_the_rest_is_served(
    shared: Cluster, request_class: type[Request], version: int, role: str
) -> None:
    kafka, carried_out = Ruled(shared), CarriedOut()
    kafka._rules.topic_name = name_of  # type: ignore[method-assign]  # any id is one
    made = a_request(request_class, version, role)
    before, own = list(entries(made, version, name_of)), own_values(made, version)
    value = before[0][role]
    rule = kafka.on(request_class, client_id="test", **{role: value}).fail(FAILED)
    shared.chain.append(carried_out)
    try:
        (usual,) = RawClient(shared, "other").ask(a_request(request_class, version, role), version)
        carried_out.requests.clear()
        client = RawClient(shared)
        (answer,) = client.ask(made, version)
    finally:
        shared.chain.clear()
    assert rule.hits == 1
    assert rule.requests == [a_request(request_class, version, role)]
    (rest,) = carried_out.requests
    after = list(entries(rest, version, name_of))
    assert after == [each for each in before if each[role] != value]
    if request_class is CreateAclsRequest:  # answered in order, without names
        assert [error == FAILED for _, error in parts_of(answer, version, own)] == [True, False]
        return
    errors, as_ever = parts_of(answer, version, own), parts_of(usual, version, own)
    assert {error for about, error in errors if about.get(role) == value} == {FAILED}
    assert others(errors, role, value) == others(as_ever, role, value)


def others(parts_of: list[tuple[dict[str, Any], int]], role: str, value: Any) -> list[str]:
    """What is said of other entries, in any order."""
    return sorted(repr(each) for each in parts_of if each[0].get(role, value) != value)


# By example


def test_a_partition_that_fails_is_not_appended_to(cluster: Cluster, client: Any) -> None:
    cluster.create_topic("t", 2, {})
    kafka = Ruled(cluster)
    kafka.on("Produce", topic="t", partition=1).fail(Error.NOT_LEADER_OR_FOLLOWER)
    answer = client.ask(produce_all(("t", 1, batch(b"a")), ("t", 0, batch(b"b"))), 9)
    (topic,) = answer.responses
    found = {each.index: (each.error_code, each.base_offset) for each in topic.partition_responses}
    assert found == {0: (0, 0), 1: (Error.NOT_LEADER_OR_FOLLOWER, -1)}
    assert [each.log_end_offset for each in cluster.topic("t").partitions] == [1, 0]


@pytest.mark.parametrize("partitions", [(0, 1), (1,)])
def test_without_acks_a_partition_that_fails_closes_the_connection(
    cluster: Cluster, client: Any, partitions: tuple[int, ...]
) -> None:
    cluster.create_topic("t", 2, {})
    Ruled(cluster).on("Produce", partition=1).fail(Error.NOT_LEADER_OR_FOLLOWER)
    entries = [("t", index, batch(b"a")) for index in partitions]
    client.send(produce_all(*entries, acks=0), 9)
    assert (client.answers(), client.is_closed) == ([], True)
    ends = [each.log_end_offset for each in cluster.topic("t").partitions]
    assert ends == [len(partitions) - 1, 0]


def test_two_rules_fail_two_entries(cluster: Cluster, client: Any) -> None:
    cluster.create_topic("t", 3, {})
    kafka = Ruled(cluster)
    first = kafka.on("Produce", partition=0).fail(Error.NOT_LEADER_OR_FOLLOWER)
    second = kafka.on("Produce", partition=1).fail(Error.NOT_ENOUGH_REPLICAS)
    answer = client.ask(produce_all(*(("t", index, batch(b"a")) for index in range(3))), 9)
    codes = {
        each.index: each.error_code
        for topic in answer.responses
        for each in topic.partition_responses
    }
    assert codes == {0: Error.NOT_LEADER_OR_FOLLOWER, 1: Error.NOT_ENOUGH_REPLICAS, 2: 0}
    assert (first.hits, second.hits) == (1, 1)


def test_a_request_for_all_topics_is_answered_with_the_error_of_one(
    cluster: Cluster, client: Any
) -> None:
    for name in ("t", "u"):
        cluster.create_topic(name, 1, {})
    rule = Ruled(cluster).on("Metadata", topic="u").fail(Error.LEADER_NOT_AVAILABLE)
    answer = client.ask(MetadataRequest(topics=None), 12)
    found = {topic.name: (topic.error_code, len(topic.partitions)) for topic in answer.topics}
    assert found == {"t": (0, 1), "u": (Error.LEADER_NOT_AVAILABLE, 0)}
    assert rule.hits == 1
    assert client.ask(MetadataRequest(topics=[]), 12).topics == []
    assert rule.hits == 1


def commit(*topics: str) -> OffsetCommitRequest:
    Topic = OffsetCommitRequest.Topic
    partition = Topic.Partition(partition_index=0, committed_offset=5, committed_metadata="")
    named = [Topic(name=name, partitions=[partition]) for name in topics]
    return OffsetCommitRequest(group_id="g", topics=named)


def test_all_offsets_of_a_group_with_the_error_of_one(cluster: Cluster, client: Any) -> None:
    for name in ("t", "u"):
        cluster.create_topic(name, 1, {})
    cluster.groups.ensure_topic()
    client.ask(commit("t", "u"), 8)
    kafka = Ruled(cluster)
    rule = kafka.on("OffsetFetch", group="g", topic="u").fail(Error.UNSTABLE_OFFSET_COMMIT)
    asked = OffsetFetchRequest(groups=[OffsetFetchRequest.Group(group_id="g", topics=None)])
    (group,) = client.ask(asked, 9).groups
    found = {
        topic.name: (each.error_code, each.committed_offset)
        for topic in group.topics
        for each in topic.partitions
    }
    assert found == {"t": (0, 5), "u": (Error.UNSTABLE_OFFSET_COMMIT, -1)}
    assert rule.hits == 1


def test_a_group_that_is_meant_fails_with_all_its_partitions(cluster: Cluster, client: Any) -> None:
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()
    Ruled(cluster).on("OffsetCommit", group="g").fail(Error.NOT_COORDINATOR)
    answer = client.ask(commit("t"), 8)
    assert answer.topics[0].partitions[0].error_code == Error.NOT_COORDINATOR


def test_a_topic_is_meant_by_its_name_where_its_id_is_sent(cluster: Cluster, client: Any) -> None:
    cluster.create_topic("t", 1, {})
    topic_id = cluster.topic("t").id
    rule = Ruled(cluster).on("Produce", topic="t").fail(Error.NOT_LEADER_OR_FOLLOWER)
    request = produce_all(("", 0, batch(b"a")))
    request.topic_data[0].topic_id = topic_id
    (answered_topic,) = client.ask(request, 13).responses
    assert answered_topic.topic_id == topic_id
    assert answered_topic.partition_responses[0].error_code == Error.NOT_LEADER_OR_FOLLOWER
    assert rule.hits == 1


def test_steps_before_the_rules_see_the_whole_request(cluster: Cluster, client: Any) -> None:
    cluster.create_topic("t", 2, {})
    seen: list[tuple[int, int]] = []

    class Outer(Step):
        def after(self, call: Call, request: Request, response: Response | None) -> None:
            assert isinstance(request, ProduceRequest)
            assert response is not None
            seen.append((len(list(entries(request, 9, name_of))), len(parts_of(response, 9, {}))))

    cluster.chain.append(Outer())
    Ruled(cluster).on("Produce", partition=1).fail(Error.NOT_LEADER_OR_FOLLOWER)
    client.ask(produce_all(("t", 0, batch(b"a")), ("t", 1, batch(b"b"))), 9)
    assert seen == [(2, 2)]


@pytest.mark.parametrize("version", [3, 5])
def test_of_a_transaction_all_partitions_are_added_or_none(
    cluster: Cluster, producer: Any, version: int
) -> None:
    cluster.create_topic("t", 2, {})
    cluster.create_topic("u", 1, {})
    clients = [producer("x"), producer("y")]
    asked_of = [
        AddPartitionsToTxnRequest.Transaction(
            transactional_id=name,
            producer_id=each.producer[0],
            producer_epoch=each.producer[1],
            topics=[
                AddPartitionsToTxnRequest.Topic(name=topic, partitions=partitions)
                for topic, partitions in topics.items()
            ],
        )
        for name, each, topics in (
            ("x", clients[0], {"t": [0, 1], "u": [0]}),
            ("y", clients[1], {"u": [0]}),
        )
    ]
    Ruled(cluster).on("AddPartitionsToTxn", topic="t", partition=1).fail(
        Error.TOPIC_AUTHORIZATION_FAILED
    )
    if version < 4:
        first = asked_of[0]
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="x",
            v3_and_below_producer_id=first.producer_id,
            v3_and_below_producer_epoch=first.producer_epoch,
            v3_and_below_topics=first.topics,
        )
    else:
        request = AddPartitionsToTxnRequest(transactions=asked_of)
    (answer,) = RawClient(cluster).ask(request, version)
    found = {
        (about.get(TRANSACTIONAL_ID, "x"), about["topic"], about["partition"]): error
        for about, error in parts_of(answer, version, {})
    }
    expected = {
        ("x", "t", 0): Error.OPERATION_NOT_ATTEMPTED,
        ("x", "t", 1): Error.TOPIC_AUTHORIZATION_FAILED,
        ("x", "u", 0): Error.OPERATION_NOT_ATTEMPTED,
    }
    assert found == expected | ({("y", "u", 0): 0} if version > 3 else {})
