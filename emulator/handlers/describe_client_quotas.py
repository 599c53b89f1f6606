"""DescribeClientQuotas (48): the quotas of the entities that a filter matches (semantics I11).

The rules: security/quotas.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ..base.call import Call
from ..security.quotas import Component, matching
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


Entry = DescribeClientQuotasResponse.Entry


@handler(DescribeClientQuotasRequest)
def describe(
    cluster: Cluster, call: Call, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    components = [
        Component(each.entity_type, each.match_type, each.match) for each in request.components
    ]
    try:
        if not cluster.release.has_kraft:
            from .users_old import check_filter

            has_ips = cluster.release.serves(DescribeClientQuotasRequest.api_key, 1)
            components = check_filter(components, strict=request.strict, has_ips=has_ips)
        found = matching(cluster.metadata.image, components, request.strict)
    except Refused as refused:
        return DescribeClientQuotasResponse(
            error_code=refused.error, error_message=refused.message, entries=None
        )
    return DescribeClientQuotasResponse(
        error_message="" if cluster.release.has_kraft else None,
        entries=[
            Entry(
                entity=[Entry.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
                values=[Entry.Value(key=key, value=value) for key, value in values.items()],
            )
            for entity, values in found.items()
        ],
    )
