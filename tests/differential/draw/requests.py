"""Requests drawn from their schema: each field of the version takes a value from its pool.

`_tame` and `NOT_AT_RANDOM` say what is not drawn, because a real broker then answers late, never,
or depending on chance.
"""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.add_raft_voter import AddRaftVoterRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest
from odradek.wire.codec.source import default_of
from odradek.wire.schema import Field, Struct, Type

from .batches import draw_batch
from .pools import CONFIGS, DEFAULTS, OF_API, OF_FIELD

Api = type[Request]

NOT_AT_RANDOM: frozenset[Api] = frozenset(
    {
        # Members of groups are drawn by classic_groups.
        JoinGroupRequest,
        SyncGroupRequest,
        # A real broker never answers when a transaction or a partition to be marked is named twice.
        AddPartitionsToTxnRequest,
        WriteTxnMarkersRequest,
        # A real broker ends when a listener of a voter is named twice.
        AddRaftVoterRequest,
    }
)
"""APIs of which no request is drawn from the schema alone."""


def draw_request(random: Random, api: Api, version: int) -> Request:
    """A request of an API, every field of the version drawn from its pool."""
    request = _fill(random, api, api, version)
    assert isinstance(request, Request)
    _tame(random, request)
    return request


def _fill(random: Random, api: Api, cls: type[Struct], version: int) -> Struct:
    struct = cls()
    for field, type_ in cls.fields():
        if field.is_in(version):
            setattr(struct, field.name, _draw(random, api, field, type_, version))
        else:
            setattr(struct, field.name, default_of(field, type_))
    return struct


def _draw(random: Random, api: Api, field: Field, type_: Type, version: int) -> Any:
    null_from, null_to = field.nullable or (0, 32767)
    if type_.nullable and null_from <= version <= null_to and random.random() < 0.06:
        return None
    if type_.is_list:
        one = type_._replace(is_list=False, nullable=False)
        count = random.choice((1, 1, 1, 1, 1, 2, 2, 3, 0))
        return [_draw(random, api, field, one, version) for _ in range(count)]
    if type_.struct is not None:
        return _fill(random, api, type_.struct, version)
    assert type_.kind is not None
    if type_.kind.name == "records":
        return draw_batch(random)
    name = field.name
    pool = OF_API.get(api, {}).get(name) or OF_FIELD.get(name) or DEFAULTS[type_.kind.name]
    value = random.choice(pool)
    return value if value is not None or type_.nullable else default_of(field, type_)


def _tame(random: Random, request: Request) -> None:
    """Take out what a real broker answers late, never, or depending on chance."""
    if isinstance(request, ProduceRequest):
        for topic in request.topic_data:
            for partition in topic.partition_data:
                if partition.records is None:  # never answered by a real broker
                    partition.records = b""
    elif isinstance(request, CreateTopicsRequest):
        for created in request.topics:
            created.configs = [
                CreateTopicsRequest.Topic.Config(name=name, value=value)
                for name, value in random.sample(CONFIGS, random.choice((0, 0, 1, 2)))
            ]
            if random.random() < 0.85:
                created.assignments = []
    elif isinstance(request, AlterConfigsRequest | IncrementalAlterConfigsRequest):
        # A real broker never answers when a resource is named twice.
        resources: list[Any] = request.resources
        named = {(each.resource_type, each.resource_name): each for each in resources}
        request.resources = list(named.values())
    elif isinstance(request, DeleteTopicsRequest) and random.random() < 0.5:
        request.topic_names = ["~d"]  # so that the topics of other requests stay
