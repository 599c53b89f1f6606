"""The cluster itself: quotas, credentials, features, moves of partitions, log directories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

Names = Iterable[tuple[str, str | None]]

PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
PERCENTAGE, MUTATIONS = "request_percentage", "controller_mutation_rate"
CONNECTIONS = "connection_creation_rate"
FAST = 1e6
"""A rate that delays no client."""


def quota(
    entity: Names, *ops: tuple[str, float] | tuple[str, float, bool]
) -> AlterClientQuotasRequest.Entry:
    """Quotas to be set for one entity; (key, value, True) removes one."""
    entry = AlterClientQuotasRequest.Entry
    return entry(
        entity=[entry.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[entry.Op(key=op[0], value=op[1], remove=len(op) > 2) for op in ops],
    )


def alter_quotas(
    *entries: AlterClientQuotasRequest.Entry, validate_only: bool = False
) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)


def quotas(
    *components: tuple[str, int, str | None], strict: bool = False
) -> DescribeClientQuotasRequest:
    """Ask for quotas: (type of entity, type of match, name)."""
    return DescribeClientQuotasRequest(
        components=[
            DescribeClientQuotasRequest.Component(entity_type=kind, match_type=how, match=name)
            for kind, how, name in components
        ],
        strict=strict,
    )


def set_user(
    name: str,
    mechanism: int = 1,
    iterations: int = 4096,
    salt: bytes = b"salt",
    password: bytes = b"p" * 32,
) -> AlterUserScramCredentialsRequest.Upsertion:
    return AlterUserScramCredentialsRequest.Upsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=salt,
        salted_password=password,
    )


def drop_user(name: str, mechanism: int = 1) -> AlterUserScramCredentialsRequest.Deletion:
    return AlterUserScramCredentialsRequest.Deletion(name=name, mechanism=mechanism)


def alter_users(
    *changes: AlterUserScramCredentialsRequest.Upsertion
    | AlterUserScramCredentialsRequest.Deletion,
) -> AlterUserScramCredentialsRequest:
    deletion = AlterUserScramCredentialsRequest.Deletion
    return AlterUserScramCredentialsRequest(
        deletions=[each for each in changes if isinstance(each, deletion)],
        upsertions=[each for each in changes if not isinstance(each, deletion)],
    )


def users(*names: str) -> DescribeUserScramCredentialsRequest:
    made = DescribeUserScramCredentialsRequest
    return made(users=[made.User(name=name) for name in names])


def features(
    *updates: tuple[str, int, int], validate_only: bool = False, timeout_ms: int = 60_000
) -> UpdateFeaturesRequest:
    """Levels to be set: (feature, level, upgrade type; in v0 whether a downgrade is allowed)."""
    return UpdateFeaturesRequest(
        timeout_ms=timeout_ms,
        feature_updates=[
            UpdateFeaturesRequest.FeatureUpdate(
                feature=name, max_version_level=level, upgrade_type=kind, allow_downgrade=kind > 1
            )
            for name, level, kind in updates
        ],
        validate_only=validate_only,
    )


def elect(
    *topics: tuple[str, list[int]], kind: int = 0, timeout_ms: int = 30_000
) -> ElectLeadersRequest:
    return ElectLeadersRequest(
        election_type=kind,
        topic_partitions=[
            ElectLeadersRequest.Topic(topic=name, partitions=parts) for name, parts in topics
        ],
        timeout_ms=timeout_ms,
    )


def move(
    *topics: tuple[str, list[tuple[int, list[int] | None]]], **more: Any
) -> AlterPartitionReassignmentsRequest:
    made = AlterPartitionReassignmentsRequest
    return made(
        topics=[
            made.Topic(
                name=name,
                partitions=[
                    made.Topic.Partition(partition_index=index, replicas=replicas)
                    for index, replicas in parts
                ],
            )
            for name, parts in topics
        ],
        **more,
    )


def log_dirs(*topics: tuple[str, list[int]]) -> DescribeLogDirsRequest:
    made = DescribeLogDirsRequest
    return made(topics=[made.Topic(topic=name, partitions=parts) for name, parts in topics])


def to_log_dirs(
    *dirs: tuple[str, list[tuple[str, list[int]]]],
) -> AlterReplicaLogDirsRequest:
    """Replicas to be moved: (path, topics with their partitions)."""
    made = AlterReplicaLogDirsRequest
    return made(
        dirs=[
            made.Dir(
                path=path,
                topics=[made.Dir.Topic(name=name, partitions=parts) for name, parts in topics],
            )
            for path, topics in dirs
        ]
    )


def producers(*topics: tuple[str, list[int]]) -> DescribeProducersRequest:
    made = DescribeProducersRequest
    return made(topics=[made.Topic(name=name, partition_indexes=parts) for name, parts in topics])


def quorum(*topics: tuple[str, list[int]]) -> DescribeQuorumRequest:
    made = DescribeQuorumRequest.Topic
    return DescribeQuorumRequest(
        topics=[
            made(
                topic_name=name,
                partitions=[made.Partition(partition_index=index) for index in indexes],
            )
            for name, indexes in topics
        ]
    )
