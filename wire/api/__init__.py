"""The requests and responses of each API, one module per API, imported when first asked for.

`request_class(3)` is MetadataRequest. API_MODULES has the module of every API key known here;
importing this package imports none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

from ..errors import WireError
from ..schema import REQUESTS, RESPONSES, Request, Response

C = TypeVar("C")

API_MODULES: dict[int, str] = {
    0: "produce",
    1: "fetch",
    2: "list_offsets",
    3: "metadata",
    8: "offset_commit",
    9: "offset_fetch",
    10: "find_coordinator",
    11: "join_group",
    12: "heartbeat",
    13: "leave_group",
    14: "sync_group",
    15: "describe_groups",
    16: "list_groups",
    17: "sasl_handshake",
    18: "api_versions",
    19: "create_topics",
    20: "delete_topics",
    21: "delete_records",
    22: "init_producer_id",
    23: "offset_for_leader_epoch",
    24: "add_partitions_to_txn",
    25: "add_offsets_to_txn",
    26: "end_txn",
    27: "write_txn_markers",
    28: "txn_offset_commit",
    29: "describe_acls",
    30: "create_acls",
    31: "delete_acls",
    32: "describe_configs",
    33: "alter_configs",
    34: "alter_replica_log_dirs",
    35: "describe_log_dirs",
    36: "sasl_authenticate",
    37: "create_partitions",
    38: "create_delegation_token",
    39: "renew_delegation_token",
    40: "expire_delegation_token",
    41: "describe_delegation_token",
    42: "delete_groups",
    43: "elect_leaders",
    44: "incremental_alter_configs",
    45: "alter_partition_reassignments",
    46: "list_partition_reassignments",
    47: "offset_delete",
    48: "describe_client_quotas",
    49: "alter_client_quotas",
    50: "describe_user_scram_credentials",
    51: "alter_user_scram_credentials",
    55: "describe_quorum",
    57: "update_features",
    60: "describe_cluster",
    61: "describe_producers",
    64: "unregister_broker",
    65: "describe_transactions",
    66: "list_transactions",
    68: "consumer_group_heartbeat",
    69: "consumer_group_describe",
    71: "get_telemetry_subscriptions",
    72: "push_telemetry",
    74: "list_config_resources",
    75: "describe_topic_partitions",
    76: "share_group_heartbeat",
    77: "share_group_describe",
    78: "share_fetch",
    79: "share_acknowledge",
    80: "add_raft_voter",
    81: "remove_raft_voter",
    83: "initialize_share_group_state",
    84: "read_share_group_state",
    85: "write_share_group_state",
    86: "delete_share_group_state",
    87: "read_share_group_state_summary",
    88: "streams_group_heartbeat",
    89: "streams_group_describe",
    90: "describe_share_group_offsets",
    91: "alter_share_group_offsets",
    92: "delete_share_group_offsets",
}

_KEYS = {module: key for key, module in API_MODULES.items()}


def api_keys(*modules: str) -> frozenset[int]:
    """The keys of APIs, by their modules: for those who need none of their messages."""
    return frozenset(_KEYS[each] for each in modules)


def api_name(api_key: int) -> str:
    """Kafka's name of an API that is known here, such as "ListOffsets"."""
    return request_class(api_key).__name__.removesuffix("Request")


def request_class(api_key: int) -> type[Request]:
    """The request of an API. Raises WireError when there is no such API here."""
    return REQUESTS.get(api_key) or _load(api_key, REQUESTS)


def response_class(api_key: int) -> type[Response]:
    """The response of an API. Raises WireError when there is no such API here."""
    return RESPONSES.get(api_key) or _load(api_key, RESPONSES)


def _load(api_key: int, registry: dict[int, C]) -> C:
    name = API_MODULES.get(api_key)
    if name is None:
        raise WireError(f"no API has the key {api_key}")
    import_module(f".{name}", __package__)
    return registry[api_key]
