"""Configs of brokers and of topics.

A broker's value is the first of: set at run time for it, set at run time for all brokers, set at
the start, default. A topic's value is its own or that of the broker's config that gives its default
(retention.ms: log.retention.ms, else .minutes, else .hours). Values are read and judged as Kafka
does; an unknown config or a wrong value raises ConfigError with the sentence that a client shows.

Each of several brokers has its own (`of_node`), for what it answers itself. What they share, the
logs, follows the broker that `node.id` names. A config that no module `get`s is not obeyed:
inert.py lists it. Tables: broker_table.py, topic_table.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from ...storage.config import LogConfig
from ..base.java_order import hash_map_order
from ..base.release import KAFKA_4_3, Release
from .broker_rules import LISTENER_PREFIX, check_change, check_format, check_values
from .broker_table import NOT_SETTABLE, OF_THE_AUTHORIZER, OLD_ID, OUR_DEFAULTS, OUR_ID
from .definition import ConfigError, Definition, Value
from .listener_configs import check_listener_name
from .release_tables import absence, config_tables

__all__ = ["BrokerConfig", "ConfigError", "TopicConfig"]

NO_BOUND = 2**63 - 1
UNKNOWN = "Unknown broker config name"
_SHARED_MAX = 1000
ALL_BROKERS = ""
"""The resource name under which values for all brokers are set at run time."""


class BrokerConfig:
    """The brokers' configs, by Kafka's names. Raises ConfigError for unknown names, bad values."""

    def __init__(
        self, overrides: Mapping[str, str] | None = None, release: Release = KAFKA_4_3
    ) -> None:
        self.overrides = _with_our_id(dict(overrides or {}), release)
        self.release = release
        tables = config_tables(release)
        self.definitions = tables.broker
        self.topic_definitions = tables.topic
        self._is_settable = tables.is_settable
        self.gone = tables.gone
        """Of the definitions those that are not there for users."""
        self.known = {n: row for n, row in tables.broker.items() if n not in tables.gone}
        """The definitions that are there for users."""
        self._gone_topic = tables.gone_topic
        self.gone_group = tables.gone_group
        """Configs of groups that the release lacks."""
        self.dynamic: dict[str, dict[str, str]] = {}
        """Set at run time: broker id as text, or ALL_BROKERS, to name and text."""
        self._topics: dict[tuple[tuple[str, str], ...], TopicConfig] = {}
        for name in self.overrides:
            self._check_settable(name)
        ours = {n: text for n, text in OUR_DEFAULTS.items() if n == OUR_ID or self._is_settable(n)}
        self.static = ours | self.overrides
        """Set at the start, by the user or by us: name to text."""
        self.ignored: dict[str, str] = {}
        """Set at the start, and shown, but not obeyed: what Kafka does not have, say."""
        self.node = self.static[OUR_ID].strip()
        """The broker whose own configs are in force, as a resource's name."""
        self._nodes = {self.node: self}
        self._values = self._resolved({})

    def at_start(self) -> BrokerConfig:
        """The same without what was set at run time, which belongs to one cluster."""
        config = BrokerConfig(self.overrides, self.release)
        config.ignored = self.ignored
        return config

    def of_node(self, node_id: int) -> BrokerConfig:
        """The configs of another broker, which was started with the same: there, what is set at run
        time for that broker alone is in force. Both change together."""
        name = str(node_id)
        if name not in self._nodes:
            other = self._nodes[name] = copy(self)
            other.node, other.static = name, self.static | {OUR_ID: name}
            other._use(other._resolved({}), self.dynamic)
        return self._nodes[name]

    def get(self, name: str) -> Any:
        """The value in force, parsed. Raises KeyError for a name that Kafka does not have."""
        return self._values[name]

    def text_of(self, name: str) -> str | None:
        """The text set for a name, at run time or at the start; None if nothing
        is."""
        for texts in (self.dynamic.get(self.node, {}), self.dynamic.get(ALL_BROKERS, {})):
            if name in texts:
                return texts[name]
        return self.static.get(name)

    def default_of(self, definition: Definition) -> Value:
        """The default of a topic's or a group's config."""
        return definition.default_from(self._values)

    def judge_dynamic(self, changed: Mapping[str, Mapping[str, str]]) -> dict[str, Value]:
        """All values, if what is set at run time were replaced so for these brokers (their ids as
        text, or ALL_BROKERS). Raises ConfigError."""
        values = self._resolved(changed)
        for texts in changed.values():
            for name, text in texts.items():
                if name in self.known and name not in OF_THE_AUTHORIZER:
                    self.known[name].parse(text)
        return values

    def set_dynamic(self, changed: Mapping[str, Mapping[str, str]]) -> None:
        """Replace what is set at run time for these brokers (their ids as text, or ALL_BROKERS).

        Unknown names are kept and shown, as Kafka does. Raises ConfigError, changing nothing.
        """
        values = [(config, config.judge_dynamic(changed)) for config in self._nodes.values()]
        dynamic = self.dynamic | {resource: dict(texts) for resource, texts in changed.items()}
        dynamic = {resource: texts for resource, texts in dynamic.items() if texts}
        for config, found in values:
            config._use(found, dynamic)

    def check_dynamic(self, resource: str, texts: Mapping[str, str], data_dir: str = "") -> None:
        """Judge what is to be set at run time, changing nothing. Raises ConfigError."""
        known = {
            name: text
            for name, text in texts.items()
            if name in self.known and self.known[name].mode
        }
        one_broker = resource != ALL_BROKERS
        check_change(
            texts,
            self._values,
            lambda: self._resolved({self.node if one_broker else ALL_BROKERS: known}),
            one_broker=one_broker,
            data_dir=data_dir,
            definitions=self.known,
        )

    @cached_property
    def topic_defaults(self) -> dict[str, Value]:
        """The values of a topic that sets nothing itself."""
        return {
            name: self.default_of(row)
            for each in (self._gone_topic, self.topic_definitions)
            for name, row in each.items()
        }

    @cached_property
    def plain_topic(self) -> TopicConfig:
        """The configs of all topics that set nothing themselves: one object."""
        return TopicConfig(self, {})

    def topic(self, overrides: Mapping[str, str]) -> TopicConfig:
        """The configs of a topic that sets these: one object for topics that set the same.

        Raises ConfigError.
        """
        if not overrides:
            return self.plain_topic
        key = tuple(overrides.items())
        config = self._topics.get(key)
        if config is None:
            if len(self._topics) >= _SHARED_MAX:
                self._topics.clear()
            config = self._topics[key] = TopicConfig(self, overrides)
        return config

    def _use(self, values: dict[str, Value], dynamic: dict[str, dict[str, str]]) -> None:
        self._values, self.dynamic = values, dynamic
        self.__dict__.pop("topic_defaults", None)
        self.__dict__.pop("plain_topic", None)
        self._topics = {}

    def _resolved(self, changed: Mapping[str, Mapping[str, str]]) -> dict[str, Value]:
        """All values, when this is set at run time instead of what is. Raises ConfigError."""
        dynamic: dict[str, Mapping[str, str]] = {**self.dynamic, **changed}
        at_run_time = {**dynamic.get(ALL_BROKERS, {}), **dynamic.get(self.node, {})}
        inert = {*self.gone, *OF_THE_AUTHORIZER}
        given = self.static | {n: text for n, text in at_run_time.items() if n not in inert}
        values = {
            name: definition.parse(given[name]) if name in given else definition.default
            for name, definition in self.definitions.items()
        }
        check_values(values)
        if not self.release.has_kraft:
            check_format(values, by_magic=self.release.takes_formats_of_one_magic)
        return values

    def _check_settable(self, name: str) -> None:
        if name in NOT_SETTABLE:
            raise ConfigError(name, f"{name} cannot be set: {NOT_SETTABLE[name]}")
        self.check_known(name)

    def check_known(self, name: str) -> None:
        """Raises ConfigError for a name that Kafka does not have."""
        topics = self.topic_definitions
        if self._is_settable(name) or name in NOT_SETTABLE or name == OUR_ID:
            return
        if name.startswith(LISTENER_PREFIX):
            check_listener_name(name, self.known)
            return
        if name in topics:
            brokers = ", ".join(n for n, _ in topics[name].brokers)
            hint = f"; a topic has it, the broker's default for it is {brokers}" if brokers else ""
            raise ConfigError(name, f"{UNKNOWN}: {name}{hint}")
        raise self._unknown(name)

    def _unknown(self, name: str) -> ConfigError:
        """What is said of a name that brokers of the release do not have."""
        unknown = f"{UNKNOWN}: {name}{_likely(name, self.known)}"
        return ConfigError(name, absence(name, self.release) or unknown)

    def check_broker_names(self, names: Iterable[str]) -> None:
        """Raises ConfigError for a config that brokers do not have. Kafka takes any name at run
        time, for what its plugins may know."""
        for name in names:
            if not self._is_settable(name):
                raise self._unknown(name)

    def check_topic_names(self, names: Iterable[str]) -> None:
        """Raises ConfigError for a config that topics do not have, as Kafka does, and says besides
        which one is likely meant: for a test, which Kafka's answer alone would not help."""
        for name in names:
            if name not in self.topic_definitions:
                hint = _likely(name, self.topic_definitions)
                if self._is_settable(name):
                    hint = f"; the broker has it: Emulator({{{name!r}: ...}})"
                unknown = f"Unknown topic config name: {name}{hint}"
                raise ConfigError(name, absence(name, self.release, is_topic=True) or unknown)


def _with_our_id(texts: dict[str, str], release: Release) -> dict[str, str]:
    """Configs in which `broker.id`, as releases with ZooKeeper call it, is `node.id`. Raises
    ConfigError for two ids."""
    own = texts.pop(OLD_ID, None) if release.has_zookeeper else None
    if own is not None and texts.setdefault(OUR_ID, own).strip() != own.strip():
        raise ConfigError(OLD_ID, f"{OLD_ID} and {OUR_ID} are two names of one id: give one")
    return texts


def _likely(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f"; is {close[0]} meant?" if close else ""


class TopicConfig:
    """One topic's configs, its own and the broker's. Replaced as a whole when one changes."""

    __slots__ = (
        "_log_config",
        "_values",
        "broker",
        "cleanup_policy",
        "compression_type",
        "down_conversion",
        "is_compacted",
        "log_append_time",
        "magic",
        "max_message_bytes",
        "min_insync_replicas",
        "overrides",
        "timestamp_after_max_ms",
        "timestamp_before_max_ms",
        "unclean_election",
    )

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        """Raises ConfigError for an unknown name or a bad value."""
        self.overrides = dict(overrides)
        """Name to text, as they were given."""
        self.broker = broker
        values = dict(broker.topic_defaults)
        values.update(parse_topic_configs(overrides, broker.topic_definitions))
        self._values = values
        self._log_config: LogConfig | None = None
        self.cleanup_policy: frozenset[str] = frozenset(values["cleanup.policy"])
        self.is_compacted: bool = "compact" in self.cleanup_policy
        self.compression_type: str = values["compression.type"].lower()
        self.log_append_time: bool = values["message.timestamp.type"] == "LogAppendTime"
        self.max_message_bytes: int = values["max.message.bytes"]
        self.min_insync_replicas: int = values["min.insync.replicas"]
        self.unclean_election: bool = values["unclean.leader.election.enable"]
        self.timestamp_after_max_ms: int = values["message.timestamp.after.max.ms"]
        self.timestamp_before_max_ms: int = values["message.timestamp.before.max.ms"]
        # Configs that not every release has.
        self.down_conversion: bool = values.get("message.downconversion.enable", True)
        self.magic = _magic(broker.release, values)
        """The format in which messages are stored."""
        difference: int = values.get("message.timestamp.difference.max.ms", NO_BOUND)
        if self.timestamp_before_max_ms == NO_BOUND:
            self.timestamp_before_max_ms = difference
        if self.timestamp_after_max_ms == NO_BOUND:
            self.timestamp_after_max_ms = difference

    def get(self, name: str) -> Any:
        """The value of a topic config, parsed. Raises KeyError for an unknown name."""
        return self._values[name]

    def check(self) -> None:
        """Judge the values together, as when they are set. Those of a topic that sets none may
        contradict each other, as the brokers' may. Raises ConfigError."""
        _check_topic(self._values)

    def compression_level(self, codec: int) -> int | None:
        """The level for a codec (its number in a batch), None where it has none."""
        name = _LEVELS.get(codec)
        return None if name is None else self._values[name]

    def log_config(self) -> LogConfig:
        """The configs of the topic's logs."""
        if self._log_config is None:
            get = self._values.__getitem__
            # For tests of Kafka itself: segments of less than a megabyte.
            small = self._values.get("internal.segment.bytes")
            self._log_config = LogConfig(
                segment_bytes=get("segment.bytes") if small is None else small,
                segment_ms=get("segment.ms"),
                segment_jitter_ms=get("segment.jitter.ms"),
                segment_index_bytes=get("segment.index.bytes"),
                index_interval_bytes=get("index.interval.bytes"),
                retention_ms=get("retention.ms"),
                retention_bytes=get("retention.bytes"),
                cleanup_policy=self.cleanup_policy,
                delete_retention_ms=get("delete.retention.ms"),
                min_compaction_lag_ms=get("min.compaction.lag.ms"),
                max_compaction_lag_ms=get("max.compaction.lag.ms"),
                min_cleanable_dirty_ratio=get("min.cleanable.dirty.ratio"),
                flush_messages=get("flush.messages"),
                flush_ms=get("flush.ms"),
                file_delete_delay_ms=get("file.delete.delay.ms"),
                keeps_old_formats=self.broker.release.compacts_into_old_formats,
            )
        return self._log_config


_PRODUCE = 0
"""The API whose second version brought times, and whose third batches."""


def _magic(release: Release, values: Mapping[str, Any]) -> int:
    """The format that `message.format.version` names, among those that the release has; from 3.0 on
    it is that of 0.11."""
    if release.has_kraft:
        return 2
    from .api_versions import magic_of

    newest = max(0, release.advertised[_PRODUCE][1] - 1)
    name: str = values.get("message.format.version", "0.8.0")
    magic = magic_of(name)
    return newest if magic is None else min(newest, magic)


_LEVELS = {1: "compression.gzip.level", 3: "compression.lz4.level", 4: "compression.zstd.level"}


def parse_topic_configs(
    overrides: Mapping[str, str], definitions: Mapping[str, Definition]
) -> dict[str, Value]:
    """The parsed values, each judged by itself. Raises ConfigError."""
    for name in hash_map_order(name for name in overrides if name not in definitions):
        raise ConfigError(name, f"Unknown topic config name: {name}")
    if len(overrides) == 1:
        return {name: definitions[name].parse(text) for name, text in overrides.items()}
    return {
        name: definition.parse(overrides[name])
        for name, definition in definitions.items()
        if name in overrides
    }


def _check_topic(values: Mapping[str, Any]) -> None:
    low, high = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if low > high:
        raise ConfigError(
            "min.compaction.lag.ms",
            "conflict topic config setting "
            f"min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})",
        )
    if values["remote.storage.enable"]:
        raise ConfigError(
            "remote.storage.enable",
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        )
