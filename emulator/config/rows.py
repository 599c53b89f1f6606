"""Configs in DescribeConfigs and CreateTopics: rows with value, source and synonyms.

The synonyms of a config are the places in which its value is looked up, most specific first, and
its source is that of the first. Kafka's rules:
- the value is shown as parsed (` 05 ` is 5), the synonyms as they were written; of an internal
  config both as it was written;
- synonyms begin with the config's own name: one that is not set, and that has no default, shows
  none, even if another name (.hours for .ms) decides;
- a topic config shows only the synonyms of the first broker name that may give its default;
- CreateTopics returns no synonyms, values as they were written, and the source of the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import dropwhile

from .broker_table import BROKER_SYNONYMS, OF_THE_AUTHORIZER, UNLISTED
from .configs import ALL_BROKERS, BrokerConfig, TopicConfig
from .definition import ConfigError, Definition, Kind, Row, Source, Synonym, show
from .group import GroupConfig, client_metrics_definitions, group_definitions
from .listener_configs import config_of

Layers = list[tuple[Source, Mapping[str, str]]]


def describe_broker(config: BrokerConfig, node_id: int, started: Mapping[str, str]) -> list[Row]:
    """Every config of one broker, internal ones if they are set; `started` is what follows from
    how it was started."""
    layers = _layers(config, str(node_id))
    layers[-1] = (Source.STATIC_BROKER, config.ignored | config.static | dict(started))
    given = {name for _, texts in layers for name in texts}
    rows = [
        _broker_row(definition, layers, config)
        for name, definition in config.definitions.items()
        if (name in given and name not in config.gone and name not in OF_THE_AUTHORIZER)
        or (definition.mode != "internal" and name not in UNLISTED)
    ]
    return rows + _other_rows(layers, config)


def describe_all_brokers(config: BrokerConfig) -> list[Row]:
    """The configs set at run time for all brokers."""
    texts = config.dynamic.get(ALL_BROKERS, {})
    layers: Layers = [(Source.DYNAMIC_DEFAULT_BROKER, texts)]
    named = texts.keys() - set(OF_THE_AUTHORIZER)
    known = [definition for name, definition in config.known.items() if name in named]
    rows = [_broker_row(definition, layers, config) for definition in known]
    rows += _other_rows(layers, config)
    dynamic = Source.DYNAMIC_DEFAULT_BROKER
    return [
        row._replace(synonyms=tuple(s for s in row.synonyms if s.source == dynamic)) for row in rows
    ]


def describe_topic(config: TopicConfig) -> list[Row]:
    layers = _layers(config.broker, config.broker.node)
    rows = []
    for name, definition in _shown(config):
        value = show(config.get(name))
        if definition.mode == "internal":
            value = config.overrides[name]
        found = _broker_synonyms(definition, layers, config.broker)
        if name in config.overrides:
            found.insert(0, Synonym(name, value, Source.TOPIC))
        rows.append(_row(definition, value, found))
    return rows


def describe_created_topic(config: TopicConfig) -> list[Row]:
    """Every config of a topic as CreateTopics returns it, in the order of the names."""
    layers = _layers(config.broker, config.broker.node)
    rows = []
    for name, definition in _shown(config):
        found = [Synonym(name, config.overrides.get(name), Source.TOPIC)]
        if name not in config.overrides:
            found = [
                Synonym(name, text if broker.factor == 1 else show(config.get(name)), source)
                for source, texts in layers
                for broker in definition.brokers
                if (text := texts.get(broker.name)) is not None
            ] or [Synonym(name, show(config.get(name)), Source.DEFAULT)]
        rows.append(_row(definition, found[0].value, found[:1]))
    return rows


def describe_group(config: BrokerConfig, overrides: Mapping[str, str]) -> list[Row]:
    """Every config of a group: its own, else the broker's."""
    layers, own = _layers(config, config.node), GroupConfig(config, overrides)
    rows = []
    for name, definition in group_definitions().items():
        if name in config.gone_group:
            continue
        value = show(own.get(name))
        found = []
        if config.release.shows_brokers_values_of_groups:
            found = _broker_synonyms(definition, layers, config)
        elif name not in overrides:
            value = show(definition.default)
        found = found or [Synonym(name, show(definition.default), Source.DEFAULT)]
        if name in overrides:
            found.insert(0, Synonym(name, value, Source.GROUP))
        rows.append(_row(definition, value, found))
    return rows


def describe_client_metrics(overrides: Mapping[str, str]) -> list[Row]:
    rows = []
    for name, definition in client_metrics_definitions().items():
        value, found = show(definition.default), []
        if name in overrides:
            try:
                parsed = definition.parse(overrides[name])
            except ConfigError:  # up to 4.1 lists might have any items
                parsed = definition._replace(rule="free").parse(overrides[name])
            value = show(parsed)
            found = [Synonym(name, value, Source.CLIENT_METRICS)]
        rows.append(_row(definition, value, found))
    return rows


def _shown(config: TopicConfig) -> Iterator[tuple[str, Definition]]:
    """A topic's configs, internal ones only if it sets them."""
    for name, definition in sorted(config.broker.topic_definitions.items()):
        if definition.mode != "internal" or name in config.overrides:
            yield name, definition


def _layers(config: BrokerConfig, node: str) -> Layers:
    """Where a broker's value is looked for."""
    return [
        (Source.DYNAMIC_BROKER, config.dynamic.get(node, {})),
        (Source.DYNAMIC_DEFAULT_BROKER, config.dynamic.get(ALL_BROKERS, {})),
        (Source.STATIC_BROKER, config.static),
    ]


def _broker_row(definition: Definition, layers: Layers, config: BrokerConfig) -> Row:
    name = definition.name
    given = [texts[name] for _, texts in layers if name in texts]
    if name in UNLISTED:
        value: str | None = given[0]
    else:
        value = show(definition.parse(given[0]) if given else definition.default)
    row = _row(definition, value, _synonyms(name, layers, config))
    return row._replace(is_read_only=row.is_read_only or definition.mode == "internal")


def _row(definition: Definition, value: str | None, found: list[Synonym]) -> Row:
    return Row(
        definition.name,
        None if definition.is_sensitive else value,
        definition.kind,
        found[0].source if found else Source.DEFAULT,
        tuple(found),
        definition.is_sensitive,
        definition.is_read_only,
    )


def _broker_synonyms(definition: Definition, layers: Layers, config: BrokerConfig) -> list[Synonym]:
    """Where the default of a topic's or a group's config is looked for."""
    return _synonyms(definition.brokers[0].name, layers, config) if definition.brokers else []


def _synonyms(name: str, layers: Layers, config: BrokerConfig) -> list[Synonym]:
    """Where a broker config is looked for, under all its names; from its own name on."""
    names = BROKER_SYNONYMS.get(name, (name,))
    return _found(name, [config.definitions[each] for each in names], layers)


def _found(name: str, definitions: list[Definition], layers: Layers) -> list[Synonym]:
    found = [
        Synonym(each.name, None if each.is_sensitive else texts[each.name], source)
        for source, texts in layers
        for each in definitions
        if each.name in texts
    ]
    found += [
        Synonym(each.name, show(each.default), Source.DEFAULT)
        for each in definitions
        if each.default is not None
    ]
    return list(dropwhile(lambda synonym: synonym.name != name, found))


def _other_rows(layers: Layers, config: BrokerConfig) -> list[Row]:
    """The configs under names that no table has: of a listener, looked for at the broker, too; else
    Kafka does not know it, and it might be a secret: its value stays hidden."""
    rows = []
    at_run_time = {name for texts in config.dynamic.values() for name in texts}
    for name in dict.fromkeys(name for _, texts in layers for name in texts):
        is_known = name in config.known and name not in OF_THE_AUTHORIZER
        if is_known or (name in config.gone and name not in at_run_time):
            continue
        of_broker = config.definitions.get(config_of(name))
        own = (of_broker or _UNKNOWN)._replace(name=name, default=None, mode="")
        found = _found(name, [own, of_broker] if of_broker else [own], layers)
        rows.append(_row(own, found[0].value, found))
    return rows


_UNKNOWN = Definition("", Kind.UNKNOWN, None, None, "", "")
