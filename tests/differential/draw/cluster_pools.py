"""Values to draw from for the cluster's own APIs: quotas, credentials, features, moves.

What would take a real node out of its cluster, or slow every later request down, is left out:
its own id for UnregisterBroker, low rates for everybody.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID

_USERS: list[Any] = ["~u"] * 6 + ["~v"] * 3 + ["~w", ""]
_MECHANISMS: list[Any] = [1] * 5 + [2] * 4 + [0, 3]
_QUOTA_TYPES: list[Any] = ["user"] * 8 + ["client-id"] * 5 + ["ip"] * 2 + ["group", ""]
_QUOTA_NAMES: list[Any] = ["~u"] * 6 + ["~v"] * 3 + ["127.0.0.1", "::1", "1.2.3.4.5", ""]
_CODES: list[Any] = [2] * 8 + [1, 3, 99, -1]

POOLS: dict[tuple[int | None, str], list[Any]] = {
    (17, "mechanism"): ["PLAIN", "SCRAM-SHA-256", "", "x"],
    (29, "resource_type_filter"): [*_CODES, 0],
    (29, "operation"): _CODES,
    (29, "permission_type"): _CODES,
    (29, "pattern_type_filter"): _CODES,
    (30, "resource_type"): [*_CODES, 0],
    (30, "operation"): _CODES,
    (30, "permission_type"): _CODES,
    (30, "resource_pattern_type"): _CODES,
    (31, "resource_type_filter"): [*_CODES, 0],
    (31, "operation"): _CODES,
    (31, "permission_type"): _CODES,
    (31, "pattern_type_filter"): _CODES,
    (34, "path"): ["/nowhere", "relative", ""],
    (43, "election_type"): [0] * 5 + [1] * 5 + [2, -1],
    (45, "replicas"): [1] * 8 + [2, -1],
    (48, "entity_type"): _QUOTA_TYPES,
    (48, "match_type"): [0] * 4 + [1, 2, 2, 9],
    (48, "match"): [*_QUOTA_NAMES, None, None, None, None],
    (49, "entity_type"): _QUOTA_TYPES,
    (49, "entity_name"): _QUOTA_NAMES,
    (49, "key"): [
        *["producer_byte_rate", "consumer_byte_rate", "request_percentage"] * 3,
        *["controller_mutation_rate", "connection_creation_rate", "nonsense"],
    ],
    (49, "value"): [1e6] * 6 + [2e6, 1.5e6 + 0.5, 1e6 + 1e-7, 0.0, -1.0, 1e19, 3e9],
    (50, "name"): _USERS,
    (51, "name"): _USERS,
    (51, "mechanism"): _MECHANISMS,
    (51, "iterations"): [4096] * 6 + [16384, 4095, 16385, 0],
    (51, "salt"): [b"salt", b""],
    (51, "salted_password"): [b"p" * 32] * 8 + [b"", b"x"],
    (55, "topic_name"): ["__cluster_metadata"] * 6 + ["~a", ""],
    (55, "partition_index"): [0] * 6 + [1],
    (57, "feature"): ["nonsense", "", "group.version", "metadata.version"],
    (57, "max_version_level"): [-1, 31, 99, 2],
    (57, "upgrade_type"): [1] * 4 + [0, 2, 3, 9],
    (64, "broker_id"): [2, 0, -1, 99],
    (81, "cluster_id"): [None, None, "another", ""],
    (81, "voter_id"): [2, 2, 1, -1],
    (81, "voter_directory_id"): [bytes(15) + b"\7", NO_ID],
}
