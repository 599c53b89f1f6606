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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from ..ask.group_records import WRITTEN_S, written
from ..ask.records import put
from ..ask.topics import create
from ..engine.served import Served
from ..engine.steps import Ask, Sleep, Steps
from ..engine.steps import Sequence as Sequence_
from . import (
    any_requests,
    classic_groups,
    cluster,
    configs,
    consumer_groups,
    logs,
    old_versions,
    transactions,
)
from .pools import CONFIGS

KINDS: dict[str, Callable[[Random, Served], Steps]] = {
    "any": any_requests.any_api,
    "log": logs.log,
    "producers": logs.producers,
    "sessions": logs.sessions,
    "offsets": any_requests.offsets,
    "groups": classic_groups.members,
    "consumers": consumer_groups.members,
    "damage": any_requests.damage,
    "cluster": cluster.administration,
    "configs": configs.configurations,
    "transactions": transactions.transactions,
    "old": old_versions.old_protocol,
}
# After these, what was written of the group "~g" is compared too.
_WRITES_GROUPS = frozenset({"offsets", "groups", "consumers", "transactions"})
_OFTEN = {
    "any": 5,
    "log": 4,
    "producers": 2,
    "sessions": 3,
    "offsets": 2,
    "groups": 2,
    "damage": 1,
    "configs": 3,
    "consumers": 2,
    "transactions": 4,
    "cluster": 3,
}
"""How often each kind is drawn."""
_OFTEN_WITH_3_9 = {
    "old": 10,
    "any": 4,
    "log": 2,
    "producers": 1,
    "sessions": 1,
    "offsets": 1,
    "groups": 1,
    "damage": 1,
}


def draw_sequence(seed: int, served: Served, kinds: Sequence[str] = ()) -> Sequence_:
    """The sequence of a seed, of one of these kinds."""
    random = Random(seed)
    often = _OFTEN_WITH_3_9 if served.converts else _OFTEN
    name = random.choice(
        list(kinds) or [kind for kind, times in often.items() for _ in range(times)]
    )
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
