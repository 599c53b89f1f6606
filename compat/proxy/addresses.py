"""The addresses of brokers in answers.

Clients learn them from Metadata, FindCoordinator and DescribeCluster, and from answers to requests
that went to the wrong broker (KIP-951: Produce, Fetch, ShareFetch, ShareAcknowledge). Left out is
DescribeQuorum, which names controllers: no client connects to those it finds there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ...wire import Response
from ...wire.api.describe_cluster import DescribeClusterResponse
from ...wire.api.fetch import FetchResponse
from ...wire.api.find_coordinator import FindCoordinatorResponse
from ...wire.api.metadata import MetadataResponse
from ...wire.api.produce import ProduceResponse
from ...wire.api.share_acknowledge import ShareAcknowledgeResponse
from ...wire.api.share_fetch import ShareFetchResponse

_WITH_ADDRESSES: tuple[type[Response], ...] = (
    DescribeClusterResponse,
    FetchResponse,
    FindCoordinatorResponse,
    MetadataResponse,
    ProduceResponse,
    ShareAcknowledgeResponse,
    ShareFetchResponse,
)
APIS = frozenset(each.api_key for each in _WITH_ADDRESSES)
"""Whose answers may have addresses."""
_NODE = ("node_id", "broker_id")


def addressed(response: Response) -> Iterator[tuple[int, Any]]:
    """Each node's id in an answer, and the struct that has its `host` and `port`. A coordinator
    that was not found is none."""
    if (own := _node_field(type(response))) is not None and response.host:  # type: ignore[attr-defined]
        yield getattr(response, own), response
    for name, node_field in _lists(type(response)):
        for each in getattr(response, name) or ():
            if each.host and each.port > 0:
                yield getattr(each, node_field), each


@cache
def _lists(cls: type[Response]) -> list[tuple[str, str]]:
    """The lists of nodes in a response, and the field of a node that has its id."""
    found = []
    for field, kind in cls.fields():
        if kind.is_list and kind.struct is not None:
            node_field = _node_field(kind.struct)
            if node_field is not None:
                found.append((field.name, node_field))
    return found


@cache
def _node_field(cls: Any) -> str | None:
    names = {field.name for field, _ in cls.fields()}
    if not {"host", "port"} <= names:
        return None
    return next((name for name in _NODE if name in names), None)
