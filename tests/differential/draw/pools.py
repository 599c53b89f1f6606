"""Values to draw from, by the name of a field: most are valid, some are limits, some are nonsense.

A pool is a list; a value that it holds several times is drawn more often. `DEFAULTS` has the pools
of fields without one of their own, by kind, so a new API is asked as soon as it is served.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID, Request
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_config_resources import ListConfigResourcesRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.produce import ProduceRequest

from ..ask.batches import TIME
from ..engine.steps import now, seen
from . import cluster_pools

BIG, SMALL = 2**31 - 1, -(2**31)
UNKNOWN_ID = bytes(15) + b"\7"

TOPICS: list[Any] = ["~a"] * 9 + ["~b"] * 5 + ["~c", "~none", "", "a b"]
IDS: list[Any] = [seen("~a")] * 9 + [seen("~b")] * 5 + [seen("~c"), NO_ID, UNKNOWN_ID]
PARTITIONS: list[Any] = [0] * 8 + [1] * 4 + [2, -1, 7, BIG]
OFFSETS: list[Any] = [0] * 4 + [1] * 3 + [2, 2, 3, 4, 5, 8, -1, -2, 100, 2**63 - 1]
EPOCHS: list[Any] = [-1] * 8 + [0] * 4 + [1, -2, BIG]
GROUPS: list[Any] = ["~g"] * 8 + ["~h"] * 3 + ["~none", ""]
TIMES: list[Any] = [-1, -1, -1, -2, -2, -3, -3, -4, -5, -6, -7, 0, TIME, TIME + 1, TIME + 5, BIG]
TIMES += [2**63 - 1, now(), now(-1000)]
MEMBERS: list[Any] = [seen("m")] * 4 + ["", "", "stranger"]
INSTANCES: list[Any] = [None] * 8 + ["i", "j", ""]
LIMITS: list[Any] = [1 << 20] * 6 + [0, 1, 70, 150, 300, -1, BIG]
CONFIG_NAMES: list[Any] = ["retention.ms"] * 3 + ["cleanup.policy"] * 2 + ["max.message.bytes"]
CONFIG_NAMES += ["compression.type", "interval.ms", "share.isolation.level", "nonsense", "root"]
CONFIG_VALUES: list[Any] = ["-1", "86400000", "compact", "delete", "gzip", "300", "x", "", None]

OF_FIELD: dict[str, list[Any]] = {
    "name": TOPICS,
    "topic": TOPICS,
    "topic_name": TOPICS,
    "topic_id": IDS,
    "topic_names": TOPICS,
    "partition": PARTITIONS,
    "partitions": PARTITIONS,
    "index": PARTITIONS,
    "partition_index": PARTITIONS,
    "partition_indexes": PARTITIONS,
    "group_id": GROUPS,
    "groups": GROUPS,
    "member_id": MEMBERS,
    "group_instance_id": INSTANCES,
    "current_leader_epoch": EPOCHS,
    "leader_epoch": EPOCHS,
    "last_fetched_epoch": EPOCHS,
    "committed_leader_epoch": EPOCHS,
    "generation_id": [1] * 5 + [2, 0, -1],
    "generation_id_or_member_epoch": [-1] * 8 + [1, 1, 0, 5],
    "member_epoch": [-1] * 4 + [0, 1],
    "timeout_ms": [5000] * 12 + [30_000] * 4 + [0, -1],
    "isolation_level": [0] * 5 + [1] * 3 + [2, -1],
    "replica_id": [-1] * 12 + [-2, -3, 1],
    "acks": [-1] * 6 + [1] * 5 + [0, 2],
    "transactional_id": [None],
    "reason": [None, "because"],
    "broker_ids": [1] * 8 + [2, -1],
    "validate_only": [False] * 5 + [True],
    "configuration_keys": ["retention.ms", "segment.bytes", "nonsense", "cleanup.policy"],
}
"""The pools of fields by their name, whatever the API."""

OF_API: dict[type[Request], dict[str, list[Any]]] = {
    AlterConfigsRequest: {
        "resource_type": [2] * 8 + [0, 3, 8, 16, 32],
        "resource_name": TOPICS,
        "name": CONFIG_NAMES,
        "value": CONFIG_VALUES,
    },
    ApiVersionsRequest: {
        "client_software_name": ["name"] * 4 + ["a.b-c", "", "-", "a b"],
        "client_software_version": ["1.0"] * 4 + ["1.0-rc", "", "1_0"],
    },
    CreatePartitionsRequest: {
        "count": [1, 2, 3, 4, 5, 0, -1],
    },
    CreateTopicsRequest: {
        "num_partitions": [1, 1, 2, 3, -1, 0, -2],
        "replication_factor": [1, 1, 1, -1, 0, 2],
        "name": ["~a", "~c", "~d", "~e", "~f.x", "~f_x", "", "a b", ".."],
    },
    DeleteRecordsRequest: {
        "offset": [0, 1, 1, 2, 3, -1, -2, 50],
    },
    DeleteTopicsRequest: {
        "name": [None] * 4 + ["~b", "~c", "~d"],
        "topic_id": [NO_ID] * 4 + [seen("~c"), UNKNOWN_ID],
        "topic_names": ["~b", "~c", "~c", "~d", "~none", ""],
    },
    DescribeClusterRequest: {
        "endpoint_type": [1, 1, 1, 2, 0, 5],
    },
    DescribeConfigsRequest: {
        "resource_type": [2] * 8 + [0, 3, 16, 32],
        "resource_name": TOPICS,
    },
    DescribeTopicPartitionsRequest: {
        "response_partition_limit": [2000, 2000, 1, 2, 3, 0, -1],
    },
    FetchRequest: {
        "max_wait_ms": [0, 0, 0, 5, 20, -1],
        "min_bytes": [0, 1, 1, 1, 80, 100_000, -1],
        "max_bytes": LIMITS,
        "partition_max_bytes": LIMITS,
        "fetch_offset": OFFSETS,
        "log_start_offset": [-1, -1, 0, 5],
        "session_id": [0] * 6 + [seen("session")] * 3 + [5],
        "session_epoch": [-1] * 6 + [0, 0, 1, 2],
        "cluster_id": [None, None, "another"],
        "rack_id": ["", "", "r"],
    },
    FindCoordinatorRequest: {
        "key": GROUPS,
        "coordinator_keys": GROUPS,
        "key_type": [0] * 8 + [3, -1],
    },
    IncrementalAlterConfigsRequest: {
        "resource_type": [2] * 8 + [0, 3, 8, 16, 32],
        "resource_name": TOPICS,
        "name": CONFIG_NAMES,
        "value": CONFIG_VALUES,
        "config_operation": [0] * 5 + [1, 1, 2, 3, 9],
    },
    InitProducerIdRequest: {
        "transaction_timeout_ms": [1000, 0, -1, BIG],
        "producer_id": [-1, -1, 0, 5],
        "producer_epoch": [-1, -1, 0, 5],
    },
    ListConfigResourcesRequest: {
        "resource_types": [2, 4, 8, 16, 32, 2, 16, 0],
    },
    ListGroupsRequest: {
        "states_filter": ["Stable", "Empty", "stable", "PreparingRebalance", "x"],
        "types_filter": ["classic", "Consumer", "share", "x"],
    },
    ListOffsetsRequest: {
        "timestamp": TIMES,
    },
    MetadataRequest: {
        "allow_auto_topic_creation": [False],
    },
    OffsetCommitRequest: {
        "committed_offset": OFFSETS,
        "committed_metadata": ["m"] * 4 + ["", None, "x" * 4096, "x" * 4097],
        "retention_time_ms": [-1, -1, 1_000_000],
    },
    ProduceRequest: {
        "timeout_ms": [5000, 0, -1, BIG],
    },
    **cluster_pools.OF_API,
}
"""The pools of one API's fields; these come first."""

DEFAULTS: dict[str, list[Any]] = {
    "bool": [False, False, True],
    "int8": [0, 0, 1, -1, 127],
    "int16": [0, 0, 1, -1, 32767],
    "int32": [0, 0, 1, -1, BIG, SMALL],
    "int64": [0, 0, 1, -1, 2**63 - 1],
    "uint16": [0, 1, 65535],
    "uint32": [0, 1, 2**32 - 1],
    "float64": [0.0, 1.5],
    "string": ["", "x", "~a", "ü"],
    "bytes": [b"", b"x", b"\0" * 20],
    "uuid": IDS,
    "records": [b""],
}

CONFIGS: list[tuple[str, str | None]] = [
    ("cleanup.policy", "compact"),
    ("cleanup.policy", "delete"),
    ("compression.type", "gzip"),
    ("compression.type", "uncompressed"),
    ("message.timestamp.type", "LogAppendTime"),
    ("max.message.bytes", "300"),
    ("message.timestamp.before.max.ms", "1000"),
    ("retention.ms", "-1"),
    ("segment.bytes", "1048576"),
    ("min.insync.replicas", "2"),
    ("retention.ms", "x"),
    ("nonsense", "1"),
    ("segment.ms", None),
]
