"""Sequences about the protocol before 0.11: message sets, and what clients of each version read."""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.produce import ProduceRequest

from ..ask.batches import TIME, batch, joined
from ..ask.message_sets import edited, message_set
from ..ask.records import fetch, fetch_all, list_offsets, produce, produce_all, put, wanted
from ..ask.topics import create
from ..engine.served import Served
from ..engine.steps import Ask, Send, Step, Steps, now
from .batches import draw_batch

_VALUES = [b"v", b"v", b"", None, b"x" * 100]
_KEYS = [b"k", b"k", b"", None]
_TIMES: list[Any] = [TIME, TIME, TIME + 5, TIME - 3, 0, -1, now(), now(7_200_000), -5]
_FORMAT = "message.format.version"
_CONFIGS: list[dict[str, str]] = [
    {"cleanup.policy": "compact"},
    {"compression.type": "gzip"},
    {"compression.type": "uncompressed"},
    {"compression.type": "zstd"},
    {"compression.type": "lz4"},
    {"message.timestamp.type": "LogAppendTime"},
    {"max.message.bytes": "150"},
    {"message.timestamp.before.max.ms": "1000"},
    {"message.timestamp.difference.max.ms": "1000"},
    {"message.downconversion.enable": "false"},
    {"segment.bytes": "300"},
    {_FORMAT: "0.9.0"},
    {},
]
_EDITS: dict[str, list[int]] = {
    "offset": [1, -1, 2**40],
    "size": [0, 13, 14, 20, 30, 1000, -1],
    "crc": [0, 1],
    "magic": [0, 1, 2, 3, -1],
    "attributes": [1, 2, 3, 4, 5, 7, 8, 0x70, -128],
    "key_0": [-1, -2, 5, 100],
    "key_1": [-1, -2, 5, 100],
    "time": [0, -1, -5],
}


def old_protocol(random: Random, served: Served) -> Steps:
    """Sets of every kind are produced to three topics, and read in every version."""
    steps: Steps = [create("~o", 2)]
    for name in ("~p", "~q"):
        configs = random.choice(_CONFIGS)
        if not served.ignores_formats and _FORMAT in configs:
            configs = {}  # messages are stored in the newest format whatever a topic asks for
        chosen = {key.replace(".", "_"): v for key, v in configs.items()}
        steps.append(create(name, 1, **chosen))
    for _ in range(25):
        steps += _write(random, served) if random.random() < 0.5 else [_read(random, served)]
    return steps


def _write(random: Random, served: Served) -> Steps:
    name = random.choice(("~o", "~p", "~p", "~q"))
    chance = random.random()
    if chance < 0.15:
        return [put(*[b"v"] * random.choice((1, 3, 40)), name=name, codec=random.choice(range(5)))]
    version = random.choice((0, 1, 2))
    if chance < 0.25:
        version = random.choice(served.versions(ProduceRequest))
    if chance < 0.32:
        entries = [(each, 0, _records(random)) for each in ("~o", "~q", "~none")]
        random.shuffle(entries)
        return [Ask(produce_all(*entries), version)]
    acks = random.choice((-1, 1, 1, 0, 2)) if chance < 0.4 else -1
    request = produce(_records(random), name, acks=acks)
    if acks == 0:
        return [Send(request, version), Ask(list_offsets(-1, name=name), 5)]
    return [Ask(request, version)]


def _records(random: Random) -> Any:
    chance = random.random()
    if chance < 0.12:
        return draw_batch(random)
    made = _set(random, random.choice((0, 1)))
    if chance < 0.3:
        name = random.choice(list(_EDITS))
        value = random.choice(_EDITS[name])
        made = edited(made, checked=random.random() < 0.8, **{name: value})
    elif chance < 0.36:
        made = edited(made, cut=random.choice((1, 5, 17, 26)))
    if random.random() < 0.1:
        after = [_set(random, random.choice((0, 1))), batch(b"v"), b"\0" * 9, b"\0" * 20]
        made = joined(made, random.choice(after))
    return made


def _set(random: Random, magic: int, *, may_wrap: bool = True) -> Any:
    count = random.choice((1, 1, 2, 3, 20))
    when = [random.choice(_TIMES[:6]) for _ in range(count)]
    if random.random() < 0.15:
        when[0] = random.choice(_TIMES)
    messages = [(time, random.choice(_KEYS), random.choice(_VALUES)) for time in when]
    options: dict[str, Any] = {}
    if random.random() < 0.1:
        options["attributes"] = random.choice((8, 8, 0x40))
    if may_wrap and random.random() < 0.45:
        codec = random.choice((1, 1, 2, 2, 3, 3, 4))
        options |= {"codec": codec, "time": random.choice(_TIMES), "key": random.choice(_KEYS)}
        options["offset"] = random.choice((count - 1, count - 1, 0, count + 5, -1))
        options["first"] = random.choice((0, 0, 0, 0, 3))
        options["step"] = random.choice((1, 1, 1, 1, 1, 2, 0, -1))
        if random.random() < 0.15:
            options["inner"] = _inner(random, magic)
        if random.random() < 0.05:
            options["packed"] = random.choice((b"", b"nonsense"))
        if codec == 3 and random.random() < 0.2:
            options["right_lz4"] = True
    return message_set(magic, *messages, **options)


def _inner(random: Random, magic: int) -> Any:
    inner = _set(random, random.choice((magic, magic, 1 - magic)), may_wrap=random.random() < 0.2)
    if random.random() < 0.5:
        name = random.choice(list(_EDITS))
        inner = edited(inner, checked=random.random() < 0.8, **{name: random.choice(_EDITS[name])})
    return inner


def _read(random: Random, served: Served) -> Step:
    version = random.choice((0, 1, 2, 3))
    if random.random() < 0.25:
        version = random.choice(served.versions(FetchRequest))
    offset = random.choice((0, 0, 0, 1, 2, 3, 5, 20, 41, 99))
    limit = random.choice((1 << 20, 1 << 20, 1 << 20, 0, 12, 61, 70, 100, 150, 300, 1000))
    name = random.choice(("~o", "~p", "~p", "~q"))
    level = random.choice((0, 0, 1))
    if random.random() < 0.8:
        of_one = {"partition_max_bytes": limit, "isolation_level": level}
        return Ask(fetch(offset, name, **of_one), version)
    many = [
        (each, [wanted(random.choice((0, 0, 1, 3)), 0, partition_max_bytes=limit)])
        for each in random.sample(("~o", "~p", "~q", "~none"), 3)
    ]
    return Ask(fetch_all(*many, max_bytes=random.choice((1 << 20, 100, 300))), version)
