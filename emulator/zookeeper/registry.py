"""The registries: Kafka's nodes, as the metadata of the cluster has them at any time.

- A change of the metadata changes the nodes that show it, and notifications of configs follow, as
  brokers write them. Nothing is written anew that says the same already.
- Each broker has a session: its node under /brokers/ids goes when it stops, or when the controller
  takes it for dead. The controller's node belongs to that broker's session, and its epoch rises
  with each new one.
- What clients write there does what it did (writes.py).

What differs from a real 2.7: leader epochs and how often a state was written are those of KRaft's
rules for the same changes; a block of producer ids is taken when it is needed, not at the start; a
broker's session ends with its process, or when the controller fences it. Access rules and
delegation tokens are not shown. Source: KafkaZkClient, ZkData; three brokers of 2.7.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..base.logger import log
from ..metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from . import contents as at
from .contents import text_of
from .errors import KeeperError
from .tree import NOBODY, Create, Delete, Mode, SetData, Who, parent_of
from .writes import Writes

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage, TopicImage
    from .keeper import Keeper
    from .sessions import Session

_KEPT_MS = 15 * 60 * 1000
"""How long a notification stays."""


class Registry:
    """Kafka's nodes in a Keeper."""

    def __init__(self, keeper: Keeper, cluster: Cluster) -> None:
        self.keeper = keeper
        self.tree = keeper.tree
        self.epoch = 0
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
