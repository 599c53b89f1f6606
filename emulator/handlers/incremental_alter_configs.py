"""IncrementalAlterConfigs (44): set, delete, append to and subtract from configs, one by one.

Of topics, brokers (each, or all of them under the name ""), loggers, metrics subscriptions and
groups. metadata/config_changes.py has the rules. Not emulated: an alter config policy class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..base.call import Call
from ..metadata.config_changes import Change, Wanted
from .alter_configs import alteration_of, carried_out
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(IncrementalAlterConfigsRequest)
def incremental_alter_configs(
    cluster: Cluster, call: Call, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    resources = [
        Wanted(
            resource.resource_type,
            resource.resource_name,
            [Change(each.name, each.config_operation, each.value) for each in resource.configs],
        )
        for resource in request.resources
    ]
    alteration = alteration_of(
        cluster, call.node_id, is_incremental=True, validate_only=request.validate_only
    )
    answers = carried_out(alteration, resources, IncrementalAlterConfigsResponse.Resource)
    return IncrementalAlterConfigsResponse(responses=answers)
