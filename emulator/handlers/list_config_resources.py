"""ListConfigResources (74): the names of what has configs, by type; no type means all of them.

Topics, brokers and their loggers are listed whether they set a config or not, groups and metrics
subscriptions only if they do, also groups that do not exist. v0 lists subscriptions alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from ..base.call import Call
from ..base.node import alive
from ..config.client_metrics import CLIENT_METRICS_RESOURCE
from ..config.group import GROUP_RESOURCE
from ..metadata.config_changes import LOGGER_RESOURCE
from ..metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

# In the order in which they are listed.
_TYPES = (
    GROUP_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    LOGGER_RESOURCE,
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
)
_TYPES_SINCE = 1


@handler(ListConfigResourcesRequest)
def list_config_resources(
    cluster: Cluster, call: Call, request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    wanted = request.resource_types
    if call.version < _TYPES_SINCE:
        wanted = [CLIENT_METRICS_RESOURCE]
    if any(kind not in _TYPES for kind in wanted):
        error = Error.UNSUPPORTED_VERSION
        return ListConfigResourcesResponse(error_code=error, config_resources=[])
    return ListConfigResourcesResponse(
        config_resources=[
            ListConfigResourcesResponse.ConfigResource(resource_name=name, resource_type=kind)
            for kind in _TYPES
            if not wanted or kind in wanted
            for name in _names(cluster, kind)
        ]
    )


def _names(cluster: Cluster, kind: int) -> list[str]:
    if kind == TOPIC_RESOURCE:
        return [topic.name for topic in cluster.topics]
    if kind in (BROKER_RESOURCE, LOGGER_RESOURCE):
        return [str(node_id) for node_id in alive(cluster.nodes)]
    return sorted(name for of, name in cluster.metadata.image.configs if of == kind)
