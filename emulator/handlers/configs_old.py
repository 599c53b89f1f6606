"""AlterConfigs and IncrementalAlterConfigs as brokers with ZooKeeper answer them, up to 2.8.

The broker that is asked judges and writes each resource by itself; a resource of another kind than
topics, brokers and (to be changed one by one) loggers refuses the whole request. Of a resource that
IncrementalAlterConfigs names twice the last one counts.

Source: Kafka's AdminManager of 0.11 to 2.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ..base.release import Release
from ..config.broker_table import UNLISTED
from ..config.configs import ConfigError
from ..config.definition import Definition, Kind, Row, Source, show
from ..config.loggers import APPEND, DELETE, SET, SUBTRACT
from ..metadata.config_changes import LOGGER_RESOURCE, Change, Wanted, plan_broker_configs
from ..metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from ..metadata.topic_rules import check_name
from ..metadata.topics import config_records
from .topics_old import NO_PATHS, judged

if TYPE_CHECKING:
    from ..cluster import Cluster

_KINDS = (TOPIC_RESOURCE, BROKER_RESOURCE)
_ANY_RESOURCE, _GROUP_RESOURCE = 1, 3


def named_again(release: Release, resources: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Types and names of resources, as an answer has them that refuses all of a request, up
    to 2.4."""
    known = {*_KINDS}
    if release.describes_each_entry:
        known.add(LOGGER_RESOURCE)
    if not release.forgets_other_resources:
        known |= {_ANY_RESOURCE, _GROUP_RESOURCE}
    return list(dict.fromkeys((kind if kind in known else 0, name) for kind, name in resources))


def before_1_0(kind: int, rows: Sequence[Row]) -> list[Row]:
    """Configs as brokers describe them that may not be changed themselves."""
    if kind == BROKER_RESOURCE:
        return [row._replace(is_read_only=True) for row in rows]
    return [
        row if row.source is Source.TOPIC else row._replace(source=Source.DEFAULT) for row in rows
    ]


class OldAlteration:
    """A change of configs that a broker is asked for."""

    def __init__(
        self, cluster: Cluster, node_id: int, *, is_incremental: bool, validate_only: bool
    ) -> None:
        self._cluster, self._node_id = cluster, node_id
        self._is_incremental, self._validate_only = is_incremental, validate_only
        self._broker = cluster.brokers[node_id]

    def carry_out(self, resources: Sequence[Wanted]) -> list[tuple[Wanted, Refused | None]]:
        """Each resource that is answered, and why it was refused, None where it was not."""
        nulls = any(c.value is None for each in resources for c in each.changes)
        if nulls and not self._is_incremental and self._cluster.release.names_null_configs:
            return self._all(resources, Refused(Error.UNKNOWN_SERVER_ERROR))
        for wanted in resources:
            if self.is_refused_at_once(wanted):
                message = f"Unexpected resource type {_WORDS.get(wanted.kind, 'UNKNOWN')}"
                refused = Refused(Error.INVALID_REQUEST, message)
                return self._all(resources, refused)
        last = {(each.kind, each.name): each for each in resources}
        return [(each, self._outcome(each)) for each in last.values()]

    def _all(
        self, resources: Sequence[Wanted], refused: Refused
    ) -> list[tuple[Wanted, Refused | None]]:
        if self._is_incremental or self._cluster.release.keeps_unknown_resources:
            return [(each, refused) for each in resources]
        named = named_again(self._cluster.release, ((each.kind, each.name) for each in resources))
        return [(Wanted(kind, name, []), refused) for kind, name in named]

    def is_refused_at_once(self, wanted: Wanted) -> bool:
        """Whether it refuses the whole request, whoever asks."""
        known = (*_KINDS, LOGGER_RESOURCE) if self._is_incremental else _KINDS
        return wanted.kind not in known

    def _outcome(self, wanted: Wanted) -> Refused | None:
        try:
            self._alter(wanted)
        except Refused as refused:
            return refused
        except ConfigError as error:
            return Refused(Error.INVALID_REQUEST, str(error))
        return None

    def _alter(self, wanted: Wanted) -> None:
        """Raises Refused, ConfigError."""
        if wanted.kind == BROKER_RESOURCE and not self._cluster.release.alters_brokers:
            message = "AlterConfigs is only supported for topics, but resource type is BROKER"
            raise Refused(Error.INVALID_REQUEST, message)
        if not self._cluster.release.splices_defaults:
            self._check_path(wanted)
        self._check_values(wanted)
        if wanted.kind == TOPIC_RESOURCE:
            self._alter_topic(wanted)
        elif wanted.kind == BROKER_RESOURCE:
            self._alter_broker(wanted)
        else:
            self._set_levels(wanted)

    def _check_values(self, wanted: Wanted) -> None:
        times = Counter(change.name for change in wanted.changes)
        if self._is_incremental and any(count > 1 for count in times.values()):
            raise Refused(Error.INVALID_REQUEST, "Error due to duplicate config keys")
        nulls = [c.name for c in wanted.changes if c.value is None and c.operation != DELETE]
        if nulls and not self._cluster.release.names_null_configs:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        if nulls:
            message = f"Null value not supported for : {','.join(nulls)}"
            raise Refused(Error.INVALID_REQUEST, message)

    def _check_path(self, wanted: Wanted) -> None:
        is_topic = wanted.kind == TOPIC_RESOURCE
        if self._is_incremental and is_topic and wanted.name in NO_PATHS:
            message = f"Invalid path of the configs of topic {wanted.name}"
            raise Refused(Error.INVALID_REQUEST, message)

    def _alter_topic(self, wanted: Wanted) -> None:
        self._check_path(wanted)
        topic = self._cluster.topics.get(wanted.name)
        before = {} if topic is None else topic.config.overrides
        texts = self._new_texts(wanted, before, self._cluster.config.topic_definitions)
        if topic is None and self._cluster.release.knows_missing_topics:
            message = f"The topic '{wanted.name}' does not exist."
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)
        check_name(wanted.name)
        if topic is None:
            message = f'Topic "{wanted.name}" does not exist.'
            raise Refused(Error.UNKNOWN_SERVER_ERROR, message)
        judged(self._cluster, texts, Error.INVALID_REQUEST)
        if not self._validate_only:
            records = config_records(TOPIC_RESOURCE, wanted.name, before, texts)
            self._cluster.metadata.append(records)

    def _alter_broker(self, wanted: Wanted) -> None:
        self._check_node(wanted.name)
        cluster, config = self._cluster, self._broker.config
        before = cluster.config.dynamic.get(wanted.name, {})
        texts = self._new_texts(wanted, before, cluster.config.definitions)
        config.check_dynamic(wanted.name, texts, str(cluster.log_dir.path))
        cluster.security.check_stores(config, (c.name for c in wanted.changes), texts)
        records = plan_broker_configs(cluster.config, wanted.name, texts)
        if not self._validate_only:
            cluster.metadata.append(records)

    def _set_levels(self, wanted: Wanted) -> None:
        self._check_node(wanted.name)
        loggers = self._cluster.loggers
        for change in wanted.changes:
            loggers.check(*change)
        for change in () if self._validate_only else wanted.changes:
            if change.value is not None:
                loggers.set_level(change.value)

    def _check_node(self, name: str) -> None:
        if not name:
            return
        try:
            number = int(name)
        except ValueError:
            message = f"Broker id must be an integer, but it is: {name}"
            raise Refused(Error.INVALID_REQUEST, message) from None
        if number != self._node_id:
            message = f"Unexpected broker id, expected {self._node_id}, but received {name}"
            raise Refused(Error.INVALID_REQUEST, message)

    def _new_texts(
        self, wanted: Wanted, before: Mapping[str, str], known: Mapping[str, Definition]
    ) -> dict[str, str]:
        """What a resource is to set itself."""
        if not self._is_incremental:
            return {change.name: change.value or "" for change in wanted.changes}
        texts = dict(before)
        for change in wanted.changes:
            if change.operation == DELETE:
                texts.pop(change.name, None)
            elif change.operation == SET:
                texts[change.name] = change.value or ""
            elif change.operation in (APPEND, SUBTRACT):
                spliced = _spliced(known.get(change.name), texts, change)
                if change.name not in texts and not self._cluster.release.splices_defaults:
                    raise Refused(Error.UNKNOWN_SERVER_ERROR)
                texts[change.name] = spliced
            else:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
        return texts


_WORDS = {LOGGER_RESOURCE: "BROKER_LOGGER"}


def _spliced(definition: Definition | None, texts: Mapping[str, str], change: Change) -> str:
    """A list with items added, or removed, as often as they are named."""
    if definition is None or change.name in UNLISTED:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    if definition.kind is not Kind.LIST:
        what = "append" if change.operation == APPEND else "subtract"
        message = f"Config value {what} is not allowed for config key: {change.name}"
        raise Refused(Error.INVALID_REQUEST, message)
    whole = texts.get(change.name, show(definition.default) or "")
    items, others = _split(whole), _split(change.value or "")
    if change.operation == APPEND:
        return ",".join([*items, *others])
    left = Counter(others)
    kept = []
    for item in items:
        if left[item]:
            left[item] -= 1
        else:
            kept.append(item)
    return ",".join(kept)


def _split(text: str) -> list[str]:
    """At the commas, as Java does: empty items at the end do not count, but an empty text is one
    empty item."""
    items = text.split(",")
    while len(items) > 1 and not items[-1]:
        items.pop()
    return items if text.strip(",") or not text else []
