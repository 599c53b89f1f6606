"""Transactional producers, drawn from a seed: two ids, each used by clients of both generations,
who begin, write, commit offsets, end, are fenced, time out, and repeat what they did.

Sequences follow those that were used and epochs those that were given, so most requests are valid;
often they are wrong by one on purpose. Records have the present time, as markers have: on a real
broker a marker that is much younger than its segment rolls it even if it is refused.
"""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire.api.fetch import FetchRequest

from ..ask.groups import offsets_of
from ..ask.records import fetch, list_offsets, put
from ..ask.topics import create
from ..ask.transactions import (
    add,
    add_offsets,
    describe,
    end,
    init,
    list_all,
    mark,
    pid,
    seen_epoch,
    txn_offsets,
    write,
)
from ..engine.served import Served
from ..engine.steps import Ask, Sleep, Step, Steps, now

SHORT_MS = 150
LONG_MS = 300_000


class _Producer:
    """One transactional id, and the sequences that its producer has used."""

    def __init__(self, name: str, label: str) -> None:
        self.name = name
        self.label = label
        self.sequences: dict[int, int] = {}

    def who(self, random: Random) -> tuple[Any, Any]:
        """Its own producer id and epoch most of the time; else another epoch, or another id."""
        chance = random.random()
        shift = random.choice((-1, -1, 1, 2)) if chance < 0.12 else 0
        number = random.choice((4711, -1)) if chance > 0.98 else pid(self.label)
        return number, seen_epoch(self.label, shift)

    def next(self, random: Random, partition: int, count: int) -> int:
        """The sequence of its next batch in a partition."""
        sequence = self.sequences.get(partition, 0)
        chance = random.random()
        if chance < 0.07:
            return random.choice((0, 0, sequence + 1, max(0, sequence - 1), 7))
        self.sequences[partition] = sequence + count
        return sequence


def transactions(random: Random, served: Served) -> Steps:
    """Two producers that are initialized, and forty-five things that either may do."""
    producers = [_Producer("~x", "x"), _Producer("~y", "y")]
    steps: Steps = [create("~t", 2)]
    for each in producers:
        steps.append(init(each.name, 5, each.label, timeout_ms=LONG_MS))
    for _ in range(45):
        steps += _anything(random, served, random.choice(producers))
    return [*steps, *_look(random, served), describe("~x", "~y")]


def _anything(random: Random, served: Served, by: _Producer) -> Steps:
    choice = random.random()
    if choice < 0.38:
        return [_write(random, by)]
    if choice < 0.5:
        return _end(random, by)
    if choice < 0.58:
        return [_add(random, by)]
    if choice < 0.66:
        return _offsets(random, by)
    if choice < 0.72:
        return _begin(random, by)
    if choice < 0.732:
        return _time_out(random, by)
    if choice < 0.79:
        return [put(b"plain", name="~t", partition=random.choice((0, 1)), time=now())]
    if choice < 0.81:
        return [_marker(random, by)]
    if choice < 0.86:
        return [describe("~x", "~y"), list_all(random.choice(([], ["Ongoing"], ["Empty"])))]
    return _look(random, served)


def _write(random: Random, by: _Producer) -> Step:
    partition = random.choice((0, 0, 1))
    count = random.choice((1, 1, 2))
    return write(
        *[b"v"] * count,
        sequence=by.next(random, partition, count),
        version=random.choice((9, 11, 11, 12, 12, 12, 12, 13)),
        partition=partition,
        name=random.choice((by.name,) * 12 + ("~none", None)),
        who=by.who(random),
        transactional=random.random() < 0.94,
        time=now(),
    )


def _end(random: Random, by: _Producer) -> Steps:
    version = random.choice((4, 5, 5, 3))
    ended = end(random.random() < 0.6, version, by.name, by.who(random), by.label)
    if version >= 5:
        by.sequences.clear()
    again = [ended] if random.random() < 0.1 else []
    return [ended, *again]


def _add(random: Random, by: _Producer) -> Step:
    parts = random.choice(((0,), (0, 1), (1,), (0, 5)))
    version = random.choice((0, 1, 2, 3, 3, 4, 5))
    verify = version >= 4 and random.random() < 0.6
    return add((("~t", parts),), version, by.name, by.who(random), verify_only=verify)


def _offsets(random: Random, by: _Producer) -> Steps:
    steps: Steps = []
    if random.random() < 0.4:
        steps.append(add_offsets("~g", random.choice((1, 3)), by.name, by.who(random)))
    steps.append(
        txn_offsets(
            ("~t", random.choice((0, 0, 1)), random.choice((1, 2, 3))),
            version=random.choice((2, 3, 4, 5, 5)),
            name=by.name,
            who=by.who(random),
        )
    )
    return [*steps, Ask(offsets_of(require_stable=random.random() < 0.5), 7)]


def _begin(random: Random, by: _Producer) -> Steps:
    """InitProducerId again; a second time, as the first may find an open transaction to abort."""
    if random.random() < 0.4:
        of = by.who(random)
        return [init(by.name, random.choice((3, 4, 5)), "lost", timeout_ms=LONG_MS, of=of)]
    by.sequences.clear()
    first = init(by.name, 4, "lost", timeout_ms=LONG_MS)
    return [first, init(by.name, random.choice((0, 2, 5)), by.label, timeout_ms=LONG_MS)]


def _time_out(random: Random, by: _Producer) -> Steps:
    """Begin, let the transaction time out, and go on with it; then initialize again."""
    who = (pid(by.label), seen_epoch(by.label, 0))
    second = random.random() < 0.5
    steps: Steps = [
        init(by.name, 4, "lost", timeout_ms=LONG_MS),
        init(by.name, 5, by.label, timeout_ms=SHORT_MS),
    ]
    if second:
        steps.append(write(name=by.name, who=who, version=12, time=now()))
    else:
        steps += [add(version=3, name=by.name, who=who), write(name=by.name, who=who, time=now())]
    steps.append(Sleep(SHORT_MS / 1000 + 0.4))
    for _ in range(random.choice((1, 2, 3))):
        version = random.choice((3, 4, 5))
        steps.append(
            random.choice(
                (
                    write(
                        sequence=1,
                        name=by.name,
                        who=who,
                        version=random.choice((11, 12)),
                        time=now(),
                    ),
                    end(random.random() < 0.5, random.choice((4, 5)), by.name, who),
                    add(version=3, name=by.name, who=who),
                    txn_offsets(version=version, name=by.name, who=who),
                    init(by.name, 4, "lost", timeout_ms=LONG_MS, of=who),
                )
            )
        )
    by.sequences.clear()
    return [
        *steps,
        init(by.name, 4, "lost", timeout_ms=LONG_MS),
        init(by.name, 5, by.label, timeout_ms=LONG_MS),
    ]


def _marker(random: Random, by: _Producer) -> Step:
    return mark(
        (("~t", (random.choice((0, 1)),)),),
        who=by.who(random),
        commit=random.random() < 0.5,
        generation=random.choice((0, 1, 2)),
        version=random.choice((1, 2)),
    )


def _look(random: Random, served: Served) -> Steps:
    version = random.choice([v for v in served.versions(FetchRequest) if v >= 4])
    offset, partition = random.choice((0, 0, 1, 2, 4)), random.choice((0, 1))
    level = random.choice((0, 1, 1))
    limit = random.choice((1 << 20, 1 << 20, 90, 160, 0))
    return [
        Ask(
            fetch(offset, "~t", partition, isolation_level=level, partition_max_bytes=limit),
            version,
        ),
        Ask(list_offsets(-1, name="~t", isolation=level), 7),
    ]
