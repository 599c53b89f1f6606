"""Sequences about configs and topics, drawn: they are created, changed, described, deleted.

Most requests change one or two configs, some are wholly invalid. Brokers' configs are only
validated ("validate only"), because all sequences share the two brokers.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from odradek.emulator.config.broker_table import broker_definitions
from odradek.emulator.config.definition import Definition
from odradek.emulator.config.group import client_metrics_definitions, group_definitions
from odradek.emulator.config.topic_table import topic_definitions
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.list_config_resources import ListConfigResourcesRequest

from tests.requests.configs import Change, Pair

from ..ask.config_values import values_of
from ..ask.configs import BROKER, GROUP, METRICS, TOPIC, alter, change, configs
from ..ask.records import put
from ..engine.served import Served
from ..engine.steps import Ask, Steps, seen

_NAMES = {
    TOPIC: ["~a"] * 6 + ["~b"] * 4 + ["~c", "~none", "", "a b"],
    GROUP: ["~g"] * 4 + ["~h", ""],
    METRICS: ["~m"] * 4 + ["~n", ""],
    BROKER: ["1", "1", "", "", "2", "x"],
}
# Brokers' configs that are not drawn: the emulator has no listeners like a real broker's and loads
# no classes; reporters and directories differ between the two brokers.
_NOT_DRAWN = ("listener", "sasl.", "ssl.", "metric.reporters", "cordoned", "config.providers")
_TOPICS = ["~a", "~b", "~c", "~d", "~e"]


def _definitions(kind: int) -> list[Definition]:
    tables: dict[int, Callable[[], dict[str, Definition]]] = {
        TOPIC: topic_definitions,
        GROUP: group_definitions,
        METRICS: client_metrics_definitions,
        BROKER: broker_definitions,
    }
    return [
        definition
        for name, definition in tables[kind]().items()
        if kind != BROKER or not (name.startswith(_NOT_DRAWN) or ".class" in name)
    ]


def _value(random: Random, definition: Definition) -> str | None:
    if random.random() < 0.03:
        return None
    kind = definition.kind.name
    if kind in ("SHORT", "PASSWORD", "CLASS"):
        return random.choice(["1", "x", ""])
    value = random.choice(values_of(kind, definition.rule))
    # A real broker keeps and shows a group's number with blanks around it, but does not apply it.
    return value.strip() if definition.name in group_definitions() else value


def _pairs(random: Random, kind: int) -> list[Pair]:
    definitions = _definitions(kind)
    pairs: list[Pair] = []
    for _ in range(random.choice((1, 1, 1, 1, 2, 2, 3, 0))):
        definition = random.choice(definitions)
        pairs.append((definition.name, _value(random, definition)))
    if random.random() < 0.05:
        pairs.append(("nonsense", "1"))
    return pairs


def _changes(random: Random, kind: int) -> list[Change]:
    return [
        (name, random.choice([0] * 12 + [1, 1, 1, 1, 2, 3, 9]), value)
        for name, value in _pairs(random, kind)
    ]


def _listy(random: Random) -> list[Change]:
    names = ["cleanup.policy"] * 3 + ["leader.replication.throttled.replicas"]
    items = ("compact", "delete", "0:1", "*", "", ",", " compact", "compact,delete", "delete,,")
    return [(random.choice(names), random.choice((0, 2, 2, 3, 3, 1)), random.choice(items))]


def _kind(random: Random) -> int:
    return random.choice([TOPIC] * 6 + [GROUP] * 2 + [METRICS, BROKER, BROKER, BROKER])


def _change(random: Random, served: Served) -> Steps:
    kind = _kind(random)
    made = _changes(random, kind) if random.random() < 0.8 or kind != TOPIC else _listy(random)
    resources = [(kind, random.choice(_NAMES[kind]), made)]
    if kind != BROKER and random.random() < 0.15:
        other = random.choice((TOPIC, GROUP))
        resources.append((other, random.choice(_NAMES[other]), _changes(random, other)))
    only = kind == BROKER or random.random() < 0.1
    return [_of(random, served, change(*resources, only=only))]


def _replace(random: Random, served: Served) -> Steps:
    kind = _kind(random)
    only = kind == BROKER or random.random() < 0.1
    made = alter((kind, random.choice(_NAMES[kind]), _pairs(random, kind)), only=only)
    return [_of(random, served, made)]


def _look(random: Random, served: Served) -> Steps:
    kind = random.choice((TOPIC, TOPIC, TOPIC, GROUP, METRICS))
    keys = None
    if random.random() < 0.3:
        keys = [definition.name for definition in random.sample(_definitions(kind), 2)]
    found = configs(
        *((kind, random.choice(_NAMES[kind])) for _ in range(random.choice((1, 1, 2)))),
        keys=keys,
        synonyms=random.random() < 0.7,
    )
    return [_of(random, served, found)]


def _create(random: Random, served: Served) -> Steps:
    topics = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        topic = CreateTopicsRequest.Topic(
            name=random.choice([*_TOPICS, "~f.x", "~f_x"]),
            num_partitions=random.choice((1, 1, 2, -1, 0)),
            replication_factor=random.choice((1, 1, 1, -1, 2)),
            assignments=[],
            configs=[
                CreateTopicsRequest.Topic.Config(name=name, value=value)
                for name, value in (_pairs(random, TOPIC) if random.random() < 0.6 else ())
            ],
        )
        if random.random() < 0.1:
            topic.num_partitions = topic.replication_factor = -1
            topic.assignments = [
                CreateTopicsRequest.Topic.Assignment(
                    partition_index=random.choice((0, 0, 1)), broker_ids=[random.choice((1, 1, 2))]
                )
            ]
        topics.append(topic)
    request = CreateTopicsRequest(topics=topics, validate_only=random.random() < 0.15)
    return [_of(random, served, Ask(request))]


def _delete(random: Random, served: Served) -> Steps:
    entries = []
    for _ in range(random.choice((1, 1, 2))):
        name: str | None = random.choice([*_TOPICS[2:], "~f.x", "~none", ""])
        topic_id = bytes(16)
        if random.random() < 0.3 and name in _TOPICS:
            topic_id = seen(str(name))
            name = None
        entries.append(DeleteTopicsRequest.Topic(name=name, topic_id=topic_id))
    request = DeleteTopicsRequest(
        topics=entries, topic_names=[entry.name or "" for entry in entries], timeout_ms=5000
    )
    return [_of(random, served, Ask(request))]


def _grow(random: Random, served: Served) -> Steps:
    topic = CreatePartitionsRequest.Topic(
        name=random.choice(_TOPICS), count=random.choice((1, 2, 3, 4)), assignments=None
    )
    request = CreatePartitionsRequest(topics=[topic], timeout_ms=5000, validate_only=False)
    return [_of(random, served, Ask(request))]


def _page(random: Random, served: Served) -> Steps:
    made = DescribeTopicPartitionsRequest
    names = random.choices([*_TOPICS, "~f.x", "~none"], k=random.choice((0, 1, 2, 3)))
    cursor = None
    if random.random() < 0.3:
        cursor = made.Cursor(topic_name=random.choice(_TOPICS), partition_index=0)
    request = made(
        topics=[made.Topic(name=name) for name in names],
        response_partition_limit=random.choice((2000, 1, 2, 3)),
        cursor=cursor,
    )
    # Without names, the topics of other sequences would count towards the limit of a page.
    return [Ask(request)] if names else []


def _list(random: Random, served: Served) -> Steps:
    kinds = random.choices((TOPIC, BROKER, GROUP, METRICS, 0), k=random.choice((0, 1, 2)))
    return [_of(random, served, Ask(ListConfigResourcesRequest(resource_types=kinds)))]


def _put(random: Random, served: Served) -> Steps:
    return [put(b"x" * random.choice((1, 300)), name=random.choice(("~a", "~b", "~c")))]


def _of(random: Random, served: Served, ask: Ask) -> Ask:
    """The same, in a version that both serve."""
    version = random.choice(served.versions(type(ask.request)))
    return Ask(ask.request, version)


_OFTEN = [_change] * 8 + [_replace] * 3 + [_look] * 5 + [_create] * 4 + [_delete] * 2
_OFTEN += [_grow, _page, _list, _put, _put]


def configurations(random: Random, served: Served) -> Steps:
    """Changes of configs and topics, and descriptions of them."""
    steps: Steps = []
    for _ in range(30):
        steps += random.choice(_OFTEN)(random, served)
    return steps
