"""The table: each API, in a version, with the operations that it needs.

A row asks about a topic, a group and a transactional id of its own, which `About` names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from odradek.emulator.security.authorizer.acl import Kind, Operation
from odradek.wire import NO_ID, Request
from odradek.wire.api import request_class
from odradek.wire.records import NewRecord, build_batch
from odradek.wire.schema import Struct


class About(NamedTuple):
    """What a row is about."""

    topic: str
    topic_id: bytes
    group: str
    x: str


class Need(NamedTuple):
    operation: Operation
    kind: Kind

    def name(self, about: About) -> str:
        """Of the resource."""
        names = {
            Kind.TOPIC: about.topic,
            Kind.GROUP: about.group,
            Kind.TRANSACTIONAL_ID: about.x,
            Kind.CLUSTER: "kafka-cluster",
        }
        return names[self.kind]


class Row(NamedTuple):
    name: str
    api: int
    version: int
    fields: Callable[[About], dict[str, Any]]
    needs: tuple[Need, ...]

    def request(self, about: About) -> Request:
        made: Request = _made(request_class(self.api), self.fields(about))  # type: ignore[assignment]
        return made


def _made(cls: type[Struct], fields: dict[str, Any]) -> Struct:
    """A struct, whose parts are given as dicts."""
    types = {field.name: type_ for field, type_ in cls.fields()}

    def value(name: str, given: Any) -> Any:
        struct = types[name].struct
        if struct is None or given is None:
            return given
        if isinstance(given, list):
            return [_made(struct, each) for each in given]
        return _made(struct, given)

    return cls(**{name: value(name, given) for name, given in fields.items()})


_T, _G, _X, _C = Kind.TOPIC, Kind.GROUP, Kind.TRANSACTIONAL_ID, Kind.CLUSTER
_O = Operation
_BATCH = bytes(build_batch([NewRecord(1_600_000_000_000, None, b"v")]))
_TXN_BATCH = bytes(
    build_batch(
        [NewRecord(1_600_000_000_000, None, b"v")],
        producer_id=999_999,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
    )
)
_FETCH = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "replica_id": -1}
_WANTED = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
_OFFSET = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}


def _produce(**more: Any) -> dict[str, Any]:
    return {"transactional_id": None, "acks": 1, "timeout_ms": 30_000, **more}


def _data(name: str, records: bytes = _BATCH) -> list[dict[str, Any]]:
    return [{"name": name, "partition_data": [{"index": 0, "records": records}]}]


RECORDS = (
    Row("Produce", 0, 9, lambda a: _produce(topic_data=_data(a.topic)), (Need(_O.WRITE, _T),)),
    Row(
        *("Produce by id", 0, 13),
        lambda a: _produce(
            topic_data=[
                {"topic_id": a.topic_id, "partition_data": [{"index": 0, "records": _BATCH}]}
            ]
        ),
        (Need(_O.WRITE, _T),),
    ),
    Row(
        *("Produce in a transaction", 0, 9),
        lambda a: _produce(transactional_id=a.x, topic_data=_data(a.topic, _TXN_BATCH)),
        (Need(_O.WRITE, _X), Need(_O.WRITE, _T)),
    ),
    Row(
        *("Fetch", 1, 12),
        lambda a: {**_FETCH, "topics": [{"topic": a.topic, "partitions": [_WANTED]}]},
        (Need(_O.READ, _T),),
    ),
    Row(
        *("Fetch by id", 1, 13),
        lambda a: {**_FETCH, "topics": [{"topic_id": a.topic_id, "partitions": [_WANTED]}]},
        (Need(_O.READ, _T),),
    ),
    Row(
        *("ListOffsets", 2, 7),
        lambda a: {
            "replica_id": -1,
            "topics": [{"name": a.topic, "partitions": [{"partition_index": 0, "timestamp": -1}]}],
        },
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("OffsetForLeaderEpoch", 23, 4),
        lambda a: {
            "replica_id": -1,
            "topics": [{"topic": a.topic, "partitions": [{"partition": 0, "leader_epoch": 0}]}],
        },
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("DeleteRecords", 21, 2),
        lambda a: {
            "timeout_ms": 30_000,
            "topics": [{"name": a.topic, "partitions": [{"partition_index": 0, "offset": 0}]}],
        },
        (Need(_O.DELETE, _T),),
    ),
    Row(
        *("DescribeProducers", 61, 0),
        lambda a: {"topics": [{"name": a.topic, "partition_indexes": [0]}]},
        (Need(_O.READ, _T),),
    ),
    Row(
        *("ListOffsets of a missing topic", 2, 7),
        lambda a: {
            "replica_id": -1,
            "topics": [{"name": a.topic, "partitions": [{"partition_index": 0, "timestamp": -1}]}],
        },
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("Metadata of a missing topic", 3, 12),
        lambda a: {"topics": [{"name": a.topic}], "allow_auto_topic_creation": False},
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("Metadata that creates a topic", 3, 12),
        lambda a: {"topics": [{"name": a.topic}], "allow_auto_topic_creation": True},
        (Need(_O.DESCRIBE, _T), Need(_O.CREATE, _T)),
    ),
)
TOPICS = (
    Row(
        *("Metadata", 3, 12),
        lambda a: {
            "topics": [{"name": a.topic}],
            "allow_auto_topic_creation": False,
            "include_topic_authorized_operations": True,
        },
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("Metadata by id", 3, 12),
        lambda a: {"topics": [{"topic_id": a.topic_id, "name": None}]},
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("DescribeTopicPartitions", 75, 0),
        lambda a: {"topics": [{"name": a.topic}], "response_partition_limit": 10, "cursor": None},
        (Need(_O.DESCRIBE, _T),),
    ),
    Row(
        *("CreateTopics by the topic", 19, 7),
        lambda a: {
            "topics": [
                {
                    "name": a.topic,
                    "num_partitions": 1,
                    "replication_factor": 1,
                    "assignments": [],
                    "configs": [],
                }
            ],
            "timeout_ms": 30_000,
        },
        (Need(_O.CREATE, _T),),
    ),
    Row(
        *("CreateTopics by the cluster", 19, 7),
        lambda a: {
            "topics": [
                {
                    "name": a.topic,
                    "num_partitions": 1,
                    "replication_factor": 1,
                    "assignments": [],
                    "configs": [],
                }
            ],
            "timeout_ms": 30_000,
        },
        (Need(_O.CREATE, _C),),
    ),
    Row(
        *("CreatePartitions", 37, 3),
        lambda a: {
            "topics": [{"name": a.topic, "count": 2, "assignments": None}],
            "timeout_ms": 30_000,
            "validate_only": False,
        },
        (Need(_O.ALTER, _T),),
    ),
    Row(
        *("DeleteTopics", 20, 5),
        lambda a: {"topic_names": [a.topic], "timeout_ms": 30_000},
        (Need(_O.DELETE, _T),),
    ),
    Row(
        *("DeleteTopics by id", 20, 6),
        lambda a: {"topics": [{"name": None, "topic_id": a.topic_id}], "timeout_ms": 30_000},
        (Need(_O.DELETE, _T),),
    ),
    Row(
        *("DescribeConfigs of a topic", 32, 4),
        lambda a: {"resources": [_config_of(2, a.topic)]},
        (Need(_O.DESCRIBE_CONFIGS, _T),),
    ),
    Row(
        *("DescribeConfigs of a group", 32, 4),
        lambda a: {"resources": [_config_of(32, a.group)]},
        (Need(_O.DESCRIBE_CONFIGS, _G),),
    ),
    Row(
        *("DescribeConfigs of a broker", 32, 4),
        lambda a: {"resources": [_config_of(4, "1")]},
        (Need(_O.DESCRIBE_CONFIGS, _C),),
    ),
    Row(
        *("AlterConfigs of a topic", 33, 2),
        lambda a: {
            "resources": [{"resource_type": 2, "resource_name": a.topic, "configs": []}],
            "validate_only": True,
        },
        (Need(_O.ALTER_CONFIGS, _T),),
    ),
    *(
        Row(
            *(f"IncrementalAlterConfigs of a {word}", 44, 1),
            lambda a, kind=kind, what=what: {  # type: ignore[misc]
                "resources": [{"resource_type": kind, "resource_name": what(a), "configs": []}],
                "validate_only": True,
            },
            (need,),
        )
        for word, kind, what, need in (
            ("topic", 2, lambda a: a.topic, Need(_O.ALTER_CONFIGS, _T)),
            ("group", 32, lambda a: a.group, Need(_O.ALTER_CONFIGS, _G)),
            ("broker", 4, lambda a: "1", Need(_O.ALTER_CONFIGS, _C)),
        )
    ),
)


def _config_of(kind: int, name: str) -> dict[str, Any]:
    keys = {2: ["cleanup.policy"], 4: ["num.partitions"]}.get(kind, ["share.auto.offset.reset"])
    return {"resource_type": kind, "resource_name": name, "configuration_keys": keys}


_MEMBER = {"member_id": "m", "generation_id": 1}
GROUPS = (
    Row(
        *("FindCoordinator of a group", 10, 4),
        lambda a: {"key_type": 0, "coordinator_keys": [a.group]},
        (Need(_O.DESCRIBE, _G),),
    ),
    Row(
        *("FindCoordinator of a group, of old", 10, 3),
        lambda a: {"key_type": 0, "key": a.group},
        (Need(_O.DESCRIBE, _G),),
    ),
    Row(
        *("JoinGroup", 11, 9),
        lambda a: {
            "group_id": a.group,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 10_000,
            "member_id": "",
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": b""}],
        },
        (Need(_O.READ, _G),),
    ),
    Row(
        *("SyncGroup", 14, 4),
        lambda a: {"group_id": a.group, **_MEMBER},
        (Need(_O.READ, _G),),
    ),
    Row("Heartbeat", 12, 4, lambda a: {"group_id": a.group, **_MEMBER}, (Need(_O.READ, _G),)),
    Row(
        *("LeaveGroup", 13, 5),
        lambda a: {"group_id": a.group, "members": [{"member_id": "m"}]},
        (Need(_O.READ, _G),),
    ),
    Row(
        *("OffsetCommit", 8, 8),
        lambda a: {
            "group_id": a.group,
            "topics": [{"name": a.topic, "partitions": [_OFFSET]}],
        },
        (Need(_O.READ, _G), Need(_O.READ, _T)),
    ),
    Row(
        *("OffsetFetch", 9, 9),
        lambda a: {
            "groups": [
                {"group_id": a.group, "topics": [{"name": a.topic, "partition_indexes": [0]}]}
            ]
        },
        (Need(_O.DESCRIBE, _G), Need(_O.DESCRIBE, _T)),
    ),
    Row(
        *("OffsetFetch by id", 9, 10),
        lambda a: {
            "groups": [
                {
                    "group_id": a.group,
                    "topics": [{"topic_id": a.topic_id, "partition_indexes": [0]}],
                }
            ]
        },
        (Need(_O.DESCRIBE, _G), Need(_O.DESCRIBE, _T)),
    ),
    Row(
        *("OffsetFetch of old", 9, 5),
        lambda a: {"group_id": a.group, "topics": [{"name": a.topic, "partition_indexes": [0]}]},
        (Need(_O.DESCRIBE, _G), Need(_O.DESCRIBE, _T)),
    ),
    Row(
        *("OffsetDelete", 47, 0),
        lambda a: {
            "group_id": a.group,
            "topics": [{"name": a.topic, "partitions": [{"partition_index": 0}]}],
        },
        (Need(_O.DELETE, _G), Need(_O.READ, _T)),
    ),
    Row("DeleteGroups", 42, 2, lambda a: {"groups_names": [a.group]}, (Need(_O.DELETE, _G),)),
    Row(
        *("DescribeGroups", 15, 5),
        lambda a: {"groups": [a.group], "include_authorized_operations": True},
        (Need(_O.DESCRIBE, _G),),
    ),
    Row(
        *("ConsumerGroupDescribe", 69, 1),
        lambda a: {"group_ids": [a.group], "include_authorized_operations": True},
        (Need(_O.DESCRIBE, _G),),
    ),
    Row(
        *("ConsumerGroupHeartbeat", 68, 1),
        lambda a: {
            "group_id": a.group,
            "member_id": "b2RyYWRlay5vZHJhZGVrLg",
            "member_epoch": 0,
            "rebalance_timeout_ms": 10_000,
            "subscribed_topic_names": [a.topic],
            "topic_partitions": [],
        },
        (Need(_O.READ, _G), Need(_O.DESCRIBE, _T)),
    ),
)
TRANSACTIONS = (
    Row(
        *("FindCoordinator of a transaction, of old", 10, 3),
        lambda a: {"key_type": 1, "key": a.x},
        (Need(_O.DESCRIBE, _X),),
    ),
    Row(
        *("FindCoordinator of a transaction", 10, 4),
        lambda a: {"key_type": 1, "coordinator_keys": [a.x]},
        (Need(_O.DESCRIBE, _X),),
    ),
    Row(
        *("InitProducerId by the cluster", 22, 5),
        lambda a: {"transactional_id": None, "transaction_timeout_ms": 60_000},
        (Need(_O.IDEMPOTENT_WRITE, _C),),
    ),
    Row(
        *("InitProducerId by a topic", 22, 5),
        lambda a: {"transactional_id": None, "transaction_timeout_ms": 60_000},
        (Need(_O.WRITE, _T),),
    ),
    Row(
        *("InitProducerId of a transaction", 22, 5),
        lambda a: {"transactional_id": a.x, "transaction_timeout_ms": 60_000},
        (Need(_O.WRITE, _X),),
    ),
    Row(
        *("AddPartitionsToTxn", 24, 3),
        lambda a: {
            "v3_and_below_transactional_id": a.x,
            "v3_and_below_producer_id": 999_999,
            "v3_and_below_producer_epoch": 0,
            "v3_and_below_topics": [{"name": a.topic, "partitions": [0]}],
        },
        (Need(_O.WRITE, _X), Need(_O.WRITE, _T)),
    ),
    Row(
        *("AddPartitionsToTxn of a broker", 24, 5),
        lambda a: {
            "transactions": [
                {
                    "transactional_id": a.x,
                    "producer_id": 999_999,
                    "producer_epoch": 0,
                    "verify_only": False,
                    "topics": [{"name": a.topic, "partitions": [0]}],
                }
            ]
        },
        (Need(_O.CLUSTER_ACTION, _C),),
    ),
    Row(
        *("AddOffsetsToTxn", 25, 4),
        lambda a: {
            "transactional_id": a.x,
            "producer_id": 999_999,
            "producer_epoch": 0,
            "group_id": a.group,
        },
        (Need(_O.WRITE, _X), Need(_O.READ, _G)),
    ),
    Row(
        *("EndTxn", 26, 4),
        lambda a: {
            "transactional_id": a.x,
            "producer_id": 999_999,
            "producer_epoch": 0,
            "committed": True,
        },
        (Need(_O.WRITE, _X),),
    ),
    Row(
        *("TxnOffsetCommit", 28, 3),
        lambda a: {
            "transactional_id": a.x,
            "group_id": a.group,
            "producer_id": 999_999,
            "producer_epoch": 0,
            "topics": [{"name": a.topic, "partitions": [_OFFSET]}],
        },
        (Need(_O.WRITE, _X), Need(_O.READ, _G), Need(_O.READ, _T)),
    ),
    *(
        Row(
            *(f"WriteTxnMarkers by {operation.name}", 27, 1),
            lambda a: {
                "markers": [
                    {
                        "producer_id": 999_999,
                        "producer_epoch": 0,
                        "transaction_result": True,
                        "topics": [{"name": a.topic, "partition_indexes": [0]}],
                        "coordinator_epoch": 0,
                    }
                ]
            },
            (Need(operation, _C),),
        )
        for operation in (_O.ALTER, _O.CLUSTER_ACTION)
    ),
    Row(
        *("DescribeTransactions", 65, 0),
        lambda a: {"transactional_ids": [a.x]},
        (Need(_O.DESCRIBE, _X),),
    ),
)
_SHARE_MEMBER = {"group_id": "", "member_id": "b2RyYWRlay5vZHJhZGVrLg"}


def _streams_beat(a: About, **subtopology: Any) -> dict[str, Any]:
    topics = {
        each: []
        for each in (
            *("source_topics", "source_topic_regex", "state_changelog_topics"),
            *("repartition_sink_topics", "repartition_source_topics", "copartition_groups"),
        )
    }
    return {
        "group_id": a.group,
        "member_id": "b2RyYWRlay5vZHJhZGVrLg",
        "member_epoch": 0,
        "endpoint_information_epoch": 0,
        "rebalance_timeout_ms": 10_000,
        "topology": {
            "epoch": 0,
            "subtopologies": [{"subtopology_id": "0", **topics, **subtopology}],
        },
        "active_tasks": [],
        "standby_tasks": [],
        "warmup_tasks": [],
        "process_id": "p",
    }


def _streams_beat_of_a_repartition_topic(a: About) -> dict[str, Any]:
    topic = {"name": a.topic, "partitions": 2, "replication_factor": 1, "topic_configs": []}
    return _streams_beat(a, repartition_sink_topics=[a.topic], repartition_source_topics=[topic])


STREAMS = (
    Row(
        *("StreamsGroupHeartbeat", 88, 0),
        lambda a: _streams_beat(a, source_topics=[a.topic]),
        (Need(_O.READ, _G), Need(_O.DESCRIBE, _T)),
    ),
    Row(
        *("StreamsGroupHeartbeat that creates a topic", 88, 0),
        _streams_beat_of_a_repartition_topic,
        (Need(_O.READ, _G), Need(_O.DESCRIBE, _T), Need(_O.CREATE, _T)),
    ),
    Row(
        *("StreamsGroupDescribe", 89, 0),
        lambda a: {"group_ids": [a.group], "include_authorized_operations": True},
        (Need(_O.DESCRIBE, _G),),
    ),
)


def _state(a: About, **partition: Any) -> dict[str, Any]:
    return {
        "group_id": a.group,
        "topics": [{"topic_id": a.topic_id, "partitions": [{"partition": 0, **partition}]}],
    }


SHARE = (
    Row(
        *("ShareGroupHeartbeat", 76, 1),
        lambda a: {
            **_SHARE_MEMBER,
            "group_id": a.group,
            "member_epoch": 0,
            "subscribed_topic_names": [a.topic],
        },
        (Need(_O.READ, _G), Need(_O.DESCRIBE, _T)),
    ),
    Row(
        *("ShareGroupDescribe", 77, 1),
        lambda a: {"group_ids": [a.group], "include_authorized_operations": True},
        (Need(_O.DESCRIBE, _G),),
    ),
    Row(
        *("ShareFetch", 78, 1),
        lambda a: {
            **_SHARE_MEMBER,
            "group_id": a.group,
            "share_session_epoch": 0,
            "max_wait_ms": 0,
            "min_bytes": 0,
            "max_records": 10,
            "batch_size": 10,
            "topics": [
                {
                    "topic_id": a.topic_id,
                    "partitions": [{"partition_index": 0, "acknowledgement_batches": []}],
                }
            ],
            "forgotten_topics_data": [],
        },
        (Need(_O.READ, _G), Need(_O.READ, _T)),
    ),
    Row(
        *("ShareAcknowledge without a session", 79, 1),
        lambda a: {
            **_SHARE_MEMBER,
            "group_id": a.group,
            "share_session_epoch": 1,
            "topics": [{"topic_id": a.topic_id, "partitions": []}],
        },
        (Need(_O.READ, _G),),
    ),
    Row(
        *("DescribeShareGroupOffsets", 90, 0),
        lambda a: {
            "groups": [
                {"group_id": a.group, "topics": [{"topic_name": a.topic, "partitions": [0]}]}
            ]
        },
        (Need(_O.DESCRIBE, _G), Need(_O.DESCRIBE, _T)),
    ),
    Row(
        *("AlterShareGroupOffsets", 91, 0),
        lambda a: {
            "group_id": a.group,
            "topics": [
                {
                    "topic_name": a.topic,
                    "partitions": [{"partition_index": 0, "start_offset": 0}],
                }
            ],
        },
        (Need(_O.READ, _G), Need(_O.READ, _T)),
    ),
    Row(
        *("DeleteShareGroupOffsets", 92, 0),
        lambda a: {"group_id": a.group, "topics": [{"topic_name": a.topic}]},
        (Need(_O.DELETE, _G), Need(_O.READ, _T)),
    ),
    Row(
        *("InitializeShareGroupState", 83, 0),
        lambda a: _state(a, state_epoch=0, start_offset=0),
        (Need(_O.CLUSTER_ACTION, _C),),
    ),
    Row(
        *("ReadShareGroupState", 84, 0),
        lambda a: _state(a, leader_epoch=0),
        (Need(_O.CLUSTER_ACTION, _C),),
    ),
    Row(
        *("WriteShareGroupState", 85, 0),
        lambda a: _state(a, state_epoch=0, leader_epoch=0, start_offset=0, state_batches=[]),
        (Need(_O.CLUSTER_ACTION, _C),),
    ),
    Row(*("DeleteShareGroupState", 86, 0), _state, (Need(_O.CLUSTER_ACTION, _C),)),
    Row(
        *("ReadShareGroupStateSummary", 87, 0),
        lambda a: _state(a, leader_epoch=0),
        (Need(_O.CLUSTER_ACTION, _C),),
    ),
)
_QUOTA = {
    "entity": [{"entity_type": "user", "entity_name": "nobody"}],
    "ops": [{"key": "producer_byte_rate", "value": 1e9, "remove": False}],
}
_ANY_ACL = {
    "resource_type_filter": 2, "resource_name_filter": "no such topic", "pattern_type_filter": 3,
    "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
}  # fmt: skip


def _wide(name: str, api: int, version: int, operation: Operation, fields: dict[str, Any]) -> Row:
    return Row(name, api, version, lambda a: fields, (Need(operation, _C),))


CLUSTER = (
    _wide("DescribeAcls", 29, 3, _O.DESCRIBE, _ANY_ACL),
    _wide(
        "CreateAcls",
        30,
        3,
        _O.ALTER,
        {
            "creations": [
                {
                    "resource_type": 2,
                    "resource_name": "any",
                    "resource_pattern_type": 3,
                    "principal": "User:nobody",
                    "host": "*",
                    "operation": 3,
                    "permission_type": 3,
                }
            ]
        },
    ),
    _wide("DeleteAcls", 31, 3, _O.ALTER, {"filters": [_ANY_ACL]}),
    _wide(
        "DescribeClientQuotas",
        48,
        1,
        _O.DESCRIBE_CONFIGS,
        {"components": [{"entity_type": "ip", "match_type": 1, "match": None}], "strict": False},
    ),
    _wide(
        "AlterClientQuotas", 49, 1, _O.ALTER_CONFIGS, {"entries": [_QUOTA], "validate_only": True}
    ),
    _wide("DescribeUserScramCredentials", 50, 0, _O.DESCRIBE, {"users": [{"name": "nobody"}]}),
    _wide(
        "AlterUserScramCredentials",
        51,
        0,
        _O.ALTER,
        {"deletions": [{"name": "nobody", "mechanism": 1}], "upsertions": []},
    ),
    _wide("DescribeLogDirs", 35, 4, _O.DESCRIBE, {"topics": []}),
    _wide(
        "AlterReplicaLogDirs",
        34,
        2,
        _O.ALTER,
        {"dirs": [{"path": "/no", "topics": [{"name": "no", "partitions": [0]}]}]},
    ),
    _wide(
        "ElectLeaders",
        43,
        2,
        _O.ALTER,
        {"topic_partitions": [{"topic": "no", "partitions": [0]}], "timeout_ms": 9000},
    ),
    _wide(
        "AlterPartitionReassignments",
        45,
        0,
        _O.ALTER,
        {
            "timeout_ms": 9000,
            "topics": [{"name": "no", "partitions": [{"partition_index": 0, "replicas": [1]}]}],
        },
    ),
    _wide("ListPartitionReassignments", 46, 0, _O.DESCRIBE, {"timeout_ms": 9000, "topics": None}),
    _wide(
        "DescribeQuorum",
        55,
        2,
        _O.DESCRIBE,
        {"topics": [{"topic_name": "no", "partitions": [{"partition_index": 0}]}]},
    ),
    _wide(
        "UpdateFeatures",
        57,
        1,
        _O.ALTER,
        {
            "feature_updates": [{"feature": "no.such", "max_version_level": 1, "upgrade_type": 1}],
            "validate_only": True,
        },
    ),
    _wide("UnregisterBroker", 64, 0, _O.ALTER, {"broker_id": 77}),
    _wide("ListConfigResources", 74, 1, _O.DESCRIBE_CONFIGS, {"resource_types": [16]}),
    _wide(
        "RemoveRaftVoter",
        81,
        0,
        _O.ALTER,
        {"cluster_id": "other", "voter_id": 7, "voter_directory_id": NO_ID},
    ),
    _wide("DescribeCluster", 60, 1, _O.DESCRIBE, {"include_cluster_authorized_operations": True}),
    _wide(
        "Metadata of the cluster",
        3,
        8,
        _O.DESCRIBE,
        {
            "topics": [],
            "allow_auto_topic_creation": False,
            "include_cluster_authorized_operations": True,
        },
    ),
)
ROWS = (*RECORDS, *TOPICS, *GROUPS, *SHARE, *STREAMS, *TRANSACTIONS, *CLUSTER)
