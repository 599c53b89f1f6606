"""DescribeCluster (60): the brokers, and the cluster's id.

Only brokers can be asked for: there is no controller listener. A broker that is not alive is left
out, unless a client asks for fenced ones as well (v2).

Not emulated: a controller apart from the brokers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ..base.call import Call
from .metadata import CLUSTER_OPERATIONS, NOT_ASKED
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

BROKERS, CONTROLLERS = 1, 2


@handler(DescribeClusterRequest, cached=True)
def describe_cluster(
    cluster: Cluster, call: Call, request: DescribeClusterRequest
) -> DescribeClusterResponse:
    if request.endpoint_type == CONTROLLERS:
        return _failed(
            Error.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, "
            "but we wanted an endpoint of type CONTROLLER",
        )
    if request.endpoint_type != BROKERS:
        message = f"Unsupported endpoint type {request.endpoint_type}"
        return _failed(Error.UNSUPPORTED_ENDPOINT_TYPE, message)
    wanted = request.include_cluster_authorized_operations
    places = [(broker, *broker.at(call.listener)) for broker in cluster.nodes.values()]
    return DescribeClusterResponse(
        cluster_id=cluster.cluster_id,
        controller_id=cluster.any_broker(),
        brokers=[
            DescribeClusterResponse.Broker(
                broker_id=broker.node_id,
                host=host,
                port=port,
                rack=broker.rack,
                is_fenced=not broker.is_alive,
            )
            for broker, host, port in places
            if broker.is_alive or request.include_fenced_brokers
        ],
        cluster_authorized_operations=CLUSTER_OPERATIONS if wanted else NOT_ASKED,
    )


def _failed(error: Error, message: str) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        error_code=error, error_message=message, cluster_id="", brokers=[]
    )
