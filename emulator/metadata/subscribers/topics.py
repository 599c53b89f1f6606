"""Topics and partitions: from the metadata log into the catalogue, with their logs and configs.

Rules:
- A log of which nothing is on disk is opened when it is first used, and its directory is created
  with the first append: so many empty topics are cheap.
- A new leader begins its leader epoch in the log. Whoever waits for a partition that has changed
  is woken, and answered as things are then.
- Logs of a deleted topic are renamed at once and removed later (LogManager). A log that cannot be
  renamed stays, and a warning names it.
- A stored topic config that is not known here is left out, and a warning says so: the data counts
  for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ....storage import Log
from ....wire import Refused
from ...base.logger import log
from ...config.configs import TopicConfig
from ...config.definition import ConfigError
from ...partitions.partition import NO_LEADER, Partition, Topic
from ..delta import MetadataDelta
from ..image import BROKER_RESOURCE, TOPIC_RESOURCE, MetadataImage, PartitionImage, TopicImage

if TYPE_CHECKING:
    from ...environment import Environment
    from ..topics import TopicIndex


class Topics:
    """Keeps an index of topics as the metadata log has them."""

    def __init__(
        self,
        environment: Environment,
        index: TopicIndex,
        unflushed: Callable[[Log], None],
        remove_later: Callable[[Sequence[str]], None],
    ) -> None:
        self._environment = environment
        self._index = index
        self._unflushed, self._remove_later = unflushed, remove_later

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        kinds = {kind for kind, _ in delta.configs}
        if BROKER_RESOURCE in kinds:  # topics take their defaults from them
            for topic in self._index:
                self._configure(topic, image)
        if delta.removed:
            self._remove([self._index.leave(topic_id) for topic_id in delta.removed])
        for created in delta.created.values():
            self._create(created, image)
        for topic_id, number in delta.partitions:
            self._change(topic_id, number, image.topics[topic_id].partitions[number])
        for kind, name in delta.configs:
            topic_or_none = self._index.get(name) if kind == TOPIC_RESOURCE else None
            if topic_or_none is not None and topic_or_none.id not in delta.created:
                self._configure(topic_or_none, image)
        is_seen = kinds & {BROKER_RESOURCE, TOPIC_RESOURCE}
        if is_seen or delta.removed or delta.created or delta.partitions:
            self._index.changed()

    # Topics

    def _create(self, found: TopicImage, image: MetadataImage) -> None:
        topic = Topic(found.name, found.topic_id, self._config(found.name, image))
        self._open(topic, [found.partitions[number] for number in sorted(found.partitions)])
        self._index.enter(topic)

    def _remove(self, topics: Iterable[Topic]) -> None:
        log_dir, left = self._environment.log_dir, []
        for topic in topics:
            topic.is_deleted = True
            for partition in topic.partitions:
                partition.close_waiters()
                if not partition.is_log_open:
                    continue
                try:
                    left.append(log_dir.delete_log(topic.name, partition.index, later=True))
                except Refused as error:
                    log.warning("%r of a deleted topic stays on disk: %s", partition, error)
        self._remove_later([name for name in left if name is not None])

    # Configs

    def _configure(self, topic: Topic, image: MetadataImage) -> None:
        topic.config = config = self._config(topic.name, image)
        for partition in topic.partitions:
            if partition.is_log_open:
                partition.log.config = config.log_config()
            if len(partition.isr) < partition.least_in_sync:  # from now on too few are in sync
                partition.advance()

    def _config(self, name: str, image: MetadataImage) -> TopicConfig:
        texts: Mapping[str, str] = image.configs_of(TOPIC_RESOURCE, name)
        while True:
            try:
                return self._environment.config.topic(texts)
            except ConfigError as error:
                log.warning("topic %s: a stored config is not used: %s", name, error)
                texts = {key: text for key, text in texts.items() if key != error.name}

    # Partitions

    def _open(self, topic: Topic, found: Sequence[PartitionImage]) -> None:
        for number, image in enumerate(found, len(topic.partitions)):
            epoch = image.leader_epoch if image.leader != NO_LEADER else None
            partition = Partition(
                *(topic, number, partial(self._open_log, topic, number, epoch)),
                leader=image.leader,
                leader_epoch=image.leader_epoch,
                replicas=list(image.replicas),
                isr=list(image.isr),
            )
            topic.partitions.append(partition)
            if self._environment.log_dir.knows(topic.name, number):
                _ = partition.log
            partition.advance()

    def _open_log(self, topic: Topic, number: int, epoch: int | None) -> Log:
        """The log of a partition, in the leader epoch that it had when it became known."""
        config, now = topic.config.log_config(), self._environment.clock.now()
        stored = self._environment.log_dir.open_log(topic.name, number, topic.id, config, now)
        stored.on_unflushed = self._unflushed
        if stored.is_flush_pending:  # what was written, and not flushed, when the last run ended
            self._unflushed(stored)
        if epoch is not None:
            stored.start_epoch(epoch)
        return stored

    def _change(self, topic_id: bytes, number: int, now: PartitionImage) -> None:
        topic = self._index.by_id(topic_id)
        assert topic is not None
        if number >= len(topic.partitions):
            self._open(topic, [now])
            return
        partition = topic.partitions[number]
        try:
            at = self._environment.clock.now()
            before = partition.log_end_offset if partition.is_log_open else 0
            partition.lead(now.leader, now.leader_epoch, list(now.replicas), list(now.isr), at)
            self._tell_of_loss(partition, before)
        except Refused as error:
            log.warning("%r keeps what its new leader lacks: %s", partition, error)

    def _tell_of_loss(self, partition: Partition, before: int) -> None:
        """The new leader of a partition may lack what it had."""
        if partition.is_log_open and (end := partition.log_end_offset) < before:
            self._environment.journal.add(
                "records lost",
                topic=partition.topic.name,
                partition=partition.index,
                first_offset=end,
                last_offset=before - 1,
                details={"node": partition.leader},
            )
