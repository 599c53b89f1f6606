"""One module per API; `load` imports them all, and each registers its handler."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "api_versions",
    "create_partitions",
    "create_topics",
    "delete_records",
    "delete_topics",
    "describe_cluster",
    "describe_configs",
    "describe_groups",
    "describe_topic_partitions",
    "fetch",
    "find_coordinator",
    "heartbeat",
    "init_producer_id",
    "join_group",
    "leave_group",
    "list_groups",
    "list_offsets",
    "metadata",
    "offset_commit",
    "offset_fetch",
    "offset_for_leader_epoch",
    "produce",
    "sync_group",
)


def load() -> None:
    """Register every handler."""
    for name in MODULES:
        import_module(f".{name}", __package__)
