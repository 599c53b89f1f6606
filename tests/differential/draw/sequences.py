"""Sequences drawn from a seed: the same seed draws the same steps.

Every sequence begins with topics `~a` (2 partitions) and `~b` (1, perhaps with configs) and some
records. The rest depends on its kind:

- any: any API in any version, each field drawn from its pool;
- log: valid and invalid batches, and reads;
- producers: one producer's epochs and sequences;
- sessions: incremental fetches;
- offsets: commits and lookups;
- groups: members of a classic group;
- consumers: members of a consumer group (KIP-848), some by the classic protocol;
- damage: frames that are cut, lengthened, or claim another version;
- cluster: quotas, credentials, features, moves of partitions;
- configs: configs of topics, groups, metrics and brokers; topics that are created and deleted;
- shares: members of a share group (KIP-932);
- streams: members of a streams group (KIP-1071);
- transactions: two transactional producers of both generations;
- old: message sets and clients of before 0.11, where the release still serves them.

After offsets, groups, consumers, streams and transactions, the records written of the group are
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest

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
    share_groups,
    streams_groups,
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
    "shares": share_groups.share_members,
    "streams": streams_groups.stream_members,
    "transactions": transactions.transactions,
    "old": old_versions.old_protocol,
}
_WRITES_GROUPS = frozenset({"offsets", "groups", "consumers", "streams", "transactions"})
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
    "shares": 2,
    "streams": 2,
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

_NEEDS: dict[str, tuple[type[Request], int]] = {
    "sessions": (FetchRequest, 7),
    "groups": (JoinGroupRequest, 0),
    "consumers": (ConsumerGroupHeartbeatRequest, 0),
    "shares": (ShareGroupHeartbeatRequest, 1),
    "streams": (StreamsGroupHeartbeatRequest, 0),
    "transactions": (InitProducerIdRequest, 0),
    "cluster": (AlterClientQuotasRequest, 0),
    "configs": (DescribeConfigsRequest, 0),
}
"""What a kind is about: an API, and the version in which it has that."""


def draw_sequence(seed: int, served: Served, kinds: Sequence[str] = ()) -> Sequence_:
    """The sequence of a seed, of one of these kinds, without what the release has no API for."""
    random = Random(seed)
    often = _OFTEN_WITH_3_9 if served.converts else _OFTEN
    name = random.choice(
        list(kinds)
        or [
            kind
            for kind, times in often.items()
            for _ in range(times)
            if kind not in _NEEDS or served.serves(*_NEEDS[kind])
        ]
    )
    steps = [*beginning(random), *KINDS[name](random, served)]
    if name in _WRITES_GROUPS and not served.converts:
        steps += [Sleep(WRITTEN_S), Ask(written(), 12)]
    return Sequence_(f"{name}, seed {seed}", served.fitting(steps))


def beginning(random: Random) -> Steps:
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
