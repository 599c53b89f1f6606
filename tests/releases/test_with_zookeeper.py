"""What brokers with ZooKeeper answer to requests that change the cluster, and so in which order
they check: each as a real broker of the release has answered it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.wire import NO_ID, Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.schema import Struct

from tests.support.cluster import client_of, open_cluster
from tests.support.releases import RELEASES

_IN_TIME_MS = 5000


def topics(*names: str, timeout_ms: int = _IN_TIME_MS, **fields: Any) -> CreateTopicsRequest:
    topic = CreateTopicsRequest.Topic
    plain: dict[str, Any] = {"num_partitions": 1, "replication_factor": 1}
    made = [
        topic(**{"name": n, "assignments": [], "configs": [], **plain, **fields}) for n in names
    ]
    return CreateTopicsRequest(topics=made, timeout_ms=timeout_ms)


def config(name: str, value: str | None) -> CreateTopicsRequest.Topic.Config:
    return CreateTopicsRequest.Topic.Config(name=name, value=value)


def on(index: int, *brokers: int) -> dict[str, Any]:
    made = CreateTopicsRequest.Topic.Assignment(partition_index=index, broker_ids=[*brokers])
    return {"num_partitions": -1, "replication_factor": -1, "assignments": [made]}


def deletion(*names: str, timeout_ms: int = _IN_TIME_MS) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=[*names], timeout_ms=timeout_ms)


def growth(count: int, *brokers: int, timeout_ms: int = _IN_TIME_MS) -> CreatePartitionsRequest:
    topic = CreatePartitionsRequest.Topic
    assigned = [topic.Assignment(broker_ids=[each]) for each in brokers] or None
    made = topic(name="t", count=count, assignments=assigned)
    return CreatePartitionsRequest(topics=[made], timeout_ms=timeout_ms, validate_only=False)


def growth_of(*names: str) -> CreatePartitionsRequest:
    topic = CreatePartitionsRequest.Topic
    made = [topic(name=each, count=2, assignments=None) for each in names]
    return CreatePartitionsRequest(topics=made, timeout_ms=_IN_TIME_MS, validate_only=False)


def altered(*resources: tuple[int, str], **texts: str | None) -> AlterConfigsRequest:
    resource = AlterConfigsRequest.Resource
    made = [
        resource(
            resource_type=kind,
            resource_name=name,
            configs=[resource.Config(name=n.replace("_", "."), value=v) for n, v in texts.items()],
        )
        for kind, name in resources
    ]
    return AlterConfigsRequest(resources=made, validate_only=False)


def changed(
    kind: int, name: str, key: str, operation: int, value: str | None
) -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.Resource
    change = resource.Config(name=key, config_operation=operation, value=value)
    made = resource(resource_type=kind, resource_name=name, configs=[change])
    return IncrementalAlterConfigsRequest(resources=[made], validate_only=False)


def credentials(*deleted: int, **iterations: int) -> AlterUserScramCredentialsRequest:
    """Of the user u: mechanisms to be deleted; `sha256` and `sha512` to be set."""
    asked = AlterUserScramCredentialsRequest
    numbers = {"sha256": 1, "sha512": 2, "other": 3}
    return asked(
        deletions=[asked.Deletion(name="u", mechanism=each) for each in deleted],
        upsertions=[
            asked.Upsertion(
                name="u",
                mechanism=numbers[name],
                iterations=n,
                salt=b"s",
                salted_password=b"p" * 32,
            )
            for name, n in iterations.items()
        ],
    )


def a_password_that_is_none() -> AlterUserScramCredentialsRequest:
    """Of the users u and v, of whom one has none."""
    request = credentials(sha256=5000, sha512=5000)
    request.upsertions[1].name, request.upsertions[1].salted_password = "v", b""
    return request


def described_users(*names: str) -> DescribeUserScramCredentialsRequest:
    of = DescribeUserScramCredentialsRequest
    return of(users=[of.User(name=name) for name in names])


def quotas(key: str, *values: float) -> AlterClientQuotasRequest:
    """Of the user u, in one entry for each value."""
    entry = AlterClientQuotasRequest.Entry
    user = entry.Entity(entity_type="user", entity_name="u")
    return AlterClientQuotasRequest(
        entries=[
            entry(entity=[user], ops=[entry.Op(key=key, value=each, remove=False)])
            for each in values
        ],
        validate_only=False,
    )


def moves(*entries: tuple[str, int, list[int] | None]) -> AlterPartitionReassignmentsRequest:
    topic = AlterPartitionReassignmentsRequest.Topic
    return AlterPartitionReassignmentsRequest(
        timeout_ms=0,
        topics=[
            topic(name=n, partitions=[topic.Partition(partition_index=index, replicas=replicas)])
            for n, index, replicas in entries
        ],
    )


def elections(name: str, *indexes: int, kind: int = 0) -> ElectLeadersRequest:
    asked = ElectLeadersRequest.Topic(topic=name, partitions=[*indexes])
    return ElectLeadersRequest(election_type=kind, topic_partitions=[asked], timeout_ms=0)


def feature(name: str, level: int) -> UpdateFeaturesRequest:
    update = UpdateFeaturesRequest.FeatureUpdate(feature=name, max_version_level=level)
    return UpdateFeaturesRequest(feature_updates=[update])


def quota_filter(
    kind: str, match_type: int, match: str | None, *, strict: bool = False
) -> DescribeClientQuotasRequest:
    component = DescribeClientQuotasRequest.Component(
        entity_type=kind, match_type=match_type, match=match
    )
    return DescribeClientQuotasRequest(components=[component], strict=strict)


def both_filters() -> DescribeClientQuotasRequest:
    """A name that is empty, and what stands for all others."""
    component = DescribeClientQuotasRequest.Component
    named = component(entity_type="client-id", match_type=0, match="")
    other = component(entity_type="user", match_type=1, match=None)
    return DescribeClientQuotasRequest(components=[named, other], strict=True)


TOPIC, BROKER, LOGGER, METRICS = 2, 4, 8, 16
SET, APPEND = 0, 2
NULL: dict[str, Any] = {"configs": [config("retention.ms", None)]}
BAD: dict[str, Any] = {"configs": [config("retention.ms", "x")]}
UNKNOWN: dict[str, Any] = {"configs": [config("nonsense", "1")]}

ROWS: list[tuple[str, Request, int, list[int]]] = [
    # CreateTopics
    ("2.7", topics("t"), 4, [36]),
    ("2.7", topics("n", "n"), 4, [42, 42]),
    ("2.0", topics("n", "n"), 3, [42]),
    ("2.7", topics("n", timeout_ms=0), 4, [7]),
    ("2.7", topics("", num_partitions=0), 4, [37]),
    ("2.7", topics("", replication_factor=2), 4, [38]),
    ("2.7", topics("t", **NULL), 4, [36]),
    ("2.7", topics("n", **NULL), 4, [42]),
    ("2.4", topics("n", **NULL), 4, [-1]),
    ("2.7", topics("", **BAD), 4, [17]),
    ("2.7", topics("n", **BAD), 4, [40]),
    ("2.7", topics("", **UNKNOWN), 4, [17]),
    ("2.4", topics("", **UNKNOWN), 4, [40]),
    ("2.4", topics("t", **UNKNOWN), 4, [36]),
    ("1.1", topics("n", **BAD), 2, [-1]),
    ("1.1", topics("t", **UNKNOWN), 2, [40]),
    ("1.1", topics("n", num_partitions=-1), 2, [37]),
    ("2.7", topics("n", **{**on(0, 1), "num_partitions": 1}), 4, [42]),
    ("2.7", topics("n", **on(0, 1, 1)), 4, [39]),
    ("2.7", topics("n", **on(1, 1)), 4, [39]),
    ("2.7", topics("n", **on(0, 1, 2)), 4, [0]),
    # DeleteTopics
    ("2.7", deletion("", timeout_ms=0), 4, [3]),
    ("2.7", deletion("t", timeout_ms=0), 4, [7]),
    ("2.7", deletion("t", "t", "n"), 4, [0, 0, 3]),
    ("2.0", deletion("t", "t", "n"), 2, [0, 3]),
    ("1.1", deletion("t", "n"), 1, [0, 3]),
    ("0.11.0", deletion("t", "n"), 1, [7, 3]),
    # CreatePartitions
    ("2.7", growth(1, timeout_ms=0), 2, [37]),
    ("2.7", growth(2, timeout_ms=0), 2, [7]),
    ("2.7", growth(2, 9), 2, [39]),
    ("2.7", growth_of("", "t", "t"), 1, [-1, -1, -1]),
    ("2.4", growth_of("", "t", "t"), 1, [-1, -1]),
    # AlterConfigs, IncrementalAlterConfigs
    ("2.7", altered((TOPIC, "t"), (0, ""), retention_ms="1"), 1, [42, 42]),
    ("2.7", altered((TOPIC, "t"), (METRICS, "m")), 1, [42, 42]),
    ("2.7", altered((TOPIC, "t"), (TOPIC, "n"), retention_ms="1"), 1, [0, 3]),
    ("2.4", altered((TOPIC, "n"), retention_ms="1"), 1, [-1]),
    ("2.7", altered((TOPIC, "t"), retention_ms=None), 1, [-1]),
    ("2.7", altered((TOPIC, "t"), retention_ms="x"), 1, [42]),
    ("2.7", altered((TOPIC, "t"), nonsense="x"), 1, [40]),
    ("2.7", changed(TOPIC, "", "retention.ms", SET, "1"), 1, [42]),
    ("2.7", changed(TOPIC, "n", "retention.ms", SET, "1"), 1, [3]),
    ("2.7", changed(TOPIC, "t", "retention.ms", APPEND, "1"), 1, [42]),
    ("2.7", changed(TOPIC, "t", "nonsense", APPEND, "1"), 1, [-1]),
    ("2.7", changed(TOPIC, "t", "cleanup.policy", APPEND, "compact"), 1, [0]),
    ("2.4", changed(TOPIC, "t", "cleanup.policy", APPEND, "compact"), 1, [-1]),
    ("2.4", changed(TOPIC, "", "cleanup.policy", SET, None), 1, [42]),
    ("2.7", changed(TOPIC, "t", "retention.ms", 9, "1"), 1, [-1]),
    ("2.7", changed(METRICS, "m", "interval.ms", SET, "1"), 1, [42]),
    ("2.7", changed(BROKER, "7", "log.cleaner.threads", SET, "1"), 1, [42]),
    # Users, quotas, features
    ("2.7", credentials(1, sha512=1), 0, [93]),
    ("2.7", credentials(1, other=5000), 0, [33]),
    ("2.7", credentials(1, sha256=5000), 0, [92]),
    ("2.7", credentials(2, sha256=5000), 0, [91]),
    ("2.7", credentials(sha256=5000, sha512=5000), 0, [0]),
    ("2.7", described_users("b", "", "a", "", "b"), 0, [0, 92, 91, 91]),
    ("2.7", quotas("request_percentage", -1.0), 0, [0]),
    ("2.7", quotas("producer_byte_rate", 1.5), 0, [42]),
    ("2.7", quotas("producer_byte_rate", 1.0, 2.0), 0, [0]),
    ("2.7", quotas("nonsense", 1.0), 0, [42]),
    ("2.7", quota_filter("", 0, "x"), 0, [42]),
    ("2.7", quota_filter("user", 0, None), 0, [-1]),
    ("2.7", quota_filter("user", 9, None), 0, [-1]),
    ("2.7", quota_filter("ip", 2, None), 0, [35]),
    ("2.7", quota_filter("user", 0, "", strict=True), 0, [-1]),
    ("2.8", both_filters(), 1, [-1]),
    ("2.7", a_password_that_is_none(), 0, [-1, -1]),
    ("2.7", quota_filter("user", 0, ""), 0, [0]),
    ("2.7", feature("", -1), 0, [0, 42]),
    ("2.7", feature("metadata.version", 1), 0, [0, 42]),
    # Partitions
    ("2.7", moves(("n", 0, [])), 0, [0, 39]),
    ("2.7", moves(("n", 0, [1])), 0, [0, 3]),
    ("2.7", moves(("n", 0, None)), 0, [0, 85]),
    ("2.7", moves(("t", 0, [1]), ("t", 0, [1])), 0, [0, 0]),
    ("2.7", moves(("t", 0, [-1])), 0, [0, 39]),
    ("2.7", elections("n", 0, 0), 2, [0, 3]),
    ("2.7", elections("t", 0), 2, [0, 84]),
    ("2.7", elections("t", 0, kind=7), 2, [-1, -1]),
]


def codes(answer: Any) -> Iterator[int]:
    """All error codes of an answer."""
    for field, _ in type(answer).fields():
        value = getattr(answer, field.name)
        if field.name == "error_code":
            yield value
        for each in value if isinstance(value, list) else ():
            if isinstance(each, Struct):
                yield from codes(each)


@pytest.mark.parametrize("release", sorted({row[0] for row in ROWS}))
def test_codes(release: str) -> None:
    for of, request, version, expected in ROWS:
        if of != release:
            continue
        cluster = open_cluster(release=RELEASES[release])
        cluster.create_topic("t", 1, {})
        found = [*codes(client_of(cluster, "app").ask(request, version))]
        cluster.close()
        assert sorted(found) == sorted(expected), request


def test_a_topic_that_is_created_too_late_has_its_id() -> None:
    cluster = open_cluster(release=RELEASES["2.8"])
    answer = client_of(cluster, "app").ask(topics("n", timeout_ms=0), 7).topics[0]
    created = cluster.topics.get("n")
    assert created is not None
    assert (answer.error_code, answer.topic_id) == (7, created.id)
    cluster.close()


def test_topics_that_are_deleted_by_their_id() -> None:
    """By name the answer has no id; by neither it is as if nobody might delete it."""
    cluster = open_cluster(release=RELEASES["2.8"])
    for name in ("t", "u"):
        cluster.create_topic(name, 1, {})
    topic, u = DeleteTopicsRequest.Topic, cluster.topics.get("u")
    assert u is not None
    asked = [
        topic(name="t", topic_id=NO_ID),
        topic(name=None, topic_id=NO_ID),
        topic(name=None, topic_id=u.id),
        topic(name=None, topic_id=b"n" * 16),
    ]
    request = DeleteTopicsRequest(topics=asked, timeout_ms=_IN_TIME_MS)
    answer = client_of(cluster, "app").ask(request, 6)
    found = [(each.name, each.topic_id, each.error_code) for each in answer.responses]
    assert found == [
        ("t", NO_ID, 0),
        (None, NO_ID, 29),
        ("u", u.id, 0),
        (None, b"n" * 16, 100),
    ]
    cluster.close()


def test_a_move_to_where_a_partition_is_raises_the_epoch_of_its_leader() -> None:
    cluster = open_cluster(release=RELEASES["2.7"])
    cluster.create_topic("t", 1, {})
    client_of(cluster, "app").ask(moves(("t", 0, [1])), 0)
    assert cluster.partition("t", 0).leader_epoch == 1
    cluster.close()


def test_offsets_that_zookeeper_keeps() -> None:
    cluster = open_cluster(release=RELEASES["2.7"])
    cluster.create_topic("t", 1, {})
    app = client_of(cluster, "app")
    topic = OffsetCommitRequest.Topic
    partitions = [
        topic.Partition(partition_index=i, committed_offset=5, committed_metadata="m")
        for i in (0, 1)
    ]
    wanted = [OffsetFetchRequest.Topic(name="t", partition_indexes=[0, 1])]
    commit = OffsetCommitRequest(group_id="g", topics=[topic(name="t", partitions=partitions)])
    assert [*codes(app.ask(OffsetFetchRequest(group_id="g", topics=wanted), 0))] == [3, 3, 0]
    assert sorted(codes(app.ask(commit, 0))) == [0, 3]
    fetched = app.ask(OffsetFetchRequest(group_id="g", topics=wanted), 0).topics[0].partitions
    found = {each.partition_index: (each.error_code, each.committed_offset) for each in fetched}
    assert found == {0: (0, 5), 1: (3, -1)}
    commit.group_id = ""
    assert sorted(codes(app.ask(commit, 0))) == [-1, 3]
    partitions[0].committed_metadata = "m" * 4097  # which is looked at before the group
    assert sorted(codes(app.ask(commit, 0))) == [3, 12]
    cluster.close()
