"""What is not sent, because a broker that does as it is told is then slow, mute or shut for all:
requests of sheer amount, rates that throttle everybody, limits of connections, a limit of batches
that keeps groups from being stored, silent logs; or
leads nothing, because it was taken out of its cluster; or has lost the topic of the offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.wire import WireError
from odradek.wire.api import request_class
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest
from odradek.wire.headers import read_request_header

PARTITIONS_MAX = 50
REFUSED_FROM = 100_000
"""Nobody creates so many partitions at once: a broker refuses."""
LEAST_RATE = 1e6
_BROKER, _LOGGER = 4, 8
_INTERNAL = b"__"
_CHANGE_TOPICS = frozenset(
    cls.api_key
    for cls in (
        DeleteTopicsRequest,
        CreatePartitionsRequest,
        AlterConfigsRequest,
        IncrementalAlterConfigsRequest,
    )
)


def is_spared(frame: bytes) -> bool:
    key = int.from_bytes(frame[:2], "big")
    if key in _CHANGE_TOPICS and _INTERNAL in frame:
        return True
    hurts = _HURTS.get(key)
    if hurts is None:
        return False
    try:
        header, pos = read_request_header(frame)
        request, _ = request_class(header.api_key).decode_from(frame, header.api_version, pos)
    except WireError:
        return False
    return hurts(request)


def _throttles(request: AlterClientQuotasRequest) -> bool:
    return any(
        not op.remove and op.value < LEAST_RATE for entry in request.entries for op in entry.ops
    )


def _creates_many(request: CreateTopicsRequest) -> bool:
    counts = [max(each.num_partitions, len(each.assignments)) for each in request.topics]
    return any(PARTITIONS_MAX < count < REFUSED_FROM for count in counts)


def _adds_many(request: CreatePartitionsRequest) -> bool:
    return any(PARTITIONS_MAX < each.count < REFUSED_FROM for each in request.topics)


def _closes_or_silences(request: AlterConfigsRequest | IncrementalAlterConfigsRequest) -> bool:
    for resource in request.resources:
        if resource.resource_type == _LOGGER:
            return True
        if resource.resource_type == _BROKER and any(
            "connection" in each.name or each.name == "message.max.bytes"
            for each in resource.configs
        ):
            return True
    return False


_HURTS: dict[int, Callable[[Any], bool]] = {
    AlterClientQuotasRequest.api_key: _throttles,
    CreateTopicsRequest.api_key: _creates_many,
    CreatePartitionsRequest.api_key: _adds_many,
    AlterConfigsRequest.api_key: _closes_or_silences,
    IncrementalAlterConfigsRequest.api_key: _closes_or_silences,
    UnregisterBrokerRequest.api_key: lambda request: True,
}
