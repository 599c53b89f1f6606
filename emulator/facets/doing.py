"""What a test does at a broker without a client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...wire import Error, Refused
from .. import parameters, seen
from ..base.call import TEST
from ..cluster import Cluster
from ..config.definition import ConfigError
from ..metadata.topic_rules import DEFAULT
from ..parameters import ConfigValue
from .facet import Facet


class Doing(Facet):
    """Verbs that need no client."""

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, ConfigValue] | None = None,
        *,
        configs: Mapping[str, ConfigValue] | None = None,
        replicas: int | None = None,
    ) -> seen.TopicView:
        """Create a topic; `configs` is another name of `config`; `replicas`: on how many brokers
        each partition is, by default `default.replication.factor`. Raises Refused as CreateTopics
        would answer, TypeError."""
        texts = parameters.topic_config_texts(config, configs)
        parameters.topic_name(name)
        parameters.partition_count(partitions)
        factor = DEFAULT if replicas is None else parameters.replica_count(replicas)

        def done(cluster: Cluster) -> None:
            try:
                cluster.config.check_topic_names(texts)
            except ConfigError as error:
                raise Refused(Error.INVALID_CONFIG, str(error)) from None
            cluster.create_topic(name, partitions, texts, factor)

        self.run(done)
        return seen.TopicView(self._inside, name)

    def unique_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, ConfigValue] | None = None,
        *,
        configs: Mapping[str, ConfigValue] | None = None,
    ) -> seen.TopicView:
        """Create a topic whose name begins so, and that no other test has: for a broker that
        several tests share. `.name` is its name. Raises as `create_topic` does."""
        parameters.topic_name(name)
        return self.create_topic(seen.unique_name(name), partitions, config, configs=configs)

    def delete_topic(self, name: str) -> None:
        """Delete a topic. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
        parameters.topic_name(name)
        self.run(lambda cluster: _delete_topic(cluster, name))

    def recreate_topic(
        self,
        name: str,
        partitions: int | None = None,
        configs: Mapping[str, ConfigValue] | None = None,
    ) -> seen.TopicView:
        """Delete a topic and create it again, by default with as many partitions: it is empty, its
        offsets begin at 0, its id is another, and its configs are those given here. No client sees
        a moment without it. Raises as `delete_topic` and `create_topic` do; a config that is
        refused leaves it deleted."""
        texts = parameters.config_texts(configs, "configs")
        parameters.topic_name(name)
        if partitions is not None:
            parameters.partition_count(partitions)

        def done(cluster: Cluster) -> None:
            before = _delete_topic(cluster, name)
            cluster.create_topic(name, before if partitions is None else partitions, texts)

        self.run(done)
        return seen.TopicView(self._inside, name)

    def set_config(self, configs: Mapping[str, ConfigValue | None]) -> None:
        """Set configs of all brokers while they run, as IncrementalAlterConfigs; None goes back to
        what they were started with. All are set, or none. Raises Refused: INVALID_REQUEST for one
        that a running broker does not take, INVALID_CONFIG; TypeError."""
        texts = parameters.changed_configs(configs)

        def check_names(cluster: Cluster) -> None:
            try:
                cluster.config.check_broker_names(texts)
            except ConfigError as error:
                raise Refused(Error.INVALID_CONFIG, str(error)) from None

        self.run(check_names)
        seen.set_configs(self._inside, seen.BROKER, seen.ALL_BROKERS, texts)

    def seed(
        self, records: Mapping[str, Iterable[Any]] | str | Path, *, topic: str | None = None
    ) -> dict[str, int]:
        """Produce records to begin with, from a dict (topic -> records, as for `produce_all`) or
        from a file: JSON Lines or CSV (seen/seeds.py). Topics that do not exist are created, with
        as many partitions as the records name. `topic` is that of lines which name none. Returns
        how many records each topic has got.

        Raises ValueError that names the line, before anything is stored; else as `produce_all`.
        """
        seeds = seen.read_seeds(records, topic)
        there = self.run(lambda cluster: {topic.name for topic in cluster.topics})
        for name, seed in seeds.items():
            if name not in there:
                self.create_topic(name, seed.partitions, seed.configs)
            seen.TopicView(self._inside, name).produce_all(seed.records)
        return {name: len(seed.records) for name, seed in seeds.items()}

    def compact(self) -> int:
        """Compact every log of a compacted topic now, whatever its dirty ratio and lags.

        Active segments are rolled first, so everything written until now is compacted, except from
        the start of an open transaction on. Tombstones and markers stay for `delete.retention.ms`
        after the first compaction that finds them. Returns how many partitions had something to
        compact. Raises Refused for a damaged or failing log.
        """
        return self.run(lambda cluster: cluster.log_manager.cleaner.compact_all())


def _delete_topic(cluster: Cluster, name: str) -> int:
    """Delete a topic; return how many partitions it had."""
    if name not in (names := [topic.name for topic in cluster.topics]):
        raise seen.no_topic(name, names)
    topic = cluster.topic(name)
    count = len(topic.partitions)
    cluster.topics.delete(topic)
    cluster.journal.add("topic deleted", client=TEST, topic=name)
    return count
