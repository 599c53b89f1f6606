"""Sequences drawn from a seed: the same seed draws the same steps.

Every kind begins with topics `~a` (2 partitions) and `~b` (1, perhaps with configs) and some
records, and then asks about one thing:

- any: whatever API both serve, in whatever version, filled in field by field from the schema;
- log: batches, valid and mutated, and reads; producers: one producer's epochs and sequences;
- sessions: incremental fetches; groups: classic members that join, sync, beat, commit and leave;
- consumers: members of KIP-848 groups, some by the classic protocol;
- transactions: two transactional producers of both generations;
  (after these three and offsets, what was written of the group is looked at as well;)
- offsets: commits and lookups; damage: frames that are cut, lengthened or changed;
- old: message sets and clients of before 0.11, where the release still serves them;
- configs: what is set for topics, groups, metrics and brokers, and topics that come and go;
- cluster: quotas, credentials, features, moves of partitions.

What a drawn request avoids, because a real broker then answers late, or depending on chance, or
never, stands in `_tame`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api import request_class
from odradek.wire.codec.source import default_of
from odradek.wire.schema import Field, Struct, Type

from ..ask.asks import create, fetch, list_offsets, produce, put
from ..engine.group_log import WRITTEN_S, written
from ..engine.steps import Ask, Damage, Send, Sleep, Step, Steps, seen
from ..engine.steps import Sequence as Sequence_
from ..engine.versions import Served
from . import classic_groups, cluster, configs, consumer_groups, old_versions, transactions
from .batches import draw_batch, draw_producer_batch
from .pools import CONFIGS, DEFAULTS, POOLS

PRODUCE, FETCH, JOIN, SYNC, CREATE = 0, 1, 11, 14, 19
ADD_PARTITIONS, WRITE_MARKERS, ADD_VOTER = 24, 27, 80
_CONFIG_CHANGES = (33, 44)  # a resource twice leaves a real broker silent
# Not asked at random: members are drawn by classic_groups, and a real broker never answers when a
# transaction or a partition to be marked is named twice, and ends when a listener of a voter is.
_NOT_AT_RANDOM = frozenset({JOIN, SYNC, ADD_PARTITIONS, WRITE_MARKERS, ADD_VOTER})


def draw_sequence(seed: int, served: Served, kinds: Sequence[str] = ()) -> Sequence_:
    """The sequence of a seed, of one of these kinds."""
    random = Random(seed)
    name = random.choice(list(kinds) or (_OFTEN_OLD if served.converts else _OFTEN))
    steps = [*_beginning(random), *KINDS[name](random, served)]
    if name in _WRITES_GROUPS and not served.converts:
        steps += [Sleep(WRITTEN_S), Ask(written(), 12)]
    return Sequence_(f"{name}, seed {seed}", tuple(steps))


def _beginning(random: Random) -> Steps:
    configs: dict[str, Any] = {}
    if random.random() < 0.4:
        config, value = random.choice(CONFIGS)
        configs[config.replace(".", "_")] = value
    steps: Steps = [create("~a", 2), create("~b", **configs)]
    steps += [
        put(*(b"%d" % n for n in range(random.choice((1, 1, 3)))), name=random.choice(("~a", "~b")))
        for _ in range(random.choice((0, 1, 3)))
    ]
    return steps


# Filling in a request from its schema


def draw_request(random: Random, api_key: int, version: int) -> Request:
    """A request of an API, every field of the version drawn from its pool."""
    request = _fill(random, api_key, request_class(api_key), version)
    assert isinstance(request, Request)
    _tame(random, request)
    return request


def _fill(random: Random, api_key: int, cls: type[Struct], version: int) -> Struct:
    struct = cls()
    for field, type_ in cls.fields():
        if field.is_in(version):
            setattr(struct, field.name, _draw(random, api_key, field, type_, version))
        else:
            setattr(struct, field.name, default_of(field, type_))
    return struct


def _draw(random: Random, api_key: int, field: Field, type_: Type, version: int) -> Any:
    null_from, null_to = field.nullable or (0, 32767)
    if type_.nullable and null_from <= version <= null_to and random.random() < 0.06:
        return None
    if type_.is_list:
        one = type_._replace(is_list=False, nullable=False)
        count = random.choice((1, 1, 1, 1, 1, 2, 2, 3, 0))
        return [_draw(random, api_key, field, one, version) for _ in range(count)]
    if type_.struct is not None:
        return _fill(random, api_key, type_.struct, version)
    assert type_.kind is not None
    if type_.kind.name == "records":
        return draw_batch(random)
    name = field.name
    pool = POOLS.get((api_key, name)) or POOLS.get((None, name)) or DEFAULTS[type_.kind.name]
    value = random.choice(pool)
    return value if value is not None or type_.nullable else default_of(field, type_)


def _tame(random: Random, request: Request) -> None:
    """Keep a request from what a comparison cannot bear."""
    if request.api_key == PRODUCE:
        for topic in request.topic_data:  # type: ignore[attr-defined]
            for partition in topic.partition_data:
                if partition.records is None:  # never answered by a real broker
                    partition.records = b""
    elif request.api_key == CREATE:
        for topic in request.topics:  # type: ignore[attr-defined]
            topic.configs = [
                type(topic).Config(name=name, value=value)
                for name, value in random.sample(CONFIGS, random.choice((0, 0, 1, 2)))
            ]
            if random.random() < 0.85:
                topic.assignments = []
    elif request.api_key in _CONFIG_CHANGES:
        named = {(r.resource_type, r.resource_name): r for r in request.resources}  # type: ignore[attr-defined]
        request.resources = list(named.values())  # type: ignore[attr-defined]
    elif request.api_key == 20 and random.random() < 0.5:  # the topics that others ask about stay
        request.topic_names = ["~d"]  # type: ignore[attr-defined]


def any_api(random: Random, served: Served) -> Steps:
    steps: Steps = []
    keys = [key for key in served.ranges if key not in _NOT_AT_RANDOM]
    for _ in range(40):
        key = random.choice(keys)
        version = random.choice(served.versions(key))
        steps += drawn(random, draw_request(random, key, version), version)
    return steps


def drawn(random: Random, request: Request, version: int) -> Steps:
    """A drawn request as steps: without acknowledgement there is no answer to wait for."""
    if request.api_key == PRODUCE and request.acks == 0:  # type: ignore[attr-defined]
        return [Send(request, version), Ask(list_offsets(-1, name="~a"), 5)]
    return [Ask(request, version)]


# The other kinds


def log(random: Random, served: Served) -> Steps:
    steps: Steps = []
    for _ in range(20):
        version = random.choice(served.versions(PRODUCE))
        name, index = random.choice((("~a", 0), ("~a", 1), ("~b", 0), ("~b", 0)))
        records = draw_batch(random)
        steps += drawn(
            random, produce(records, name, index, acks=random.choice((-1, 1, 0))), version
        )
        for _ in range(random.choice((0, 1, 2))):
            steps.append(_look(random, served, name, index))
    return steps


def _look(random: Random, served: Served, name: str, index: int) -> Step:
    if random.random() < 0.7:
        version = random.choice(served.versions(FETCH))
        offset = random.choice((0, 0, 0, 1, 2, 3, 5))
        limit = random.choice((1 << 20, 1 << 20, 100, 200))
        level = random.choice((0, 1))
        return Ask(fetch(offset, name, index, max_bytes=limit, isolation_level=level), version)
    for_key = random.choice([key for key in (2, 21, 23) if key in served.ranges])
    version = random.choice(served.versions(for_key))
    return Ask(draw_request(random, for_key, version), version)


def producers(random: Random, served: Served) -> Steps:
    steps: Steps = []
    for _ in range(30):
        version = random.choice(served.versions(PRODUCE))
        steps.append(Ask(produce(draw_producer_batch(random), "~b"), version))
    return [*steps, Ask(fetch(name="~b"))]


def sessions(random: Random, served: Served) -> Steps:
    """One session that is used in order most of the time."""
    version = random.choice([v for v in served.versions(FETCH) if v >= 7])
    steps: Steps = []
    epoch = 0
    for _ in range(25):
        if random.random() < 0.35:
            steps.append(put(b"x", name=random.choice(["~a", "~a", "~b"]), partition=0))
            continue
        request = draw_request(random, FETCH, version)
        for topic in request.topics:  # type: ignore[attr-defined]
            for part in topic.partitions:
                part.partition_max_bytes = 1 << 20
        request.max_bytes = 1 << 20  # type: ignore[attr-defined]
        request.replica_id = -1  # type: ignore[attr-defined]
        if request.forgotten_topics_data:  # type: ignore[attr-defined]
            # One broken thing at a time: of two that are answered alike, each leaves another state.
            request.isolation_level = max(0, min(request.isolation_level, 1))  # type: ignore[attr-defined]
        if random.random() < 0.9:
            request.session_id = seen("session") if epoch else 0  # type: ignore[attr-defined]
            request.session_epoch = epoch  # type: ignore[attr-defined]
            epoch += 1
        steps.append(Ask(request, version))
    return steps


def offsets(random: Random, served: Served) -> Steps:
    keys = [key for key in (2, 8, 8, 9, 9, 9, 15, 16, 20, 21, 23) if key in served.ranges]
    steps: Steps = []
    for _ in range(30):
        key = random.choice(keys)
        version = random.choice(served.versions(key))
        steps.append(Ask(draw_request(random, key, version), version))
    return steps


def groups(random: Random, served: Served) -> Steps:
    return classic_groups.members(random, served)


def consumers(random: Random, served: Served) -> Steps:
    return consumer_groups.members(random, served)


def damage(random: Random, served: Served) -> Steps:
    """Requests whose frames were cut, lengthened, or claim another version."""
    steps: Steps = []
    keys = [key for key in served.ranges if key not in _NOT_AT_RANDOM and key != PRODUCE]
    for number in range(25):
        key = random.choice(keys)
        versions = served.versions(key)
        version = random.choice(versions)
        request = draw_request(random, key, version)
        on = f"c{number}"
        how = random.random()
        if how < 0.5:
            steps.append(Ask(request, version, on, damage=Damage(cut=random.choice((1, 1, 2, 5)))))
        elif how < 0.7:
            steps.append(
                Ask(request, version, on, damage=Damage(extra=b"\0" * random.choice((1, 9))))
            )
        elif how < 0.85:
            claim = random.choice((versions[0] - 1, versions[-1] + 1, -1, 99))
            steps.append(Ask(request, version, on, claim=claim))
        else:
            steps.append(Ask(request, version, on))
    return steps


KINDS: dict[str, Callable[[Random, Served], Steps]] = {
    "any": any_api,
    "log": log,
    "producers": producers,
    "sessions": sessions,
    "offsets": offsets,
    "groups": groups,
    "consumers": consumers,
    "damage": damage,
    "cluster": cluster.administration,
    "configs": configs.configurations,
    "transactions": transactions.transactions,
    "old": old_versions.old_protocol,
}
# After these, what was written of the group "~g" is compared too.
_WRITES_GROUPS = frozenset({"offsets", "groups", "consumers", "transactions"})
_OFTEN = ["any"] * 5 + ["log"] * 4 + ["producers"] * 2 + ["sessions"] * 3 + ["offsets"] * 2
_OFTEN += ["groups"] * 2 + ["damage"] + ["configs"] * 3
_OFTEN += ["consumers"] * 2
_OFTEN += ["transactions"] * 4 + ["cluster"] * 3
_OFTEN_OLD = ["old"] * 10 + ["any"] * 4 + ["log"] * 2 + ["producers", "sessions"]
_OFTEN_OLD += ["offsets", "groups", "damage"]
