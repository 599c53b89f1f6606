"""Changing configs: what AlterConfigs (33) and IncrementalAlterConfigs (44) have in common.

Kafka judges a change in two places, and so each resource passes two steps here:
- the broker that is asked: a resource or a key that is named twice, null values, ids of brokers,
  and whether a broker could apply its new configs (config/broker_rules.py); log levels are set
  there and not forwarded;
- the controller: the operations, the values, whether a topic exists. An operation that does not
  exist fails every resource that was forwarded.

A resource that is refused does not touch the others (semantics I6, I15). What is written are
ConfigRecords, so all but log levels survives a restart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error, Refused
from ...wire.stored.cluster import ClearElrRecord, MetadataRecord
from ..base.java_order import hash_map_order
from ..config.broker_table import UNLISTED
from ..config.client_metrics import CLIENT_METRICS_RESOURCE, check_client_metrics
from ..config.configs import ALL_BROKERS, BrokerConfig
from ..config.definition import ConfigError, Definition, Kind
from ..config.group import GROUP_RESOURCE, check_group
from ..config.loggers import APPEND, DELETE, SET, SUBTRACT, Loggers
from .image import BROKER_RESOURCE, TOPIC_RESOURCE
from .topic_rules import check_name
from .topics import config_records

if TYPE_CHECKING:
    from ..environment import Environment
    from .features import Features
    from .log import MetadataLog
    from .topics import Catalogue

LOGGER_RESOURCE = 8
_MIN_INSYNC = "min.insync.replicas"
_ELR_FEATURE = "eligible.leader.replicas.version"
# Lists that every broker has to be given.
_REQUIRED = ("process.roles", "controller.listener.names")
_OPERATIONS = (SET, DELETE, APPEND, SUBTRACT)
_JAVA_INT = re.compile(r"[+-]?\d+")


class Change(NamedTuple):
    """A change of one config; in AlterConfigs the operation is SET."""

    name: str
    operation: int
    value: str | None


class Wanted(NamedTuple):
    kind: int
    name: str
    changes: list[Change]


class AskedBroker(NamedTuple):
    """The broker that was asked, as far as a change of configs concerns it."""

    node_id: int
    config: BrokerConfig
    loggers: Loggers
    check_stores: Callable[[BrokerConfig, Iterable[str], Mapping[str, str]], None]
    """Raises ConfigError for key stores and trust stores that cannot be used."""


class Alteration:
    """One request, with its broker and what the controller has."""

    def __init__(
        self,
        environment: Environment,
        metadata: MetadataLog,
        features: Features,
        topics: Catalogue,
        broker: AskedBroker,
        *,
        is_incremental: bool,
        validate_only: bool,
    ) -> None:
        self._environment, self._metadata = environment, metadata
        self._features, self._topics = features, topics
        self._broker = broker
        self._is_incremental = is_incremental
        self._validate_only = validate_only

    def carry_out(self, resources: Sequence[Wanted]) -> list[tuple[Wanted, Refused | None]]:
        """Each resource that is answered, and why it was refused, None where it was not."""
        outcomes: list[Refused | None] = [None] * len(resources)
        times = Counter((each.kind, each.name) for each in resources)
        forwarded = []
        for index, wanted in enumerate(resources):
            try:
                if times[wanted.kind, wanted.name] > 1:
                    message = "Each resource must appear at most once."
                    raise Refused(Error.INVALID_REQUEST, message)
                if self._look_over(wanted):
                    forwarded.append(index)
            except Refused as refused:
                outcomes[index] = refused
        outcomes_there = self._control([(index, resources[index]) for index in forwarded])
        for index, refusal in outcomes_there:
            outcomes[index] = refusal
        return list(zip(resources, outcomes, strict=True))

    # At the broker that was asked

    def is_refused_at_once(self, wanted: Wanted) -> bool:
        """Whether a resource is refused before a broker asks whether the client may change it."""
        try:
            self._look_over_names(wanted)
            if wanted.kind != LOGGER_RESOURCE or not self._is_incremental:
                self._look_over_kind(wanted)
        except Refused:
            return True
        return False

    def _look_over(self, wanted: Wanted) -> bool:
        """Judge a resource, and set log levels; False when nothing is left to do."""
        self._look_over_names(wanted)
        if wanted.kind == LOGGER_RESOURCE and self._is_incremental:
            self._set_levels(wanted)
            return False
        self._look_over_kind(wanted)
        return True

    def _look_over_names(self, wanted: Wanted) -> None:
        names = [change.name for change in wanted.changes]
        if len(set(names)) < len(names):
            raise Refused(Error.INVALID_REQUEST, "Error due to duplicate config keys")
        nulls = [c.name for c in wanted.changes if c.value is None and c.operation != DELETE]
        if nulls:
            message = f"Null value not supported for : {', '.join(nulls)}"
            raise Refused(Error.INVALID_REQUEST, message)

    def _look_over_kind(self, wanted: Wanted) -> None:
        if wanted.kind == BROKER_RESOURCE:
            self._look_over_broker(wanted)
        elif wanted.kind not in self._kinds():
            raise Refused(Error.INVALID_REQUEST, f"Unknown resource type {wanted.kind}")

    def _look_over_broker(self, wanted: Wanted) -> None:
        if wanted.name:
            self._check_node(wanted.name, "Unexpected broker id, expected {0}, but received {1}")
        for change in wanted.changes:
            if change.operation not in _OPERATIONS:
                message = f"Unknown operations type {change.operation}"
                raise Refused(Error.INVALID_REQUEST, message)
        for change in wanted.changes:
            _check_broker_list(change, self._environment.config)
        texts = self._new_texts(wanted)
        data_dir = str(self._environment.log_dir.path)
        try:
            config = self._broker.config
            config.check_dynamic(wanted.name, texts, data_dir)
            names = (change.name for change in wanted.changes)
            self._broker.check_stores(config, names, texts)
        except ConfigError as error:
            raise Refused(Error.INVALID_REQUEST, str(error)) from None

    def _set_levels(self, wanted: Wanted) -> None:
        self._check_node(wanted.name, "Unexpected node id. Expected {0}, but received {1}")
        loggers = self._broker.loggers
        for change in wanted.changes:
            loggers.check(*change)
        for change in () if self._validate_only else wanted.changes:
            assert change.value is not None
            loggers.set_level(change.value)

    def _check_node(self, name: str, sentence: str) -> None:
        if not _JAVA_INT.fullmatch(name) or not -(2**31) <= int(name) < 2**31:
            message = f"Node id must be an integer, but it is: {name}"
            raise Refused(Error.INVALID_REQUEST, message)
        if int(name) != self._broker.node_id:
            raise Refused(Error.INVALID_REQUEST, sentence.format(self._broker.node_id, name))

    # At the controller

    def _control(self, resources: list[tuple[int, Wanted]]) -> Iterator[tuple[int, Refused]]:
        """Judge and change resources, each with its index; yield those that are refused."""
        planned: list[tuple[int, list[MetadataRecord]]] = []
        ready, refusals = [], []
        for index, wanted in resources:
            try:
                ready.append((index, wanted, self._new_texts(wanted)))
            except Refused as refused:
                if refused.error == Error.UNKNOWN_SERVER_ERROR:  # an unknown operation
                    yield from ((each, refused) for each, _ in resources)
                    return
                refusals.append((index, refused))
        yield from refusals
        for index, wanted, texts in ready:
            try:
                planned.append((index, self._plan(wanted, texts)))
            except Refused as refused:
                yield index, refused
            except ConfigError as error:
                yield index, Refused(Error.INVALID_CONFIG, str(error))
        if self._validate_only:
            return
        try:
            self._metadata.append([each for _, records in planned for each in records])
        except Refused as refused:
            yield from ((index, refused) for index, records in planned if records)

    def _plan(self, wanted: Wanted, texts: Mapping[str, str]) -> list[MetadataRecord]:
        """The records of a resource that is to set these. Raises Refused, ConfigError."""
        kind, name = wanted.kind, wanted.name
        if kind == TOPIC_RESOURCE:
            self._check_topic(name, texts)
            return self._plan_topic(name, texts)
        if kind == BROKER_RESOURCE:
            self._check_eligible_leaders(wanted, texts)
            return plan_broker_configs(self._environment.config, name, texts)
        if kind == CLIENT_METRICS_RESOURCE:
            if not name:
                raise Refused(Error.INVALID_REQUEST, "Subscription name can't be empty")
            checks = self._environment.release.checks_lists_of_metrics
            check_client_metrics(texts, checks_lists=checks)
        else:
            if not name:
                message = "Default group resources are not allowed."
                raise Refused(Error.INVALID_REQUEST, message)
            check_group(self._environment.config, texts)
        return config_records(kind, name, self._texts(kind, name), texts)

    def _plan_topic(self, name: str, texts: Mapping[str, str]) -> list[MetadataRecord]:
        """With another least number of replicas in sync, nobody is known to be eligible to lead."""
        before = self._texts(TOPIC_RESOURCE, name)
        records = config_records(TOPIC_RESOURCE, name, before, texts)
        is_changed = before.get(_MIN_INSYNC) != texts.get(_MIN_INSYNC)
        if is_changed and self._features.level(_ELR_FEATURE):
            records.append(ClearElrRecord(topic_name=name))
        return records

    def _check_topic(self, name: str, texts: Mapping[str, str]) -> None:
        if not name:
            raise Refused(Error.INVALID_REQUEST, "Default topic resources are not allowed.")
        check_name(name)
        self._environment.config.topic(texts).check()
        if self._topics.get(name) is None:
            message = f"The topic '{name}' does not exist."
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)

    def _check_eligible_leaders(self, wanted: Wanted, texts: Mapping[str, str]) -> None:
        """With eligible leader replicas (KIP-966) all brokers have the same least number of
        replicas in sync, and it is always set: of one broker it may not even be taken away."""
        if not self._features.level(_ELR_FEATURE):
            return
        name, before = wanted.name, self._texts(BROKER_RESOURCE, wanted.name)
        if name != ALL_BROKERS and any(change.name == _MIN_INSYNC for change in wanted.changes):
            message = f"Broker-level {_MIN_INSYNC} cannot be altered while ELR is enabled."
            raise Refused(Error.INVALID_CONFIG, message)
        if name == ALL_BROKERS and _MIN_INSYNC in before and _MIN_INSYNC not in texts:
            message = f"Cluster-level {_MIN_INSYNC} cannot be removed while ELR is enabled."
            raise Refused(Error.INVALID_CONFIG, message)

    def _kinds(self) -> tuple[int, ...]:
        release = self._environment.release
        kinds = (TOPIC_RESOURCE, *[CLIENT_METRICS_RESOURCE] * release.has_client_metrics)
        return (*kinds, GROUP_RESOURCE) if release.has_group_configs else kinds

    # What a resource has, and is to have

    def _texts(self, kind: int, name: str) -> Mapping[str, str]:
        if kind == TOPIC_RESOURCE:
            topic = self._topics.get(name)
            return {} if topic is None else topic.config.overrides
        if kind == BROKER_RESOURCE:
            return self._environment.config.dynamic.get(name, {})
        return self._metadata.image.configs_of(kind, name)

    def _new_texts(self, wanted: Wanted) -> dict[str, str]:
        if not self._is_incremental:
            return {change.name: change.value or "" for change in wanted.changes}
        definitions: Mapping[str, Definition] = {
            TOPIC_RESOURCE: self._environment.config.topic_definitions,
            BROKER_RESOURCE: self._environment.config.known,
        }.get(wanted.kind, {})
        texts = dict(self._texts(wanted.kind, wanted.name))
        changes = {change.name: change for change in wanted.changes}
        for change in map(changes.__getitem__, hash_map_order(changes)):
            if change.operation not in _OPERATIONS:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            if change.operation == DELETE or change.value is None:
                texts.pop(change.name, None)
            elif change.operation == SET:
                texts[change.name] = change.value
            else:
                definition = definitions.get(change.name)
                texts[change.name] = _spliced(definition, texts.get(change.name), change)
        return texts


def plan_broker_configs(
    config: BrokerConfig, resource: str, texts: Mapping[str, str]
) -> list[MetadataRecord]:
    """The records of a broker (its id as text), or of all (""), that is to set these at run time.

    Raises ConfigError.
    """
    config.judge_dynamic({resource: texts})
    return config_records(BROKER_RESOURCE, resource, config.dynamic.get(resource, {}), texts)


def _check_broker_list(change: Change, config: BrokerConfig) -> None:
    if change.operation in (APPEND, SUBTRACT):
        definition = config.known.get(change.name)
        if definition is None or change.name in UNLISTED:
            if not config.release.explains_unknown_lists:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            raise Refused(Error.INVALID_CONFIG, f"Unknown config name: {change.name}")
        if definition.kind is not Kind.LIST:
            what = "append" if change.operation == APPEND else "subtract"
            message = f"Config value {what} is not allowed for config key: {change.name}"
            raise Refused(Error.INVALID_CONFIG, message)


def _spliced(definition: Definition | None, text: str | None, change: Change) -> str:
    """A list with items added, or removed. Items are compared as text, with their blanks."""
    is_append = change.operation == APPEND
    if definition is None or definition.kind is not Kind.LIST:
        what = "APPEND" if is_append else "SUBTRACT"
        message = f"Can't {what} to key {change.name} because its type is not LIST."
        raise Refused(Error.INVALID_CONFIG, message)
    if text is None and change.name in _REQUIRED:  # a real broker fails
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    whole = definition.default_text if text is None else text
    items = [item for item in (whole or "").split(",") if item]
    for item in _split(change.value or ""):
        if is_append and item not in items:
            items.append(item)
        elif not is_append and item in items:
            items.remove(item)
    return ",".join(items)


def _split(text: str) -> list[str]:
    """At the commas, as Java does: empty items at the end do not count, but an empty text is one
    empty item."""
    if not text:
        return [""]
    items = text.split(",")
    while items and not items[-1]:
        items.pop()
    return items
