"""The metadata of a cluster by Kafka's nodes: what a ZooKeeper kept when its brokers ended.

Topics, with the state of each partition, and configs, quotas and credentials are those of the
nodes; what the metadata log has besides goes, but for topics that were created while the ZooKeeper
was not beside the broker: those whose logs are here, and, unless another server has written to the
ZooKeeper's files, which might have deleted them, those without records. Access rules (`/kafka-acl`,
and by prefix `/kafka-acl-extended`) are added to those there. What cannot be read is logged, and
left out.

A partition's leader epoch is not below one in which it was written here. A topic whose deletion had
begun is deleted. Left out: delegation tokens; passwords among configs, which are encrypted.
Source: ZkData, ZkAclStore of Kafka 2.7.2; nodes of 0.10.2, 0.11.0, 1.1 and 2.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...storage import LogDirectory
from ...wire import Refused, parse_id, random_id
from ...wire.stored.cluster import MetadataRecord, RemoveUserScramCredentialRecord
from ..base.logger import log
from ..metadata.adoption import OldTopic, stored_epoch, topic_changes
from ..metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE, MetadataImage, PartitionImage
from ..metadata.topics import config_records
from ..partitions.partition import NO_LEADER
from ..security.authorizer.acl import Acl, Kind, Operation, Pattern, Permission
from ..security.quotas import USER, entity_key, quota_records
from . import contents as at
from .contents import Unreadable
from .tree import Tree

_ACLS = {"/kafka-acl": Pattern.LITERAL, "/kafka-acl-extended/prefixed": Pattern.PREFIXED}


_OTHER_CONFIGS = "ZooKeeper: topic %s has the configs that its node has, %s, in place of %s"


class StoppedRegistries:
    """Kafka's nodes in a tree that no broker changes any more."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @property
    def cluster_id(self) -> str | None:
        """None before 0.10.1."""
        found = self._value("/cluster/id").get("id")
        return found if isinstance(found, str) else None

    @property
    def next_producer_id(self) -> int:
        """Above all that were handed out; 0 before 0.11."""
        end = self._value(at.PRODUCER_IDS).get("block_end")
        return int(end) + 1 if isinstance(end, str) and end.isdecimal() else 0

    def records(self, image: MetadataImage, log_dir: LogDirectory) -> list[MetadataRecord]:
        """The changes that make the image what the nodes say."""
        going = set(self._tree.children(at.DELETIONS))
        topics: dict[str, OldTopic] = {}
        for name in self._tree.children(at.TOPICS):
            try:
                if name not in going:
                    topics[name] = self._topic(name, log_dir)
            except Unreadable as error:
                log.warning("ZooKeeper: %s/%s is left out: %s", at.TOPICS, name, error)
        records = topic_changes(image, topics, self._gone(image, topics, log_dir))
        for path in self._entities():
            try:
                records += self._entity(path, image)
            except (Refused, Unreadable) as error:
                log.warning("ZooKeeper: %s/%s is left out: %s", at.CONFIG, path, error)
        return [*records, *self._acls(image)]

    def _gone(
        self, image: MetadataImage, topics: Mapping[str, OldTopic], log_dir: LogDirectory
    ) -> set[str]:
        """The topics of the image that are deleted. What the nodes do to the others is logged."""
        gone: set[str] = set()
        there = {name for name, _ in log_dir.partitions}
        going = set(self._tree.children(at.DELETIONS))
        for name in sorted(topic.name for topic in image.topics.values()):
            before = image.configs_of(TOPIC_RESOURCE, name)
            if name not in topics:
                if name in going or not (self._tree.is_own or name in there):
                    gone.add(name)
                else:
                    log.warning("ZooKeeper: it does not know topic %s, which is kept", name)
            elif (now := topics[name].configs) != before:
                log.warning(_OTHER_CONFIGS, name, dict(now), dict(before))
        return gone

    def _value(self, path: str) -> Mapping[str, Any]:
        """What a node says; nothing where it is not there, or no JSON."""
        try:
            return at.value_of(self._tree.get(path))
        except Unreadable:
            return {}

    def _topic(self, name: str, log_dir: LogDirectory) -> OldTopic:
        """Raises Unreadable."""
        data = self._tree.get(f"{at.TOPICS}/{name}")
        replicas, value = at.assignment_of(data), at.value_of(data)
        topic_id = value.get("topic_id")
        adding, removing = (value.get(f"{which}_replicas", {}) for which in ("adding", "removing"))
        partitions = {}
        for index, each in replicas.items():
            state = self._value(at.state_path(name, index))
            epoch = max(stored_epoch(log_dir, name, index), _number(state, "leader_epoch", 0))
            isr = state.get("isr")
            partitions[index] = PartitionImage(
                each,
                isr if isinstance(isr, list) else list(each),
                _number(state, "leader", NO_LEADER),
                epoch,
                0,
                adding=list(adding.get(str(index), ())),
                removing=list(removing.get(str(index), ())),
            )
        configs = at.configs_of(self._tree.get(f"{at.CONFIG}/topics/{name}"))
        known_id = parse_id(topic_id) if isinstance(topic_id, str) else None
        return OldTopic(partitions, configs, known_id)

    def _entities(self) -> Iterator[str]:
        """The paths below /config of what has configs, but for topics."""
        for kind in ("brokers", "users", "clients", "ips"):
            for name in self._tree.children(f"{at.CONFIG}/{kind}"):
                path = f"{kind}/{name}"
                yield path
                for client in self._tree.children(f"{at.CONFIG}/{path}/clients"):
                    yield f"{path}/clients/{client}"

    def _entity(self, path: str, image: MetadataImage) -> list[MetadataRecord]:
        """Raises Unreadable, Refused."""
        data = self._tree.get(f"{at.CONFIG}/{path}")
        configs = at.configs_of(data) if data else {}
        kind, _, name = path.partition("/")
        if kind != "brokers":
            return client_records(image, path, configs)
        resource = "" if name == at.DEFAULT else name
        before = image.configs_of(BROKER_RESOURCE, resource)
        return config_records(BROKER_RESOURCE, resource, before, configs)

    def _acls(self, image: MetadataImage) -> list[MetadataRecord]:
        """Access rules that are not there yet."""
        there = {Acl.of(each) for each in image.acls.values()}
        found: dict[Acl, None] = {}
        for root, pattern in _ACLS.items():
            for kind in self._tree.children(root):
                for name in self._tree.children(f"{root}/{kind}"):
                    path = f"{root}/{kind}/{name}"
                    for each in self._value(path).get("acls", ()):
                        try:
                            found[_acl(kind, name, pattern, each)] = None
                        except (AttributeError, KeyError, TypeError):
                            log.warning("ZooKeeper: a rule of %s is left out: %s", path, each)
        return [acl.record(random_id()) for acl in found if acl not in there]


def client_records(
    image: MetadataImage, path: str, configs: Mapping[str, str]
) -> list[MetadataRecord]:
    """What makes quotas, and a user's credentials, those of a node below /config. Raises
    Unreadable, Refused."""
    names = at.quota_entity(path)
    before = image.quotas.get(entity_key(names), {})
    records = quota_records(image, names, at.quota_values(configs, before))
    user = names.get(USER)
    if user is not None and len(names) == 1:
        there, wanted = image.scram.get(user, {}), at.credentials_of(user, configs)
        records += [each for number, each in wanted.items() if each != there.get(number)]
        records += [
            RemoveUserScramCredentialRecord(name=user, mechanism=number)
            for number in there
            if number not in wanted
        ]
    return records


def _number(value: Mapping[str, Any], name: str, default: int) -> int:
    found = value.get(name)
    return found if isinstance(found, int) else default


def _acl(kind: str, name: str, pattern: Pattern, entry: Mapping[str, str]) -> Acl:
    """Raises KeyError, AttributeError or TypeError for what is none."""
    return Acl(
        Kind[_constant(kind)],
        name,
        pattern,
        entry["principal"],
        entry["host"],
        Operation[_constant(entry["operation"])],
        Permission[_constant(entry["permissionType"])],
    )


def _constant(word: str) -> str:
    """A name such as IdempotentWrite, as ours are."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).upper()
