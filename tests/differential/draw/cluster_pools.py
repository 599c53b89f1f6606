"""Values to draw from for the cluster's own APIs: quotas, credentials, features, moves.

Left out is what would remove a real node from its cluster or delay every later request: its own id
for UnregisterBroker, low rates for all clients.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID, Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

_USERS: list[Any] = ["~u"] * 6 + ["~v"] * 3 + ["~w", ""]
_MECHANISMS: list[Any] = [1] * 5 + [2] * 4 + [0, 3]
_QUOTA_TYPES: list[Any] = ["user"] * 8 + ["client-id"] * 5 + ["ip"] * 2 + ["group", ""]
_QUOTA_NAMES: list[Any] = ["~u"] * 6 + ["~v"] * 3 + ["127.0.0.1", "::1", "1.2.3.4.5", ""]
_CODES: list[Any] = [2] * 8 + [1, 3, 99, -1]

OF_API: dict[type[Request], dict[str, list[Any]]] = {
    AlterClientQuotasRequest: {
        "entity_type": _QUOTA_TYPES,
        "entity_name": _QUOTA_NAMES,
        "key": [
            *["producer_byte_rate", "consumer_byte_rate", "request_percentage"] * 3,
            *["controller_mutation_rate", "connection_creation_rate", "nonsense"],
        ],
        "value": [1e6] * 6 + [2e6, 1.5e6 + 0.5, 1e6 + 1e-7, 0.0, -1.0, 1e19, 3e9],
    },
    AlterPartitionReassignmentsRequest: {
        "replicas": [1] * 8 + [2, -1],
    },
    AlterReplicaLogDirsRequest: {
        "path": ["/nowhere", "relative", ""],
    },
    AlterUserScramCredentialsRequest: {
        "name": _USERS,
        "mechanism": _MECHANISMS,
        "iterations": [4096] * 6 + [16384, 4095, 16385, 0],
        "salt": [b"salt", b""],
        "salted_password": [b"p" * 32] * 8 + [b"", b"x"],
    },
    CreateAclsRequest: {
        "resource_type": [*_CODES, 0],
        "operation": _CODES,
        "permission_type": _CODES,
        "resource_pattern_type": _CODES,
    },
    DeleteAclsRequest: {
        "resource_type_filter": [*_CODES, 0],
        "operation": _CODES,
        "permission_type": _CODES,
        "pattern_type_filter": _CODES,
    },
    DescribeAclsRequest: {
        "resource_type_filter": [*_CODES, 0],
        "operation": _CODES,
        "permission_type": _CODES,
        "pattern_type_filter": _CODES,
    },
    DescribeClientQuotasRequest: {
        "entity_type": _QUOTA_TYPES,
        "match_type": [0] * 4 + [1, 2, 2, 9],
        "match": [*_QUOTA_NAMES, None, None, None, None],
    },
    DescribeQuorumRequest: {
        "topic_name": ["__cluster_metadata"] * 6 + ["~a", ""],
        "partition_index": [0] * 6 + [1],
    },
    DescribeUserScramCredentialsRequest: {
        "name": _USERS,
    },
    ElectLeadersRequest: {
        "election_type": [0] * 5 + [1] * 5 + [2, -1],
    },
    RemoveRaftVoterRequest: {
        "cluster_id": [None, None, "another", ""],
        "voter_id": [2, 2, 1, -1],
        "voter_directory_id": [bytes(15) + b"\7", NO_ID],
    },
    SaslHandshakeRequest: {
        "mechanism": ["PLAIN", "SCRAM-SHA-256", "", "x"],
    },
    UnregisterBrokerRequest: {
        "broker_id": [2, 0, -1, 99],
    },
    UpdateFeaturesRequest: {
        "feature": ["nonsense", "", "group.version", "metadata.version"],
        "max_version_level": [-1, 31, 99, 2],
        "upgrade_type": [1] * 4 + [0, 2, 3, 9],
    },
}
