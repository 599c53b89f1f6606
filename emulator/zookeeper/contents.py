"""The contents of Kafka's nodes: as a broker of a release writes them, and as tools do.

Values are JSON, without blanks; an entity's name is URL-encoded in a path, and `<default>` stands
for all. Source: ZkData of Kafka 2.7.2, and the nodes of its brokers; for others the fields that
Kafka's history says they had: whether topics have ids or moves (2.8, 2.4), brokers features (2.7).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from ...wire.api.alter_client_quotas import AlterClientQuotasRequest
from ...wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ...wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from ...wire.api.api_versions import ApiVersionsRequest
from ...wire.api.init_producer_id import InitProducerIdRequest
from ...wire.api.metadata import MetadataRequest
from ...wire.api.update_features import UpdateFeaturesRequest
from ...wire.stored.cluster import UserScramCredentialRecord
from ..security.listeners import PROTOCOLS
from ..security.quotas import CLIENT_ID, IP, USER

if TYPE_CHECKING:
    from ..base.node import Node
    from ..base.release import Release
    from ..metadata.image import PartitionImage, QuotaEntity, TopicImage

IDS, TOPICS, CONTROLLER, EPOCH = (
    "/brokers/ids",
    "/brokers/topics",
    "/controller",
    "/controller_epoch",
)
CONFIG, CHANGES, CONSUMERS = "/config", "/config/changes", "/consumers"
DELETIONS, MOVES, ELECTIONS = (
    "/admin/delete_topics",
    "/admin/reassign_partitions",
    "/admin/preferred_replica_election",
)
ISR_CHANGES = "/isr_change_notification"
DEFAULT = "<default>"
PRODUCER_IDS = "/latest_producer_id_block"
_ANY = (MetadataRequest.api_key, 0)
_VERSIONS = (ApiVersionsRequest.api_key, 0)
_MOVED_DIRECTORIES = (AlterReplicaLogDirsRequest.api_key, 0)
PATHS = {
    **dict.fromkeys((CONSUMERS, IDS, TOPICS, CHANGES, DELETIONS, f"{CONFIG}/topics"), _ANY),
    **dict.fromkeys(("/brokers/seqid", ISR_CHANGES, f"{CONFIG}/clients"), _VERSIONS),
    PRODUCER_IDS: (InitProducerIdRequest.api_key, 0),
    "/log_dir_event_notification": _MOVED_DIRECTORIES,
    f"{CONFIG}/users": _MOVED_DIRECTORIES,
    f"{CONFIG}/brokers": _MOVED_DIRECTORIES,
    f"{CONFIG}/ips": (AlterClientQuotasRequest.api_key, 1),
}
"""Those that a broker creates at its start, without data, in releases that serve this."""
SCRAM = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_MECHANISMS = {name: number for number, name in SCRAM.items()}
_NAMES = {number: name for name, number in PROTOCOLS.items()}
_FRACTIONS = {"request_percentage", "controller_mutation_rate"}
_PRODUCER_IDS = 1000


class Unreadable(ValueError):
    """A client's text that Kafka's tools would not write."""


def text_of(value: Any) -> bytes:
    """JSON as Kafka writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def value_of(data: bytes | None) -> dict[str, Any]:
    """The value of a node's JSON. Raises Unreadable."""
    try:
        found = json.loads(data or b"")
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON") from None
    if not isinstance(found, dict):
        raise Unreadable("it is no JSON object")
    return found


def is_same(data: bytes | None, value: Any) -> bool:
    """Whether a node's JSON says this already, written as it may be."""
    try:
        return bool(json.loads(data or b"null") == value)
    except (ValueError, RecursionError):
        return False


def epoch_of(data: bytes | None) -> int | None:
    """The controller's epoch that a partition's state has; None where a client has spoilt it."""
    try:
        found = value_of(data).get("controller_epoch")
    except Unreadable:
        return None
    return found if isinstance(found, int) else None


def number_of(data: bytes | None) -> int:
    """A node's number; 0 where there is none."""
    return int(data) if data and data.isdigit() else 0


# Brokers


def broker_node(node: Node, release: Release, timestamp_ms: int) -> dict[str, Any]:
    """/brokers/ids/[id]."""
    names = {name: _NAMES[number] for name, number in node.protocols.items()}
    endpoints = [f"{name}://{host}:{port}" for name, (host, port) in node.listeners.items()]
    if not release.serves(*_VERSIONS):
        return _first_broker_node(node, timestamp_ms)
    has_features = has_feature_node(release)
    value: dict[str, Any] = {"features": {}} if has_features else {}
    value |= {"listener_security_protocol_map": names, "endpoints": endpoints}
    value |= {} if node.rack is None else {"rack": node.rack}
    has_plain = "PLAINTEXT" in node.listeners
    host, port = node.listeners["PLAINTEXT"] if has_plain else (None, -1)
    return value | {
        "jmx_port": -1,
        "port": port,
        "host": host,
        "version": 5 if has_features else 4,
        "timestamp": str(timestamp_ms),
    }


def _first_broker_node(node: Node, timestamp_ms: int) -> dict[str, Any]:
    """The form of before 0.9: one address."""
    host, port = next(iter(node.listeners.values()))
    value: dict[str, Any] = {"jmx_port": -1, "timestamp": str(timestamp_ms), "host": host}
    return value | {"version": 1, "port": port}


def has_cluster_id(release: Release) -> bool:
    """Whether there is /cluster/id: since 0.10.1."""
    return release.serves(MetadataRequest.api_key, 2)


def has_feature_node(release: Release) -> bool:
    """Whether there is /feature: since 2.7."""
    return release.serves(UpdateFeaturesRequest.api_key, 0)


def moves_partitions(release: Release) -> bool:
    """Whether topics have replicas that come and leave; and nodes are written twice, since 2.4."""
    return release.serves(AlterPartitionReassignmentsRequest.api_key, 0)


def controller_node(node_id: int, timestamp_ms: int) -> dict[str, Any]:
    """/controller."""
    return {"version": 1, "brokerid": node_id, "timestamp": str(timestamp_ms)}


def producer_ids_node(node_id: int, next_id: int) -> dict[str, Any]:
    """/latest_producer_id_block: those that were handed out last. A broker takes a block when it
    starts, here when it needs one."""
    end = max(next_id, _PRODUCER_IDS)
    first, last = str(end - _PRODUCER_IDS), str(end - 1)
    return {"version": 1, "broker": node_id, "block_start": first, "block_end": last}


# Topics


def topic_node(topic: TopicImage, release: Release) -> dict[str, Any]:
    """/brokers/topics/[topic]: the replicas of its partitions."""
    partitions = sorted(topic.partitions.items())
    value: dict[str, Any] = {"version": 1}
    value["partitions"] = {str(index): each.replicas for index, each in partitions}
    if not moves_partitions(release):
        return value
    value["version"] = 2
    if release.serves(MetadataRequest.api_key, 10):
        topic_id = urlsafe_b64encode(topic.topic_id).rstrip(b"=").decode()
        value |= {"version": 3, "topic_id": topic_id}
    value["adding_replicas"] = {
        str(index): each.adding for index, each in partitions if each.adding
    }
    return value | {
        "removing_replicas": {
            str(index): each.removing for index, each in partitions if each.removing
        }
    }


def state_path(topic: str, index: int) -> str:
    """Where a partition's state is."""
    return f"{TOPICS}/{topic}/partitions/{index}/state"


def offset_path(group: str, topic: str, index: int) -> str:
    """Where the offset is that a group without a coordinator has committed."""
    return f"{CONSUMERS}/{group}/offsets/{topic}/{index}"


def state_node(partition: PartitionImage, controller_epoch: int) -> dict[str, Any]:
    """/brokers/topics/[topic]/partitions/[partition]/state."""
    return {
        "controller_epoch": controller_epoch,
        "leader": partition.leader,
        "version": 1,
        "leader_epoch": partition.leader_epoch,
        "isr": partition.isr,
    }


def assignment_of(data: bytes | None) -> dict[int, list[int]]:
    """The replicas by partition that a tool has written for a topic. Raises Unreadable."""
    partitions = value_of(data).get("partitions")
    try:
        found = {int(index): list(map(int, each)) for index, each in (partitions or {}).items()}
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise Unreadable("its partitions are no lists of brokers") from None
    if sorted(found) != list(range(len(found))) or not found:
        raise Unreadable("its partitions are not numbered from 0 on")
    return dict(sorted(found.items()))


def partitions_of(data: bytes | None) -> list[tuple[str, int, list[int]]]:
    """Topic, partition and replicas, as /admin/reassign_partitions has them; those of an election
    have none. Raises Unreadable."""
    try:
        return [
            (str(each["topic"]), int(each["partition"]), list(map(int, each.get("replicas", ()))))
            for each in value_of(data)["partitions"]
        ]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise Unreadable("it has no list of partitions") from None


# Configs


def config_node(configs: Mapping[str, str]) -> dict[str, Any]:
    """/config/[kind]/[name]."""
    return {"version": 1, "config": dict(configs)}


def change_node(entity_path: str) -> dict[str, Any]:
    """/config/changes/config_change_[number]."""
    return {"version": 2, "entity_path": entity_path}


def configs_of(data: bytes | None) -> dict[str, str]:
    """The configs of an entity; none if there is no node. Raises Unreadable."""
    found = {} if data is None else value_of(data).get("config")
    if not isinstance(found, dict):
        raise Unreadable("it has no configs")
    return {str(name): str(value) for name, value in found.items()}


def entity_of(data: bytes | None) -> str:
    """The path below /config that a notification names, in either version. Raises Unreadable."""
    value = value_of(data)
    path = value.get("entity_path")
    if path is None and "entity_type" in value and "entity_name" in value:
        path = f"{value['entity_type']}/{value['entity_name']}"
    if not isinstance(path, str) or "/" not in path:
        raise Unreadable("it names no entity")
    return path


def sanitized(name: str | None) -> str:
    """A name as a path has it; None is for all."""
    return DEFAULT if name is None else quote(name, safe="").replace("~", "%7E")


def desanitized(name: str) -> str | None:
    return None if name == DEFAULT else unquote(name)


def quota_path(entity: QuotaEntity) -> str:
    """Where the quotas of an entity are, below /config."""
    names = dict(entity)
    if IP in names:
        return f"ips/{sanitized(names[IP])}"
    found = f"users/{sanitized(names[USER])}" if USER in names else ""
    if CLIENT_ID in names:
        found += f"{'/' if found else ''}clients/{sanitized(names[CLIENT_ID])}"
    return found


def quota_entity(path: str) -> dict[str, str | None]:
    """The entity of such a path. Raises Unreadable."""
    parts = path.split("/")
    kinds = {"users": USER, "clients": CLIENT_ID, "ips": IP}
    if len(parts) not in (2, 4) or any(kind not in kinds for kind in parts[::2]):
        raise Unreadable(f"there are no configs of {path}")
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {kinds[kind]: desanitized(name) for kind, name in pairs}


def quota_texts(quotas: Mapping[str, float]) -> dict[str, str]:
    """Quotas as texts: those in bytes and connections are whole numbers."""
    return {
        key: str(float(value)) if key in _FRACTIONS else str(round(value))
        for key, value in quotas.items()
    }


def quota_values(configs: Mapping[str, str], before: Iterable[str]) -> dict[str, float | None]:
    """Quotas from texts; None for those that were there and are not any more. Raises Unreadable."""
    try:
        found = {k: float(text) for k, text in configs.items() if k not in _MECHANISMS}
    except ValueError:
        raise Unreadable("a quota is no number") from None
    if not all(map(isfinite, found.values())):
        raise Unreadable("a quota is no finite number")
    return {**dict.fromkeys(before), **found}


def credential_texts(credentials: Mapping[int, UserScramCredentialRecord]) -> dict[str, str]:
    """A user's SCRAM credentials as texts, by mechanism."""
    return {SCRAM[number]: _credential_text(each) for number, each in credentials.items()}


def _credential_text(record: UserScramCredentialRecord) -> str:
    parts = {"salt": record.salt, "stored_key": record.stored_key, "server_key": record.server_key}
    texts = [f"{name}={b64encode(value).decode()}" for name, value in parts.items()]
    return ",".join([*texts, f"iterations={record.iterations}"])


def credentials_of(user: str, configs: Mapping[str, str]) -> dict[int, UserScramCredentialRecord]:
    """A user's SCRAM credentials from texts. Raises Unreadable."""
    found = {}
    for name, text in configs.items():
        if name in _MECHANISMS:
            parts = dict(part.partition("=")[::2] for part in text.split(","))
            try:
                salt, stored, server = (
                    b64decode(parts[key]) for key in ("salt", "stored_key", "server_key")
                )
                found[_MECHANISMS[name]] = UserScramCredentialRecord(
                    name=user,
                    mechanism=_MECHANISMS[name],
                    salt=salt,
                    stored_key=stored,
                    server_key=server,
                    iterations=int(parts["iterations"]),
                )
            except (KeyError, ValueError):
                raise Unreadable("it has a credential that is none") from None
    return found
