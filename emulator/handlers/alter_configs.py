"""AlterConfigs (33): replace all configs of a resource: what is not named has its default again.

For the rest like IncrementalAlterConfigs, but not for loggers. Where a resource is named twice a
real broker fails and never answers; here both entries are refused, as there.
metadata/config_changes.py has the rules. Not emulated: an alter config policy class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ..base.call import Call
from ..config.loggers import SET
from ..metadata.config_changes import Alteration, Change, Wanted
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster

Answer = AlterConfigsResponse.Resource


@handles(AlterConfigsRequest)
def alter_configs(
    cluster: Cluster, call: Call, request: AlterConfigsRequest
) -> AlterConfigsResponse:
    resources = [
        Wanted(
            resource.resource_type,
            resource.resource_name,
            [Change(each.name, SET, each.value) for each in resource.configs],
        )
        for resource in request.resources
    ]
    alteration = Alteration(
        cluster, call.node_id, is_incremental=False, validate_only=request.validate_only
    )
    outcomes = alteration.carry_out(resources)
    return AlterConfigsResponse(
        responses=[
            Answer(
                error_code=refused.error if refused else 0,
                error_message=refused.message if refused else None,
                resource_type=resource.kind,
                resource_name=resource.name,
            )
            for resource, refused in zip(resources, outcomes, strict=True)
        ]
    )
