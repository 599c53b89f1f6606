"""Every method of kafka-python's KafkaAdminClient, in the order in which they are called."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from kafka import TopicPartition
from kafka import admin as made
from kafka.structs import OffsetAndMetadata

from tests.clients.support.admin_calls.sweep import OWN, START_MS, Call

Part = TopicPartition
Resource = made.ConfigResource
Spec = made.OffsetSpec

NOT_CALLED = {"close": "called at the end"}

EVERY_ACL = made.ACLFilter(
    principal=None,
    host=None,
    operation=made.ACLOperation.ANY,
    permission_type=made.ACLPermissionType.ANY,
    resource_pattern=made.ResourcePatternFilter(
        made.ResourceType.ANY, None, made.ACLResourcePatternType.ANY
    ),
)
ONE_ACL = made.ACL(
    principal="User:x",
    host="*",
    operation=made.ACLOperation.READ,
    permission_type=made.ACLPermissionType.ALLOW,
    resource_pattern=made.ResourcePattern(made.ResourceType.TOPIC, "orders"),
)
SHA256 = made.ScramMechanism.SCRAM_SHA_256
USER = made.UserScramCredentialUpsertion("u", SHA256, b"secret", 5000)
FEW = made.UserScramCredentialUpsertion("few", SHA256, b"secret", 1)
NO_USER = made.UserScramCredentialDeletion("nobody", SHA256)


def client(address: str) -> Any:
    return made.KafkaAdminClient(bootstrap_servers=address)


def methods() -> type:
    """The class whose methods are meant."""
    return made.KafkaAdminClient


def close(client: Any) -> None:
    client.close()


def unfinished(client: Any) -> Any:
    """The producer whose transaction is open."""
    (state,) = client.describe_producers([Part("open", 0)])[Part("open", 0)].active_producers
    return state


CLUSTER = [
    Call("api_versions", lambda a: _served(a)),
    Call("get_broker_version_data", lambda a: a.get_broker_version_data(1).broker_version),
    Call("describe_cluster", lambda a: a.describe_cluster()),
    Call("describe_metadata_quorum", lambda a: a.describe_metadata_quorum()),
    Call("describe_features", lambda a: a.describe_features()),
    Call("describe_features", lambda a: a.describe_features(send_request_to_controller=True)),
    *(
        Call("update_features", lambda a, c=change, v=only: a.update_features(c, validate_only=v))
        for change in (
            {"transaction.version": ("SAFE_DOWNGRADE", 1)},
            {"transaction.version": 2},
            {"nonsense": 1},
            {"metadata.version": 1},
        )
        for only in (True, False)
    ),
    Call("describe_log_dirs", lambda a: a.describe_log_dirs()),
    Call("describe_log_dirs", lambda a: a.describe_log_dirs({"orders": [0]})),
    Call("describe_log_dirs", lambda a: a.describe_log_dirs({"missing": [0]}, [1])),
    Call(
        "alter_replica_log_dirs", lambda a: a.alter_replica_log_dirs({("orders", 0, 1): "/nowhere"})
    ),
    Call("create_acls", lambda a: a.create_acls([ONE_ACL])),
    Call("describe_acls", lambda a: a.describe_acls(EVERY_ACL)),
    Call("delete_acls", lambda a: a.delete_acls([EVERY_ACL])),
    Call(
        "alter_user_scram_credentials",
        lambda a: a.alter_user_scram_credentials([USER, FEW, NO_USER]),
    ),
    Call("describe_user_scram_credentials", lambda a: a.describe_user_scram_credentials()),
    Call(
        "describe_user_scram_credentials", lambda a: a.describe_user_scram_credentials(["u", "no"])
    ),
]

TOPICS = [
    *(
        Call("create_topics", lambda a, n=new, v=only: a.create_topics(n, validate_only=v))
        for new, only in (
            ({"new": {"num_partitions": 2, "configs": {"retention.ms": "1000"}}}, False),
            ({"placed": {"assignments": {0: [1], 1: [1]}}}, False),
            ({"asked": {"num_partitions": 1}}, True),
            ({"orders": {"num_partitions": 1}}, False),
            ({"bad name": {"num_partitions": 1}}, False),
            ({"none": {"num_partitions": 0}}, False),
            ({"copies": {"num_partitions": 1, "replication_factor": 3}}, False),
            ({"wrong": {"configs": {"no.such": "1"}}}, False),
        )
    ),
    Call("create_topics", lambda a: a.create_topics(["usual", "orders"], raise_errors=False)),
    Call("wait_for_topics", lambda a: a.wait_for_topics(["new", "placed", "usual"])),
    Call("wait_for_topics", lambda a: a.wait_for_topics(["missing"], timeout_ms=300)),
    Call("list_topics", lambda a: sorted(a.list_topics())),
    Call("describe_topics", lambda a: a.describe_topics(["new", "placed"])),
    Call("describe_topics", lambda a: a.describe_topics(["missing"])),
    Call("describe_topics", lambda a: _by_id(a, "new")),
    *(
        Call(
            "describe_topic_partitions",
            lambda a, n=names, m=most, c=cursor: a.describe_topic_partitions(n, m, c),
        )
        for names, most, cursor in (
            (["new", "orders"], 2000, None),
            (["new", "orders"], 1, None),
            (["new", "orders"], 9, {"topic_name": "new", "partition_index": 1}),
            (["missing"], 9, None),
            (["new"], 9, {"topic_name": "new", "partition_index": -1}),
        )
    ),
    *(
        Call(
            "create_partitions", lambda a, g=grown, v=only: a.create_partitions(g, validate_only=v)
        )
        for grown, only in (
            ({"new": 4}, False),
            ({"new": 9}, True),
            ({"new": 1}, False),
            ({"missing": 2}, False),
            ({"placed": {"count": 3, "assignments": [[1]]}}, False),
            ({"placed": {"count": 4, "assignments": [[7]]}}, False),
        )
    ),
    Call("describe_topics", lambda a: a.describe_topics(["new", "placed"])),
    Call("delete_topics", lambda a: a.delete_topics(["placed"])),
    Call("delete_topics", lambda a: a.delete_topics(["missing"])),
    Call("list_topics", lambda a: sorted(a.list_topics())),
    *(
        Call(
            "list_partition_offsets",
            lambda a, s=spec, i=isolation: a.list_partition_offsets(
                {Part("orders", 0): s, Part("open", 0): s, Part("empty", 0): s}, i
            ),
        )
        for spec in (*Spec, made.OffsetTimestamp(0), made.OffsetTimestamp(START_MS + 2))
        for isolation in ("read_uncommitted", "read_committed")
    ),
    Call(
        "list_partition_offsets", lambda a: a.list_partition_offsets({Part("no", 0): Spec.LATEST})
    ),
    *(
        Call("delete_records", lambda a, p=part, o=offset: a.delete_records({p: o}))
        for part, offset in (
            (Part("orders", 0), 2),
            (Part("orders", 0), 99),
            (Part("cut", 0), -1),
            (Part("missing", 0), 1),
        )
    ),
    *(
        Call("elect_leaders", lambda a, k=kind, p=parts: a.elect_leaders(k, p, raise_errors=False))
        for kind in (0, 1)
        for parts in ({"orders": [0, 1]}, {"orders": [77]}, {"missing": [0]}, ["orders"])
    ),
    Call(
        "alter_partition_reassignments",
        lambda a: a.alter_partition_reassignments(
            {Part("orders", 0): [1], Part("orders", 1): [7], Part("missing", 0): [1]}
        ),
    ),
    Call(
        "alter_partition_reassignments",
        lambda a: a.alter_partition_reassignments({Part("orders", 0): None}),
    ),
    Call("list_partition_reassignments", lambda a: a.list_partition_reassignments()),
    Call("list_partition_reassignments", lambda a: a.list_partition_reassignments({"orders": [0]})),
]

CONFIGS = [
    *(
        Call(
            "alter_configs",
            lambda a, k=kind, n=name, c=change, o=options: a.alter_configs(
                [Resource(k, n, c)], raise_on_unknown=False, **o
            ),
        )
        for kind, name, change, options in (
            ("TOPIC", "new", {"flush.ms": "7"}, {}),
            ("TOPIC", "new", {"cleanup.policy": (made.AlterConfigOp.APPEND, "compact")}, {}),
            ("TOPIC", "new", {"flush.ms": "soon"}, {}),
            ("TOPIC", "new", {"no.such": "1"}, {}),
            ("TOPIC", "new", {"segment.ms": "9000"}, {"validate_only": True}),
            ("TOPIC", "new", {"segment.ms": "8000"}, {"incremental": False}),
            ("TOPIC", "missing", {"flush.ms": "7"}, {}),
            ("BROKER", "1", {"log.cleaner.backoff.ms": "14000"}, {}),
            ("BROKER", "1", {"broker.id": "14000"}, {}),
            ("GROUP", "modern", {"consumer.session.timeout.ms": "50000"}, {}),
            ("CLIENT_METRICS", "m", {"interval.ms": "1000"}, {}),
        )
    ),
    *(
        Call(
            "describe_configs",
            lambda a, k=kind, n=name, f=which: a.describe_configs(
                [Resource(k, n)], include_synonyms=True, config_filter=f
            ),
        )
        for kind, name, which in (
            ("TOPIC", "new", "all"),
            ("TOPIC", "new", "modified"),
            ("TOPIC", "missing", "all"),
            ("BROKER", "1", "modified"),
            ("GROUP", "modern", "all"),
            ("CLIENT_METRICS", "m", "all"),
        )
    ),
    Call("describe_configs", lambda a: _of_broker(a)),
    Call("list_config_resources", lambda a: _each_sorted(a.list_config_resources())),
    *(
        Call("list_config_resources", lambda a, k=kind: _each_sorted(a.list_config_resources([k])))
        for kind in ("TOPIC", "BROKER", "GROUP", "CLIENT_METRICS")
    ),
    Call("reset_configs", lambda a: a.reset_configs([Resource("TOPIC", "new", {"segment.ms": 0})])),
    Call(
        "reset_configs",
        lambda a: a.reset_configs([Resource("BROKER", "1", {"log.cleaner.backoff.ms": None})]),
    ),
    Call("describe_configs", lambda a: a.describe_configs([Resource("TOPIC", "new")])),
]

GROUPS = [
    Call("list_groups", lambda a: _sorted(a.list_groups())),
    Call("list_groups", lambda a: _sorted(a.list_groups(states_filter=["Empty"]))),
    Call("list_groups", lambda a: _sorted(a.list_groups(types_filter=["consumer"]))),
    *(
        Call("describe_groups", lambda a, g=group: a.describe_groups([g]))
        for group in ("done", "live", "modern", "missing")
    ),
    Call("list_group_offsets", lambda a: a.list_group_offsets(["done", "live", "missing"])),
    Call(
        "list_group_offsets",
        lambda a: a.list_group_offsets({"done": [Part("orders", 0), Part("missing", 0)]}),
    ),
    *(
        Call("alter_group_offsets", lambda a, g=group, o=offsets: a.alter_group_offsets(g, o))
        for group, offsets in (
            ("done", {Part("orders", 1): OffsetAndMetadata(4, "there", None)}),
            ("fresh", {Part("orders", 0): OffsetAndMetadata(4, "", 0)}),
            ("done", {Part("missing", 1): OffsetAndMetadata(4, "", None)}),
            ("live", {Part("orders", 0): OffsetAndMetadata(4, "", None)}),
            ("modern", {Part("orders", 0): OffsetAndMetadata(4, "", None)}),
        )
    ),
    *(
        Call("reset_group_offsets", lambda a, t=to: a.reset_group_offsets("done", dict(t)))
        for to in (
            {Part("orders", 0): Spec.EARLIEST, Part("orders", 1): Spec.LATEST},
            {Part("orders", 0): Spec.MAX_TIMESTAMP},
            {Part("orders", 0): 99},
            {Part("orders", 0): made.OffsetTimestamp(START_MS + 3)},
        )
    ),
    Call("list_group_offsets", lambda a: a.list_group_offsets(["done", "fresh"])),
    Call(
        "delete_group_offsets",
        lambda a: a.delete_group_offsets("done", [Part("orders", 1), Part("missing", 0)]),
    ),
    Call("delete_group_offsets", lambda a: a.delete_group_offsets("missing", [Part("orders", 1)])),
    Call("delete_group_offsets", lambda a: a.delete_group_offsets("live", [Part("orders", 1)])),
    Call("delete_groups", lambda a: a.delete_groups(["fresh", "missing", "live", "modern"])),
    *(
        Call(
            "remove_group_members",
            lambda a, g=group, m=member: a.remove_group_members(g, [made.MemberToRemove(**m)]),
        )
        for group in ("live", "modern", "done", "missing")
        for member in ({"group_instance_id": "nobody"}, {"member_id": "nobody", "reason": "why"})
    ),
    Call(
        "remove_group_members",
        lambda a: a.remove_group_members("live", [made.MemberToRemove(group_instance_id="steady")]),
    ),
    Call("list_groups", lambda a: sorted(group["group_id"] for group in a.list_groups())),
]

TRANSACTIONS = [
    Call(
        "describe_producers", lambda a: a.describe_producers([Part("open", 0), Part("orders", 0)])
    ),
    Call("describe_producers", lambda a: a.describe_producers([Part("missing", 0)])),
    Call("list_transactions", lambda a: a.list_transactions()),
    Call("list_transactions", lambda a: a.list_transactions(state_filters=["Ongoing"])),
    Call("list_transactions", lambda a: a.list_transactions(state_filters=["Empty"])),
    Call("list_transactions", lambda a: a.list_transactions(duration_filter_ms=3_600_000)),
    Call("list_transactions", lambda a: a.list_transactions(transactional_id_pattern="un.*")),
    Call("list_transactions", lambda a: a.list_transactions(producer_id_filters=[999])),
    Call("describe_transactions", lambda a: a.describe_transactions(["unfinished"])),
    Call("describe_transactions", lambda a: a.describe_transactions(["missing"])),
    Call("find_hanging_transactions", lambda a: a.find_hanging_transactions()),
    Call("find_hanging_transactions", lambda a: a.find_hanging_transactions([1], 1)),
    Call(
        "abort_transaction",
        lambda a: a.abort_transaction(
            made.AbortTransactionSpec(Part("open", 0), unfinished(a).producer_id, 77)
        ),
    ),
    Call(
        "abort_transaction",
        lambda a: a.abort_transaction(
            made.AbortTransactionSpec(
                Part("open", 0), unfinished(a).producer_id, unfinished(a).producer_epoch
            )
        ),
    ),
    Call(
        "abort_transaction",
        lambda a: a.abort_transaction(made.AbortTransactionSpec(Part("missing", 0), 1, 0)),
    ),
    Call("describe_producers", lambda a: a.describe_producers([Part("open", 0)])),
]

CALLS = [*CLUSTER, *TOPICS, *CONFIGS, *GROUPS, *TRANSACTIONS]


def _by_id(client: Any, name: str) -> Any:
    (topic,) = client.describe_topics([name])
    return client.describe_topics([UUID(str(topic["topic_id"]))])


def _served(client: Any) -> dict[str, Any]:
    """Without the groups that are not emulated, and their state."""
    versions = {getattr(key, "name", str(key)): v for key, v in client.api_versions().items()}
    return {name: versions[name] for name in versions if not re.search("Share|Streams", name)}


def _each_sorted(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {kind: sorted(names) for kind, names in found.items()}


def _of_broker(client: Any) -> Any:
    found = client.describe_configs([Resource("BROKER", "1")], config_filter="all")
    configs = found["broker"]["1"]
    return {name: configs[name] for name in sorted(configs) if name not in OWN}


def _sorted(groups: list[Any]) -> list[Any]:
    return sorted(groups, key=lambda group: str(group["group_id"]))
