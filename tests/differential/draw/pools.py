"""Values to draw from, by the name of a field: mostly valid, some at the edges, some nonsense.

A pool is a list; what stands in it more often is drawn more often. `DEFAULTS` serves fields that
have no pool of their own, by kind, so a new API is asked from the day on which it is served.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID

from ..ask.batches import TIME
from ..engine.steps import now, seen
from . import cluster_pools as values_cluster

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

# (API key or None, field): pool.
POOLS: dict[tuple[int | None, str], list[Any]] = {
    (None, "name"): TOPICS,
    (None, "topic"): TOPICS,
    (None, "topic_name"): TOPICS,
    (None, "topic_id"): IDS,
    (None, "topic_names"): TOPICS,
    (None, "partition"): PARTITIONS,
    (None, "partitions"): PARTITIONS,
    (None, "index"): PARTITIONS,
    (None, "partition_index"): PARTITIONS,
    (None, "partition_indexes"): PARTITIONS,
    (None, "group_id"): GROUPS,
    (None, "groups"): GROUPS,
    (None, "member_id"): MEMBERS,
    (None, "group_instance_id"): INSTANCES,
    (None, "current_leader_epoch"): EPOCHS,
    (None, "leader_epoch"): EPOCHS,
    (None, "last_fetched_epoch"): EPOCHS,
    (None, "committed_leader_epoch"): EPOCHS,
    (None, "generation_id"): [1] * 5 + [2, 0, -1],
    (None, "generation_id_or_member_epoch"): [-1] * 8 + [1, 1, 0, 5],
    (None, "member_epoch"): [-1] * 4 + [0, 1],
    (None, "timeout_ms"): [5000] * 12 + [30_000] * 4 + [0, -1],
    (None, "isolation_level"): [0] * 5 + [1] * 3 + [2, -1],
    (None, "replica_id"): [-1] * 12 + [-2, -3, 1],
    (None, "acks"): [-1] * 6 + [1] * 5 + [0, 2],
    (None, "transactional_id"): [None],
    (None, "reason"): [None, "because"],
    (None, "broker_ids"): [1] * 8 + [2, -1],
    (None, "validate_only"): [False] * 5 + [True],
    (None, "configuration_keys"): ["retention.ms", "segment.bytes", "nonsense", "cleanup.policy"],
    (0, "timeout_ms"): [5000, 0, -1, BIG],
    (1, "max_wait_ms"): [0, 0, 0, 5, 20, -1],
    (1, "min_bytes"): [0, 1, 1, 1, 80, 100_000, -1],
    (1, "max_bytes"): LIMITS,
    (1, "partition_max_bytes"): LIMITS,
    (1, "fetch_offset"): OFFSETS,
    (1, "log_start_offset"): [-1, -1, 0, 5],
    (1, "session_id"): [0] * 6 + [seen("session")] * 3 + [5],
    (1, "session_epoch"): [-1] * 6 + [0, 0, 1, 2],
    (1, "cluster_id"): [None, None, "another"],
    (1, "rack_id"): ["", "", "r"],
    (2, "timestamp"): TIMES,
    (3, "allow_auto_topic_creation"): [False],
    (8, "committed_offset"): OFFSETS,
    (8, "committed_metadata"): ["m"] * 4 + ["", None, "x" * 4096, "x" * 4097],
    (8, "retention_time_ms"): [-1, -1, 1_000_000],
    (10, "key"): GROUPS,
    (10, "coordinator_keys"): GROUPS,
    (10, "key_type"): [0] * 8 + [3, -1],
    (16, "states_filter"): ["Stable", "Empty", "stable", "PreparingRebalance", "x"],
    (16, "types_filter"): ["classic", "Consumer", "share", "x"],
    (18, "client_software_name"): ["name"] * 4 + ["a.b-c", "", "-", "a b"],
    (18, "client_software_version"): ["1.0"] * 4 + ["1.0-rc", "", "1_0"],
    (19, "num_partitions"): [1, 1, 2, 3, -1, 0, -2],
    (19, "replication_factor"): [1, 1, 1, -1, 0, 2],
    (19, "name"): ["~a", "~c", "~d", "~e", "~f.x", "~f_x", "", "a b", ".."],
    (20, "name"): [None] * 4 + ["~b", "~c", "~d"],
    (20, "topic_id"): [NO_ID] * 4 + [seen("~c"), UNKNOWN_ID],
    (20, "topic_names"): ["~b", "~c", "~c", "~d", "~none", ""],
    (21, "offset"): [0, 1, 1, 2, 3, -1, -2, 50],
    (22, "transaction_timeout_ms"): [1000, 0, -1, BIG],
    (22, "producer_id"): [-1, -1, 0, 5],
    (22, "producer_epoch"): [-1, -1, 0, 5],
    (32, "resource_type"): [2] * 8 + [0, 3, 16, 32],
    (32, "resource_name"): TOPICS,
    (33, "resource_type"): [2] * 8 + [0, 3, 8, 16, 32],
    (33, "resource_name"): TOPICS,
    (33, "name"): CONFIG_NAMES,
    (33, "value"): CONFIG_VALUES,
    (37, "count"): [1, 2, 3, 4, 5, 0, -1],
    (44, "resource_type"): [2] * 8 + [0, 3, 8, 16, 32],
    (44, "resource_name"): TOPICS,
    (44, "name"): CONFIG_NAMES,
    (44, "value"): CONFIG_VALUES,
    (44, "config_operation"): [0] * 5 + [1, 1, 2, 3, 9],
    (60, "endpoint_type"): [1, 1, 1, 2, 0, 5],
    (74, "resource_types"): [2, 4, 8, 16, 32, 2, 16, 0],
    (75, "response_partition_limit"): [2000, 2000, 1, 2, 3, 0, -1],
    **values_cluster.POOLS,
}

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
