"""Clients' writes into Kafka's nodes do what they did at a real broker.

    /brokers/topics/[topic]             a topic is created, or has more partitions
    /admin/delete_topics/[topic]        it is deleted
    /admin/reassign_partitions          partitions move; the node goes once they have
    /admin/preferred_replica_election   preferred replicas lead; the node goes
    /config/changes/config_change_*     the configs of a topic, brokers, users, clients, addresses,
                                        as their node has them, are in force
    /controller                         deleted: there is a controller again, with the next epoch

Writes are noticed while they are made, and carried out afterwards, one after the other, as a
controller does that hears of them by its watches. What cannot be done is logged, and left.

Not emulated: broker ids that a client deletes; partition states and epochs that it writes; nodes of
features, access rules and delegation tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.stored.cluster import MetadataRecord, RemoveUserScramCredentialRecord
from ..base.logger import log
from ..metadata.config_changes import plan_broker_configs
from ..replication.controller import PREFERRED
from ..security.quotas import USER, entity_key, quota_records
from . import contents as at
from .tree import Change, Event

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .registry import Registry

_WRITTEN = (Event.CREATED, Event.DATA_CHANGED)
_MOST = 10_000
"""Writes that wait to be carried out."""


class Writes:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._waiting: dict[str, Callable[[], None]] = {}
        self._moving: set[tuple[str, int]] = set()
        registry.tree.changed.append(self._noticed)

    @property
    def _cluster(self) -> Cluster:
        return self._registry.cluster

    def _noticed(self, changes: list[Change]) -> None:
        if self._registry.is_writing:
            return
        for event, path in changes:
            work = self._work(event, path)
            if work is not None and len(self._waiting) < _MOST:
                self._waiting.setdefault(path, work)

    def _work(self, event: Event, path: str) -> Callable[[], None] | None:
        above, _, name = path.rpartition("/")
        if event is Event.DELETED:
            return self._registry.elect if path == at.CONTROLLER else None
        if above == at.TOPICS and event in _WRITTEN:
            return lambda: self._topic_written(name)
        if above == at.DELETIONS:
            return lambda: self._delete(name)
        if path == at.MOVES:
            return self._move
        if path == at.ELECTIONS:
            return self._elect
        if above == at.CHANGES:
            return lambda: self._configs_changed(path)
        return None

    def carry_out(self) -> None:
        if not self._waiting:
            return
        while self._waiting:
            path = next(iter(self._waiting))
            work = self._waiting.pop(path)
            try:
                work()
            except (Refused, ValueError) as error:  # a ConfigError, what cannot be read
                log.warning("ZooKeeper: what was written to %s is not done: %s", path, error)
        self._cluster.settle()

    def look(self) -> None:
        """Whether the partitions that a tool moves have moved."""
        if not self._moving:
            return
        image = self._cluster.metadata.image
        names = {topic.name: topic for topic in image.topics.values()}
        for name, index in [*self._moving]:
            topic = names.get(name)
            partition = None if topic is None else topic.partitions.get(index)
            if partition is None or not (partition.adding or partition.removing):
                self._moving.discard((name, index))
        if not self._moving:
            self._registry.remove(at.MOVES)

    def _topic_written(self, name: str) -> None:
        path = f"{at.TOPICS}/{name}"
        if path not in self._registry.tree.nodes:
            return
        assigned = at.assignment_of(self._registry.tree.get(path))
        topic = self._cluster.topics.get(name)
        if topic is None:
            configs = at.configs_of(self._registry.tree.get(f"{at.CONFIG}/topics/{name}"))
            self._cluster.topics.create(name, configs=configs, assignments=list(assigned.items()))
        elif len(assigned) > (there := len(topic.partitions)):
            added = [assigned[index] for index in range(there, len(assigned))]
            self._cluster.topics.add_partitions(topic, len(assigned), added)
        self._cluster.replication.settle()

    def _delete(self, name: str) -> None:
        topic = self._cluster.topics.get(name)
        if topic is None or not self._cluster.config.get("delete.topic.enable"):
            self._registry.remove(f"{at.DELETIONS}/{name}")
        else:
            self._cluster.topics.delete(topic)

    def _move(self) -> None:
        asked = at.partitions_of(self._registry.tree.get(at.MOVES))
        records: list[MetadataRecord] = []
        controller = self._cluster.replication.controller
        for name, index, replicas in asked:
            topic = self._cluster.topics.get(name)
            if topic is None or not 0 <= index < len(topic.partitions):
                log.warning("ZooKeeper: %s-%d cannot be moved: it is not there", name, index)
                continue
            records += controller.reassign(topic.id, index, replicas, may_change_number=True)
            self._moving.add((name, index))
        self._cluster.metadata.append(records)
        self._cluster.replication.settle()
        if not self._moving:
            self._registry.remove(at.MOVES)
        self.look()

    def _elect(self) -> None:
        controller = self._cluster.replication.controller
        try:
            for name, index, _ in at.partitions_of(self._registry.tree.get(at.ELECTIONS)):
                topic = self._cluster.topics.get(name)
                if topic is None or not 0 <= index < len(topic.partitions):
                    continue
                try:
                    records = controller.elect(topic.id, index, PREFERRED)
                except Refused as refused:  # it leads already, or cannot
                    log.info("ZooKeeper: %s-%d keeps its leader: %s", name, index, refused)
                    continue
                self._cluster.metadata.append(list(records))
            self._cluster.replication.settle()
        finally:
            self._registry.remove(at.ELECTIONS)

    # Configs

    def _configs_changed(self, path: str) -> None:
        """A notification: what the entity's node says is in force."""
        if path not in self._registry.tree.nodes:
            return
        entity = at.entity_of(self._registry.tree.get(path))
        configs = at.configs_of(self._registry.tree.get(f"{at.CONFIG}/{entity}"))
        kind, _, name = entity.partition("/")
        self._registry.is_notified = True
        try:
            if kind == "topics":
                topic = self._cluster.topics.get(name)
                if topic is not None:
                    self._cluster.topics.set_configs(topic, configs)
            elif kind == "brokers":
                resource = "" if name == at.DEFAULT else name
                config = self._cluster.config
                self._cluster.metadata.append(plan_broker_configs(config, resource, configs))
            else:
                self._set_client(entity, configs)
        finally:
            self._registry.is_notified = False

    def _set_client(self, path: str, configs: dict[str, str]) -> None:
        """Quotas, and a user's credentials."""
        names = at.quota_entity(path)
        image = self._cluster.metadata.image
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
        self._cluster.metadata.append(records)
