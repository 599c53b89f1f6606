"""DescribeCluster (60): brokers or controllers, and the cluster's id."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class DescribeClusterRequest(Request, api=60, versions="0-2", flexible="0+"):
    """Ask for the brokers or the controllers."""

    include_cluster_authorized_operations: bool
    endpoint_type: i8 = v("1+", default=1)
    include_fenced_brokers: bool = v("2+", default=False)


class DescribeClusterResponse(Response, api=60, versions="0-2", flexible="0+"):
    """The current nodes."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    endpoint_type: i8 = v("1+", default=1)
    cluster_id: str
    controller_id: i32 = -1
    brokers: list[Broker]
    cluster_authorized_operations: i32 = -(2**31)

    class Broker(Struct):
        broker_id: i32
        host: str
        port: i32
        rack: str | None = None
        is_fenced: bool = v("2+", default=False)
