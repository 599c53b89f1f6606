"""What administrators ask for, each change a request of its own, and the errors in the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from odradek.wire import NO_ID, Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

from tests.requests.asker import Asker
from tests.requests.configs import alter_request, change_request

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
SET, DELETE = 0, 1
UPGRADE, DOWNGRADE = 1, 2


class Asked(NamedTuple):
    """A request, and the version in which it is sent."""

    request: Request
    version: int


def create(
    name: str,
    replicas: Sequence[Sequence[int]] = ((1,),),
    configs: Mapping[str, str] | None = None,
) -> Asked:
    """A topic with these replicas for each partition."""
    Topic = CreateTopicsRequest.Topic
    topic = Topic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            Topic.Assignment(partition_index=index, broker_ids=list(each))
            for index, each in enumerate(replicas)
        ],
        configs=[Topic.Config(name=key, value=text) for key, text in (configs or {}).items()],
    )
    return Asked(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7)


def delete(*names: str) -> Asked:
    topics = [DeleteTopicsRequest.Topic(name=name, topic_id=NO_ID) for name in names]
    return Asked(DeleteTopicsRequest(topics=topics, timeout_ms=1000), 6)


def grow(count: int, *names: str) -> Asked:
    """Topics are to have so many partitions."""
    topics = [
        CreatePartitionsRequest.Topic(name=name, count=count, assignments=None) for name in names
    ]
    return Asked(CreatePartitionsRequest(topics=topics, timeout_ms=1000, validate_only=False), 3)


def alter(*changes: tuple[int, str, str, str | None]) -> Asked:
    """Resources are to set a config, or, with None, not to: type, name, config and text each."""
    resources = [
        (kind, name, [(key, DELETE if text is None else SET, text)])
        for kind, name, key, text in changes
    ]
    return Asked(change_request(*resources), 1)


def replace(kind: int, name: str, configs: Mapping[str, str]) -> Asked:
    """A resource is to set these configs and no other."""
    return Asked(alter_request((kind, name, list(configs.items()))), 2)


def quota(user: str, value: float | None, key: str = "producer_byte_rate") -> Asked:
    """A user is to have a quota, or, with None, not to."""
    made = AlterClientQuotasRequest.Entry
    entry = made(
        entity=[made.Entity(entity_type="user", entity_name=user)],
        ops=[made.Op(key=key, value=value or 0.0, remove=value is None)],
    )
    return Asked(AlterClientQuotasRequest(entries=[entry], validate_only=False), 1)


def credential(user: str, mechanism: int = 1) -> Asked:
    upsertion = AlterUserScramCredentialsRequest.Upsertion(
        name=user, mechanism=mechanism, iterations=4096, salt=b"salt", salted_password=b"p" * 32
    )
    return Asked(AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion]), 0)


def no_credential(user: str, mechanism: int = 1) -> Asked:
    """A user's SCRAM credential is to go."""
    deletion = AlterUserScramCredentialsRequest.Deletion(name=user, mechanism=mechanism)
    return Asked(AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=[]), 0)


def level(feature: str, to: int, kind: int = UPGRADE) -> Asked:
    made = UpdateFeaturesRequest
    update = made.FeatureUpdate(feature=feature, max_version_level=to, upgrade_type=kind)
    return Asked(made(feature_updates=[update]), 1)


def elect(name: str, *partitions: int) -> Asked:
    """Partitions are to be led by their preferred leaders."""
    topic = ElectLeadersRequest.Topic(topic=name, partitions=list(partitions))
    return Asked(ElectLeadersRequest(election_type=0, topic_partitions=[topic]), 2)


def move(name: str, partition: int, replicas: Sequence[int]) -> Asked:
    made = AlterPartitionReassignmentsRequest
    part = made.Topic.Partition(partition_index=partition, replicas=list(replicas))
    return Asked(made(topics=[made.Topic(name=name, partitions=[part])]), 1)


def unregister(node_id: int) -> Asked:
    return Asked(UnregisterBrokerRequest(broker_id=node_id), 0)


def producer_id() -> Asked:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    return Asked(request, 3)


def errors(client: Asker, asked: Asked) -> set[int]:
    """Send it; return the errors of what was asked for."""
    return set(_errors(client.ask(*asked)))


_PARTS = (
    *("topics", "responses", "results", "entries", "replica_election_results"),
    *("partitions", "partition_result"),
)


def _errors(answer: Any) -> list[int]:
    parts = [part for name in _PARTS for part in getattr(answer, name, ())]
    return [each for part in parts for each in _errors(part)] if parts else [answer.error_code]
