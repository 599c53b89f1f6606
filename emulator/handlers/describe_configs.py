"""DescribeConfigs (32): configs of topics, brokers, groups and metrics subscriptions.

Each with its value, where that comes from, and the synonyms it was looked for under (semantics I5;
config/rows.py has the rules). A group or subscription that does not exist has the defaults. The
loggers of a broker are one, `root`.

The documentation of configs is not Kafka's text but our own, and null for most of a broker's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ..base.call import INVALID_REQUEST_TEXT, Call
from ..config.definition import Row, Source
from ..config.docs import documentation
from ..config.rows import (
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from ..metadata.topic_rules import check_name
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import TopicConfig

Result = DescribeConfigsResponse.Result

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
KINDS = frozenset({TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP})


@handles(DescribeConfigsRequest)
def describe_configs(
    cluster: Cluster, call: Call, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    kinds = KINDS if cluster.release.has_group_configs else KINDS - {GROUP}
    if any(resource.resource_type not in kinds for resource in request.resources):
        return DescribeConfigsResponse(
            results=[
                Result(
                    error_code=Error.INVALID_REQUEST,
                    error_message=INVALID_REQUEST_TEXT,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                    configs=[],
                )
                for resource in request.resources
            ]
        )
    shown: dict[tuple[TopicConfig, tuple[str, ...]], list[Result.Config]] = {}
    results = [_result(cluster, call, request, each, shown) for each in request.resources]
    return DescribeConfigsResponse(results=results)


def _result(
    cluster: Cluster,
    call: Call,
    request: DescribeConfigsRequest,
    resource: DescribeConfigsRequest.Resource,
    shown: dict[tuple[TopicConfig, tuple[str, ...]], list[Result.Config]],
) -> Result:
    """The configs of one resource. `shown` has those of topics, for thousands may share theirs."""
    kind, name = resource.resource_type, resource.resource_name
    keys = tuple(resource.configuration_keys or ())
    result = Result(resource_type=kind, resource_name=name, error_message="", configs=[])
    topic = cluster.topics.get(name) if kind == TOPIC else None
    shared = None if topic is None else (cluster.brokers[call.node_id].topic_config(topic), keys)
    if shared is not None and shared in shown:
        result.configs = shown[shared]
        return result
    try:
        rows = _rows(cluster, call, kind, name)
        if keys:
            rows = [row for row in rows if row.name in keys]
        result.configs = [_config(row, request) for row in rows]
        if shared is not None:
            shown[shared] = result.configs
    except Refused as refused:
        result.error_code, result.error_message = refused.error, refused.message or ""
    return result


def _rows(cluster: Cluster, call: Call, kind: int, name: str) -> list[Row]:
    overrides = cluster.metadata.image.configs_of(kind, name)
    broker = cluster.brokers[call.node_id]
    if kind == TOPIC:
        check_name(name)
        return describe_topic(broker.topic_config(cluster.topic(name)))
    if kind == BROKER and not name:
        return describe_all_brokers(broker.config)
    if kind == BROKER:
        _check_broker(call, name, "{0} or empty string, but")
        return describe_broker(broker.config, call.node_id, _started(cluster, call.node_id))
    if kind == BROKER_LOGGER:
        if not name:
            raise Refused(Error.INVALID_REQUEST, "Broker id must not be empty")
        _check_broker(call, name, "{0} but")
        return [
            Row(logger, level, 0, Source.DYNAMIC_BROKER_LOGGER, ())
            for logger, level in cluster.loggers.levels().items()
        ]
    if kind == CLIENT_METRICS:
        if not name:
            message = "Client metrics subscription name must not be empty"
            raise Refused(Error.INVALID_REQUEST, message)
        rows = describe_client_metrics(overrides)
        if not cluster.release.shows_defaults_of_client_metrics:
            rows = [row._replace(kind=0) for row in rows if row.name in overrides]
        return rows
    if not name:
        raise Refused(Error.INVALID_REQUEST, "Group name must not be empty")
    return describe_group(broker.config, overrides)


def _check_broker(call: Call, name: str, expected: str) -> None:
    """Raises Refused(INVALID_REQUEST) unless the name is the id of the broker that was asked."""
    try:
        node_id = int(name)
    except ValueError:
        message = f"Broker id must be an integer, but it is: {name}"
        raise Refused(Error.INVALID_REQUEST, message) from None
    if node_id != call.node_id:
        wanted = expected.format(call.node_id)
        message = f"Unexpected broker id, expected {wanted} received {name}"
        raise Refused(Error.INVALID_REQUEST, message)


def _started(cluster: Cluster, node_id: int) -> dict[str, str]:
    """What follows from how a broker was started, as its server.properties would have it."""
    broker = cluster.nodes[node_id]
    listener = f"PLAINTEXT://{broker.host}:{broker.port}"
    started = {
        "advertised.listeners": listener,
        "broker.id": str(node_id),
        "listeners": listener,
        "log.dirs": cluster.log_dir.path,
        "node.id": str(node_id),
        "process.roles": "broker,controller",
    }
    return started if broker.rack is None else started | {"broker.rack": broker.rack}


def _config(row: Row, request: DescribeConfigsRequest) -> Result.Config:
    return Result.Config(
        name=row.name,
        value=row.value,
        read_only=row.is_read_only,
        config_source=row.source,
        is_sensitive=row.is_sensitive,
        synonyms=[
            Result.Config.Synonym(name=name, value=value, source=source)
            for name, value, source in (row.synonyms if request.include_synonyms else ())
        ],
        config_type=row.kind,
        documentation=documentation(row.name) if request.include_documentation else None,
    )
