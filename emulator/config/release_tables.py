"""Which configs the brokers and topics of a release of Kafka have.

Those of 4.3 are the base, and 3.9 has a module of its own, kafka_3_9.py. The table of each other
release (releases/tables.py) says what it has otherwise than the next newer one: what that has and
this one lacks has the value in the table, or keeps its default, and is neither shown nor settable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from ..base.release import Release
from .broker_table import broker_definitions
from .definition import Definition, parse_table
from .topic_table import topic_definitions


class ConfigTables(NamedTuple):
    broker: dict[str, Definition]
    topic: dict[str, Definition]
    is_settable: Callable[[str], bool]
    """Whether a broker has a config of this name for its users."""
    gone: frozenset[str] = frozenset()
    """Configs of brokers that are among those above for the emulator alone."""
    gone_topic: Mapping[str, Definition] = MappingProxyType({})
    """Configs of topics that the release lacks."""
    gone_group: frozenset[str] = frozenset()
    """The same of groups."""


def _kafka_4_3() -> ConfigTables:
    broker = broker_definitions()
    return ConfigTables(broker, topic_definitions(), broker.__contains__)


def _kafka_3_9() -> ConfigTables:
    from . import kafka_3_9

    return ConfigTables(
        kafka_3_9.old_broker_definitions(),
        kafka_3_9.old_topic_definitions(),
        kafka_3_9.is_settable,
    )


def config_tables(release: Release) -> ConfigTables:
    return _made(release.name)


def is_of_a_release(name: str) -> bool:
    """Whether the brokers of any release have a config of this name."""
    from ..releases.tables import NAMES

    return any(_made(release).is_settable(name) for release in NAMES)


def absence(name: str, release: Release, *, is_topic: bool = False) -> str:
    """The sentence about a config that this release lacks and another has; empty if none has it."""
    from ..releases.tables import NAMES

    place = NAMES.index(release.name)
    for others, which in ((NAMES[:place][::-1], "first"), (NAMES[place + 1 :], "last")):
        for other in others:
            tables = _made(other)
            if name in tables.topic if is_topic else tables.is_settable(name):
                kind = "topic" if is_topic else "broker"
                has = f"{other} is the {which} release here that has it"
                return f"Kafka {release.name} has no {kind} config {name}: {has}"
    return ""


@cache
def _made(name: str) -> ConfigTables:
    own: dict[str, Callable[[], ConfigTables]] = {"4.3": _kafka_4_3, "3.9": _kafka_3_9}
    if name in own:
        return own[name]()
    from ..releases.tables import table

    found = table(name)
    newer = _made(found.newer)
    gone, changed = found.broker_gone, parse_table(found.broker)
    broker = {
        each: _kept(definition, gone[each]) if each in gone else definition
        for each, definition in newer.broker.items()
    }
    settable = {each for each in newer.broker if newer.is_settable(each)} - gone.keys()
    settable |= changed.keys()
    topic = {each: row for each, row in newer.topic.items() if each not in found.topic_gone}
    topic |= parse_table(found.topic)
    gone_topic = {
        each: _kept(newer.topic[each], text)
        for each, text in found.topic_gone.items()
        if each in newer.topic
    }
    return ConfigTables(
        dict(sorted((broker | changed).items())),
        topic,
        settable.__contains__,
        (newer.gone | gone.keys()) - changed.keys(),
        {n: row for n, row in {**newer.gone_topic, **gone_topic}.items() if n not in topic},
        newer.gone_group | found.group_gone.keys(),
    )


def _kept(definition: Definition, text: str) -> Definition:
    """A config that a release lacks, for the emulator alone: what the release does without it."""
    kept = definition._replace(mode="internal")
    return kept._replace(default_text=text, default=kept.parse(text)) if text else kept
