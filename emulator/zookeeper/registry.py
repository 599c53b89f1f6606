"""The registries: Kafka's nodes, as the metadata of the cluster has them at any time.

- A change of the metadata changes the nodes that show it, and notifications of configs follow, as
  brokers write them. Nothing is written anew that says the same already.
- Each broker has a session: its node under /brokers/ids goes when it stops, or when the controller
  takes it for dead. The controller's node belongs to that broker's session, and its epoch rises
  with each new one.

What clients write into Kafka's nodes does what it did at a real broker:

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

What differs from a real 2.7: leader epochs and how often a state was written are those of KRaft's
rules for the same changes; a block of producer ids is taken when it is needed, not at the start; a
broker's session ends with its process, or when the controller fences it. Access rules and
delegation tokens are not shown. Source: KafkaZkClient, ZkData; three brokers of 2.7.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...wire import Refused
from ...wire.stored.cluster import MetadataRecord
from ..base.logger import log
from ..metadata.config_changes import plan_broker_configs
from ..metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from ..replication.controller import PREFERRED
from . import contents as at
from .contents import text_of
from .errors import KeeperError
from .takeover import client_records
from .tree import NOBODY, Change, Create, Delete, Event, Mode, SetData, Who, parent_of

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage, TopicImage
    from .keeper import Keeper
    from .sessions import Session

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
        records = client_records(self._cluster.metadata.image, path, configs)
        self._cluster.metadata.append(records)


class CommittedOffsets(MutableMapping[tuple[str, str, int], int]):
    """The offsets below /consumers, by group, topic and partition: what OffsetCommit v0 commits."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def __getitem__(self, key: tuple[str, str, int]) -> int:
        data = self._registry.tree.get(at.offset_path(*key)) or b""
        if not data.isdigit():
            raise KeyError(key)
        return int(data)

    def __setitem__(self, key: tuple[str, str, int], offset: int) -> None:
        self._registry.put(at.offset_path(*key), str(offset).encode())

    def __delitem__(self, key: tuple[str, str, int]) -> None:
        self._registry.remove(at.offset_path(*key))

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        children = self._registry.tree.children
        for group in children(at.CONSUMERS):
            for topic in children(f"{at.CONSUMERS}/{group}/offsets"):
                for index in children(f"{at.CONSUMERS}/{group}/offsets/{topic}"):
                    if index.isdigit():
                        yield group, topic, int(index)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_KEPT_MS = 15 * 60 * 1000
"""How long a notification stays."""


class Registry:
    """Kafka's nodes in a Keeper."""

    def __init__(self, keeper: Keeper, cluster: Cluster) -> None:
        self.keeper = keeper
        self.tree = keeper.tree
        self.epoch = at.number_of(self.tree.get(at.EPOCH))
        """Of the controller; 0 before the first one."""
        self.is_writing = False
        """Whether it is the registry that changes nodes, and no client."""
        self.is_notified = False
        """Whether a client has said already that configs change."""
        self._sessions: dict[int, Session] = {}
        self._controller = -1
        self._writes = Writes(self)
        self.attach(cluster)

    def attach(self, cluster: Cluster) -> None:
        """Show this cluster from now on: brokers have new sessions."""
        self.cluster = cluster
        cluster.groups.in_zookeeper = CommittedOffsets(self)
        self.gone()
        with self._own():
            for path, (api_key, version) in at.PATHS.items():
                if cluster.release.serves(api_key, version):
                    self.put(path, None)
            if at.has_cluster_id(cluster.release):
                self.put("/cluster/id", text_of({"version": "1", "id": cluster.cluster_id}))
            if at.has_feature_node(cluster.release):
                self.put("/feature", text_of({"features": {}, "version": 1, "status": 1}))
            self._remove_unknown_topics()
        self._show_brokers()
        self.is_notified = True
        cluster.metadata.subscribe(self._follow)
        self.is_notified = False
        if self._look not in cluster.watchers:
            cluster.watchers.append(self._look)

    def gone(self) -> None:
        """The process of the brokers has ended."""
        with self._own():
            for session in self._sessions.values():
                self.keeper.session_over(session)
        self._sessions.clear()
        self._controller = -1

    def settle(self) -> None:
        self._writes.carry_out()

    # Nodes

    @contextmanager
    def _own(self) -> Iterator[None]:
        before, self.is_writing = self.is_writing, True
        try:
            yield
        finally:
            self.is_writing = before

    def put(self, path: str, data: bytes | None, owner: int = 0) -> None:
        """Have a node with this data, and those above it."""
        node = self.tree.nodes.get(path)
        if node is not None:
            if data is not None and node.data != data:
                self._do(SetData(path, data))
            return
        if (above := parent_of(path)) not in self.tree.nodes:
            self.put(above, None)
        mode = Mode.EPHEMERAL if owner else Mode.PERSISTENT
        self._do(Create(path, data, mode), Who(owner))

    def _do(self, operation: Create | Delete | SetData, who: Who = NOBODY) -> None:
        """What a client has put in the way is logged: metadata changes all the same."""
        with self._own():
            try:
                self.tree.apply(operation, who)
            except KeeperError as error:
                log.warning("ZooKeeper: %s is not as it should be: %s", operation.path, error)

    def put_value(self, path: str, value: Mapping[str, Any]) -> None:
        """Have a node that says this, in whatever spelling."""
        if not at.is_same(self.tree.get(path), value):
            self.put(path, text_of(value))

    def remove(self, path: str) -> None:
        below = [path]
        for each in below:
            below += [f"{each}/{name}" for name in self.tree.children(each)]
        for each in reversed(below):
            if each in self.tree.nodes:
                self._do(Delete(each))

    # Brokers and the controller

    def _look(self) -> None:
        nodes = self.cluster.nodes
        alive = {node_id for node_id, node in nodes.items() if node.is_alive}
        if alive != self._sessions.keys() or self._leader != self._controller:
            self._show_brokers()
        self._writes.look()

    @property
    def _leader(self) -> int:
        return self.cluster.replication.quorum.leader

    def _show_brokers(self) -> None:
        nodes, now = self.cluster.nodes, self.cluster.clock.now()
        alive = {node_id: node for node_id, node in nodes.items() if node.is_alive}
        for node_id in [*self._sessions]:
            if node_id not in alive:
                with self._own():
                    self.keeper.session_over(self._sessions.pop(node_id))
        for node_id, node in alive.items():
            if node_id not in self._sessions:
                session = self._sessions[node_id] = self.keeper.sessions.own()
                value, path = at.broker_node(node, self.cluster.release, now), f"{at.IDS}/{node_id}"
                self.put(path, text_of(value), session.session_id)
                if at.moves_partitions(self.cluster.release):  # once more, when it is ready
                    self._do(SetData(path, text_of(value)))
        if self._leader != self._controller or at.CONTROLLER not in self.tree.nodes:
            self.elect()

    def elect(self) -> None:
        self._controller = self._leader
        self.remove(at.CONTROLLER)
        session = self._sessions.get(self._controller)
        if session is None:
            self._controller = -1
            return
        if not self.epoch and at.moves_partitions(self.cluster.release):
            self.put(at.EPOCH, b"0")
        self.epoch += 1
        text = text_of(at.controller_node(self._controller, self.cluster.clock.now()))
        self.put(at.CONTROLLER, text, session.session_id)
        self.put(at.EPOCH, str(self.epoch).encode())

    # The metadata

    def _follow(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if self.cluster.metadata.image is not image:
            return  # of a cluster before
        for topic in delta.removed.values():
            self._topic_removed(topic.name)
        for topic in delta.created.values():
            self._topic_created(topic, image)
        for topic_id in {topic_id: None for topic_id, _ in delta.partitions}:
            self._topic_changed(image.topics[topic_id])
        for topic_id, index in delta.partitions:
            self._show_state(image.topics[topic_id], index)
        new = {topic.name for topic in delta.created.values()}
        for kind, name in delta.configs:
            if kind == TOPIC_RESOURCE and name not in new:
                if self.cluster.topics.get(name) is not None:
                    self._show_configs(f"topics/{name}", image.configs_of(kind, name))
            elif kind == BROKER_RESOURCE:
                self._show_configs(f"brokers/{name or at.DEFAULT}", image.configs_of(kind, name))
        paths = {at.quota_path(entity): entity for entity in delta.quotas}
        paths |= {f"users/{at.sanitized(user)}": (("user", user),) for user in delta.credentials}
        for path, entity in paths.items():
            self._show_configs(path, self._of_client(image, entity))
        if delta.has_producer_ids or self.tree.get(at.PRODUCER_IDS) is None:
            self._show_producer_ids(image)

    def _of_client(
        self, image: MetadataImage, entity: tuple[tuple[str, str | None], ...]
    ) -> dict[str, str]:
        texts = at.quota_texts(image.quotas.get(entity, {}))
        [(kind, name), *more] = entity
        if kind == "user" and name is not None and not more:
            texts |= at.credential_texts(image.scram.get(name, {}))
        return texts

    def _show_producer_ids(self, image: MetadataImage) -> None:
        if at.PRODUCER_IDS in self.tree.nodes:
            value = at.producer_ids_node(max(self._controller, 0), image.next_producer_id)
            self.put(at.PRODUCER_IDS, text_of(value))

    def _show_configs(self, path: str, texts: Mapping[str, str]) -> None:
        """The configs of an entity, and that they have changed."""
        self.put_value(f"{at.CONFIG}/{path}", at.config_node(texts))
        if not self.is_notified:
            self.put(at.CHANGES, None)
            self._purge()
            notice, name = text_of(at.change_node(path)), f"{at.CHANGES}/config_change_"
            self._do(Create(name, notice, Mode.PERSISTENT_SEQUENTIAL))

    def _purge(self) -> None:
        """Notifications that are old go when there is a new one."""
        before = self.cluster.clock.now() - _KEPT_MS
        for name in self.tree.children(at.CHANGES):
            path = f"{at.CHANGES}/{name}"
            if self.tree.nodes[path].ctime >= before:
                break
            self.remove(path)

    def _topic_created(self, topic: TopicImage, image: MetadataImage) -> None:
        texts = image.configs_of(TOPIC_RESOURCE, topic.name)
        self.put_value(f"{at.CONFIG}/topics/{topic.name}", at.config_node(texts))
        self._topic_changed(topic)
        for index in sorted(topic.partitions):
            self._show_state(topic, index)

    def _topic_changed(self, topic: TopicImage) -> None:
        value = at.topic_node(topic, self.cluster.release)
        self.put_value(f"{at.TOPICS}/{topic.name}", value)

    def _show_state(self, topic: TopicImage, index: int) -> None:
        path, partition = at.state_path(topic.name, index), topic.partitions[index]
        before = self.tree.get(path)
        epoch = at.epoch_of(before)
        if epoch is not None and at.is_same(before, at.state_node(partition, epoch)):
            return
        self.put(path, text_of(at.state_node(partition, max(self.epoch, 1))))

    def _topic_removed(self, name: str) -> None:
        deletion = f"{at.DELETIONS}/{name}"
        self.put(deletion, None)
        self.remove(f"{at.TOPICS}/{name}")
        self.remove(f"{at.CONFIG}/topics/{name}")
        self.remove(deletion)

    def _remove_unknown_topics(self) -> None:
        for name in self.tree.children(at.TOPICS):
            if self.cluster.topics.get(name) is None:
                self._topic_removed(name)
